#include "model_task/model_task_priv.h"

#include "base/log.h"
#include "base/text.h"
#include "words/words.h"

#include <string.h>
#include <strings.h>

#define LANGUAGE_LOOK_MAX ((size_t)4096) /* bytes: a question shows its language early */
#define UNCONST(text)     ((char *)(uintptr_t)(text))

/* ---- the end ----------------------------------------------------------------------------------------------------- */

static void model_task_conclude(struct model_task *task, enum model_task_outcome outcome)
{
    if (rpc_call_arena(task->call)->exhausted) {
        struct status st = {0};
        fail(&st, RESOURCE_EXHAUSTED, "the answer takes more memory than a call may have");
        model_task_fail(task, &st);
        return;
    }
    model_client_count(task->client, task->kind->name, outcome);
    task->kind->reply(task);
}

void model_task_fail(struct model_task *task, const struct status *st)
{
    model_client_count(task->client, task->kind->name, MODEL_TASK_FAILED);
    model_task_attach_usage(task);
    rpc_fail(task->call, st);
}

void model_task_rule(struct model_task *task)
{
    model_task_conclude(task, MODEL_TASK_RULE);
}

static void fallback_run(struct job *job)
{
    struct model_task *task = CONTAINER_OF(job, struct model_task, fallback);
    task->kind->fallback(task);
}

static void fallback_ended(struct job *job)
{
    struct model_task *task = CONTAINER_OF(job, struct model_task, fallback);
    if (job->status.code == OK)
        model_task_conclude(task, MODEL_TASK_FALLBACK);
    else
        model_task_fail(task, &job->status);
}

static void model_task_caller_left(struct rpc_call *call, void *data)
{
    struct model_task *task = data;
    job_cancel(&task->fallback);
    job_cancel(&task->reading);
}

static void start_simple(struct model_task *task)
{
    rpc_call_job(task->call, &task->fallback);
    task->fallback.run = fallback_run;
    task->fallback.ended = fallback_ended;
    rpc_call_on_cancel(task->call, model_task_caller_left, task);
    job_start(&task->fallback, rpc_call_received_bytes(task->call));
}

void model_task_give_up(struct model_task *task, const struct status *why)
{
    struct status st = *why;
    if (model_task_is_caller_error(task, &st) || task->prompting->model_required) {
        model_task_fail(task, &st);
        return;
    }
    log_info("model_task.fallback", "%s: %s: %s", task->kind->name, status_code_name((int)st.code), st.text);
    task->model = "";
    task->degradation_count = 0; /* the model's degradations do not apply to the fallback's result */
    static const struct note form = {
        .ja = "モデルから使える回答が得られなかったため（%s）、%s。",
        .en = "No model gave a usable answer (%s), so %s.",
    };
    struct note reason = {0};
    const char *text = model_task_compose(task, &form, status_code_name((int)st.code),
                                          model_task_note_text(task, &task->kind->fallback_note));
    reason.ja = reason.en = text;
    model_task_degrade(task, RENGA__V1__DEGRADATION_KIND__DEGRADATION_KIND_FALLBACK, st.code, &reason);
    start_simple(task);
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

static bool may_ask_again(const struct model_task *task)
{
    return !task->correcting && model_task_calls_left(task) > 0 && !rpc_call_cancelled(task->call);
}

static void reading_run(struct job *job)
{
    struct model_task *task = CONTAINER_OF(job, struct model_task, reading);
    task->good = model_task_read(task, task->answer_text, &task->correctable, &task->problem);
}

static void reading_ended(struct job *job)
{
    struct model_task *task = CONTAINER_OF(job, struct model_task, reading);
    if (job->status.code != OK) {
        model_task_fail(task, &job->status);
    } else if (task->good) {
        model_task_conclude(task, MODEL_TASK_MODEL);
    } else if (task->correctable && may_ask_again(task)) {
        task->correcting = true;
        model_task_ask_again(task, task->answer_text, task->problem.text);
    } else {
        model_task_give_up(task, &task->problem);
    }
}

static void hear(struct model_task *task, const Renga__V1__ChatResponse *answer)
{
    struct status st = {0};
    model_task_take_finish(task, answer->finish);
    if (model_task_has_answer(answer, &st)) {
        const char *json = answer->finish->structured_json;
        task->answer_text = model_task_text(task, json, 0);
        task->problem = (struct status){0};
        rpc_call_job(task->call, &task->reading);
        task->reading.run = reading_run;
        task->reading.ended = reading_ended;
        rpc_call_on_cancel(task->call, model_task_caller_left, task);
        job_start(&task->reading, strlen(task->answer_text) + rpc_call_received_bytes(task->call));
    } else
        model_task_give_up(task, &st);
}

void model_task_answered(const Renga__V1__ChatResponse *answer, void *data)
{
    struct model_task *task = ((struct rpc_client_call *)data)->owner;
    struct status st = task->asking.status;
    if (answer && answer->finish && answer->message) {
        hear(task, answer);
        return;
    }
    if (answer)
        fail(&st, DATA_LOSS, "the gateway's answer has no end");
    model_task_take_failure(task);
    if (!answer && rpc_client_call_is_lost(&task->asking) && model_task_ask_later(task))
        return;
    model_task_give_up(task, &st);
}

/* ---- the beginning ----------------------------------------------------------------------------------------------- */

void *model_task_create(struct rpc_call *call, size_t size)
{
    void *task = arena_zalloc(rpc_call_arena(call), size);
    if (!task)
        rpc_fail_with(call, RESOURCE_EXHAUSTED, "the request takes all the memory that a call may have");
    return task;
}

static bool model_task_is_japanese(const char *tag)
{
    return strncasecmp(tag, "ja", 2) == 0 && (tag[2] == '\0' || tag[2] == '-');
}

void model_task_init(struct model_task *task, const struct model_task_kind *kind, const struct model_client *client,
                     struct rpc_call *call, const Renga__V1__Prompting *prompting, const Renga__V1__CallOrigin *origin,
                     const char *about)
{
    static const Renga__V1__Prompting none = RENGA__V1__PROMPTING__INIT;
    task->kind = kind;
    task->client = client;
    task->call = call;
    task->prompting = prompting ? prompting : &none;
    task->origin = origin;
    const char *wanted = task->prompting->language;
    task->language = wanted[0] ? wanted : words_language(about, strnlen(about, LANGUAGE_LOOK_MAX));
    task->japanese = model_task_is_japanese(task->language);
    task->model = "";
    renga__v1__usage__init(&task->usage);
}

void model_task_start(struct model_task *task)
{
    static const struct note unasked = {.ja = "モデルを使わずに判定しました。", .en = "No model was asked."};
    struct status st = {0};
    if (task->prompting->without_model) {
        model_task_degrade(task, RENGA__V1__DEGRADATION_KIND__DEGRADATION_KIND_FALLBACK, OK, &unasked);
        start_simple(task);
        return;
    }
    if (!model_task_write_turns(task, &st))
        model_task_give_up(task, &st);
    else if (!task->client->gateway)
        model_task_give_up(task, fail_no_gateway(&st, task->client->service));
    else
        model_task_ask(task);
}

/* ---- for kinds --------------------------------------------------------------------------------------------------- */

const char *model_task_note_text(const struct model_task *task, const struct note *note)
{
    return task->japanese ? note->ja : note->en;
}

void model_task_degrade(struct model_task *task, Renga__V1__DegradationKind kind, enum status_code code,
                        const struct note *reason)
{
    Renga__V1__Degradation *degradation = model_task_alloc(task, sizeof *degradation);
    if (!degradation || task->degradation_count == MODEL_TASK_DEGRADATIONS_MAX)
        return;
    renga__v1__degradation__init(degradation);
    degradation->part = UNCONST(task->kind->part);
    degradation->kind = kind;
    degradation->reason = UNCONST(model_task_note_text(task, reason));
    degradation->status_code = (int32_t)code;
    task->degradations[task->degradation_count++] = degradation;
}

char *model_task_text(struct model_task *task, const char *text, size_t max)
{
    static char none[1];
    size_t length = strlen(text);
    char *copy = arena_strndup(rpc_call_arena(task->call), text, max ? text_cut(text, length, max) : length);
    return copy ? copy : none;
}

char *model_task_printf(struct model_task *task, const char *format, ...)
{
    static char none[1];
    va_list arguments;
    va_start(arguments, format);
    char *text = arena_vprintf(rpc_call_arena(task->call), format, arguments);
    va_end(arguments);
    return text ? text : none;
}

char *model_task_compose(struct model_task *task, const struct note *form, const char *first, const char *second)
{
    const char *text = model_task_note_text(task, form), *place = strstr(text, "%s");
    if (!place)
        return model_task_text(task, text, 0);
    const char *rest = place + 2, *next = second ? strstr(rest, "%s") : NULL;
    if (!next)
        return model_task_printf(task, "%.*s%s%s", (int)(place - text), text, first, rest);
    return model_task_printf(task, "%.*s%s%.*s%s%s", (int)(place - text), text, first, (int)(next - rest), rest, second,
                             next + 2);
}

void *model_task_alloc(struct model_task *task, size_t size)
{
    return arena_zalloc(rpc_call_arena(task->call), size);
}
