/* Converts the run's progress to events of the stream. A node emits one progress object at a time, and the object is on
 * disk before it is sent. So each event of the run becomes a single event of the stream with the same id. The fields of
 * the object determine its kind. */
#include "autonomous_research.h"

#include "rpc/message_json.h"
#include "json/json.h"

#include <string.h>

typedef Renga__V1__AutonomousResearchEvent Event;

static void progress_show(struct autonomous_call *call, const Renga__V1__RunEvent *from, Event *event)
{
    event->event_id = from->event_id;
    event->time_ms = from->time_ms;
    if (call->show && agent_event_is_new(&call->run, from->event_id))
        call->show(event, call->run.call);
}

static bool progress_has(const cJSON *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object, key) != NULL;
}

static const struct {
    const char *key; /* a field of this kind only */
    const ProtobufCMessageDescriptor *type;
    int event_case;
} progress_kinds[] = {
    {"search_queries", &renga__v1__research_plan__descriptor, RENGA__V1__AUTONOMOUS_RESEARCH_EVENT__EVENT_PLANNED},
    {"next_action", &renga__v1__research_decision__descriptor, RENGA__V1__AUTONOMOUS_RESEARCH_EVENT__EVENT_DECIDED},
    {"query", &renga__v1__research_search__descriptor, RENGA__V1__AUTONOMOUS_RESEARCH_EVENT__EVENT_SEARCHED},
    {"scores", &renga__v1__draft_review__descriptor, RENGA__V1__AUTONOMOUS_RESEARCH_EVENT__EVENT_REVIEWED},
};

static void progress_show_object(struct autonomous_call *call, const Renga__V1__RunEvent *from, const cJSON *shown)
{
    size_t kind = 0, kinds = sizeof progress_kinds / sizeof *progress_kinds;
    Event event = RENGA__V1__AUTONOMOUS_RESEARCH_EVENT__INIT;
    struct status ignored = {0};
    while (kind < kinds && !progress_has(shown, progress_kinds[kind].key))
        kind++;
    if (kind == kinds)
        return;
    ProtobufCMessage *message =
        message_read_json(progress_kinds[kind].type, shown, rpc_call_arena(call->run.call), &ignored);
    if (!message)
        return;
    event.event_case = progress_kinds[kind].event_case;
    event.planned = (Renga__V1__ResearchPlan *)message; /* all members are pointers */
    progress_show(call, from, &event);
}

static void progress_show_value(struct autonomous_call *call, const Renga__V1__RunEvent *from, const cJSON *shown)
{
    Event event = RENGA__V1__AUTONOMOUS_RESEARCH_EVENT__INIT;
    const char *text =
        cJSON_GetStringValue(cJSON_IsObject(shown) ? cJSON_GetObjectItemCaseSensitive(shown, "text") : shown);
    if (text && *text) {
        event.event_case = RENGA__V1__AUTONOMOUS_RESEARCH_EVENT__EVENT_DRAFT_TEXT;
        event.draft_text = (char *)(uintptr_t)text;
        progress_show(call, from, &event);
    } else if (cJSON_IsObject(shown)) {
        progress_show_object(call, from, shown);
    }
}

static void progress_show_accepted(struct autonomous_call *call, const Renga__V1__RunEvent *from)
{
    Event event = RENGA__V1__AUTONOMOUS_RESEARCH_EVENT__INIT;
    Renga__V1__AgentAccepted accepted = agent_accepted(&call->run);
    event.event_case = RENGA__V1__AUTONOMOUS_RESEARCH_EVENT__EVENT_ACCEPTED;
    event.accepted = &accepted;
    progress_show(call, from, &event);
}

void autonomous_progress(struct agent_run *run, const Renga__V1__RunEvent *event)
{
    struct autonomous_call *call = (struct autonomous_call *)run;
    Event alive = RENGA__V1__AUTONOMOUS_RESEARCH_EVENT__INIT;
    struct status ignored = {0};
    cJSON *shown;
    switch (event->event_case) {
    case RENGA__V1__RUN_EVENT__EVENT_STARTED:
        progress_show_accepted(call, event);
        break;
    case RENGA__V1__RUN_EVENT__EVENT_PROGRESS_JSON:
        shown = json_parse(event->progress_json, strlen(event->progress_json), NULL, &ignored);
        progress_show_value(call, event, shown);
        cJSON_Delete(shown);
        break;
    case RENGA__V1__RUN_EVENT__EVENT_HEARTBEAT:
        progress_show(call, event, &alive);
        break;
    default:
        break;
    }
}
