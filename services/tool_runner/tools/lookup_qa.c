/* lookup_qa: answers of the question-and-answer tables in the knowledge base. */
#include "tools/found.h"

static void lookup_qa_start(struct tool_run *run)
{
    found_start(run, true);
}

const struct tool tool_lookup_qa = {
    .name = "lookup_qa",
    .description =
        "Looks up frequently asked questions: finds those that were asked before and are most like the given one, and "
        "returns their answers, each with its question. Good for problems, errors and \"how do I\". "
        "よくある質問(FAQ、Q&A)"
        "から、似た質問とその回答を探します。困りごと、エラー、手続きの問い合わせに向いています。",
    .parameters = "{\"type\": \"object\", \"additionalProperties\": false, \"required\": [\"query\"], \"properties\": {"
                  "\"query\": {\"type\": \"string\", \"minLength\": 1, \"maxLength\": 2000, \"description\": "
                  "\"The question, in Japanese or English.\"}, "
                  "\"collections\": {\"type\": \"array\", \"maxItems\": 16, \"items\": {\"type\": \"string\"}, "
                  "\"description\": \"Names of collections to look in; leave it out to look in all.\"}, "
                  "\"limit\": {\"type\": \"integer\", \"minimum\": 1, \"maximum\": 20, \"description\": "
                  "\"How many answers at most; 5 when left out.\"}}}",
    .idempotent = true,
    .timeout_ms = 15000,
    .size = sizeof(struct found_run),
    .start = lookup_qa_start,
    .cancel = found_cancel,
};
