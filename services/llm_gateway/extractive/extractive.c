/* The provider without a model: it answers in this process, without a network, from the findings of tools. */
#include "base/text.h"
#include "extract.h"
#include "json/writer.h"

#include <string.h>

#define SAID_MAX       ((size_t)4 << 20) /* bytes of an answer: it repeats parts of the request */
#define LOOKED_FOR_MAX ((size_t)512)     /* bytes, as Finding.looked_for */

static const struct answer_word words[] = {
    {"stop", RENGA__V1__FINISH_REASON__FINISH_REASON_STOP},
    {"length", RENGA__V1__FINISH_REASON__FINISH_REASON_LENGTH},
    {"tool_calls", RENGA__V1__FINISH_REASON__FINISH_REASON_TOOL_CALLS},
    {NULL, RENGA__V1__FINISH_REASON__FINISH_REASON_UNSPECIFIED},
};

static void extractive_write_texts(struct json_writer *writer, const char *key, const struct text *texts, size_t count)
{
    json_write_array(writer, key);
    for (size_t i = 0; i < count; i++)
        json_write_text(writer, NULL, texts[i].bytes, texts[i].length);
    json_write_end(writer);
}

static void write_object(const struct extract *extract, enum extract_want want, size_t limit,
                         struct json_writer *writer)
{
    struct text texts[EXTRACT_PARTS_MAX];
    struct buffer advice;
    json_write_object(writer, NULL);
    if (want == WANT_SPLIT) {
        bool asks = extract_asks(extract->asked);
        extractive_write_texts(writer, "subtasks", texts,
                               asks ? extract_split(extract->arena, extract->asked, extract->japanese, limit, texts)
                                    : 0);
    } else if (want == WANT_QUERY_PLAN) {
        struct query_plan plan;
        extract_query_plan(extract, limit, &plan);
        extractive_write_texts(writer, "queries", plan.queries, plan.query_count);
        extractive_write_texts(writer, "gaps", plan.gaps, plan.gap_count);
        json_write_string(writer, "reasoning", "");
    } else if (want == WANT_QUERIES) {
        extractive_write_texts(writer, "queries", texts, extract_queries(extract, limit, texts));
    } else {
        buffer_init(&advice, SAID_MAX);
        bool completed = extract_judge(extract, &advice);
        json_write_string(writer, "advice", buffer_text(&advice));
        json_write_bool(writer, "is_completed", completed);
        buffer_fini(&advice);
    }
    json_write_end(writer);
}

/* As long as it may be, and why it ends. */
static bool say(const struct extract *extract, struct buffer *out, struct answer *answer, struct failure *failure)
{
    size_t length = out->length;
    const char *text = buffer_text(out), *word = extract_cut(extract->request, text, &length);
    if (out->failed)
        return fail(&failure->status, RESOURCE_EXHAUSTED, "the answer takes more memory than a call may have");
    answer_stop(answer, words, word);
    if (length < out->length)
        out->data[length] = '\0';
    return answer_add(answer, ANSWER_TEXT, text, failure);
}

static bool say_object(const struct extract *extract, enum extract_want want, size_t limit, struct answer *answer,
                       struct failure *failure)
{
    struct buffer out;
    struct json_writer writer;
    buffer_init(&out, SAID_MAX);
    json_writer_init(&writer, &out);
    write_object(extract, want, limit, &writer);
    bool good = json_writer_done(&writer) ? say(extract, &out, answer, failure)
                                          : fail(&failure->status, RESOURCE_EXHAUSTED,
                                                 "the answer has more than %zu bytes as JSON", SAID_MAX);
    buffer_fini(&out);
    return good;
}

/* False: no memory. */
static bool note_finding(struct answer *answer, const struct finding *found)
{
    size_t length = text_cut(found->looked_for.bytes, found->looked_for.length, LOOKED_FOR_MAX);
    Renga__V1__Finding *finding = answer->finding = arena_alloc(answer->arena, sizeof *finding);
    if (!finding)
        return false;
    renga__v1__finding__init(finding);
    finding->maybe_found_case = RENGA__V1__FINDING__MAYBE_FOUND_FOUND;
    finding->found = found->found;
    finding->confidence = found->confidence;
    finding->looked_for = arena_strndup(answer->arena, length ? found->looked_for.bytes : "", length);
    return finding->looked_for;
}

static bool say_reply(const struct extract *extract, struct answer *answer, struct failure *failure)
{
    struct buffer out;
    struct finding finding = {0};
    buffer_init(&out, SAID_MAX);
    bool good = extract_reply(extract, &out, &finding) && note_finding(answer, &finding)
                    ? say(extract, &out, answer, failure)
                    : fail(&failure->status, RESOURCE_EXHAUSTED, "the answer takes more memory than a call may have");
    buffer_fini(&out);
    return good;
}

static bool may_call_tools(const struct extract *extract)
{
    const Renga__V1__ChatRequest *request = extract->request;
    bool none =
        request->tool_choice && request->tool_choice->mode == RENGA__V1__TOOL_CHOICE_MODE__TOOL_CHOICE_MODE_NONE;
    return request->n_tools && !none && !extract->tools_answered;
}

static bool extractive_give(const struct extract *extract, struct answer *answer, struct failure *failure)
{
    enum extract_want want;
    size_t limit;
    if (!extract_want(extract, &want, &limit, failure))
        return false;
    if (want != WANT_REPLY)
        return say_object(extract, want, limit, answer, failure);
    if (may_call_tools(extract)) {
        if (extract_call_tools(extract, answer, failure))
            return true;
        if (failure->status.code != OK)
            return false;
    }
    return say_reply(extract, answer, failure);
}

static bool answer_chat(const struct chat_question *question, struct answer *answer, struct failure *failure)
{
    struct extract *extract = extract_read(answer->arena, question->request);
    if (!extract)
        return fail(&failure->status, RESOURCE_EXHAUSTED, "the request takes more memory than a call may have");
    extract->least_confidence = question->least_confidence / 100.0;
    answer_name(answer, "", "extractive");
    answer->japanese = extract->japanese;
    if (!extractive_give(extract, answer, failure))
        return false;
    if (answer->call_count)
        answer_stop(answer, words, "tool_calls");
    answer->ended = true;
    return true;
}

static Renga__V1__Degradation *degradation(struct arena *arena, const char *route, const struct answer *answer)
{
    Renga__V1__Degradation *said = arena_alloc(arena, sizeof *said);
    if (!said)
        return NULL;
    renga__v1__degradation__init(said);
    said->part = (char *)(uintptr_t)route;
    said->kind = RENGA__V1__DEGRADATION_KIND__DEGRADATION_KIND_EXTRACTIVE;
    said->reason =
        (char *)(uintptr_t)(answer->japanese ? "言語モデルは使われていません。見つかった文を抜き出しただけの回答です。"
                                             : "No language model answered: sentences were found, none were written.");
    return said;
}

const struct provider extractive_provider = {
    .name = "extractive",
    .unknown =
        PARAMETER_SAMPLING | PARAMETER_PENALTIES | PARAMETER_BIT(PARAMETER_SEED) | PARAMETER_BIT(PARAMETER_EFFORT),
    .answer_chat = answer_chat,
    .degradation = degradation,
};
