/* Converts events of the run to events of the stream. */
#include "helpdesk.h"

#include "base/text.h"
#include "proto/usage.h"
#include "rpc/message_json.h"
#include "json/json.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_SHOWN_MAX  65536 /* bytes, as SubtaskProgress.text */
#define TOOL_NAMES_MAX  128
#define TOOL_NAME_BYTES 64

/* The stage of a subtask that begins with a node of this kind. */
static const struct stage {
    const char *kind;
    Renga__V1__SubtaskStage stage;
} stages[] = {
    {"select_tools", RENGA__V1__SUBTASK_STAGE__SUBTASK_STAGE_SELECTING_TOOLS},
    {"run_tools", RENGA__V1__SUBTASK_STAGE__SUBTASK_STAGE_RUNNING_TOOLS},
    {"chat", RENGA__V1__SUBTASK_STAGE__SUBTASK_STAGE_ANSWERING},
    {"reflect", RENGA__V1__SUBTASK_STAGE__SUBTASK_STAGE_REFLECTING},
};

/* ---- showing ----------------------------------------------------------------------------------------------------- */

static void helpdesk_progress_show(struct helpdesk_call *call, const Renga__V1__RunEvent *from,
                                   Renga__V1__AskEvent *event)
{
    event->event_id = from->event_id;
    event->time_ms = from->time_ms;
    if (call->show && agent_event_is_new(&call->run, from->event_id))
        call->show(event, call->run.call);
}

static void show_subtask(struct helpdesk_call *call, const Renga__V1__RunEvent *from, size_t number,
                         Renga__V1__SubtaskProgress *progress)
{
    Renga__V1__AskEvent event = RENGA__V1__ASK_EVENT__INIT;
    progress->subtask_number = (int32_t)number + 1;
    if (!progress->challenge_count)
        progress->challenge_count = call->subtasks[number].tries + 1;
    event.event_case = RENGA__V1__ASK_EVENT__EVENT_SUBTASK;
    event.subtask = progress;
    helpdesk_progress_show(call, from, &event);
}

static void show_accepted(struct helpdesk_call *call, const Renga__V1__RunEvent *from)
{
    Renga__V1__AskEvent event = RENGA__V1__ASK_EVENT__INIT;
    Renga__V1__AgentAccepted accepted = agent_accepted(&call->run);
    event.event_case = RENGA__V1__ASK_EVENT__EVENT_ACCEPTED;
    event.accepted = &accepted;
    helpdesk_progress_show(call, from, &event);
}

static char *helpdesk_progress_keep_text(struct helpdesk_call *call, const char *text)
{
    return arena_strndup(rpc_call_arena(call->run.call), text, text_cut(text, strlen(text), TEXT_SHOWN_MAX));
}

/* ---- of the whole ------------------------------------------------------------------------------------------------ */

static void plan_written(struct helpdesk_call *call, const Renga__V1__RunEvent *from, const cJSON *plan)
{
    Renga__V1__AskEvent event = RENGA__V1__ASK_EVENT__INIT;
    Renga__V1__SubtaskPlan planned = RENGA__V1__SUBTASK_PLAN__INIT;
    char *subtasks[HELPDESK_SUBTASKS_MAX];
    const cJSON *item;
    cJSON_ArrayForEach(item, plan) if (cJSON_IsString(item) && planned.n_subtasks < HELPDESK_SUBTASKS_MAX)
        subtasks[planned.n_subtasks++] = item->valuestring;
    planned.subtasks = subtasks;
    event.event_case = RENGA__V1__ASK_EVENT__EVENT_PLANNED;
    event.planned = &planned;
    call->planned = true;
    helpdesk_progress_show(call, from, &event);
}

static void helpdesk_show_text(struct helpdesk_call *call, const Renga__V1__RunEvent *from, const char *text)
{
    Renga__V1__AskEvent event = RENGA__V1__ASK_EVENT__INIT;
    event.event_case = RENGA__V1__ASK_EVENT__EVENT_ANSWER_TEXT;
    event.answer_text = (char *)(uintptr_t)text;
    helpdesk_progress_show(call, from, &event);
}

/* A piece of the checked answer: {"text": …}. */
static void helpdesk_piece_shown(struct helpdesk_call *call, const Renga__V1__RunEvent *from)
{
    struct status ignored = {0};
    cJSON *shown = json_parse(from->progress_json, strlen(from->progress_json), NULL, &ignored);
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(shown, "text"));
    if (text && *text)
        helpdesk_show_text(call, from, text);
    cJSON_Delete(shown);
}

/* ---- of a subtask ------------------------------------------------------------------------------------------------ */

static void node_started(struct helpdesk_call *call, const Renga__V1__RunEvent *from, size_t number)
{
    Renga__V1__SubtaskProgress progress = RENGA__V1__SUBTASK_PROGRESS__INIT;
    struct subtask_note *note = &call->subtasks[number];
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
        if (strcmp(stages[i].kind, from->node_started->kind) == 0)
            progress.stage = stages[i].stage;
    if (!progress.stage)
        return;
    if (progress.stage == RENGA__V1__SUBTASK_STAGE__SUBTASK_STAGE_RUNNING_TOOLS) {
        progress.tool_names = note->tool_names;
        progress.n_tool_names = note->tool_count;
    }
    show_subtask(call, from, number, &progress);
}

static void tools_chosen(struct helpdesk_call *call, struct subtask_note *note, const cJSON *turns)
{
    int count = cJSON_GetArraySize(turns);
    const cJSON *last = count ? cJSON_GetArrayItem(turns, count - 1) : NULL, *chosen;
    note->tool_count = 0;
    cJSON_ArrayForEach(chosen, cJSON_GetObjectItemCaseSensitive(last, "tool_calls"))
    {
        const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(chosen, "name"));
        char *copy =
            name && note->tool_count < TOOL_NAMES_MAX
                ? arena_strndup(rpc_call_arena(call->run.call), name, text_cut(name, strlen(name), TOOL_NAME_BYTES))
                : NULL;
        if (copy)
            note->tool_names[note->tool_count++] = copy;
    }
}

static void helpdesk_progress_reflected(struct helpdesk_call *call, const Renga__V1__RunEvent *from, size_t number,
                                        const cJSON *written)
{
    Renga__V1__SubtaskProgress progress = RENGA__V1__SUBTASK_PROGRESS__INIT;
    struct status ignored = {0};
    int count = cJSON_GetArraySize(written);
    const cJSON *last = count ? cJSON_GetArrayItem(written, count - 1) : NULL;
    ProtobufCMessage *reflection =
        message_read_json(&renga__v1__reflection_result__descriptor, last, rpc_call_arena(call->run.call), &ignored);
    if (!reflection)
        return;
    progress.stage = RENGA__V1__SUBTASK_STAGE__SUBTASK_STAGE_REFLECTED;
    progress.reflection = (Renga__V1__ReflectionResult *)reflection;
    show_subtask(call, from, number, &progress);
    call->subtasks[number].tries++;
    call->subtasks[number].is_completed = progress.reflection->is_completed;
}

static void subtask_ended(struct helpdesk_call *call, const Renga__V1__RunEvent *from, size_t number)
{
    Renga__V1__SubtaskProgress progress = RENGA__V1__SUBTASK_PROGRESS__INIT;
    const struct subtask_note *note = &call->subtasks[number];
    bool failed = note->status_code && !note->found;
    progress.stage =
        failed ? RENGA__V1__SUBTASK_STAGE__SUBTASK_STAGE_FAILED : RENGA__V1__SUBTASK_STAGE__SUBTASK_STAGE_DONE;
    const char *text = failed ? note->message : note->found ? note->found_answer : note->answer;
    progress.maybe_found_case = RENGA__V1__SUBTASK_PROGRESS__MAYBE_FOUND_FOUND;
    progress.found = note->found;
    progress.text = (char *)(uintptr_t)(text ? text : "");
    progress.challenge_count = note->tries ? note->tries : 1;
    show_subtask(call, from, number, &progress);
}

static void node_failed(struct helpdesk_call *call, const Renga__V1__RunEvent *from, size_t number)
{
    struct subtask_note *note = &call->subtasks[number];
    if (note->status_code) /* only the first degradation is reported, not that of its fallback */
        return;
    note->status_code = from->node_failed->status_code;
    note->message = helpdesk_progress_keep_text(call, from->node_failed->message);
}

static void cited(struct helpdesk_call *call, struct subtask_note *note, const cJSON *list)
{
    struct status ignored = {0};
    const cJSON *item;
    struct arena *arena = rpc_call_arena(call->run.call);
    note->citation_count = 0;
    note->citations = arena_alloc(arena, (size_t)cJSON_GetArraySize(list) * sizeof(*note->citations));
    cJSON_ArrayForEach(item, list)
    {
        ProtobufCMessage *citation = message_read_json(&renga__v1__citation__descriptor, item, arena, &ignored);
        if (citation && note->citations)
            note->citations[note->citation_count++] = (Renga__V1__Citation *)citation;
    }
}

static void note_found(struct subtask_note *note)
{
    note->found = true;
    note->found_answer = note->answer;
    note->found_citations = note->citations;
    note->found_citation_count = note->citation_count;
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

static void written(struct helpdesk_call *call, const Renga__V1__RunEvent *from, const cJSON *update, bool own,
                    size_t number)
{
    const cJSON *plan = cJSON_GetObjectItemCaseSensitive(update, "plan");
    const cJSON *turns = cJSON_GetObjectItemCaseSensitive(update, "messages");
    const cJSON *reflections = cJSON_GetObjectItemCaseSensitive(update, "reflection_results");
    const cJSON *citations = cJSON_GetObjectItemCaseSensitive(update, "citations");
    const char *answer = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(update, "subtask_answer"));
    if (own && plan && !call->planned)
        plan_written(call, from, plan);
    if (own)
        return;
    if (turns)
        tools_chosen(call, &call->subtasks[number], turns);
    if (answer)
        call->subtasks[number].answer = helpdesk_progress_keep_text(call, answer);
    if (citations)
        cited(call, &call->subtasks[number], citations);
    if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(update, "found")))
        note_found(&call->subtasks[number]);
    if (reflections)
        helpdesk_progress_reflected(call, from, number, reflections);
}

static bool helpdesk_progress_is_watched(const Renga__V1__StateUpdated *updated)
{
    static const char *const fields[] = {"plan",           "messages",  "reflection_results",
                                         "subtask_answer", "citations", "found"};
    for (size_t i = 0; i < updated->n_fields; i++)
        for (size_t known = 0; known < sizeof fields / sizeof *fields; known++)
            if (strcmp(updated->fields[i], fields[known]) == 0)
                return true;
    return false;
}

static void state_updated(struct helpdesk_call *call, const Renga__V1__RunEvent *from, bool own, size_t number)
{
    struct status ignored = {0};
    const char *json = from->updated->update_json;
    cJSON *update = helpdesk_progress_is_watched(from->updated) ? json_parse(json, strlen(json), NULL, &ignored) : NULL;
    written(call, from, update, own, number);
    cJSON_Delete(update);
}

/* The branch of "execute_subtasks[2]/…", counted from 0. */
static bool helpdesk_progress_read_number(const char *path, size_t *number)
{
    const char *bracket = strchr(path, '[');
    char *end;
    unsigned long value = bracket ? strtoul(bracket + 1, &end, 10) : 0;
    *number = value;
    return bracket && *end == ']' && value < HELPDESK_SUBTASKS_MAX;
}

static void subtask_event(struct helpdesk_call *call, const Renga__V1__RunEvent *event, size_t number)
{
    switch (event->event_case) {
    case RENGA__V1__RUN_EVENT__EVENT_NODE_STARTED:
        node_started(call, event, number);
        break;
    case RENGA__V1__RUN_EVENT__EVENT_NODE_FINISHED:
        if (event->node_finished->usage)
            usage_add(&call->subtasks[number].usage, event->node_finished->usage);
        break;
    case RENGA__V1__RUN_EVENT__EVENT_NODE_FAILED:
        node_failed(call, event, number);
        break;
    case RENGA__V1__RUN_EVENT__EVENT_UPDATED:
        state_updated(call, event, false, number);
        break;
    case RENGA__V1__RUN_EVENT__EVENT_CHECKPOINT:
        if (!event->checkpoint->n_next_nodes)
            subtask_ended(call, event, number);
        break;
    default:
        break;
    }
}

void helpdesk_progress(struct agent_run *run, const Renga__V1__RunEvent *event)
{
    struct helpdesk_call *call = (struct helpdesk_call *)run;
    Renga__V1__AskEvent alive = RENGA__V1__ASK_EVENT__INIT;
    size_t number;
    if (helpdesk_progress_read_number(event->path, &number)) {
        subtask_event(call, event, number);
        return;
    }
    if (event->event_case == RENGA__V1__RUN_EVENT__EVENT_PROGRESS_JSON)
        helpdesk_piece_shown(call, event);
    if (*event->path)
        return;
    switch (event->event_case) {
    case RENGA__V1__RUN_EVENT__EVENT_STARTED:
        show_accepted(call, event);
        break;
    case RENGA__V1__RUN_EVENT__EVENT_UPDATED:
        state_updated(call, event, true, 0);
        break;
    case RENGA__V1__RUN_EVENT__EVENT_TOKEN:
        helpdesk_show_text(call, event, event->token->text); /* of a graph in the place of ours */
        break;
    case RENGA__V1__RUN_EVENT__EVENT_HEARTBEAT:
        helpdesk_progress_show(call, event, &alive);
        break;
    default:
        break;
    }
}
