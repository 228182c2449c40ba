/* Reflect: is a subtask done? */
#include "findings.h"
#include "reviewer_priv.h"

#include "base/buffer.h"
#include "base/field_check.h"
#include "base/text.h"
#include "model_task/check.h"
#include "model_task/texts.h"
#include "words/grounding.h"

#include <string.h>

#define EARLIER_MAX   16
#define MISSING_SHOWN ((size_t)1024) /* bytes */

struct reflecting {
    struct model_task task; /* first */
    const Renga__V1__ReflectRequest *request;
    Renga__V1__ReflectResponse_Closure reply;
    Renga__V1__ReflectResponse response;
    Renga__V1__ReflectionResult result;
    bool cut; /* the model was not shown all tool results */
};

static const struct note RESULTS_CUT = {
    .ja = "ツールの結果が長いため、モデルには一部だけを見せました。",
    .en = "The tools found so much that the model was shown only a part of it.",
};

static const struct note misses = {
    .ja = "回答に、質問が求める数や日時がありません。見つかった記述から、それを示す文を答えてください。",
    .en = "The answer lacks the number or the date that is asked for. Answer with the sentence that has it.",
};

static const struct note echo = {
    .ja = "回答は質問を繰り返すだけです。見つかった記述から、答えとなる語を加えてください。",
    .en = "The answer only repeats the question. Add what the tool results say about it.",
};

/* ---- the request ------------------------------------------------------------------------------------------------- */

static bool reflect_check(const Renga__V1__ReflectRequest *request, struct status *st)
{
    if (!check_model_request(&request->base, request->prompting, st) ||
        !count_fits(st, "earlier_advice", request->n_earlier_advice, EARLIER_MAX))
        return false;
    for (size_t i = 0; i < request->n_earlier_advice; i++)
        if (!text_fits(st, path_of("earlier_advice", i, ""), request->earlier_advice[i], ADVICE_MAX))
            return false;
    return true;
}

/* ---- words of the tools' results
 * ------------------------------------------------------------------------------------- */

/* False without memory. */
static bool reflect_weigh(const Renga__V1__ReflectRequest *request, struct grounding *grounding)
{
    struct arena arena;
    arena_init(&arena, NULL, 0, WEIGHING_MEMORY_MAX);
    struct evidence *found = findings_weigh(&arena, request->tool_results, request->n_tool_results);
    struct claim subtask = {request->subtask, strlen(request->subtask)};
    struct claim answer = {request->answer, strlen(request->answer)};
    bool good = found && grounding_judge(found, subtask, answer, grounding);
    arena_fini(&arena);
    return good;
}

/* Why an answer is not complete, although a model took it as complete; NULL: it stands. Such an answer says no more
 * than the subtask, as one does that was cut off (a longer one is not compared), or it was taken from a place that
 * speaks of something else than the value that is asked for. */
static const struct note *reflect_objection(const Renga__V1__ReflectRequest *request)
{
    struct grounding grounding = {.sentences = 0};
    if (!reflect_weigh(request, &grounding) || grounding.completed)
        return NULL;
    if (strlen(request->answer) <= strlen(request->subtask) && grounding.echoes)
        return &echo;
    return grounding.misses ? &misses : NULL;
}

/* ---- with a model ------------------------------------------------------------------------------------------------ */

static void reflect_describe(struct model_task *task, cJSON *values)
{
    struct reflecting *reflecting = (struct reflecting *)task;
    const Renga__V1__ReflectRequest *request = reflecting->request;
    cJSON_AddStringToObject(values, "question", request->question);
    texts_describe(task, values, "plan", request->plan ? request->plan->subtasks : NULL,
                   request->plan ? request->plan->n_subtasks : 0);
    cJSON_AddStringToObject(values, "subtask", request->subtask);
    cJSON_AddStringToObject(values, "answer", request->answer);
    cJSON_AddNumberToObject(values, "challenge_count", request->challenge_count ? request->challenge_count : 1);
    texts_describe(task, values, "earlier_advice", request->earlier_advice, request->n_earlier_advice);
    reflecting->cut = !findings_describe(task, values, request->tool_results, request->n_tool_results);
}

static void reflect_judge(struct model_task *task, bool is_completed, char *advice)
{
    static const struct note no_advice = {
        .ja = "サブタスクが求めることに、見つかった文書の記述を挙げて答えてください。",
        .en = "Say what the subtask asks for, from the words of the documents that were found.",
    };
    struct reflecting *reflecting = (struct reflecting *)task;
    reflecting->result.is_completed = is_completed;
    reflecting->result.advice = advice;
    if (!is_completed && !*advice)
        reflecting->result.advice = UNCONST(model_task_note_text(task, &no_advice));
}

static bool reflect_read(struct model_task *task, const cJSON *answer, struct status *st)
{
    (void)st; /* an answer that fits the schema is accepted */
    bool is_completed = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(answer, "is_completed"));
    const struct note *objection = is_completed ? reflect_objection(((struct reflecting *)task)->request) : NULL;
    if (objection)
        reflect_judge(task, false, UNCONST(model_task_note_text(task, objection)));
    else
        reflect_judge(task, is_completed,
                      text_read(task, cJSON_GetObjectItemCaseSensitive(answer, "advice"), ADVICE_MAX));
    if (((struct reflecting *)task)->cut)
        model_task_degrade(task, RENGA__V1__DEGRADATION_KIND__DEGRADATION_KIND_PARTIAL, OK, &RESULTS_CUT);
    return true;
}

/* ---- without a model --------------------------------------------------------------------------------------------- */

static const char *name_missing(struct model_task *task, const char *subtask, const struct coverage *coverage)
{
    struct buffer list;
    buffer_init(&list, MISSING_SHOWN);
    for (size_t i = 0; i < coverage->missing_count; i++) {
        const struct span *span = &coverage->missing[i];
        if (list.length + (span->end - span->begin) + 8 < MISSING_SHOWN)
            buffer_printf(&list, "%s%.*s", i ? ", " : "", (int)(span->end - span->begin), subtask + span->begin);
    }
    if (!coverage->missing_count) /* its words occur, but in passages about another subject */
        buffer_append(&list, subtask, text_cut(subtask, strlen(subtask), MISSING_SHOWN));
    const char *names = model_task_text(task, buffer_text(&list), 0);
    buffer_fini(&list);
    return names;
}

static const char *name_other(struct model_task *task, const char *answer, struct span other)
{
    size_t length = other.end - other.begin;
    char *copy = model_task_printf(task, "%.*s", (int)text_cut(answer + other.begin, length, MISSING_SHOWN),
                                   answer + other.begin);
    return copy;
}

static void reflect_fallback(struct model_task *task)
{
    static const struct note uncovered = {
        .ja = "回答が次の点に触れていません: %s。これらの語で検索し、見つかった記述から答えてください。",
        .en = "The answer says nothing of: %s. Search for these words and answer from what is found.",
    };
    static const struct note unfound = {
        .ja = "回答の文が、ツールの結果の中に見つかりません。別の語で検索し、見つかった記述だけから答えてください。",
        .en = "The answer's sentences are not in what the tools found. Search with other words and answer from what is "
              "found alone.",
    };
    static const struct note other = {
        .ja = "回答の次の語句が、ツールの結果の該当箇所に見つかりません: %s。見つかった記述だけから答えてください。",
        .en = "Not found where the tool results speak of it: %s. Answer from what is found alone.",
    };
    const Renga__V1__ReflectRequest *request = ((struct reflecting *)task)->request;
    struct grounding grounding = {.sentences = 0};
    if (!reflect_weigh(request, &grounding) ||
        (!grounding.other.end && 2 * grounding.found <= grounding.sentences)) /* as grounding.h counts */
        reflect_judge(task, false, UNCONST(model_task_note_text(task, &unfound)));
    else if (grounding.completed)
        reflect_judge(task, true, model_task_text(task, "", 0));
    else if (grounding.other.end)
        reflect_judge(task, false,
                      model_task_compose(task, &other, name_other(task, request->answer, grounding.other), NULL));
    else if (grounding.echoes)
        reflect_judge(task, false, UNCONST(model_task_note_text(task, &echo)));
    else
        reflect_judge(
            task, false,
            model_task_compose(task, &uncovered, name_missing(task, request->subtask, &grounding.coverage), NULL));
}

/* ---- the call ---------------------------------------------------------------------------------------------------- */

static void reflect_write_answer(struct model_task *task)
{
    struct reflecting *reflecting = (struct reflecting *)task;
    Renga__V1__ReflectResponse *response = &reflecting->response;
    response->reflection = &reflecting->result;
    response->usage = &task->usage;
    response->model = UNCONST(task->model);
    response->degradations = task->degradations;
    response->n_degradations = task->degradation_count;
    reflecting->reply(response, task->call);
}

static const struct model_task_kind reflect_kind = {
    .name = "reflect",
    .part = "reflection",
    .schema = "{\"type\":\"object\",\"properties\":{\"advice\":{\"type\":\"string\"},\"is_completed\":{\"type\":"
              "\"boolean\"}},\"required\":[\"advice\",\"is_completed\"],\"additionalProperties\":false}",
    .fallback_note = {.ja = "回答の語句がツールの結果に見つかるかどうかだけで判定しました",
                      .en = "the answer was only compared with the words of what the tools found"},
    .describe = reflect_describe,
    .read = reflect_read,
    .fallback = reflect_fallback,
    .reply = reflect_write_answer,
};

void reflect_begin(struct reviewer *reviewer, struct rpc_call *call, const Renga__V1__ReflectRequest *request,
                   Renga__V1__ReflectResponse_Closure reply)
{
    struct status st = {0};
    if (!reflect_check(request, &st)) {
        rpc_fail(call, &st);
        return;
    }
    struct reflecting *reflecting = model_task_create(call, sizeof *reflecting);
    if (!reflecting)
        return;
    reflecting->request = request;
    reflecting->reply = reply;
    renga__v1__reflect_response__init(&reflecting->response);
    renga__v1__reflection_result__init(&reflecting->result);
    model_task_init(&reflecting->task, &reflect_kind, &reviewer->client, call, request->prompting, request->origin,
                    request->question);
    if (text_is_blank(request->answer)) {
        /* An empty answer cannot be complete: it is rejected without a model. */
        static const struct note nothing = {
            .ja = "まだ回答がありません。別の語やより広い語で検索し直し、見つかった記述から答えてください。",
            .en = "There is no answer yet. Search again with other or broader words, and answer from what is found.",
        };
        reflect_judge(&reflecting->task, false, UNCONST(model_task_note_text(&reflecting->task, &nothing)));
        model_task_rule(&reflecting->task);
    } else
        model_task_start(&reflecting->task);
}
