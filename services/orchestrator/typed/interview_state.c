/* Makes a session from the state of its thread, and a reply from the output of its last run. */
#include "interview.h"

#include "rpc/message_json.h"
#include "json/json.h"

#include <string.h>

#define MESSAGES_MAX   1000
#define TOOL_CALLS_MAX 1000
#define REPLY_MAX      ((size_t)65536)

struct reader {
    const cJSON *state;
    struct arena *arena;
    struct status *st;
};

static const cJSON *interview_member(const struct reader *in, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(in->state, name);
}

static char *interview_text_copy(const struct reader *in, const cJSON *item)
{
    const char *text = cJSON_GetStringValue(item);
    char *copy = arena_strdup(in->arena, text ? text : "");
    return copy ? copy : (char *)(uintptr_t) "";
}

static char *interview_text(const struct reader *in, const char *name)
{
    return interview_text_copy(in, interview_member(in, name));
}

static int64_t interview_item_number(const cJSON *item)
{
    return cJSON_IsNumber(item) ? (int64_t)item->valuedouble : 0;
}

static int64_t interview_number(const struct reader *in, const char *name)
{
    return interview_item_number(interview_member(in, name));
}

static void *interview_alloc_list(const struct reader *in, size_t count)
{
    void **list = arena_alloc(in->arena, (count ? count : 1) * sizeof *list);
    if (!list)
        fail(in->st, RESOURCE_EXHAUSTED, "no memory for the session");
    return list;
}

static ProtobufCMessage *interview_read_message(const struct reader *in, const ProtobufCMessageDescriptor *type,
                                                const cJSON *object)
{
    return message_read_json(type, object, in->arena, in->st);
}

/* ---- fields ------------------------------------------------------------------------------------------------------ */

static Renga__V1__FieldStatus *interview_read_status(const struct reader *in, const char *field_id)
{
    const cJSON *entry = cJSON_GetObjectItemCaseSensitive(interview_member(in, "fields"), field_id);
    Renga__V1__FieldStatus *status = arena_alloc(in->arena, sizeof *status);
    if (entry)
        status = (Renga__V1__FieldStatus *)interview_read_message(in, &renga__v1__field_status__descriptor, entry);
    else if (status)
        renga__v1__field_status__init(status);
    if (!status)
        return NULL;
    status->field_id = arena_strdup(in->arena, field_id);
    if (!status->state)
        status->state = RENGA__V1__FIELD_STATE__FIELD_STATE_PENDING;
    return status->field_id ? status : NULL;
}

static bool interview_collect_value(const struct reader *in, Renga__V1__MainSessionState *session,
                                    const Renga__V1__FieldStatus *status)
{
    Renga__V1__MainSessionState__CollectedFieldsEntry *entry;
    if (status->state != RENGA__V1__FIELD_STATE__FIELD_STATE_DONE || !status->value)
        return true;
    entry = arena_alloc(in->arena, sizeof *entry);
    if (!entry)
        return fail(in->st, RESOURCE_EXHAUSTED, "no memory for the session");
    renga__v1__main_session_state__collected_fields_entry__init(entry);
    entry->key = status->field_id;
    entry->value = status->value->text;
    session->collected_fields[session->n_collected_fields++] = entry;
    return true;
}

/* In the order of the plan; before there is a plan, in the order of the form. */
static bool interview_read_fields(const struct reader *in, Renga__V1__MainSessionState *session)
{
    const cJSON *planned = cJSON_GetObjectItemCaseSensitive(interview_member(in, "plan"), "fields"), *item;
    const cJSON *order = planned ? planned : cJSON_GetObjectItemCaseSensitive(interview_member(in, "form"), "fields");
    const char *current = interview_text(in, "current");
    size_t count = (size_t)cJSON_GetArraySize(order);
    session->field_statuses = interview_alloc_list(in, count);
    session->collected_fields = interview_alloc_list(in, count);
    session->current_field_index = planned ? (int32_t)count : 0;
    if (!session->field_statuses || !session->collected_fields)
        return false;
    cJSON_ArrayForEach(item, order)
    {
        const char *field_id = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "field_id"));
        Renga__V1__FieldStatus *status = field_id ? interview_read_status(in, field_id) : NULL;
        if (!status)
            return false;
        if (strcmp(field_id, current) == 0) {
            session->current_field_index = (int32_t)session->n_field_statuses;
            session->follow_up_count = status->follow_up_count;
        }
        session->field_statuses[session->n_field_statuses++] = status;
        if (!interview_collect_value(in, session, status))
            return false;
    }
    return true;
}

/* ---- the conversation -------------------------------------------------------------------------------------------- */

static bool interview_read_messages(const struct reader *in, Renga__V1__MainSessionState *session)
{
    const cJSON *messages = interview_member(in, "messages"), *item;
    int count = cJSON_GetArraySize(messages), left_out = count > MESSAGES_MAX ? count - MESSAGES_MAX : 0;
    session->messages = interview_alloc_list(in, (size_t)count);
    if (!session->messages)
        return false;
    cJSON_ArrayForEach(item, messages)
    {
        Renga__V1__ChatMessage *message;
        if (left_out-- > 0)
            continue;
        message = arena_alloc(in->arena, sizeof *message);
        if (!message)
            return fail(in->st, RESOURCE_EXHAUSTED, "no memory for the session");
        renga__v1__chat_message__init(message);
        const char *role = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "role"));
        message->role = role && strcmp(role, "user") == 0 ? RENGA__V1__CHAT_ROLE__CHAT_ROLE_USER
                                                          : RENGA__V1__CHAT_ROLE__CHAT_ROLE_ASSISTANT;
        message->content = interview_text_copy(in, cJSON_GetObjectItemCaseSensitive(item, "content"));
        session->messages[session->n_messages++] = message;
    }
    int64_t omitted = interview_number(in, "message_count") - (int64_t)session->n_messages;
    session->messages_omitted = omitted > 0 ? (int32_t)omitted : 0;
    return true;
}

/* ---- labels ------------------------------------------------------------------------------------------------------ */

/* The labels of the start; all maps of strings have the same entry layout. NULL if the arena is out of memory. */
static Renga__V1__MainSessionState__LabelsEntry **interview_read_labels(const struct reader *in, size_t *count)
{
    const cJSON *labels = interview_member(in, "labels"), *label;
    Renga__V1__MainSessionState__LabelsEntry **entries = interview_alloc_list(in, (size_t)cJSON_GetArraySize(labels));
    *count = 0;
    if (!entries)
        return NULL;
    cJSON_ArrayForEach(label, labels)
    {
        Renga__V1__MainSessionState__LabelsEntry *entry = arena_alloc(in->arena, sizeof *entry);
        if (!entry)
            return NULL;
        renga__v1__main_session_state__labels_entry__init(entry);
        entry->key = arena_strdup(in->arena, label->string);
        entry->value = interview_text_copy(in, label);
        if (!entry->key)
            return NULL;
        entries[(*count)++] = entry;
    }
    return entries;
}

/* ---- the active agent -------------------------------------------------------------------------------------------- */

static Renga__V1__InterviewSection interview_section(const Renga__V1__Bootstrap *known)
{
    return !*known->language   ? RENGA__V1__INTERVIEW_SECTION__INTERVIEW_SECTION_LANGUAGE
           : !*known->country  ? RENGA__V1__INTERVIEW_SECTION__INTERVIEW_SECTION_COUNTRY
           : !*known->timezone ? RENGA__V1__INTERVIEW_SECTION__INTERVIEW_SECTION_TIMEZONE
                               : RENGA__V1__INTERVIEW_SECTION__INTERVIEW_SECTION_COMPLETED;
}

/* Between two calls, the stack has the agent that waits for an answer: Greeter, or Interviewer with its field. */
static bool interview_read_stack(const struct reader *in, Renga__V1__MainSessionState *session)
{
    const char *current = interview_text(in, "current");
    bool greeting = session->section != RENGA__V1__INTERVIEW_SECTION__INTERVIEW_SECTION_COMPLETED;
    if (session->confirmed || (!greeting && !*current))
        return true;
    Renga__V1__AgentStackEntry *entry = arena_alloc(in->arena, sizeof *entry);
    session->agent_stack = interview_alloc_list(in, 1);
    if (!entry || !session->agent_stack)
        return fail(in->st, RESOURCE_EXHAUSTED, "no memory for the session");
    renga__v1__agent_stack_entry__init(entry);
    entry->agent = greeting ? RENGA__V1__INTERVIEW_AGENT__INTERVIEW_AGENT_GREETER
                            : RENGA__V1__INTERVIEW_AGENT__INTERVIEW_AGENT_INTERVIEWER;
    if (!greeting)
        entry->field_id = (char *)(uintptr_t)current;
    entry->started_ms = session->updated_ms;
    session->agent_stack[session->n_agent_stack++] = entry;
    return true;
}

/* ---- the plan ---------------------------------------------------------------------------------------------------- */

/* The state has the order and the intents of the fields; the form has their labels and `required`. */
static Renga__V1__FieldPlan *interview_read_plan(const struct reader *in, const Renga__V1__SessionForm *form)
{
    const cJSON *stored = interview_member(in, "plan");
    if (!cJSON_IsObject(stored) || !stored->child)
        return NULL;
    Renga__V1__FieldPlan *plan =
        (Renga__V1__FieldPlan *)interview_read_message(in, &renga__v1__field_plan__descriptor, stored);
    for (size_t i = 0; plan && i < plan->n_fields; i++)
        for (size_t j = 0; j < form->n_fields; j++)
            if (strcmp(plan->fields[i]->field_id, form->fields[j]->field_id) == 0) {
                plan->fields[i]->label = form->fields[j]->label;
                plan->fields[i]->required = form->fields[j]->required;
            }
    return plan;
}

/* ---- the session ------------------------------------------------------------------------------------------------- */

/* The last review of each field, by field_id. */
static char *interview_reviews(const struct reader *in)
{
    struct buffer json;
    struct json_writer out;
    const cJSON *entry;
    buffer_init(&json, (size_t)1 << 20);
    json_writer_init(&out, &json);
    json_write_object(&out, NULL);
    cJSON_ArrayForEach(entry, interview_member(in, "fields"))
    {
        const cJSON *review = cJSON_GetObjectItemCaseSensitive(entry, "review");
        if (review)
            json_write_tree(&out, entry->string, review);
    }
    json_write_end(&out);
    char *copy = json_writer_done(&out) ? arena_strdup(in->arena, buffer_text(&json)) : NULL;
    buffer_fini(&json);
    return copy ? copy : (char *)(uintptr_t) "";
}

Renga__V1__MainSessionState *interview_state(const cJSON *state, const char *session_id, int64_t updated_ms,
                                             struct arena *arena, struct status *st)
{
    struct reader in = {.state = state, .arena = arena, .st = st};
    Renga__V1__MainSessionState *session = arena_alloc(arena, sizeof *session);
    Renga__V1__Bootstrap *known = arena_alloc(arena, sizeof *known);
    const cJSON *form = interview_member(&in, "form");
    if (!session || !known) {
        fail(st, RESOURCE_EXHAUSTED, "no memory for the session");
        return NULL;
    }
    if (!cJSON_IsObject(form) || interview_number(&in, "revision") <= 0) {
        fail(st, NOT_FOUND, "there is no session '%.128s'", session_id);
        return NULL;
    }
    renga__v1__main_session_state__init(session);
    renga__v1__bootstrap__init(known);
    known->language = interview_text(&in, "language");
    known->country = interview_text(&in, "country");
    known->timezone = interview_text(&in, "timezone");
    session->bootstrap = known;
    session->section = interview_section(known);
    session->session_id = arena_strdup(arena, session_id);
    session->form = (Renga__V1__SessionForm *)interview_read_message(&in, &renga__v1__session_form__descriptor, form);
    if (session->form)
        session->plan = interview_read_plan(&in, session->form);
    session->sub_session_results_json = interview_reviews(&in);
    session->confirmed = cJSON_IsTrue(interview_member(&in, "confirmed"));
    session->timezone_guessed = cJSON_IsTrue(interview_member(&in, "timezone_guessed"));
    session->revision = interview_number(&in, "revision");
    session->created_ms = interview_number(&in, "created_ms");
    session->updated_ms = updated_ms;
    session->labels = interview_read_labels(&in, &session->n_labels);
    bool good = session->form && session->session_id && session->labels && st->code == OK &&
                interview_read_fields(&in, session) && interview_read_messages(&in, session) &&
                interview_read_stack(&in, session);
    if (!good && st->code == OK)
        fail(st, RESOURCE_EXHAUSTED, "no memory for the session");
    return good ? session : NULL;
}

/* ---- the reply --------------------------------------------------------------------------------------------------- */

static Renga__V1__InterviewAgent interview_agent_of_tool(const char *tool)
{
    return strncmp(tool, "set_", 4) == 0      ? RENGA__V1__INTERVIEW_AGENT__INTERVIEW_AGENT_GREETER
           : strcmp(tool, "create_plan") == 0 ? RENGA__V1__INTERVIEW_AGENT__INTERVIEW_AGENT_ARCHITECT
           : strcmp(tool, "review") == 0      ? RENGA__V1__INTERVIEW_AGENT__INTERVIEW_AGENT_REVIEWER
                                              : RENGA__V1__INTERVIEW_AGENT__INTERVIEW_AGENT_INTERVIEWER;
}

/* "ask" belongs to the Greeter until there is a plan, then to the Interviewer. */
static bool interview_read_calls(const struct reader *in, Renga__V1__InterviewReply *reply)
{
    const cJSON *calls = interview_member(in, "tool_calls"), *item;
    bool greeting = !reply->state->plan;
    reply->tool_calls = interview_alloc_list(in, (size_t)cJSON_GetArraySize(calls));
    if (!reply->tool_calls)
        return false;
    cJSON_ArrayForEach(item, calls)
    {
        Renga__V1__ToolCallResult *result = arena_alloc(in->arena, sizeof *result);
        Renga__V1__ToolCall *call = arena_alloc(in->arena, sizeof *call);
        if (!result || !call)
            return fail(in->st, RESOURCE_EXHAUSTED, "no memory for the reply");
        if (reply->n_tool_calls == TOOL_CALLS_MAX)
            return true;
        renga__v1__tool_call_result__init(result);
        renga__v1__tool_call__init(call);
        call->id = interview_text_copy(in, cJSON_GetObjectItemCaseSensitive(item, "id"));
        call->name = interview_text_copy(in, cJSON_GetObjectItemCaseSensitive(item, "name"));
        call->arguments_json = interview_text_copy(in, cJSON_GetObjectItemCaseSensitive(item, "arguments_json"));
        result->call = call;
        result->result_json = interview_text_copy(in, cJSON_GetObjectItemCaseSensitive(item, "result_json"));
        result->error = interview_text_copy(in, cJSON_GetObjectItemCaseSensitive(item, "error"));
        result->agent = strcmp(call->name, "ask") == 0 && greeting ? RENGA__V1__INTERVIEW_AGENT__INTERVIEW_AGENT_GREETER
                                                                   : interview_agent_of_tool(call->name);
        reply->tool_calls[reply->n_tool_calls++] = result;
    }
    return true;
}

static bool interview_read_reply(Renga__V1__InterviewReply *reply, const cJSON *output, const Renga__V1__Run *run,
                                 struct arena *arena, struct status *st)
{
    struct reader in = {.state = output, .arena = arena, .st = st};
    reply->session_id = reply->state->session_id;
    reply->response_text = interview_text(&in, "reply");
    reply->awaiting_user_response = cJSON_IsTrue(interview_member(&in, "awaiting"));
    reply->usage = run->usage;
    reply->degradations = run->degradations;
    reply->n_degradations = run->n_degradations < 32 ? run->n_degradations : 32;
    return interview_read_calls(&in, reply);
}

Renga__V1__InterviewReply *interview_reply(const Renga__V1__Run *run, Renga__V1__MainSessionState *state,
                                           struct arena *arena, struct status *st)
{
    Renga__V1__InterviewReply *reply = arena_alloc(arena, sizeof *reply);
    cJSON *output = json_parse(run->output_json, strlen(run->output_json), NULL, st);
    if (!output || !reply) {
        cJSON_Delete(output);
        if (st->code == OK)
            fail(st, RESOURCE_EXHAUSTED, "no memory for the reply");
        return NULL;
    }
    renga__v1__interview_reply__init(reply);
    reply->state = state;
    bool good = interview_read_reply(reply, output, run, arena, st);
    cJSON_Delete(output);
    return good ? reply : NULL;
}

Renga__V1__SessionSummary *interview_summary(const cJSON *state, const Renga__V1__Thread *thread, struct arena *arena)
{
    struct status ignored = {0};
    struct reader in = {.state = state, .arena = arena, .st = &ignored};
    Renga__V1__SessionSummary *summary = arena_alloc(arena, sizeof *summary);
    const cJSON *entry;
    if (!summary)
        return NULL;
    renga__v1__session_summary__init(summary);
    summary->session_id = thread->thread_id;
    summary->fields =
        cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(state, "plan"), "fields"));
    if (!summary->fields)
        summary->fields = cJSON_GetArraySize(
            cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(state, "form"), "fields"));
    cJSON_ArrayForEach(entry, interview_member(&in, "fields"))
    {
        const char *where = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(entry, "state"));
        summary->fields_done += where && strcmp(where, "FIELD_STATE_DONE") == 0;
    }
    summary->confirmed = cJSON_IsTrue(interview_member(&in, "confirmed"));
    summary->created_ms = thread->created_ms;
    summary->updated_ms = thread->updated_ms;
    summary->labels = (Renga__V1__SessionSummary__LabelsEntry **)interview_read_labels(&in, &summary->n_labels);
    return summary->labels ? summary : NULL;
}
