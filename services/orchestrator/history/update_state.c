/* UpdateState. A worker thread reads a large update and makes the fields that it changes, while the request has the
 * thread for itself; the loop only takes them over.
 *
 *      request_update_state --- small, or at an earlier checkpoint ---- applied ---.
 *          '------------ large: held ---- job: prepared ---- taken ----------------+--- recorded
 *                                             '--- refused, or the thread broke ------- failed */
#include "engine/run_lifecycle.h"
#include "graph/agents.h"
#include "graph/graph.h"
#include "journal/checkpoint.h"
#include "journal/journal_writer.h"
#include "lifecycle/request_queue.h"
#include "state/state.h"
#include "thread/apply.h"
#include "thread/frame.h"
#include "thread/memory.h"
#include "thread/request.h"
#include "thread/thread.h"
#include "thread_requests.h"

#include "base/status.h"
#include "loop/jobs.h"

#include <stdlib.h>

/* Bytes of an update that the loop reads itself: 150 ns for each of the items that they can be. A worker copies the
 * fields that it adds to, so that small updates of large fields are cheaper here. */
#define UPDATE_INLINE_MAX ((size_t)32 << 10)

struct update_work {
    struct job job; /* first */
    struct request *request;
    struct thread *thread;
    Renga__V1__UpdateStateRequest message;
    Renga__V1__HandUpdate update;
    uint64_t number; /* of its record */
    struct state_change *change;
    struct status why;
};

static bool update_check(struct request *request, const struct graph *graph, Renga__V1__HandUpdate *update)
{
    const Renga__V1__UpdateStateRequest *message = (const void *)request->message;
    const struct node *node = *message->as_node ? graph_node(graph, message->as_node) : NULL;
    if (*message->as_node && !node)
        return request_refuse(request, NULL, NOT_FOUND, "the graph '%s' has no node '%.64s'", graph->name,
                              message->as_node);
    const char *outcome = *message->outcome               ? message->outcome
                          : node && node->edge_count == 1 ? node->edges[0].outcome
                                                          : "done";
    struct status st = {0};
    if (node && node->edge_count && !node_edge(node, outcome))
        fail_field(&st, "outcome", "'%.64s' is no outcome of node '%s'", outcome, node->name);
    if (st.code == OK) {
        update->as_node = node ? (uint32_t)node->index + 1 : 0;
        return true;
    }
    request_fail(request, &st, NULL);
    return false;
}

static bool update_refuse(struct request *request, const struct status *why)
{
    struct status refused = {0};
    fail_field(&refused, "update_json", "%s", why->text);
    request_fail(request, &refused, NULL);
    return false;
}

/* As request_answer_with_checkpoint reads it from the store: here its record and its parent are known. */
static Renga__V1__Checkpoint *updated_checkpoint(struct arena *arena, const struct thread *thread, const Record *record,
                                                 uint64_t number, uint64_t head)
{
    Renga__V1__Checkpoint *made = checkpoint_of_record(arena, thread->agent, thread->place, record, number, head);
    return xnonnull(message_copy(arena, &made->base)); /* its names are the agent's, and the request's */
}

/* The thread's state has the update, and `head` was its head before. `parent`: the checkpoint that it was made at,
 * if that was not the head. */
static void record_update(struct request *request, struct thread *thread, Renga__V1__HandUpdate *update, uint64_t head,
                          uint64_t parent)
{
    Record record = RENGA__V1__LOG_RECORD__INIT;
    record.update = update;
    record.parent = parent;
    update->due = frame_activated_nodes(thread->root, &update->n_due);
    record.goes_back = parent && !log_snapshot_fits(thread);
    uint64_t number = log_append(thread, NULL, &record);
    if (parent)
        log_snapshot_now(thread);
    request_remember(request, thread, update->request->request_id, "", number);
    log_write_thread(thread);
    Renga__V1__UpdateStateResponse *response = xnonnull(arena_alloc(request->arena, sizeof *response));
    renga__v1__update_state_response__init(response);
    response->checkpoint = updated_checkpoint(request->arena, thread, &record, number, head);
    free(update->due);
    request_answer_on_commit(request, thread, response);
}

/* ---- by a worker ------------------------------------------------------------------------------------------------- */

static void update_prepare(struct job *job)
{
    struct update_work *work = (struct update_work *)job;
    work->change = apply_prepare_update(work->thread->root, &work->update, work->number, &work->why);
}

static void update_drop(struct job *job)
{
    state_change_destroy(&((struct update_work *)job)->change);
}

static void update_dropped(struct job *job)
{
    update_drop(job); /* if no worker had room for it */
    free(job);
}

static void update_prepared(struct job *job)
{
    struct update_work *work = (struct update_work *)job;
    struct thread *thread = work->thread;
    struct request *request = work->request;
    struct status st = job->status;
    size_t size = strlen(work->message.update_json);
    work->job = request_job(work->request, work->thread, update_drop, update_dropped);
    thread->holds--;
    if (st.code == OK && (thread->phase != THREAD_READY || thread->last + 1 != work->number))
        fail(&st, UNAVAILABLE, "thread '%s' is being read again", thread->id);
    if (st.code != OK) {
        request_fail(request, &st, NULL);
    } else if (!work->change) {
        update_refuse(request, &work->why);
    } else {
        uint64_t head = thread->head;
        apply_prepared_update(thread, work->change, &work->update, work->number, wall_ms());
        record_update(request, thread, &work->update, head, 0);
    }
    thread_unhold(thread);
    job_start(&work->job, size); /* the values before are freed there, too */
}

static void start_update(struct request *request, struct thread *thread, const Renga__V1__UpdateStateRequest *message,
                         const Renga__V1__HandUpdate *update)
{
    struct update_work *work = xnonnull(calloc(1, sizeof *work));
    *work = (struct update_work){.request = request, .thread = thread, .message = *message, .update = *update};
    work->update.request = &work->message;
    work->number = thread->last + 1;
    work->job = request_job(work->request, work->thread, update_prepare, update_prepared);
    work->job.deadline_ns = request->deadline_ns;
    thread->held = true;
    thread->holds++;
    job_start(&work->job, strlen(message->update_json));
}

/* ---- either way -------------------------------------------------------------------------------------------------- */

bool request_update_state(struct request *request, struct thread *thread, struct thread *from)
{
    struct status st = {0};
    bool from_past = from != thread;
    Renga__V1__HandUpdate update = RENGA__V1__HAND_UPDATE__INIT;
    Renga__V1__UpdateStateRequest message = *(const Renga__V1__UpdateStateRequest *)request->message;
    if (!from->root)
        return request_refuse(request, NULL, NOT_FOUND, "thread '%s' has no state yet", thread->id);
    if (!update_check(request, from->root->graph, &update))
        return false;
    message.thread_id = unconst("");
    update.request = &message;
    update.graph_version = from->agent->version;
    if (!from_past && strlen(message.update_json) > UPDATE_INLINE_MAX) {
        start_update(request, thread, &message, &update);
        return true;
    }
    unsigned ways = from_past ? from->ways_back + 1 : 0;
    uint64_t head = thread->head, parent = from_past ? from->head : 0;
    if (!apply_update(thread, from, &update, thread->last + 1, wall_ms(), &st))
        return update_refuse(request, &st);
    thread->ways_back += ways;
    record_update(request, thread, &update, head, parent);
    return true;
}
