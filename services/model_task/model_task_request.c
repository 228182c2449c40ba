/* The question: prompts filled with the values of the request, and the terms on which the gateway is asked. */
#include "model_task/model_task_priv.h"

#include "base/clock.h"
#include "json/json.h"
#include "json/template.h"

#include <string.h>

#define PROMPT_MAX        ((size_t)1 << 20) /* bytes of one turn, as the gateway allows */
#define MODEL_CALLS       3                 /* default for requests without a limit */
#define UNCONST(text)     ((char *)(uintptr_t)(text))
#define ROLE(name)        RENGA__V1__CHAT_ROLE__CHAT_ROLE_##name
#define VARIABLES         "prompting.variables_json"
#define SYSTEM_TURN_FIELD "prompting.system_template"
#define USER_TURN_FIELD   "prompting.user_template"

/* Pauses before the gateway is asked again: longer in all than a process takes to restart. */
static const int64_t lost_pauses_ms[] = {100, 200, 400, 800, 1500};
#define LOST_MAX (sizeof lost_pauses_ms / sizeof *lost_pauses_ms)

enum { TURN_SYSTEM, TURN_USER, TURN_ANSWER, TURN_CORRECTION };

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* The language as prompts name it to a model. */
static const char *name_of_language(struct model_task *task)
{
    if (task->japanese)
        return "日本語";
    if (strncmp(task->language, "en", 2) == 0)
        return "English";
    return model_task_printf(task, "the language with the BCP 47 tag \"%s\"", task->language);
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

static bool model_task_request_fill(struct model_task *task, int turn, const char *form, const char *field,
                                    const cJSON *values, struct status *st)
{
    struct status why = {0};
    struct buffer text;
    buffer_init(&text, PROMPT_MAX);
    bool good = template_fill(form, values, &text, &why);
    bool too_long = text.failed;
    char *copy = good && !too_long ? model_task_text(task, buffer_text(&text), 0) : NULL;
    buffer_fini(&text);
    if (!good)
        return field ? fail_field(st, field, "%s", why.text) : fail(st, INTERNAL, "our own prompt: %s", why.text);
    if (too_long && field)
        return fail_field(st, field, "is longer than %zu bytes when it is filled", PROMPT_MAX);
    if (too_long)
        return fail(st, RESOURCE_EXHAUSTED, "the prompt would be longer than %zu bytes", PROMPT_MAX);
    task->turns[turn].content = copy;
    return true;
}

/* The caller's template, or our own by default. */
static bool fill_turn(struct model_task *task, int turn, const cJSON *values, struct status *st)
{
    bool system = turn == TURN_SYSTEM;
    const Renga__V1__Prompting *prompting = task->prompting;
    const char *given = system ? prompting->system_template : prompting->user_template;
    const char *field = system ? SYSTEM_TURN_FIELD : USER_TURN_FIELD;
    const char *own = model_client_prompt(task->client, task->japanese, task->kind->name, system ? "system" : "user");
    return model_task_request_fill(task, turn, given[0] ? given : own, given[0] ? field : NULL, values, st);
}

bool model_task_write_turns(struct model_task *task, struct status *st)
{
    cJSON *values = cJSON_CreateObject();
    static const Renga__V1__ChatRole roles[] = {ROLE(SYSTEM), ROLE(USER), ROLE(ASSISTANT), ROLE(USER)};
    for (int i = 0; i <= TURN_CORRECTION; i++) {
        renga__v1__chat_message__init(&task->turns[i]);
        task->turns[i].role = roles[i];
        task->turn_list[i] = &task->turns[i];
    }
    cJSON_AddStringToObject(values, "language", name_of_language(task));
    task->kind->describe(task, values);
    bool good = add_variables(values, task->prompting->variables_json, st) &&
                fill_turn(task, TURN_SYSTEM, values, st) && fill_turn(task, TURN_USER, values, st);
    cJSON_Delete(values);
    return good;
}

/* ---- terms ------------------------------------------------------------------------------------------------------- */

int64_t model_task_calls_left(const struct model_task *task)
{
    int64_t most = task->prompting->max_model_calls ? task->prompting->max_model_calls : MODEL_CALLS;
    return most - task->usage.model_calls;
}

static void model_task_request_set_terms(struct model_task *task)
{
    const Renga__V1__Prompting *prompting = task->prompting;
    Renga__V1__ChatRequest *request = &task->request;
    renga__v1__chat_request__init(request);
    request->model = prompting->model[0] ? prompting->model : UNCONST(task->client->model);
    request->messages = task->turn_list;
    request->n_messages = task->correcting ? TURN_CORRECTION + 1 : TURN_USER + 1;
    request->max_output_tokens = prompting->max_output_tokens;
    request->max_model_calls = (int32_t)model_task_calls_left(task);
    request->origin = (Renga__V1__CallOrigin *)(uintptr_t)task->origin; /* protobuf-c knows no const */
    Renga__V1__ResponseFormat *format = &task->format;
    renga__v1__response_format__init(format);
    format->kind = RENGA__V1__RESPONSE_FORMAT_KIND__RESPONSE_FORMAT_KIND_JSON_SCHEMA;
    format->name = UNCONST(task->kind->name);
    format->schema_json = UNCONST(task->kind->schema);
    format->strict = true;
    task->request.response_format = format;
    if (!prompting->maybe_temperature_case)
        return;
    renga__v1__sampling__init(&task->sampling);
    task->sampling.maybe_temperature_case = RENGA__V1__SAMPLING__MAYBE_TEMPERATURE_TEMPERATURE;
    task->sampling.temperature = prompting->temperature;
    request->sampling = &task->sampling;
}

void model_task_ask(struct model_task *task)
{
    model_task_request_set_terms(task);
    rpc_client_call_init(&task->asking, rpc_call_loop(task->call), task->call);
    task->asking.owner = task;
    task->asking.timeout_ms = task->client->timeout_ms;
    renga__v1__llm_gateway__chat(task->client->gateway, &task->request, model_task_answered, &task->asking);
}

static void model_task_paused(struct timer *timer)
{
    struct model_task *task = CONTAINER_OF(timer, struct model_task, pause);
    struct status st = {0};
    rpc_call_on_cancel(task->call, NULL, NULL);
    if (rpc_call_cancelled(task->call)) {
        fail(&st, CANCELLED, "the caller left");
        model_task_give_up(task, &st);
    } else {
        model_task_ask(task);
    }
}

static void model_task_pause_cancelled(struct rpc_call *call, void *data)
{
    struct model_task *task = data;
    loop_arm_after(rpc_call_loop(call), &task->pause, 0);
}

bool model_task_ask_later(struct model_task *task)
{
    if (task->lost == LOST_MAX || rpc_call_cancelled(task->call))
        return false;
    int64_t pause_ms = lost_pauses_ms[task->lost++];
    if (clock_now_ns() + pause_ms * NS_PER_MS >= rpc_call_deadline_ns(task->call))
        return false;
    task->pause.expired = model_task_paused;
    rpc_call_on_cancel(task->call, model_task_pause_cancelled, task);
    loop_arm_after(rpc_call_loop(task->call), &task->pause, pause_ms);
    return true;
}

void model_task_ask_again(struct model_task *task, char *answer, const char *problem)
{
    static const struct note complaint = {
        .ja = "この回答は使えません: %s\n訂正したJSONの全体だけを、もう一度答えてください。",
        .en = "This answer cannot be used: %s\nAnswer again with the whole JSON, corrected, and nothing else.",
    };
    task->turns[TURN_ANSWER].content = answer;
    task->turns[TURN_CORRECTION].content = model_task_compose(task, &complaint, problem, NULL);
    model_task_ask(task);
}
