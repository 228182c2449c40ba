/* Asks a model: a prompt of the agent, filled with the node's inputs, goes to the gateway. If there is a conversation,
 * its turns stand before the prompt. The answer goes into a field. */
#include "decline.h"
#include "prompt.h"
#include "turns.h"

#include "words/sentences.h"
#include "words/tokens.h"

#include "renga/v1/llm_gateway.pb-c.h"

#include <string.h>

#define ANSWER_BYTES_MAX ((size_t)1 << 20) /* as ChatMessage.content */
#define UNCONST(text)    ((char *)(uintptr_t)(text))

enum {
    CHAT_PROMPT,
    CHAT_SYSTEM,
    CHAT_INTO,
    CHAT_MODEL,
    CHAT_HISTORY,
    CHAT_SCHEMA,
    CHAT_TOKENS,
    CHAT_TOKENS_OF,
    CHAT_TURNS,
    CHAT_STREAM,
    CHAT_PICK,
    CHAT_DECLINE,
    CHAT_EXTRACTIVE,
    CHAT_LEAST
};

static const struct node_parameter parameters[] = {
    [CHAT_PROMPT] = {"prompt", PARAMETER_PROMPT, OPTIONAL,
                     "What is asked: {field} stands for an input of the node, {{ and }} for braces. May be left out "
                     "where there is a history."},
    [CHAT_SYSTEM] = {"system", PARAMETER_PROMPT, OPTIONAL, "The rules of the conversation, likewise."},
    [CHAT_INTO] = {"into", PARAMETER_FIELD, REQUIRED,
                   "Where the answer goes: a string; with a schema anything; or a list of objects, which gets the turn "
                   "as {\"role\": \"assistant\", \"content\": …}."},
    [CHAT_MODEL] = {"model", PARAMETER_TEXT, OPTIONAL, "A route of the gateway; else \"default\"."},
    [CHAT_HISTORY] = {"history", READS_OBJECTS, OPTIONAL,
                      "Turns before the prompt: a list of objects with \"role\" and \"content\", those of tools too; "
                      "one of the inputs."},
    [CHAT_SCHEMA] = {"schema", PARAMETER_JSON, OPTIONAL,
                     "A JSON Schema that the answer must fit; the gateway checks it and has it repaired once."},
    [CHAT_TOKENS] = {"max_output_tokens", PARAMETER_INTEGER, OPTIONAL, "Longest answer, in tokens."},
    [CHAT_TOKENS_OF] = {"max_output_tokens_of", READS_INTEGER, OPTIONAL,
                        "An integer, one of the inputs, that says the longest answer in tokens. A longer one is no "
                        "failure: it is cut behind its last whole sentence."},
    [CHAT_TURNS] = {"turns", WRITES_OBJECTS, OPTIONAL, "A list of turns that gets the answer, too, as one of them."},
    [CHAT_STREAM] = {"stream", PARAMETER_BOOLEAN, OPTIONAL,
                     "Show the answer to whoever watches while it is being written."},
    [CHAT_PICK] = PICK_ROW,
    [CHAT_DECLINE] = {"decline", PARAMETER_TEXT, OPTIONAL,
                      "A word by which a model says that it has no answer, alone on its first line. With an edge "
                      "\"declined\" that is the outcome, and the text behind it is the answer."},
    [CHAT_EXTRACTIVE] = {"extractive", PARAMETER_BOOLEAN, OPTIONAL,
                         "True: the gateway's extractive provider is asked, whatever model the run has. The document "
                         "tells the degradation. With the outcome \"not_found\" no field is written."},
    [CHAT_LEAST] = {"least_confidence", PARAMETER_INTEGER, OPTIONAL,
                    "With \"extractive\": in percent; an answer below it is \"not_found\"."},
    {.name = NULL},
};
#define CHAT_EMBEDDED "extractive" /* the provider that is no model, and its route */
#define CHAT_REFUSED  "NO_MODEL"   /* its reason, as the gateway's contract has it */

/* Those behind the first one are taken if the document has an edge for them. */
enum { CHAT_REPLIED, CHAT_NO_MODEL, CHAT_FOUND, CHAT_NOT_FOUND, CHAT_DECLINED };
static const char *const chat_outcomes[] = {"replied", "no_model", "found", "not_found", "declined", NULL};
static const char *const outcomes[] = {"replied", NULL};

static bool chat_check(const struct node *node, struct status *st)
{
    const struct field *into = node_argument(node, CHAT_INTO)->field;
    const struct field *history = node_argument(node, CHAT_HISTORY)->field;
    bool schema = node_argument(node, CHAT_SCHEMA)->text != NULL;
    bool turns = into->list && (into->type == FIELD_OBJECT || into->type == FIELD_ANY);
    bool text = !into->list && (into->type == FIELD_STRING || into->type == FIELD_ANY);
    if (!schema && !turns && !text)
        return fail_field(st, "into", "'%s' takes neither a string nor turns; name another field, or give a schema",
                          into->name);
    if (!history && !node_argument(node, CHAT_PROMPT)->text)
        return fail_field(st, "prompt", "is not there, and no \"history\" either; nothing would be asked");
    if (schema && node_argument(node, CHAT_STREAM)->flag)
        return fail_field(st, "stream", "does not go together with a schema; what is shown would be JSON in pieces");
    if (node_argument(node, CHAT_TOKENS_OF)->field && (schema || node_argument(node, CHAT_STREAM)->flag))
        return fail_field(st, "max_output_tokens_of",
                          "does not go together with \"schema\" or \"stream\"; an answer "
                          "of either is not cut");
    if (node_argument(node, CHAT_LEAST)->number && !node_argument(node, CHAT_EXTRACTIVE)->flag)
        return fail_field(st, "least_confidence", "is for \"extractive\": true; a model has no confidence");
    return pick_check(node, CHAT_PICK, st);
}

static bool chat_is_outcome(const char *name)
{
    for (size_t i = 0; chat_outcomes[i]; i++)
        if (strcmp(chat_outcomes[i], name) == 0)
            return true;
    return false;
}

static const void *chat_prepare(const struct node *node, struct arena *arena, struct status *st)
{
    for (size_t i = 0; i < node->edge_count; i++)
        if (!chat_is_outcome(node->edges[i].outcome)) {
            fail_field(st, "on", "chat has no outcome '%s'; it has replied, no_model, found, not_found and declined",
                       node->edges[i].outcome);
            return NULL;
        }
    return node;
}

static bool has_arrow(const struct task *task, int outcome)
{
    return node_edge(task_node(task), chat_outcomes[outcome]);
}

/* ---- the question ------------------------------------------------------------------------------------------------ */

struct chat {
    struct service_call base; /* first */
    Renga__V1__ChatRequest request;
    Renga__V1__ResponseFormat format;
    int32_t tokens_max; /* limit; a longer answer is cut behind its last whole sentence; 0: no limit */

    /* Of a stream, until it has ended. */
    struct buffer text;
    const Renga__V1__ChatFinish *finish;
    bool overrun;
};

static bool chat_add_prompt(struct chat *chat, struct turns *turns, Renga__V1__ChatRole role, size_t row,
                            struct status *st)
{
    const char *name = node_argument(task_node(chat->base.task), row)->text;
    const char *text = name ? prompt_fill(chat->base.task, name, chat->base.inputs, chat->base.language, st) : NULL;
    return !name || (text && turns_add(turns, role, text, st));
}

static bool chat_write_turns(struct chat *chat, struct status *st)
{
    struct turns turns;
    const cJSON *history = service_call_input(&chat->base, CHAT_HISTORY);
    int count = cJSON_GetArraySize(history);
    if (count > TURNS_MAX)
        return fail(st, INVALID_ARGUMENT, "the history has %d turns; at most %d are asked with", count, TURNS_MAX);
    if (!turns_init(&turns, task_arena(chat->base.task), (size_t)count + 2, st) ||
        !chat_add_prompt(chat, &turns, RENGA__V1__CHAT_ROLE__CHAT_ROLE_SYSTEM, CHAT_SYSTEM, st) ||
        !turns_read(&turns, history, false, st) ||
        !chat_add_prompt(chat, &turns, RENGA__V1__CHAT_ROLE__CHAT_ROLE_USER, CHAT_PROMPT, st))
        return false;
    chat->request.messages = turns.list;
    chat->request.n_messages = turns.count;
    return turns.count || fail(st, INVALID_ARGUMENT, "the history has no turns, and there is no prompt");
}

static void chat_node_set_terms(struct chat *chat)
{
    const struct node *node = task_node(chat->base.task);
    const char *model = node_argument(node, CHAT_MODEL)->text, *schema = node_argument(node, CHAT_SCHEMA)->text;
    model = chat->base.model ? chat->base.model : model;
    model = node_argument(node, CHAT_EXTRACTIVE)->flag ? CHAT_EMBEDDED : model;
    chat->request.model = UNCONST(model ? model : "default");
    chat->request.idempotency_key = task_request(chat->base.task)->idempotency_key; /* after a crash not paid again */
    const cJSON *most = service_call_input(&chat->base, CHAT_TOKENS_OF);
    chat->tokens_max = cJSON_IsNumber(most) && most->valuedouble > 0 ? (int32_t)most->valuedouble : 0;
    chat->request.max_output_tokens =
        chat->tokens_max ? chat->tokens_max : (int32_t)node_argument(node, CHAT_TOKENS)->number;
    chat->request.origin = &chat->base.origin;
    chat->request.max_model_calls = task_request(chat->base.task)->model_requests;
    if (!schema)
        return;
    renga__v1__response_format__init(&chat->format);
    chat->format.kind = RENGA__V1__RESPONSE_FORMAT_KIND__RESPONSE_FORMAT_KIND_JSON_SCHEMA;
    chat->format.name = UNCONST(node->name);
    chat->format.schema_json = UNCONST(schema);
    chat->request.response_format = &chat->format;
}

static bool chat_node_write_question(struct chat *chat, struct status *st)
{
    renga__v1__chat_request__init(&chat->request);
    if (!prompt_values(chat->base.inputs, task_node(chat->base.task), CHAT_PICK, chat->base.language, st) ||
        !chat_write_turns(chat, st))
        return false;
    chat_node_set_terms(chat);
    return true;
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

static void chat_write_turn(struct json_writer *out, const char *field, const char *content)
{
    Renga__V1__ChatMessage turn = RENGA__V1__CHAT_MESSAGE__INIT;
    turn.role = RENGA__V1__CHAT_ROLE__CHAT_ROLE_ASSISTANT;
    turn.content = UNCONST(content);
    json_write_array(out, field);
    turn_write(out, &turn);
    json_write_end(out);
}

/* As documents about an error of this name have it. */
static bool chat_tools_have(const struct chat *chat, const char *word)
{
    for (size_t i = 0; i < chat->request.n_messages; i++)
        if (chat->request.messages[i]->role == RENGA__V1__CHAT_ROLE__CHAT_ROLE_TOOL &&
            strstr(chat->request.messages[i]->content, word))
            return true;
    return false;
}

/* What the answer is, by the edges that the document has. *content is then the answer itself. */
static int chat_outcome(const struct chat *chat, const Renga__V1__ChatFinish *finish, const char **content)
{
    const struct task *task = chat->base.task;
    const char *decline = node_argument(task_node(task), CHAT_DECLINE)->text;
    double least = (double)node_argument(task_node(task), CHAT_LEAST)->number / 100;
    int outcome = CHAT_REPLIED;
    const char *behind =
        decline && !finish->finding ? decline_behind(*content, decline, chat_tools_have(chat, decline)) : NULL;
    if (finish->finding)
        outcome = finish->finding->found && finish->finding->confidence >= least ? CHAT_FOUND : CHAT_NOT_FOUND;
    else if (node_argument(task_node(task), CHAT_EXTRACTIVE)->flag) /* somebody else has the name of the route */
        outcome = CHAT_NOT_FOUND;
    else if (behind)
        outcome = CHAT_DECLINED;
    if (!has_arrow(task, outcome))
        return CHAT_REPLIED;
    *content = behind ? behind : *content;
    return outcome;
}

static void chat_write_answer(const struct chat *chat, const Renga__V1__ChatFinish *finish, const char *content,
                              struct json_writer *out)
{
    const struct field *into = node_argument(task_node(chat->base.task), CHAT_INTO)->field;
    const char *turns = update_field(chat->base.task, CHAT_TURNS);
    if (finish->structured_json[0])
        json_write_raw(out, into->name, finish->structured_json, strlen(finish->structured_json));
    else if (into->list)
        chat_write_turn(out, into->name, content);
    else
        json_write_string(out, into->name, content);
    if (turns && strcmp(turns, into->name) != 0)
        chat_write_turn(out, turns, content);
}

static void chat_reply(struct chat *chat, const char *content, const Renga__V1__ChatFinish *finish)
{
    struct update update;
    int outcome = chat_outcome(chat, finish, &content);
    bool extractive = node_argument(task_node(chat->base.task), CHAT_EXTRACTIVE)->flag;
    update_begin(&update);
    if (!extractive || outcome != CHAT_NOT_FOUND)
        chat_write_answer(chat, finish, content, &update.out);
    update.response.usage = finish->usage;
    update.response.degradations = finish->degradations;
    update.response.n_degradations = extractive ? 0 : finish->n_degradations;
    update_finish(&update, chat->base.task, chat_outcomes[outcome]);
}

/* The whole sentences of an answer that fit into `tokens_max`. NULL: not even the first sentence fits. */
static const char *shortened(struct chat *chat, const char *content, bool cut)
{
    size_t length = strlen(content), fits = tokens_fit(content, length, chat->tokens_max);
    if (fits == length && !cut)
        return content;
    size_t whole = sentences_whole(content, length, fits);
    return whole ? arena_strndup(task_arena(chat->base.task), content, whole) : NULL;
}

static void finish_as(struct chat *chat, int outcome, Renga__V1__Usage *usage)
{
    Renga__V1__RunNodeResponse response = RENGA__V1__RUN_NODE_RESPONSE__INIT;
    response.outcome = UNCONST(chat_outcomes[outcome]);
    response.usage = usage;
    task_finish(chat->base.task, &response);
}

/* The embedded provider, which is no model, refuses an object that it cannot fill; the document may have a way of its
 * own for that. A gateway may have no route to it. */
static void chat_call_failed(struct chat *chat)
{
    bool extractive = node_argument(task_node(chat->base.task), CHAT_EXTRACTIVE)->flag;
    if (has_arrow(chat->base.task, CHAT_NO_MODEL) && service_call_reason_is(&chat->base, CHAT_REFUSED))
        finish_as(chat, CHAT_NO_MODEL, NULL);
    else if (extractive && has_arrow(chat->base.task, CHAT_NOT_FOUND) && chat->base.call.status.code == NOT_FOUND)
        finish_as(chat, CHAT_NOT_FOUND, NULL);
    else
        service_call_failed(&chat->base);
}

/* Only the embedded provider answers, which is no model, and the document has a way of its own for that. */
static bool has_no_model(const struct chat *chat, const Renga__V1__ChatFinish *finish)
{
    return finish->answered_by && strcmp(finish->answered_by->provider, CHAT_EMBEDDED) == 0 &&
           has_arrow(chat->base.task, CHAT_NO_MODEL);
}

static void chat_take(struct chat *chat, const Renga__V1__ChatFinish *finish, const char *content, const char *refusal)
{
    struct status st = {0};
    bool cut = chat->tokens_max && finish->finish_reason == RENGA__V1__FINISH_REASON__FINISH_REASON_LENGTH;
    if (has_no_model(chat, finish)) {
        finish_as(chat, CHAT_NO_MODEL, finish->usage);
        return;
    }
    if (cut || finish_is_answer(finish, refusal, &st)) {
        const char *fitting = chat->tokens_max ? shortened(chat, content, cut) : content;
        if (fitting) {
            chat_reply(chat, fitting, finish);
            return;
        }
        fail(&st, DATA_LOSS, "the model's answer has no whole sentence within %d tokens", chat->tokens_max);
    }
    if (finish->usage)
        task_spend(chat->base.task, finish->usage);
    task_fail(chat->base.task, &st);
}

static void chat_answered(const Renga__V1__ChatResponse *answer, void *data)
{
    struct chat *chat = ((struct rpc_client_call *)data)->owner;
    struct status st = {0};
    if (!answer)
        chat_call_failed(chat);
    else if (answer_is_whole(answer, &st))
        chat_take(chat, answer->finish, answer->message->content, answer->message->refusal);
    else
        task_fail(chat->base.task, &st);
}

/* ---- the answer, as it is being written -------------------------------------------------------------------------- */

static void chat_stream_ended(struct chat *chat)
{
    struct status st = {0};
    if (chat->overrun || chat->text.failed)
        fail(&st, RESOURCE_EXHAUSTED, "the model's answer is longer than %zu bytes", ANSWER_BYTES_MAX);
    else if (chat->base.call.status.code == OK && !chat->finish)
        fail(&st, DATA_LOSS, "the stream ended without its last event");
    if (st.code != OK)
        task_fail(chat->base.task, &st);
    else if (chat->base.call.status.code == OK && chat->finish)
        chat_take(chat, chat->finish, buffer_text(&chat->text), "see its text");
    else
        chat_call_failed(chat);
}

static void chat_take_event(struct chat *chat, const Renga__V1__ChatStreamEvent *event)
{
    task_alive(chat->base.task);
    if (event->event_case == RENGA__V1__CHAT_STREAM_EVENT__EVENT_TEXT) {
        buffer_print(&chat->text, event->text);
        task_token(chat->base.task, event->text, "");
        chat->overrun = chat->text.failed;
    } else if (event->event_case == RENGA__V1__CHAT_STREAM_EVENT__EVENT_FINISH) {
        chat->finish = service_call_keep(&chat->base, &event->finish->base);
        chat->overrun = !chat->finish;
    }
    if (chat->overrun)
        rpc_client_call_cancel(&chat->base.call);
}

static void chat_event_came(const Renga__V1__ChatStreamEvent *event, void *data)
{
    struct chat *chat = ((struct rpc_client_call *)data)->owner;
    if (event) {
        if (!chat->overrun && !chat->base.cancelled)
            chat_take_event(chat, event);
        return;
    }
    struct buffer text = chat->text; /* the task ends, and its data with it */
    chat_stream_ended(chat);
    buffer_fini(&text);
}

/* ---- how it begins ----------------------------------------------------------------------------------------------- */

static void chat_start(struct task *task)
{
    struct chat *chat = task_data(task);
    struct status st = {0};
    bool good = service_call_open(&chat->base, task, PEER_GATEWAY, &st) && chat_node_write_question(chat, &st);
    service_call_close(&chat->base);
    if (!good) {
        task_fail(task, &st);
        return;
    }
    buffer_init(&chat->text, ANSWER_BYTES_MAX);
    if (node_argument(task_node(task), CHAT_STREAM)->flag)
        renga__v1__llm_gateway__chat_stream(chat->base.peer, &chat->request, chat_event_came, &chat->base.call);
    else
        renga__v1__llm_gateway__chat(chat->base.peer, &chat->request, chat_answered, &chat->base.call);
}

extern const struct node_kind chat_kind;
const struct node_kind chat_kind = {
    .name = "chat",
    .help = "Asks a model through the gateway.",
    .parameters = parameters,
    .outcomes = outcomes,
    .names_inputs = true,
    .names_outcomes = true,
    .check = chat_check,
    .prepare = chat_prepare,
    .size = sizeof(struct chat),
    .start = chat_start,
    .cancel = service_call_cancel,
    .travels = true,
    .asks_models = true,
};
