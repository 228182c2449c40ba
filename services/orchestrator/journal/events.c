/* The events of a record. They are not kept: reading a record again gives the same events, with the same
 * ids. */
#include "events.h"
#include "checkpoint.h"
#include "graph/agents.h"
#include "graph/graph.h"
#include "graph/node_kind.h"
#include "log/ids.h"
#include "thread/apply.h"
#include "thread/frame.h"
#include "thread/interrupt.h"
#include "thread/memory.h"
#include "thread/run_message.h"

#include "base/buffer.h"

#include <stdlib.h>

#define UPDATE_SHOWN_MAX ((size_t)1 << 20) /* bytes, as StateUpdated.update_json */

enum { EACH_GRAPH = 2, GRAPH_GRAPH = 0 }; /* rows of nodes/each.c and nodes/graph.c */

/* ---- places ------------------------------------------------------------------------------------------------------ */

const struct node *node_at(const struct graph *graph, uint32_t index)
{
    return graph && index < graph->node_count ? &graph->nodes[index] : NULL;
}

void path_of_place(const struct agent *agent, const uint32_t *place, size_t count, struct buffer *out,
                   const struct graph **graph)
{
    *graph = agent ? agent->graph : NULL;
    for (size_t i = 0; i + 2 < count; i += 3) {
        const struct node *node = node_at(*graph, place[i]);
        if (i)
            buffer_put(out, '/');
        buffer_print(out, node ? node->name : "?");
        if (place[i + 1])
            buffer_printf(out, "[%u]", place[i + 1]);
        bool each = node && node->kind->is_each;
        if (each)
            buffer_printf(out, "[%u]", place[i + 2]);
        bool inner = each || (node && node->kind->is_graph);
        *graph = inner ? node_argument(node, each ? EACH_GRAPH : GRAPH_GRAPH)->graph : NULL;
    }
}

static char *text_of_path(struct event_reader *reader, const uint32_t *place, size_t count, const struct graph **graph)
{
    struct buffer path;
    buffer_init(&path, PATH_MAX_BYTES);
    path_of_place(reader->agent, place, count, &path, graph);
    char *text = xnonnull(arena_strdup(reader->arena, buffer_text(&path)));
    buffer_fini(&path);
    return text;
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

static Renga__V1__RunEvent *new_event(struct event_reader *reader, const Record *record, uint64_t number,
                                      uint32_t *index)
{
    Renga__V1__RunEvent *event = xnonnull(arena_alloc(reader->arena, sizeof *event));
    renga__v1__run_event__init(event);
    event->event_id = (int64_t)(number << EVENT_NUMBER_BITS | (record->first_event + (*index)++));
    event->run_id = unconst(reader->run_id);
    event->time_ms = record->time_ms;
    return event;
}

#define MAKE(reader, name, Name)                                                                                       \
    Renga__V1__##Name *name = xnonnull(arena_alloc((reader)->arena, sizeof *name));                                    \
    renga__v1__##name##__init(name)

Renga__V1__RunEvent *event_of_pending(struct event_reader *reader, const Renga__V1__ShownEvent *pending,
                                      uint64_t number, int64_t time_ms)
{
    const struct graph *graph;
    Renga__V1__RunEvent *event = xnonnull(arena_alloc(reader->arena, sizeof *event));
    renga__v1__run_event__init(event);
    event->event_id = (int64_t)(number << EVENT_NUMBER_BITS | pending->number);
    event->run_id = unconst(reader->run_id);
    event->time_ms = time_ms - pending->before_ms;
    event->step = pending->step;
    event->path = text_of_path(reader, pending->place, pending->n_place, &graph);
    const struct node *node = node_at(graph, pending->node);
    event->node = unconst(node ? node->name : "?");
    event->branch = (int32_t)pending->branch;
    if (pending->retried) {
        event->event_case = RENGA__V1__RUN_EVENT__EVENT_NODE_RETRIED;
        event->node_retried = pending->retried;
    } else if (*pending->progress_json) {
        event->event_case = RENGA__V1__RUN_EVENT__EVENT_PROGRESS_JSON;
        event->progress_json = pending->progress_json;
    } else {
        MAKE(reader, node_started, NodeStarted);
        node_started->attempt = (int32_t)pending->attempts_before + 1;
        node_started->kind = unconst(node ? node->kind->name : "");
        event->event_case = RENGA__V1__RUN_EVENT__EVENT_NODE_STARTED;
        event->node_started = node_started;
    }
    return event;
}

struct spot { /* the place of a result */
    const Renga__V1__StepResults *results;
    const Renga__V1__TaskResult *result;
    const struct graph *graph;
    char *path;
};

static void place_event(Renga__V1__RunEvent *event, const struct spot *spot)
{
    const struct node *node = node_at(spot->graph, spot->result->node);
    event->step = spot->results->step;
    event->path = spot->path;
    event->node = unconst(node ? node->name : "?");
    event->branch = (int32_t)spot->result->branch;
}

static void tell_failed(struct event_reader *reader, const Record *record, uint64_t number, uint32_t *index,
                        const struct spot *spot)
{
    Renga__V1__RunEvent *failed = new_event(reader, record, number, index);
    place_event(failed, spot);
    failed->event_case = RENGA__V1__RUN_EVENT__EVENT_NODE_FAILED;
    failed->node_failed = spot->result->failed;
    reader->came(reader, failed);
}

static void tell_asked(struct event_reader *reader, const Record *record, uint64_t number, uint32_t *index,
                       const struct spot *spot)
{
    const Renga__V1__StepResults *results = spot->results;
    const Renga__V1__TaskResult *result = spot->result;
    uint64_t seed =
        id_hash(id_hash_text(reader->place, reader->run_id), results->place, results->n_place * sizeof *results->place);
    for (size_t i = 0; i < result->response->n_interrupts; i++) {
        const Renga__V1__NodeInterrupt *asked = result->response->interrupts[i];
        char id[ID_MAX];
        MAKE(reader, interrupt, Interrupt);
        Renga__V1__RunEvent *told = new_event(reader, record, number, index);
        place_event(told, spot);
        interrupt_make_id(id, seed, result->due_step ? result->due_step : results->step, result->node, result->branch,
                          asked->key);
        interrupt->interrupt_id = xnonnull(arena_strdup(reader->arena, id));
        interrupt->kind = RENGA__V1__INTERRUPT_KIND__INTERRUPT_KIND_QUESTION;
        interrupt->path = told->path;
        interrupt->node = told->node;
        interrupt->branch = told->branch;
        interrupt->key = asked->key;
        interrupt->question = asked->question;
        interrupt->payload_json = asked->payload_json;
        interrupt->answer_schema_json = asked->answer_schema_json;
        interrupt->asked_ms = record->time_ms;
        told->event_case = RENGA__V1__RUN_EVENT__EVENT_INTERRUPTED;
        told->interrupted = interrupt;
        reader->came(reader, told);
    }
}

static void tell_finished(struct event_reader *reader, const Record *record, uint64_t number, uint32_t *index,
                          const struct spot *spot)
{
    const Response *response = spot->result->response;
    MAKE(reader, node_finished, NodeFinished);
    Renga__V1__RunEvent *finished = new_event(reader, record, number, index);
    place_event(finished, spot);
    node_finished->attempt = (int32_t)spot->result->attempts_before + 1;
    node_finished->outcome = response && *response->outcome ? response->outcome : unconst("done");
    node_finished->duration_ms = spot->result->duration_ms;
    node_finished->cached = spot->result->cached;
    node_finished->usage = response ? response->usage : NULL;
    node_finished->degradations = response ? response->degradations : NULL;
    node_finished->n_degradations = response ? response->n_degradations : 0;
    finished->event_case = RENGA__V1__RUN_EVENT__EVENT_NODE_FINISHED;
    finished->node_finished = node_finished;
    reader->came(reader, finished);
}

static void tell_updated(struct event_reader *reader, const Record *record, uint64_t number, uint32_t *index,
                         const struct spot *spot)
{
    const Response *response = spot->result->response;
    MAKE(reader, state_updated, StateUpdated);
    Renga__V1__RunEvent *updated = new_event(reader, record, number, index);
    place_event(updated, spot);
    state_updated->fields = xnonnull(arena_alloc(reader->arena, GRAPH_FIELDS_MAX * sizeof(*state_updated->fields)));
    name_fields(reader->arena, response->update_json, state_updated->fields, &state_updated->n_fields,
                GRAPH_FIELDS_MAX);
    if (strlen(response->update_json) <= UPDATE_SHOWN_MAX)
        state_updated->update_json = response->update_json;
    state_updated->overwrite_fields = response->overwrite_fields;
    state_updated->n_overwrite_fields = response->n_overwrite_fields;
    state_updated->clear_fields = response->clear_fields;
    state_updated->n_clear_fields = response->n_clear_fields;
    updated->event_case = RENGA__V1__RUN_EVENT__EVENT_UPDATED;
    updated->updated = state_updated;
    reader->came(reader, updated);
}

static void tell_results(struct event_reader *reader, const Record *record, uint64_t number, uint32_t *index,
                         const Renga__V1__StepResults *results)
{
    struct spot spot = {.results = results};
    spot.path = text_of_path(reader, results->place, results->n_place, &spot.graph);
    for (size_t i = 0; i < results->n_results; i++) {
        spot.result = results->results[i];
        if (spot.result->failed) {
            tell_failed(reader, record, number, index, &spot);
        } else if (spot.result->response && spot.result->response->n_interrupts) {
            tell_asked(reader, record, number, index, &spot);
        } else {
            tell_finished(reader, record, number, index, &spot);
            if (event_has_update(spot.result))
                tell_updated(reader, record, number, index, &spot);
        }
    }
}

static void tell_checkpoint(struct event_reader *reader, const Record *record, uint64_t number, uint32_t *index)
{
    Renga__V1__RunEvent *told = new_event(reader, record, number, index);
    told->event_case = RENGA__V1__RUN_EVENT__EVENT_CHECKPOINT;
    told->checkpoint = checkpoint_of_record(reader->arena, reader->agent, reader->place, record, number, 0);
    told->checkpoint->run_id = unconst(reader->run_id);
    told->path = told->checkpoint->path;
    told->step = told->checkpoint->step;
    reader->came(reader, told);
}

static void tell_state(struct event_reader *reader, const Record *record, uint64_t number, uint32_t *index,
                       Renga__V1__RunState previous, Renga__V1__RunState state, const char *owner)
{
    MAKE(reader, run_state_changed, RunStateChanged);
    Renga__V1__RunEvent *told = new_event(reader, record, number, index);
    run_state_changed->previous = previous;
    run_state_changed->current = state;
    run_state_changed->owner = unconst(owner);
    told->event_case = RENGA__V1__RUN_EVENT__EVENT_STATE_CHANGED;
    told->state_changed = run_state_changed;
    reader->came(reader, told);
}

static void tell_stopped(struct event_reader *reader, const Record *record, uint64_t number, uint32_t *index)
{
    const Renga__V1__RunChanged *changed = record->changed;
    MAKE(reader, run_stopped, RunStopped);
    Renga__V1__RunEvent *told = new_event(reader, record, number, index);
    run_stopped->state = changed->state;
    run_stopped->stop_reason = changed->stop_reason;
    run_stopped->stop_text = changed->stop_text;
    run_stopped->status_code = changed->status_code;
    run_stopped->output_omitted = true;
    if (reader->live) {
        const Renga__V1__Run *run = answer_run(reader->arena, reader->live, ANSWER_WHOLE);
        run_stopped->output_json = run->output_json;
        run_stopped->output_omitted = run->output_omitted;
        run_stopped->usage = run->usage;
        run_stopped->degradations = run->degradations;
        run_stopped->n_degradations = run->n_degradations;
    }
    told->event_case = RENGA__V1__RUN_EVENT__EVENT_STOPPED;
    told->stopped = run_stopped;
    reader->came(reader, told);
}

static void tell_paused(struct event_reader *reader, const Record *record, uint64_t number, uint32_t *index)
{
    for (size_t i = 0; i < record->changed->n_standing; i++) {
        Renga__V1__RunEvent *told = new_event(reader, record, number, index);
        told->event_case = RENGA__V1__RUN_EVENT__EVENT_INTERRUPTED;
        told->interrupted = record->changed->standing[i];
        told->path = told->interrupted->path;
        told->node = told->interrupted->node;
        reader->came(reader, told);
    }
}

static void tell_begun(struct event_reader *reader, const Record *record, uint64_t number, uint32_t *index)
{
    MAKE(reader, run_started, RunStarted);
    Renga__V1__RunEvent *told = new_event(reader, record, number, index);
    run_started->agent = record->begun->request->agent;
    run_started->graph_version = record->begun->graph_version;
    run_started->thread_id = unconst(reader->thread_id);
    run_started->checkpoint_id = record->begun->request->checkpoint_id;
    told->event_case = RENGA__V1__RUN_EVENT__EVENT_STARTED;
    told->started = run_started;
    reader->came(reader, told);
}

void events_of_record(struct event_reader *reader, const Record *record, uint64_t number)
{
    uint32_t index = 0;
    const Renga__V1__RunState running = RENGA__V1__RUN_STATE__RUN_STATE_RUNNING;
    for (size_t i = 0; i < record->n_shown; i++)
        reader->came(reader, event_of_pending(reader, record->shown[i], number, record->time_ms));
    if (record->begun)
        tell_begun(reader, record, number, &index);
    if (record->went_to_work) {
        tell_state(reader, record, number, &index, RENGA__V1__RUN_STATE__RUN_STATE_QUEUED, running, "");
        tell_checkpoint(reader, record, number, &index);
    }
    for (size_t i = 0; i < record->n_answers; i++) {
        Renga__V1__RunEvent *told = new_event(reader, record, number, &index);
        told->event_case = RENGA__V1__RUN_EVENT__EVENT_ANSWERED;
        told->answered = record->answers[i];
        reader->came(reader, told);
    }
    if (record->migrated && !record->migrated->queued)
        tell_checkpoint(reader, record, number, &index);
    if (record->goes_on && record->update)
        tell_checkpoint(reader, record, number, &index);
    if (record->goes_on)
        tell_state(reader, record, number, &index, record->goes_on->previous, running, record->goes_on->owner);
    for (size_t i = 0; i < record->n_kept; i++)
        tell_results(reader, record, number, &index, record->kept[i]);
    if (record->step) {
        tell_results(reader, record, number, &index, record->step);
        tell_checkpoint(reader, record, number, &index);
    }
    if (!record->changed)
        return;
    tell_paused(reader, record, number, &index);
    tell_state(reader, record, number, &index, record->changed->previous, record->changed->state, "");
    if (record->changed->state > running)
        tell_stopped(reader, record, number, &index);
}
