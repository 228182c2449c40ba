/* Converts the run's progress to events of the stream. A node emits one progress object at a time, and the object is on
 * disk before it is sent. So each event of the run becomes a single event of the stream with the same id. The fields of
 * the object determine its kind. */
#include "deep_research.h"

#include "rpc/message_json.h"
#include "json/json.h"

#include <string.h>

static void deep_research_progress_research_show(struct deep_research_call *call, const Renga__V1__RunEvent *from,
                                                 Renga__V1__DeepResearchEvent *event)
{
    event->event_id = from->event_id;
    event->time_ms = from->time_ms;
    if (call->show && agent_event_is_new(&call->run, from->event_id))
        call->show(event, call->run.call);
}

static void research_show_accepted(struct deep_research_call *call, const Renga__V1__RunEvent *from)
{
    Renga__V1__DeepResearchEvent event = RENGA__V1__DEEP_RESEARCH_EVENT__INIT;
    Renga__V1__AgentAccepted accepted = agent_accepted(&call->run);
    event.event_case = RENGA__V1__DEEP_RESEARCH_EVENT__EVENT_ACCEPTED;
    event.accepted = &accepted;
    deep_research_progress_research_show(call, from, &event);
}

/* ---- progress objects -------------------------------------------------------------------------------------------- */

static bool research_has(const cJSON *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object, key) != NULL;
}

/* A plan without a cycle number belongs to the next cycle. */
static void research_read_plan(struct deep_research_call *call, const cJSON *shown, const ProtobufCMessage *plan,
                               Renga__V1__DeepResearchCycle *cycle, Renga__V1__DeepResearchEvent *event)
{
    const cJSON *number = cJSON_GetObjectItemCaseSensitive(shown, "cycle");
    renga__v1__deep_research_cycle__init(cycle);
    call->cycle = cJSON_IsNumber(number) ? number->valueint : call->cycle + 1;
    cycle->cycle = call->cycle;
    cycle->plan = (Renga__V1__QueryPlan *)(uintptr_t)plan;
    event->event_case = RENGA__V1__DEEP_RESEARCH_EVENT__EVENT_PLANNED;
    event->planned = cycle;
}

void deep_research_complete_note(const struct deep_research_call *call, Renga__V1__Note *note, size_t place)
{
    const char *run_id = call->asked_run ? call->asked_run : call->run.run_id;
    if (!*note->run_id)
        note->run_id = (char *)(uintptr_t)run_id;
    if (!note->step_no)
        note->step_no = (int32_t)place + 1;
}

static const ProtobufCMessageDescriptor *research_shown_type(const cJSON *shown)
{
    if (research_has(shown, "summary_md"))
        return &renga__v1__note__descriptor;
    if (research_has(shown, "queries") || research_has(shown, "gaps") || research_has(shown, "reasoning"))
        return &renga__v1__query_plan__descriptor;
    return research_has(shown, "query") ? &renga__v1__deep_research_search__descriptor : NULL;
}

static void research_show_object(struct deep_research_call *call, const Renga__V1__RunEvent *from, const cJSON *shown)
{
    Renga__V1__DeepResearchEvent event = RENGA__V1__DEEP_RESEARCH_EVENT__INIT;
    Renga__V1__DeepResearchCycle cycle;
    struct status ignored = {0};
    const ProtobufCMessageDescriptor *type = research_shown_type(shown);
    ProtobufCMessage *message = type ? message_read_json(type, shown, rpc_call_arena(call->run.call), &ignored) : NULL;
    if (!message)
        return;
    if (type == &renga__v1__query_plan__descriptor) {
        research_read_plan(call, shown, message, &cycle, &event);
    } else if (type == &renga__v1__note__descriptor) {
        event.event_case = RENGA__V1__DEEP_RESEARCH_EVENT__EVENT_NOTED;
        event.noted = (Renga__V1__Note *)message;
        deep_research_complete_note(call, event.noted, call->notes_shown++);
    } else {
        event.event_case = RENGA__V1__DEEP_RESEARCH_EVENT__EVENT_SEARCHED;
        event.searched = (Renga__V1__DeepResearchSearch *)message;
    }
    deep_research_progress_research_show(call, from, &event);
}

static void research_show_text(struct deep_research_call *call, const Renga__V1__RunEvent *from, const char *text)
{
    Renga__V1__DeepResearchEvent event = RENGA__V1__DEEP_RESEARCH_EVENT__INIT;
    event.event_case = RENGA__V1__DEEP_RESEARCH_EVENT__EVENT_REPORT_TEXT;
    event.report_text = (char *)(uintptr_t)text;
    deep_research_progress_research_show(call, from, &event);
}

static void research_show_value(struct deep_research_call *call, const Renga__V1__RunEvent *from, const cJSON *shown)
{
    const char *text =
        cJSON_GetStringValue(cJSON_IsObject(shown) ? cJSON_GetObjectItemCaseSensitive(shown, "text") : shown);
    if (text && *text)
        research_show_text(call, from, text);
    else if (cJSON_IsObject(shown))
        research_show_object(call, from, shown);
}

static void research_show_progress(struct deep_research_call *call, const Renga__V1__RunEvent *from)
{
    struct status ignored = {0};
    cJSON *shown = json_parse(from->progress_json, strlen(from->progress_json), NULL, &ignored);
    research_show_value(call, from, shown);
    cJSON_Delete(shown);
}

void deep_research_progress(struct agent_run *run, const Renga__V1__RunEvent *event)
{
    struct deep_research_call *call = (struct deep_research_call *)run;
    Renga__V1__DeepResearchEvent alive = RENGA__V1__DEEP_RESEARCH_EVENT__INIT;
    switch (event->event_case) {
    case RENGA__V1__RUN_EVENT__EVENT_STARTED:
        research_show_accepted(call, event);
        break;
    case RENGA__V1__RUN_EVENT__EVENT_PROGRESS_JSON:
        research_show_progress(call, event);
        break;
    case RENGA__V1__RUN_EVENT__EVENT_HEARTBEAT:
        deep_research_progress_research_show(call, event, &alive);
        break;
    default:
        break;
    }
}
