/* Converts the run's progress to events of the stream: a node shows each sample when it is done. Usage is summed up
 * over the nodes between two samples. */
#include "ace_adapt.h"

#include "proto/usage.h"
#include "rpc/message_json.h"
#include "json/json.h"

#include <string.h>

#define SAMPLE_MEMORY_MAX ((size_t)4 << 20) /* of a sample that is shown: 64 KiB of JSON */

static void adapt_show(struct adapt_call *call, const Renga__V1__RunEvent *from, Renga__V1__AdaptEvent *event)
{
    event->event_id = from->event_id;
    event->time_ms = from->time_ms;
    if (agent_event_is_new(&call->run, from->event_id))
        call->show(event, call->run.call);
}

static void adapt_show_accepted(struct adapt_call *call, const Renga__V1__RunEvent *from)
{
    Renga__V1__AdaptEvent event = RENGA__V1__ADAPT_EVENT__INIT;
    Renga__V1__AgentAccepted accepted = agent_accepted(&call->run);
    event.event_case = RENGA__V1__ADAPT_EVENT__EVENT_ACCEPTED;
    event.accepted = &accepted;
    adapt_show(call, from, &event);
}

static Renga__V1__AceVerdict adapt_verdict(const cJSON *word)
{
    const char *verdict = cJSON_GetStringValue(word);
    if (verdict && strcmp(verdict, "right") == 0)
        return RENGA__V1__ACE_VERDICT__ACE_VERDICT_GOOD;
    return verdict && strcmp(verdict, "wrong") == 0 ? RENGA__V1__ACE_VERDICT__ACE_VERDICT_BAD
                                                    : RENGA__V1__ACE_VERDICT__ACE_VERDICT_UNSPECIFIED;
}

/* The object has the fields of AdaptedSample, with the verdict as a word. A stream may have 100,000 samples: their
 * memory is not that of the call. */
static void adapt_show_sample(struct adapt_call *call, const Renga__V1__RunEvent *from, cJSON *shown)
{
    Renga__V1__AdaptEvent event = RENGA__V1__ADAPT_EVENT__INIT;
    struct status ignored = {0};
    struct arena arena;
    cJSON *verdict = cJSON_DetachItemFromObjectCaseSensitive(shown, "verdict");
    arena_init(&arena, NULL, 0, SAMPLE_MEMORY_MAX);
    event.sample =
        (Renga__V1__AdaptedSample *)message_read_json(&renga__v1__adapted_sample__descriptor, shown, &arena, &ignored);
    if (event.sample) {
        event.event_case = RENGA__V1__ADAPT_EVENT__EVENT_SAMPLE;
        event.sample->verdict = adapt_verdict(verdict);
        event.sample->usage = &call->usage;
        if (event.sample->revision < 0)
            event.sample->revision = 0; /* there is no playbook yet */
        adapt_show(call, from, &event);
        renga__v1__usage__init(&call->usage);
    }
    cJSON_Delete(verdict);
    arena_fini(&arena);
}

static void adapt_show_progress(struct adapt_call *call, const Renga__V1__RunEvent *from)
{
    struct status ignored = {0};
    cJSON *shown = json_parse(from->progress_json, strlen(from->progress_json), NULL, &ignored);
    if (cJSON_GetObjectItemCaseSensitive(shown, "number"))
        adapt_show_sample(call, from, shown);
    cJSON_Delete(shown);
}

void ace_adapt_came(struct agent_run *run, const Renga__V1__RunEvent *event)
{
    struct adapt_call *call = (struct adapt_call *)run;
    Renga__V1__AdaptEvent alive = RENGA__V1__ADAPT_EVENT__INIT;
    switch (event->event_case) {
    case RENGA__V1__RUN_EVENT__EVENT_STARTED:
        adapt_show_accepted(call, event);
        break;
    case RENGA__V1__RUN_EVENT__EVENT_PROGRESS_JSON:
        adapt_show_progress(call, event);
        break;
    case RENGA__V1__RUN_EVENT__EVENT_NODE_FINISHED:
        if (event->node_finished->usage)
            usage_add(&call->usage, event->node_finished->usage);
        break;
    case RENGA__V1__RUN_EVENT__EVENT_NODE_FAILED:
        if (event->node_failed->usage)
            usage_add(&call->usage, event->node_failed->usage);
        break;
    case RENGA__V1__RUN_EVENT__EVENT_HEARTBEAT:
        adapt_show(call, event, &alive);
        break;
    default:
        break;
    }
}
