/* search_documents: paragraphs of the knowledge base. */
#include "tools/found.h"

static void search_documents_start(struct tool_run *run)
{
    found_start(run, false);
}

const struct tool tool_search_documents = {
    .name = "search_documents",
    .description =
        "Searches the indexed documents (manuals, guides, procedures, specifications, notes) and returns the "
        "paragraphs that fit best, each with its file, lines and headings. Ask with the words that the documents would "
        "use, one topic at a time. "
        "登録された文書(マニュアル、手順書、仕様書、設定や使い方の説明)"
        "を検索し、質問に合う段落をファイル名・行・見出しと"
        "ともに返します。",
    .parameters = "{\"type\": \"object\", \"additionalProperties\": false, \"required\": [\"query\"], \"properties\": {"
                  "\"query\": {\"type\": \"string\", \"minLength\": 1, \"maxLength\": 2000, \"description\": "
                  "\"What is looked for: a question or words, in Japanese or English.\"}, "
                  "\"collections\": {\"type\": \"array\", \"maxItems\": 16, \"items\": {\"type\": \"string\"}, "
                  "\"description\": \"Names of collections to look in; leave it out to look in all.\"}, "
                  "\"limit\": {\"type\": \"integer\", \"minimum\": 1, \"maximum\": 20, \"description\": "
                  "\"How many paragraphs at most; 5 when left out.\"}}}",
    .idempotent = true,
    .timeout_ms = 15000,
    .size = sizeof(struct found_run),
    .start = search_documents_start,
    .cancel = found_cancel,
};
