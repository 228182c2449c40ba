/* The question: prompts filled with the values of the request, and the terms on which the gateway is asked. */
#include "thinking/thought_priv.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/template.h"

#include <string.h>

#define PROMPT_MAX        ((size_t)1 << 20) /* bytes of one turn, as the gateway allows */
#define MODEL_CALLS       3                 /* where the request does not say */
#define UNCONST(text)     ((char *)(uintptr_t)(text))
#define ROLE(name)        RENGA__V1__CHAT_ROLE__CHAT_ROLE_##name
#define VARIABLES         "prompting.variables_json"
#define SYSTEM_TURN_FIELD "prompting.system_template"
#define USER_TURN_FIELD   "prompting.user_template"

/* Pauses before the gateway is asked again: longer in all than a process takes to restart. */
static const int64_t lost_pauses_ms[] = {100, 200, 400, 800, 1500};
#define LOST_MAX (sizeof lost_pauses_ms / sizeof *lost_pauses_ms)

enum { TURN_SYSTEM, TURN_USER, TURN_ANSWER, TURN_COMPLAINT };

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* The language as prompts name it to a model. */
static const char *name_of_language(struct thought *thought)
{
    if (thought->japanese)
        return "日本語";
    if (strncmp(thought->language, "en", 2) == 0)
        return "English";
    return thought_printf(thought, "the language with the BCP 47 tag \"%s\"", thought->language);
}

static bool add_variable(cJSON *values, cJSON *variable, struct status *st)
{
    const char *name = variable->string;
    if (!cJSON_IsString(variable))
        return fail_field(st, VARIABLES, "'%.40s' must be a string", name);
    if (cJSON_GetObjectItemCaseSensitive(values, name))
        return fail_field(st, VARIABLES, "names '%.40s', which the request has too; choose another name", name);
    return true;
}

static bool add_variables(cJSON *values, const char *json, struct status *st)
{
    struct status why = {0};
    if (!json[0])
        return true;
    cJSON *variables = json_parse(json, strlen(json), NULL, &why);
    if (!variables)
        return fail_field(st, VARIABLES, "is not JSON: %s", why.text);
    bool good = cJSON_IsObject(variables) || fail_field(st, VARIABLES, "must be a JSON object of strings, {…}");
    while (good && variables->child) {
        cJSON *variable = cJSON_DetachItemViaPointer(variables, variables->child);
        good = add_variable(values, variable, st);
        if (good)
            cJSON_AddItemToObject(values, variable->string, variable);
        else
            cJSON_Delete(variable);
    }
    cJSON_Delete(variables);
    return good;
}

/* ---- prompts ----------------------------------------------------------------------------------------------------- */

static bool fill(struct thought *thought, int turn, const char *form, const char *field, const cJSON *values,
                 struct status *st)
{
    struct status why = {0};
    struct buffer text;
    buffer_init(&text, PROMPT_MAX);
    bool good = template_fill(form, values, &text, &why);
    bool too_long = text.failed;
    char *copy = good && !too_long ? thought_text(thought, buffer_text(&text), 0) : NULL;
    buffer_fini(&text);
    if (!good)
        return field ? fail_field(st, field, "%s", why.text) : fail(st, INTERNAL, "our own prompt: %s", why.text);
    if (too_long && field)
        return fail_field(st, field, "is longer than %zu bytes when it is filled", PROMPT_MAX);
    if (too_long)
        return fail(st, RESOURCE_EXHAUSTED, "the prompt would be longer than %zu bytes", PROMPT_MAX);
    thought->turns[turn].content = copy;
    return true;
}

/* The caller's template, or our own where it gives none. */
static bool fill_turn(struct thought *thought, int turn, const cJSON *values, struct status *st)
{
    bool system = turn == TURN_SYSTEM;
    const Renga__V1__Prompting *prompting = thought->prompting;
    const char *given = system ? prompting->system_template : prompting->user_template;
    const char *field = system ? SYSTEM_TURN_FIELD : USER_TURN_FIELD;
    const char *own =
        thinker_prompt(thought->thinker, thought->japanese, thought->kind->name, system ? "system" : "user");
    return fill(thought, turn, given[0] ? given : own, given[0] ? field : NULL, values, st);
}

static void begin_turns(struct thought *thought)
{
    static const Renga__V1__ChatRole roles[] = {ROLE(SYSTEM), ROLE(USER), ROLE(ASSISTANT), ROLE(USER)};
    for (int i = 0; i <= TURN_COMPLAINT; i++) {
        renga__v1__chat_message__init(&thought->turns[i]);
        thought->turns[i].role = roles[i];
        thought->turn_list[i] = &thought->turns[i];
    }
}

bool thought_write_turns(struct thought *thought, struct status *st)
{
    cJSON *values = cJSON_CreateObject();
    begin_turns(thought);
    cJSON_AddStringToObject(values, "language", name_of_language(thought));
    thought->kind->describe(thought, values);
    bool good = add_variables(values, thought->prompting->variables_json, st) &&
                fill_turn(thought, TURN_SYSTEM, values, st) && fill_turn(thought, TURN_USER, values, st);
    cJSON_Delete(values);
    return good;
}

/* ---- terms ------------------------------------------------------------------------------------------------------- */

int64_t thought_calls_left(const struct thought *thought)
{
    int64_t most = thought->prompting->max_model_calls ? thought->prompting->max_model_calls : MODEL_CALLS;
    return most - thought->usage.model_calls;
}

static void set_format(struct thought *thought)
{
    Renga__V1__ResponseFormat *format = &thought->format;
    renga__v1__response_format__init(format);
    format->kind = RENGA__V1__RESPONSE_FORMAT_KIND__RESPONSE_FORMAT_KIND_JSON_SCHEMA;
    format->name = UNCONST(thought->kind->name);
    format->schema_json = UNCONST(thought->kind->schema);
    format->strict = true;
    thought->request.response_format = format;
}

static void set_terms(struct thought *thought)
{
    const Renga__V1__Prompting *prompting = thought->prompting;
    Renga__V1__ChatRequest *request = &thought->request;
    renga__v1__chat_request__init(request);
    request->model = prompting->model[0] ? prompting->model : UNCONST(thought->thinker->model);
    request->messages = thought->turn_list;
    request->n_messages = thought->mending ? TURN_COMPLAINT + 1 : TURN_USER + 1;
    request->max_output_tokens = prompting->max_output_tokens;
    request->max_model_calls = (int32_t)thought_calls_left(thought);
    request->origin = (Renga__V1__CallOrigin *)(uintptr_t)thought->origin; /* protobuf-c knows no const */
    set_format(thought);
    if (!prompting->maybe_temperature_case)
        return;
    renga__v1__sampling__init(&thought->sampling);
    thought->sampling.maybe_temperature_case = RENGA__V1__SAMPLING__MAYBE_TEMPERATURE_TEMPERATURE;
    thought->sampling.temperature = prompting->temperature;
    request->sampling = &thought->sampling;
}

void thought_ask(struct thought *thought)
{
    set_terms(thought);
    rpc_client_call_init(&thought->asking, rpc_call_loop(thought->call), thought->call);
    thought->asking.owner = thought;
    thought->asking.timeout_ms = thought->thinker->timeout_ms;
    renga__v1__llm_gateway__chat(thought->thinker->gateway, &thought->request, thought_heard, &thought->asking);
}

static void thought_paused(struct timer *timer)
{
    struct thought *thought = OWNER_OF(timer, struct thought, pause);
    struct status st = {0};
    rpc_call_on_cancel(thought->call, NULL, NULL);
    if (rpc_call_cancelled(thought->call)) {
        fail(&st, CANCELLED, "the caller left");
        thought_give_up(thought, &st);
    } else {
        thought_ask(thought);
    }
}

static void thought_pause_cancelled(struct rpc_call *call, void *data)
{
    struct thought *thought = data;
    loop_arm_after(rpc_call_loop(call), &thought->pause, 0);
}

bool thought_ask_later(struct thought *thought)
{
    if (thought->lost == LOST_MAX || rpc_call_cancelled(thought->call))
        return false;
    int64_t pause_ms = lost_pauses_ms[thought->lost++];
    if (clock_now_ns() + pause_ms * NS_PER_MS >= rpc_call_deadline_ns(thought->call))
        return false;
    thought->pause.expired = thought_paused;
    rpc_call_on_cancel(thought->call, thought_pause_cancelled, thought);
    loop_arm_after(rpc_call_loop(thought->call), &thought->pause, pause_ms);
    return true;
}

void thought_ask_again(struct thought *thought, char *answer, const char *problem)
{
    static const struct note complaint = {
        .ja = "この回答は使えません: %s\n訂正したJSONの全体だけを、もう一度答えてください。",
        .en = "This answer cannot be used: %s\nAnswer again with the whole JSON, corrected, and nothing else.",
    };
    thought->turns[TURN_ANSWER].content = answer;
    thought->turns[TURN_COMPLAINT].content = thought_compose(thought, &complaint, problem, NULL);
    thought_ask(thought);
}
