/* Asks a model: a prompt of the agent, filled with the node's inputs, goes to the gateway; the answer goes into a
 * field. */
#include "node_kind.h"
#include "orchestrator_priv.h"
#include "template.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "graph/agents.h"
#include "rpc/rpc.h"

#include "renga/v1/llm_gateway.pb-c.h"

#include <string.h>

#define PROMPT_MAX       ((size_t)1 << 20)
#define HISTORY_MAX      1000
#define CHAT_CALL_MAX_MS (INT64_C(24) * 3600000) /* where the document sets no timeout */
#define UNCONST(text)    ((char *)(uintptr_t)(text))

enum { CHAT_PROMPT, CHAT_SYSTEM, CHAT_INTO, CHAT_MODEL, CHAT_HISTORY, CHAT_SCHEMA, CHAT_TOKENS };

static const struct node_parameter parameters[] = {
    [CHAT_PROMPT] = {.name = "prompt",
                     .type = PARAMETER_PROMPT,
                     .required = true,
                     .help = "What is asked: {field} stands for an input of the node, {{ and }} for braces."},
    [CHAT_SYSTEM] = {.name = "system", .type = PARAMETER_PROMPT, .help = "The rules of the conversation, likewise."},
    [CHAT_INTO] = {.name = "into",
                   .type = PARAMETER_FIELD,
                   .required = true,
                   .help =
                       "Where the answer goes: a string; with a schema anything; or a list of objects, which gets the "
                       "turn as {\"role\": \"assistant\", \"content\": …}."},
    [CHAT_MODEL] = {.name = "model", .type = PARAMETER_TEXT, .help = "A route of the gateway; else \"default\"."},
    [CHAT_HISTORY] = {.name = "history",
                      .type = PARAMETER_FIELD,
                      .help =
                          "Turns before the prompt: a list of objects with \"role\" (user, assistant or system) and "
                          "\"content\"; one of the inputs."},
    [CHAT_SCHEMA] = {.name = "schema",
                     .type = PARAMETER_JSON,
                     .help = "A JSON Schema that the answer must fit; the gateway checks it and has it repaired once."},
    [CHAT_TOKENS] = {.name = "max_output_tokens", .type = PARAMETER_INTEGER, .help = "Longest answer, in tokens."},
    {.name = NULL},
};
static const char *const outcomes[] = {"replied", NULL};

static bool check(const struct node *node, struct status *st)
{
    const struct field *into = node_argument(node, CHAT_INTO)->field;
    const struct field *history = node_argument(node, CHAT_HISTORY)->field;
    bool schema = node_argument(node, CHAT_SCHEMA)->text != NULL;
    bool turns = into->list && (into->type == FIELD_OBJECT || into->type == FIELD_ANY);
    bool text = !into->list && (into->type == FIELD_STRING || into->type == FIELD_ANY);
    if (!schema && !turns && !text)
        return fail_field(st, "into", "'%s' takes neither a string nor turns; name another field, or give a schema",
                          into->name);
    if (history && !(history->list && (history->type == FIELD_OBJECT || history->type == FIELD_ANY)))
        return fail_field(st, "history", "'%s' is no list of objects", history->name);
    return true;
}

/* ---- the question ------------------------------------------------------------------------------------------------ */

struct chat {
    struct rpc_client_call call;
    struct task *task;
    bool cancelled;
    Renga__V1__ChatRequest request;
    Renga__V1__ResponseFormat format;
    Renga__V1__CallOrigin origin;
};

static Renga__V1__ChatMessage *add_turn(struct chat *chat, Renga__V1__ChatRole role, const char *content)
{
    Renga__V1__ChatMessage *message = arena_alloc(task_arena(chat->task), sizeof *message);
    if (!message)
        return NULL;
    renga__v1__chat_message__init(message);
    message->role = role;
    message->content = UNCONST(content);
    chat->request.messages[chat->request.n_messages++] = message;
    return message;
}

static bool no_memory(struct status *st)
{
    return fail(st, RESOURCE_EXHAUSTED, "the prompt takes more memory than an attempt may have");
}

static bool add_prompt(struct chat *chat, Renga__V1__ChatRole role, const char *name, const cJSON *values,
                       const char *language, struct status *st)
{
    struct buffer text;
    const struct node *node = task_node(chat->task);
    const char *form = agent_prompt(node->graph->agent, name, language);
    if (!form)
        return fail(st, FAILED_PRECONDITION, "the agent has no prompt '%s'", name);
    buffer_init(&text, PROMPT_MAX);
    bool good = template_fill(form, values, &text, st);
    char *copy = good ? arena_strdup(task_arena(chat->task), buffer_text(&text)) : NULL;
    bool failed = text.failed;
    buffer_fini(&text);
    if (failed)
        return fail(st, RESOURCE_EXHAUSTED, "the prompt '%s' is longer than %zu bytes when it is filled", name,
                    PROMPT_MAX);
    return good && ((copy && add_turn(chat, role, copy)) || no_memory(st));
}

static bool add_history(struct chat *chat, const cJSON *values, struct status *st)
{
    const struct field *field = node_argument(task_node(chat->task), CHAT_HISTORY)->field;
    const cJSON *list = field ? cJSON_GetObjectItemCaseSensitive(values, field->name) : NULL, *turn;
    cJSON_ArrayForEach(turn, list)
    {
        const char *role = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(turn, "role"));
        const char *content = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(turn, "content"));
        if (!role || !content)
            return fail(st, INVALID_ARGUMENT, "a turn in '%s' has no \"role\" or no \"content\"", field->name);
        char *copy = arena_strdup(task_arena(chat->task), content);
        Renga__V1__ChatRole as = strcmp(role, "assistant") == 0 ? RENGA__V1__CHAT_ROLE__CHAT_ROLE_ASSISTANT
                                 : strcmp(role, "system") == 0  ? RENGA__V1__CHAT_ROLE__CHAT_ROLE_SYSTEM
                                                                : RENGA__V1__CHAT_ROLE__CHAT_ROLE_USER;
        if (!copy || !add_turn(chat, as, copy))
            return no_memory(st);
    }
    return true;
}

/* "ja" where the run's configuration says so: {"language": "ja"}. */
static const char *language_of(const cJSON *configuration)
{
    const char *language = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(configuration, "language"));
    return language ? language : "en";
}

static bool write_turns(struct chat *chat, const cJSON *values, const char *language, struct status *st)
{
    const struct node *node = task_node(chat->task);
    const struct field *field = node_argument(node, CHAT_HISTORY)->field;
    const char *system = node_argument(node, CHAT_SYSTEM)->text;
    int turns = field ? cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(values, field->name)) : 0;
    if (turns > HISTORY_MAX)
        return fail(st, INVALID_ARGUMENT, "'%s' has %d turns; at most %d are asked with", field->name, turns,
                    HISTORY_MAX);
    size_t room = (size_t)turns + 2;
    chat->request.messages = arena_alloc(task_arena(chat->task), room * sizeof(*chat->request.messages));
    if (!chat->request.messages)
        return no_memory(st);
    return (!system || add_prompt(chat, RENGA__V1__CHAT_ROLE__CHAT_ROLE_SYSTEM, system, values, language, st)) &&
           add_history(chat, values, st) &&
           add_prompt(chat, RENGA__V1__CHAT_ROLE__CHAT_ROLE_USER, node_argument(node, CHAT_PROMPT)->text, values,
                      language, st);
}

static void set_terms(struct chat *chat)
{
    const struct node *node = task_node(chat->task);
    const Renga__V1__RunNodeRequest *told = task_request(chat->task);
    const char *model = node_argument(node, CHAT_MODEL)->text, *schema = node_argument(node, CHAT_SCHEMA)->text;
    chat->request.model = UNCONST(model ? model : "default");
    chat->request.idempotency_key = told->idempotency_key; /* asked again after a crash, it is not paid again */
    chat->request.max_output_tokens = (int32_t)node_argument(node, CHAT_TOKENS)->number;
    renga__v1__call_origin__init(&chat->origin);
    chat->origin.run_id = told->position->run_id;
    chat->origin.thread_id = told->position->thread_id;
    chat->origin.agent = told->position->agent;
    chat->origin.node = told->position->node;
    chat->request.origin = &chat->origin;
    if (!schema)
        return;
    renga__v1__response_format__init(&chat->format);
    chat->format.kind = RENGA__V1__RESPONSE_FORMAT_KIND__RESPONSE_FORMAT_KIND_JSON_SCHEMA;
    chat->format.name = UNCONST(node->name);
    chat->format.schema_json = UNCONST(schema);
    chat->request.response_format = &chat->format;
}

static bool write_question(struct chat *chat, struct status *st)
{
    const Renga__V1__RunNodeRequest *told = task_request(chat->task);
    cJSON *values = json_parse(told->state_json, strlen(told->state_json), NULL, st);
    cJSON *configuration = cJSON_Parse(told->configuration_json);
    renga__v1__chat_request__init(&chat->request);
    bool good = values && write_turns(chat, values, language_of(configuration), st);
    cJSON_Delete(values);
    cJSON_Delete(configuration);
    if (good)
        set_terms(chat);
    return good;
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

static void write_update(const struct node *node, const Renga__V1__ChatResponse *answer, struct json_writer *writer)
{
    const struct field *into = node_argument(node, CHAT_INTO)->field;
    const char *structured = answer->finish->structured_json;
    json_write_object(writer, NULL);
    if (structured[0]) {
        json_write_raw(writer, into->name, structured, strlen(structured));
    } else if (into->list) {
        json_write_array(writer, into->name);
        json_write_object(writer, NULL);
        json_write_string(writer, "role", "assistant");
        json_write_string(writer, "content", answer->message->content);
        json_write_end(writer);
        json_write_end(writer);
    } else {
        json_write_string(writer, into->name, answer->message->content);
    }
    json_write_end(writer);
}

static void reply(struct chat *chat, const Renga__V1__ChatResponse *answer)
{
    struct buffer update;
    struct json_writer writer;
    Renga__V1__RunNodeResponse response = RENGA__V1__RUN_NODE_RESPONSE__INIT;
    buffer_init(&update, 4 * PROMPT_MAX);
    json_writer_init(&writer, &update);
    write_update(task_node(chat->task), answer, &writer);
    response.outcome = UNCONST(outcomes[0]);
    response.update_json = UNCONST(buffer_text(&update));
    response.usage = answer->finish->usage;
    response.degradations = answer->finish->degradations;
    response.n_degradations = answer->finish->n_degradations;
    task_finish(chat->task, &response);
    buffer_fini(&update);
}

/* Not what was asked for; the gateway has done what could be done about it. */
static bool is_answer(const Renga__V1__ChatResponse *answer, struct status *st)
{
    switch (answer->finish->finish_reason) {
    case RENGA__V1__FINISH_REASON__FINISH_REASON_STOP:
        return true;
    case RENGA__V1__FINISH_REASON__FINISH_REASON_LENGTH:
        return fail(st, DATA_LOSS, "the model's answer was cut at its longest; allow more tokens, or ask for less");
    case RENGA__V1__FINISH_REASON__FINISH_REASON_REFUSAL:
        return fail(st, FAILED_PRECONDITION, "the model would not answer: %.200s", answer->message->refusal);
    case RENGA__V1__FINISH_REASON__FINISH_REASON_CONTENT_FILTER:
        return fail(st, FAILED_PRECONDITION, "the provider blocked the prompt or the answer");
    default:
        return fail(st, DATA_LOSS, "the model gave no answer");
    }
}

static void answered(const Renga__V1__ChatResponse *answer, void *data)
{
    struct chat *chat = ((struct rpc_client_call *)data)->owner;
    struct status st = chat->call.status;
    if (!answer && st.code == CANCELLED && !chat->cancelled)
        st.code = UNAVAILABLE; /* the gateway went away in the middle; nobody has cancelled */
    if (answer && is_answer(answer, &st))
        reply(chat, answer);
    else
        task_fail(chat->task, &st);
}

/* ---- how it begins and is stopped -------------------------------------------------------------------------------- */

static void call(struct chat *chat, ProtobufCService *gateway)
{
    struct task *task = chat->task;
    int64_t now_ns = clock_now_ns(), deadline_ns = task_deadline_ns(task);
    rpc_client_call_init(&chat->call, task_loop(task), NULL);
    chat->call.owner = chat;
    chat->call.trace = task_trace(task);
    chat->call.timeout_ms = CHAT_CALL_MAX_MS;
    if (deadline_ns != TIME_NEVER && (deadline_ns - now_ns) / NS_PER_MS < CHAT_CALL_MAX_MS)
        chat->call.timeout_ms = deadline_ns > now_ns ? (deadline_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS : 1;
    renga__v1__llm_gateway__chat(gateway, &chat->request, answered, &chat->call);
}

static void start(struct task *task)
{
    struct chat *chat = task_data(task);
    const struct orchestrator *orchestrator = task_orchestrator(task);
    struct status st = {0};
    chat->task = task;
    if (!orchestrator || !orchestrator->gateway) {
        fail(&st, FAILED_PRECONDITION,
             "the orchestrator does not know where the gateway is; set peers.llm_gateway, or run it in this process");
        task_fail(task, &st);
        return;
    }
    if (write_question(chat, &st))
        call(chat, orchestrator->gateway);
    else
        task_fail(task, &st);
}

static void cancel(struct task *task)
{
    struct chat *chat = task_data(task);
    chat->cancelled = true;
    rpc_client_call_cancel(&chat->call);
}

extern const struct node_kind chat_kind;
const struct node_kind chat_kind = {
    .name = "chat",
    .help = "Asks a model through the gateway.",
    .parameters = parameters,
    .outcomes = outcomes,
    .check = check,
    .size = sizeof(struct chat),
    .start = start,
    .cancel = cancel,
    .travels = true,
};
