#include "thinking/thought_priv.h"

#include "base/log.h"
#include "base/text.h"
#include "words/words.h"

#include <string.h>
#include <strings.h>

#define LANGUAGE_LOOK_MAX ((size_t)4096) /* bytes: a question shows its language early */
#define UNCONST(text)     ((char *)(uintptr_t)(text))

/* ---- the end ----------------------------------------------------------------------------------------------------- */

static void conclude(struct thought *thought, enum thought_way way)
{
    if (rpc_call_arena(thought->call)->exhausted) {
        struct status st = {0};
        fail(&st, RESOURCE_EXHAUSTED, "the answer takes more memory than a call may have");
        thought_fail(thought, &st);
        return;
    }
    thinker_count(thought->thinker, thought->kind->name, way);
    thought->kind->reply(thought);
}

void thought_fail(struct thought *thought, const struct status *st)
{
    thinker_count(thought->thinker, thought->kind->name, THOUGHT_FAILED);
    thought_tell_usage(thought);
    rpc_fail(thought->call, st);
}

void thought_rule(struct thought *thought)
{
    conclude(thought, THOUGHT_RULE);
}

static void say_why(struct thought *thought, const struct status *why)
{
    static const struct note form = {
        .ja = "モデルから使える回答が得られなかったため（%s）、%s。",
        .en = "No model gave a usable answer (%s), so %s.",
    };
    struct note reason = {0};
    const char *text = thought_compose(thought, &form, status_code_name((int)why->code),
                                       thought_say(thought, &thought->kind->fallback));
    reason.ja = reason.en = text;
    thought_degrade(thought, RENGA__V1__DEGRADATION_KIND__DEGRADATION_KIND_FALLBACK, why->code, &reason);
}

static void simple_run(struct job *job)
{
    struct thought *thought = OWNER_OF(job, struct thought, simple);
    thought->kind->simple(thought);
}

static void simple_ended(struct job *job)
{
    struct thought *thought = OWNER_OF(job, struct thought, simple);
    if (job->status.code == OK)
        conclude(thought, THOUGHT_SIMPLE);
    else
        thought_fail(thought, &job->status);
}

static void caller_left(struct rpc_call *call, void *data)
{
    struct thought *thought = data;
    job_cancel(&thought->simple);
    job_cancel(&thought->reading);
}

static void start_simple(struct thought *thought)
{
    rpc_call_job(thought->call, &thought->simple);
    thought->simple.run = simple_run;
    thought->simple.ended = simple_ended;
    rpc_call_on_cancel(thought->call, caller_left, thought);
    job_start(&thought->simple, rpc_call_received_bytes(thought->call));
}

void thought_give_up(struct thought *thought, const struct status *why)
{
    struct status st = *why;
    if (thought_is_callers(thought, &st) || thought->prompting->model_required) {
        thought_fail(thought, &st);
        return;
    }
    log_info("thinking.fallback", "%s: %s: %s", thought->kind->name, status_code_name((int)st.code), st.text);
    thought->model = "";
    thought->degradation_count = 0; /* the model's own say nothing of what is made without it */
    say_why(thought, &st);
    start_simple(thought);
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

static bool may_ask_again(const struct thought *thought)
{
    return !thought->mending && thought_calls_left(thought) > 0 && !rpc_call_cancelled(thought->call);
}

static void reading_run(struct job *job)
{
    struct thought *thought = OWNER_OF(job, struct thought, reading);
    thought->good = thought_read(thought, thought->heard, &thought->mendable, &thought->problem);
}

static void reading_ended(struct job *job)
{
    struct thought *thought = OWNER_OF(job, struct thought, reading);
    if (job->status.code != OK) {
        thought_fail(thought, &job->status);
    } else if (thought->good) {
        conclude(thought, THOUGHT_MODEL);
    } else if (thought->mendable && may_ask_again(thought)) {
        thought->mending = true;
        thought_ask_again(thought, thought->heard, thought->problem.text);
    } else {
        thought_give_up(thought, &thought->problem);
    }
}

static void start_reading(struct thought *thought, const char *json)
{
    thought->heard = thought_text(thought, json, 0);
    thought->problem = (struct status){0};
    rpc_call_job(thought->call, &thought->reading);
    thought->reading.run = reading_run;
    thought->reading.ended = reading_ended;
    rpc_call_on_cancel(thought->call, caller_left, thought);
    job_start(&thought->reading, strlen(thought->heard) + rpc_call_received_bytes(thought->call));
}

static void hear(struct thought *thought, const Renga__V1__ChatResponse *answer)
{
    struct status st = {0};
    thought_take_finish(thought, answer->finish);
    if (thought_has_answer(answer, &st))
        start_reading(thought, answer->finish->structured_json);
    else
        thought_give_up(thought, &st);
}

void thought_heard(const Renga__V1__ChatResponse *answer, void *data)
{
    struct thought *thought = ((struct rpc_client_call *)data)->owner;
    struct status st = thought->asking.status;
    if (answer && answer->finish && answer->message) {
        hear(thought, answer);
        return;
    }
    if (answer)
        fail(&st, DATA_LOSS, "the gateway's answer has no end");
    thought_take_failure(thought);
    if (!answer && rpc_client_call_is_lost(&thought->asking) && thought_ask_later(thought))
        return;
    thought_give_up(thought, &st);
}

/* ---- the beginning ----------------------------------------------------------------------------------------------- */

void *thought_create(struct rpc_call *call, size_t size)
{
    void *thought = arena_zalloc(rpc_call_arena(call), size);
    if (!thought)
        rpc_fail_with(call, RESOURCE_EXHAUSTED, "the request takes all the memory that a call may have");
    return thought;
}

static bool is_japanese(const char *tag)
{
    return strncasecmp(tag, "ja", 2) == 0 && (tag[2] == '\0' || tag[2] == '-');
}

void thought_init(struct thought *thought, const struct thought_kind *kind, const struct thinker *thinker,
                  struct rpc_call *call, const Renga__V1__Prompting *prompting, const Renga__V1__CallOrigin *origin,
                  const char *about)
{
    static const Renga__V1__Prompting none = RENGA__V1__PROMPTING__INIT;
    thought->kind = kind;
    thought->thinker = thinker;
    thought->call = call;
    thought->prompting = prompting ? prompting : &none;
    thought->origin = origin;
    const char *wanted = thought->prompting->language;
    thought->language = wanted[0] ? wanted : words_language(about, strnlen(about, LANGUAGE_LOOK_MAX));
    thought->japanese = is_japanese(thought->language);
    thought->model = "";
    renga__v1__usage__init(&thought->usage);
}

void thought_start(struct thought *thought)
{
    static const struct note unasked = {.ja = "モデルを使わずに判定しました。", .en = "No model was asked."};
    struct status st = {0};
    if (thought->prompting->without_model) {
        thought_degrade(thought, RENGA__V1__DEGRADATION_KIND__DEGRADATION_KIND_FALLBACK, OK, &unasked);
        start_simple(thought);
        return;
    }
    if (!thought_write_turns(thought, &st))
        thought_give_up(thought, &st);
    else if (!thought->thinker->gateway)
        thought_give_up(thought, fail_no_gateway(&st, thought->thinker->service));
    else
        thought_ask(thought);
}

/* ---- for kinds --------------------------------------------------------------------------------------------------- */

const char *thought_say(const struct thought *thought, const struct note *note)
{
    return thought->japanese ? note->ja : note->en;
}

void thought_degrade(struct thought *thought, Renga__V1__DegradationKind kind, enum status_code code,
                     const struct note *reason)
{
    Renga__V1__Degradation *degradation = thought_alloc(thought, sizeof *degradation);
    if (!degradation || thought->degradation_count == THOUGHT_DEGRADATIONS_MAX)
        return;
    renga__v1__degradation__init(degradation);
    degradation->part = UNCONST(thought->kind->part);
    degradation->kind = kind;
    degradation->reason = UNCONST(thought_say(thought, reason));
    degradation->status_code = (int32_t)code;
    thought->degradations[thought->degradation_count++] = degradation;
}

char *thought_text(struct thought *thought, const char *text, size_t max)
{
    static char none[1];
    size_t length = strlen(text);
    char *copy = arena_strndup(rpc_call_arena(thought->call), text, max ? text_cut(text, length, max) : length);
    return copy ? copy : none;
}

char *thought_printf(struct thought *thought, const char *format, ...)
{
    static char none[1];
    va_list arguments;
    va_start(arguments, format);
    char *text = arena_vprintf(rpc_call_arena(thought->call), format, arguments);
    va_end(arguments);
    return text ? text : none;
}

char *thought_compose(struct thought *thought, const struct note *form, const char *first, const char *second)
{
    const char *text = thought_say(thought, form), *place = strstr(text, "%s");
    if (!place)
        return thought_text(thought, text, 0);
    const char *rest = place + 2, *next = second ? strstr(rest, "%s") : NULL;
    if (!next)
        return thought_printf(thought, "%.*s%s%s", (int)(place - text), text, first, rest);
    return thought_printf(thought, "%.*s%s%.*s%s%s", (int)(place - text), text, first, (int)(next - rest), rest, second,
                          next + 2);
}

void *thought_alloc(struct thought *thought, size_t size)
{
    return arena_zalloc(rpc_call_arena(thought->call), size);
}
