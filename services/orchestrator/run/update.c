/* UpdateState. A worker thread reads a large update and makes the fields that it changes, while the errand has the
 * thread for itself; the loop only takes them over.
 *
 *      errand_update --- small, or at an earlier checkpoint ------------- folded ---.
 *          '------------ large: held ---- job: prepared ---- taken ----------------+--- recorded
 *                                             '--- refused, or the thread broke ------- failed */
#include "errand.h"
#include "events.h"
#include "run_priv.h"

#include <stdlib.h>

/* Bytes of an update that the loop reads itself: 150 ns for each of the items that they can be. A worker copies the
 * fields that it adds to, so that small updates of large fields are cheaper here. */
#define UPDATE_INLINE_MAX ((size_t)32 << 10)

struct update_work {
    struct job job; /* first */
    struct errand *errand;
    struct thread *thread;
    Renga__V1__UpdateStateRequest request;
    Renga__V1__HandUpdate update;
    uint64_t number; /* of its record */
    struct state_change *change;
    struct status why;
};

static bool update_check(struct errand *errand, const struct graph *graph, Renga__V1__HandUpdate *update)
{
    const Renga__V1__UpdateStateRequest *request = (const void *)errand->request;
    const struct node *node = *request->as_node ? graph_node(graph, request->as_node) : NULL;
    if (*request->as_node && !node)
        return errand_refuse(errand, NULL, NOT_FOUND, "the graph '%s' has no node '%.64s'", graph->name,
                             request->as_node);
    const char *outcome = *request->outcome               ? request->outcome
                          : node && node->edge_count == 1 ? node->edges[0].outcome
                                                          : "done";
    struct status st = {0};
    if (node && node->edge_count && !node_edge(node, outcome))
        fail_field(&st, "outcome", "'%.64s' is no outcome of node '%s'", outcome, node->name);
    if (st.code == OK) {
        update->as_node = node ? (uint32_t)node->index + 1 : 0;
        return true;
    }
    errand_fail(errand, &st, NULL);
    return false;
}

static bool update_refuse(struct errand *errand, const struct status *why)
{
    struct status refused = {0};
    fail_field(&refused, "update_json", "%s", why->text);
    errand_fail(errand, &refused, NULL);
    return false;
}

/* As errand_done_with_checkpoint reads it from the store: here its record and its parent are known. */
static Renga__V1__Checkpoint *updated_checkpoint(struct arena *arena, const struct thread *thread, const Record *record,
                                                 uint64_t number, uint64_t head)
{
    Renga__V1__Checkpoint *made = checkpoint_of_record(arena, thread->agent, thread->place, record, number, head);
    return need(message_copy(arena, &made->base)); /* its names are the agent's, and the request's */
}

/* The thread's state has the update, and `head` was its head before. `parent`: the checkpoint that it was made at,
 * if that was not the head. */
static void record_update(struct errand *errand, struct thread *thread, Renga__V1__HandUpdate *update, uint64_t head,
                          uint64_t parent)
{
    Record record = RENGA__V1__LOG_RECORD__INIT;
    record.update = update;
    record.parent = parent;
    update->due = frame_due_nodes(thread->root, &update->n_due);
    record.goes_back = parent && !log_snapshot_fits(thread);
    uint64_t number = log_append(thread, NULL, &record);
    if (parent)
        log_snapshot_now(thread);
    errand_remember(errand, thread, update->request->request_id, "", number);
    log_write_thread(thread);
    Renga__V1__UpdateStateResponse *response = need(arena_alloc(errand->arena, sizeof *response));
    renga__v1__update_state_response__init(response);
    response->checkpoint = updated_checkpoint(errand->arena, thread, &record, number, head);
    free(update->due);
    errand_done(errand, thread, response);
}

/* ---- by a worker ------------------------------------------------------------------------------------------------- */

static void update_prepare(struct job *job)
{
    struct update_work *work = (struct update_work *)job;
    work->change = fold_prepare_update(work->thread->root, &work->update, work->number, &work->why);
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
    struct errand *errand = work->errand;
    struct status st = job->status;
    size_t size = strlen(work->request.update_json);
    work->job = errand_job(work->errand, work->thread, update_drop, update_dropped);
    thread->holds--;
    if (st.code == OK && (thread->phase != THREAD_READY || thread->last + 1 != work->number))
        fail(&st, UNAVAILABLE, "thread '%s' is being read again", thread->id);
    if (st.code != OK) {
        errand_fail(errand, &st, NULL);
    } else if (!work->change) {
        update_refuse(errand, &work->why);
    } else {
        uint64_t head = thread->head;
        fold_prepared_update(thread, work->change, &work->update, work->number, wall_ms());
        record_update(errand, thread, &work->update, head, 0);
    }
    thread_unhold(thread);
    job_start(&work->job, size); /* the values before are freed there, too */
}

static void start_update(struct errand *errand, struct thread *thread, const Renga__V1__UpdateStateRequest *request,
                         const Renga__V1__HandUpdate *update)
{
    struct update_work *work = need(calloc(1, sizeof *work));
    *work = (struct update_work){.errand = errand, .thread = thread, .request = *request, .update = *update};
    work->update.request = &work->request;
    work->number = thread->last + 1;
    work->job = errand_job(work->errand, work->thread, update_prepare, update_prepared);
    work->job.deadline_ns = errand->deadline_ns;
    thread->held = true;
    thread->holds++;
    job_start(&work->job, strlen(request->update_json));
}

/* ---- either way -------------------------------------------------------------------------------------------------- */

bool errand_update(struct errand *errand, struct thread *thread, struct thread *from)
{
    struct status st = {0};
    bool elsewhere = from != thread;
    Renga__V1__HandUpdate update = RENGA__V1__HAND_UPDATE__INIT;
    Renga__V1__UpdateStateRequest request = *(const Renga__V1__UpdateStateRequest *)errand->request;
    if (!from->root)
        return errand_refuse(errand, NULL, NOT_FOUND, "thread '%s' has no state yet", thread->id);
    if (!update_check(errand, from->root->graph, &update))
        return false;
    request.thread_id = unconst("");
    update.request = &request;
    update.graph_version = from->agent->version;
    if (!elsewhere && strlen(request.update_json) > UPDATE_INLINE_MAX) {
        start_update(errand, thread, &request, &update);
        return true;
    }
    unsigned ways = elsewhere ? from->ways_back + 1 : 0;
    uint64_t head = thread->head, parent = elsewhere ? from->head : 0;
    if (!fold_update(thread, from, &update, thread->last + 1, wall_ms(), &st))
        return update_refuse(errand, &st);
    thread->ways_back += ways;
    record_update(errand, thread, &update, head, parent);
    return true;
}
