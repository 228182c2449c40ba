#include "service_call.h"

#include "prompt.h"

#include "base/clock.h"
#include "graph/agents.h"
#include "proto/usage.h"
#include "rpc/details.h"
#include "rpc/message_json.h"
#include "words/words.h"
#include "json/json.h"

#include <stdio.h>
#include <string.h>

#define CALL_MAX_MS     (INT64_C(24) * 3600000) /* if the document sets no timeout */
#define ORIGIN_NODE_MAX 256                     /* bytes, as CallOrigin.node */
#define LANGUAGE_MAX    3                       /* bytes of the first subtag of a BCP 47 tag */
#define LOOKED_MAX      ((size_t)4096)          /* bytes of a text that are looked at for its language */
#define NAMES_MAX       128                     /* of a row: as many tools as a model is offered */
#define THINKING_CALLS  3                       /* to models, if Prompting.max_model_calls is 0 */
#define LESSONS_NAME    "playbook"              /* in the configuration, and in prompts */
#define MODEL_MAX       128                     /* bytes, as Prompting.model */

/* ---- the language of a run --------------------------------------------------------------------------------------- */

/* The first subtag of a BCP 47 tag; NULL if it is not a language. */
static const char *first_subtag(struct arena *arena, const char *tag)
{
    size_t length = strspn(tag, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
    if (length < 2 || length > LANGUAGE_MAX || (tag[length] && tag[length] != '-'))
        return NULL;
    char *language = arena_strndup(arena, tag, length);
    for (char *c = language; c && *c; c++)
        *c |= 0x20;
    return language;
}

/* The language of the run's configuration, else of its input "language"; else the language of the first text among the
 * inputs. */
static const char *service_call_language_of(struct arena *arena, const cJSON *configuration, const cJSON *inputs)
{
    const char *told = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(configuration, "language"));
    const char *field = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(inputs, "language"));
    const char *language = told ? first_subtag(arena, told) : NULL;
    const cJSON *input;
    if (!language && field)
        language = first_subtag(arena, field);
    if (language)
        return language;
    cJSON_ArrayForEach(input, inputs)
    {
        size_t length = cJSON_IsString(input) ? strlen(input->valuestring) : 0;
        if (length)
            return words_language(input->valuestring, length < LOOKED_MAX ? length : LOOKED_MAX);
    }
    return "en";
}

/* ---- the way ----------------------------------------------------------------------------------------------------- */

static bool find_peer(struct service_call *call, enum peer_service peer, struct status *st)
{
    const struct node_services *services = task_services(call->task);
    call->peer = services ? services->peers[peer] : NULL;
    return call->peer || fail(st, FAILED_PRECONDITION,
                              "the orchestrator does not know where the %s is; set peers.%s, or run it in this process",
                              peer_words[peer].name, peer_words[peer].option);
}

static void set_origin(struct service_call *call)
{
    const Renga__V1__NodePosition *position = task_request(call->task)->position;
    size_t path = strlen(position->path), node = strlen(position->node);
    size_t shown = path + node + 2 > ORIGIN_NODE_MAX ? 0 : path; /* a path that is too long is left out */
    renga__v1__call_origin__init(&call->origin);
    call->origin.run_id = position->run_id;
    call->origin.thread_id = position->thread_id;
    call->origin.agent = position->agent;
    char *text =
        arena_printf(task_arena(call->task), "%.*s%s%s", (int)shown, position->path, shown ? "/" : "", position->node);
    call->origin.node = text ? text : position->node;
}

static int64_t time_left_ms(const struct task *task)
{
    int64_t now_ns = clock_now_ns(), deadline_ns = task_deadline_ns(task);
    if (deadline_ns == TIME_NEVER || (deadline_ns - now_ns) / NS_PER_MS >= CALL_MAX_MS)
        return CALL_MAX_MS;
    return deadline_ns > now_ns ? (deadline_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS : 1;
}

static void service_call_prepare(struct service_call *call)
{
    rpc_client_call_init(&call->call, task_loop(call->task), NULL);
    call->call.owner = call;
    call->call.trace = task_trace(call->task);
    call->call.principal = &call->principal;
    call->call.timeout_ms = time_left_ms(call->task);
}

/* {playbook} of prompts: lessons with their own fence, so no value of the prompt. */
static void add_lessons(cJSON *inputs, const cJSON *lessons)
{
    const char *text = cJSON_GetStringValue(lessons);
    cJSON_DeleteItemFromObjectCaseSensitive(inputs, LESSONS_NAME);
    cJSON_AddItemToObject(inputs, LESSONS_NAME, cJSON_CreateRaw(text ? text : ""));
}

bool service_call_inputs(struct service_call *call, struct task *task, struct status *st)
{
    return service_call_inputs_of(call, task, task_request(task)->state_json, st);
}

bool service_call_inputs_of(struct service_call *call, struct task *task, const char *json, struct status *st)
{
    call->task = task;
    const Renga__V1__RunNodeRequest *told = task_request(task);
    call->inputs = json_parse(json, strlen(json), NULL, st);
    if (!call->inputs)
        return false;
    cJSON *configuration = cJSON_Parse(told->configuration_json);
    const char *model = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(configuration, "model"));
    call->language = service_call_language_of(task_arena(task), configuration, call->inputs);
    call->model = model && *model && strlen(model) <= MODEL_MAX ? arena_strdup(task_arena(task), model) : NULL;
    if (task_node(task)->graph->agent->graph->playbook)
        add_lessons(call->inputs, cJSON_GetObjectItemCaseSensitive(configuration, LESSONS_NAME));
    cJSON_Delete(configuration);
    return true;
}

bool service_call_open(struct service_call *call, struct task *task, enum peer_service peer, struct status *st)
{
    call->task = task;
    if (!find_peer(call, peer, st) || !service_call_inputs(call, task, st))
        return false;
    call->principal = node_services_caller(task_services(task), task_tenant(task), task_client(task));
    set_origin(call);
    service_call_prepare(call);
    return true;
}

bool service_call_again(struct service_call *call, enum peer_service peer, struct status *st)
{
    service_call_prepare(call);
    return find_peer(call, peer, st);
}

void service_call_close(struct service_call *call)
{
    cJSON_Delete(call->inputs);
    call->inputs = NULL;
}

void call_spent(struct task *task, struct rpc_client_call *call)
{
    size_t size;
    Renga__V1__Usage spent = RENGA__V1__USAGE__INIT;
    const void *details = rpc_client_call_metadata(call, RPC_DETAILS_KEY, &size);
    if (details && usage_of_details(details, size, &spent))
        task_spend(task, &spent);
}

/* The texts of the gRPC libraries: C and the libraries above it, Go; Java. */
void call_judge_size(struct status *st)
{
    char text[STATUS_TEXT_MAX];
    bool large = strcasestr(st->text, "message larger than max") || strcasestr(st->text, "message exceeds maximum");
    if (st->code != RESOURCE_EXHAUSTED || !large)
        return;
    snprintf(text, sizeof text, "%s", st->text);
    fail(st, INVALID_ARGUMENT, "a message of the call is too large, and would be so at each attempt: %s", text);
}

/* A peer that dies resets its calls, and their status is CANCELLED. If this process did not cancel, it means
 * UNAVAILABLE. */
void service_call_failed(struct service_call *call)
{
    struct status st = call->call.status;
    call_spent(call->task, &call->call);
    if (st.code == CANCELLED && !call->cancelled)
        st.code = UNAVAILABLE;
    call_judge_size(&st);
    task_fail(call->task, &st);
}

void service_call_cancel(struct task *task)
{
    struct service_call *call = task_data(task);
    call->cancelled = true;
    rpc_client_call_cancel(&call->call);
}

void *service_call_keep(struct service_call *call, const ProtobufCMessage *message)
{
    return rpc_message_copy(task_arena(call->task), message);
}

/* ---- the request ------------------------------------------------------------------------------------------------- */

static bool service_call_no_memory(struct status *st)
{
    return fail(st, RESOURCE_EXHAUSTED, "the request takes more memory than an attempt may have");
}

const cJSON *service_call_input(const struct service_call *call, size_t row)
{
    const struct field *field = node_argument(task_node(call->task), row)->field;
    const cJSON *value = field ? cJSON_GetObjectItemCaseSensitive(call->inputs, field->name) : NULL;
    return value && !cJSON_IsNull(value) ? value : NULL;
}

char *service_call_text(const struct service_call *call, size_t row)
{
    const char *text = cJSON_GetStringValue(service_call_input(call, row));
    char *copy = text ? arena_strdup(task_arena(call->task), text) : NULL;
    return copy ? copy : (char *)(uintptr_t) "";
}

char *service_call_json(const struct service_call *call, size_t row)
{
    const cJSON *value = service_call_input(call, row);
    struct buffer text;
    struct json_writer out;
    if (!value)
        return (char *)(uintptr_t) "";
    buffer_init(&text, UPDATE_BYTES_MAX);
    json_writer_init(&out, &text);
    json_write_tree(&out, NULL, value);
    char *copy = text.failed ? NULL : arena_strdup(task_arena(call->task), buffer_text(&text));
    buffer_fini(&text);
    return copy ? copy : (char *)(uintptr_t) "";
}

static bool read_strings(const cJSON *values, struct arena *arena, char ***list, size_t *count, struct status *st)
{
    const cJSON *value;
    *count = 0;
    *list = arena_alloc(arena, (size_t)cJSON_GetArraySize(values) * sizeof **list);
    if (!*list)
        return service_call_no_memory(st);
    cJSON_ArrayForEach(value, values)
    {
        char *text = cJSON_IsString(value) ? arena_strdup(arena, value->valuestring) : NULL;
        if (!text)
            return cJSON_IsString(value) ? service_call_no_memory(st)
                                         : fail(st, INVALID_ARGUMENT, "has something else than strings");
        (*list)[(*count)++] = text;
    }
    return true;
}

static bool service_call_name_field(const struct service_call *call, size_t row, const struct status *why,
                                    struct status *st)
{
    return fail(st, why->code, "'%s' of the state: %s", node_argument(task_node(call->task), row)->field->name,
                why->text);
}

bool service_call_texts(const struct service_call *call, size_t row, char ***list, size_t *count, struct status *st)
{
    struct status why = {0};
    return read_strings(service_call_input(call, row), task_arena(call->task), list, count, &why) ||
           service_call_name_field(call, row, &why, st);
}

bool service_call_message(const struct service_call *call, size_t row, const ProtobufCMessageDescriptor *type,
                          void *message, struct status *st)
{
    const cJSON *value = service_call_input(call, row);
    struct status why = {0};
    ProtobufCMessage *read = value ? message_read_json(type, value, task_arena(call->task), &why) : NULL;
    *(ProtobufCMessage **)message = read;
    return read || !value || service_call_name_field(call, row, &why, st);
}

bool service_call_messages(const struct service_call *call, size_t row, const ProtobufCMessageDescriptor *type,
                           void *list, size_t *count, struct status *st)
{
    const cJSON *values = service_call_input(call, row), *value;
    ProtobufCMessage **messages =
        arena_alloc(task_arena(call->task), (size_t)cJSON_GetArraySize(values) * sizeof *messages);
    *(ProtobufCMessage ***)list = messages;
    *count = 0;
    if (!messages)
        return service_call_no_memory(st);
    cJSON_ArrayForEach(value, values)
    {
        struct status why = {0};
        messages[*count] = message_read_json(type, value, task_arena(call->task), &why);
        if (!messages[(*count)++])
            return service_call_name_field(call, row, &why, st);
    }
    return true;
}

enum { ROW_MODEL, ROW_SYSTEM, ROW_PROMPT, ROW_REQUIRED, ROW_WITHOUT };

static char *template_of(const struct service_call *call, size_t row)
{
    const struct node *node = task_node(call->task);
    const char *name = node_argument(node, row)->text;
    const char *text = name ? prompt_form(node, &name, call->inputs, call->language) : NULL;
    return (char *)(uintptr_t)(text ? text : "");
}

void service_call_prompt(struct service_call *call, size_t first)
{
    const struct node *node = task_node(call->task);
    const char *model = call->model ? call->model : node_argument(node, first + ROW_MODEL)->text;
    int32_t requests = task_request(call->task)->model_requests;
    renga__v1__prompting__init(&call->prompting);
    call->prompting.max_model_calls = requests < THINKING_CALLS ? requests : 0;
    call->prompting.model = (char *)(uintptr_t)(model ? model : "");
    call->prompting.system_template = template_of(call, first + ROW_SYSTEM);
    call->prompting.user_template = template_of(call, first + ROW_PROMPT);
    call->prompting.language = (char *)(uintptr_t)call->language;
    call->prompting.model_required = node_argument(node, first + ROW_REQUIRED)->flag;
    call->prompting.without_model = node_argument(node, first + ROW_WITHOUT)->flag;
}

/* ---- for `check` of a kind --------------------------------------------------------------------------------------- */

int word_check(const struct node *node, size_t row, const char *const *words, struct status *st)
{
    const char *word = node_argument(node, row)->text;
    struct buffer known;
    for (int i = 0; words[i]; i++)
        if (!word || strcmp(words[i], word) == 0)
            return i;
    buffer_init(&known, STATUS_TEXT_MAX);
    for (int i = 0; words[i]; i++)
        buffer_printf(&known, "%s%s", i ? ", " : "", words[i]);
    fail_field(st, node->kind->parameters[row].name, "is '%.64s'; it must be one of %s", word, buffer_text(&known));
    buffer_fini(&known);
    return -1;
}

bool names_check(const struct node *node, size_t row, struct status *st)
{
    const char *text = node_argument(node, row)->text;
    cJSON *names = text ? json_parse(text, strlen(text), NULL, st) : NULL;
    const cJSON *name;
    int count = cJSON_GetArraySize(names);
    bool good = !text || (cJSON_IsArray(names) && count > 0 && count <= NAMES_MAX);
    cJSON_ArrayForEach(name, names) good &= cJSON_IsString(name) && strlen(name->valuestring) <= GRAPH_NAME_MAX;
    cJSON_Delete(names);
    return good || fail_field(st, node->kind->parameters[row].name,
                              "must be a list of 1 to %d names of at most %d bytes, [\"search_documents\"]", NAMES_MAX,
                              GRAPH_NAME_MAX);
}

bool names_read(const struct service_call *call, size_t row, char ***list, size_t *count, struct status *st)
{
    const char *text = node_argument(task_node(call->task), row)->text;
    cJSON *names = text ? json_parse(text, strlen(text), NULL, st) : NULL;
    bool good = read_strings(names, task_arena(call->task), list, count, st);
    cJSON_Delete(names);
    return good;
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

bool answer_is_whole(const Renga__V1__ChatResponse *answer, struct status *st)
{
    return (answer->message && answer->finish) ||
           fail(st, DATA_LOSS, "the gateway's answer has no %s", answer->message ? "end" : "message");
}

bool finish_is_answer(const Renga__V1__ChatFinish *finish, const char *refusal, struct status *st)
{
    switch (finish->finish_reason) {
    case RENGA__V1__FINISH_REASON__FINISH_REASON_STOP:
        return true;
    case RENGA__V1__FINISH_REASON__FINISH_REASON_LENGTH:
        return fail(st, DATA_LOSS, "the model's answer was cut at its longest; allow more tokens, or ask for less");
    case RENGA__V1__FINISH_REASON__FINISH_REASON_REFUSAL:
        return fail(st, FAILED_PRECONDITION, "the model would not answer: %.200s", refusal);
    case RENGA__V1__FINISH_REASON__FINISH_REASON_CONTENT_FILTER:
        return fail(st, FAILED_PRECONDITION, "the provider blocked the prompt or the answer");
    default:
        return fail(st, DATA_LOSS, "the model gave no answer");
    }
}

bool finish_may_call(const Renga__V1__ChatFinish *finish, const char *refusal, struct status *st)
{
    switch (finish->finish_reason) {
    case RENGA__V1__FINISH_REASON__FINISH_REASON_TOOL_CALLS:
    case RENGA__V1__FINISH_REASON__FINISH_REASON_EMPTY:
    case RENGA__V1__FINISH_REASON__FINISH_REASON_MISSING_TOOL_CALLS:
        return true;
    default:
        return finish_is_answer(finish, refusal, st);
    }
}

void update_begin(struct update *update)
{
    renga__v1__run_node_response__init(&update->response);
    buffer_init(&update->text, UPDATE_BYTES_MAX);
    json_writer_init(&update->out, &update->text);
    json_write_object(&update->out, NULL);
}

const char *update_field(const struct task *task, size_t row)
{
    const struct field *field = node_argument(task_node(task), row)->field;
    return field ? field->name : NULL;
}

void update_finish(struct update *update, struct task *task, const char *outcome)
{
    struct status st = {0};
    json_write_end(&update->out);
    update->response.outcome = (char *)(uintptr_t)outcome;
    if (update->text.length > 2) /* else nothing was written */
        update->response.update_json = (char *)(uintptr_t)buffer_text(&update->text);
    if (json_writer_done(&update->out)) {
        task_finish(task, &update->response);
    } else {
        if (update->response.usage)
            task_spend(task, update->response.usage);
        fail(&st, RESOURCE_EXHAUSTED, "what node '%s' has to write is longer than %zu bytes", task_node(task)->name,
             UPDATE_BYTES_MAX);
        task_fail(task, &st);
    }
    buffer_fini(&update->text);
}
