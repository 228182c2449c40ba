/* ResumeRun: its refusals, and the nodes that it starts. Long answers are held against the schemas of their interrupts
 * by a worker thread, and a long update is read there; the request has the thread for itself meanwhile. */
#include "resume_run.h"
#include "engine/run_lifecycle.h"
#include "graph/agents.h"
#include "graph/graph.h"
#include "lifecycle/request_queue.h"
#include "log/ids.h"
#include "start_run.h"
#include "state/state.h"
#include "thread/apply.h"
#include "thread/frame.h"
#include "thread/interrupt.h"
#include "thread/memory.h"
#include "thread/request.h"
#include "thread/request_type.h"
#include "thread/run.h"
#include "thread/thread.h"

#include "base/arena.h"
#include "base/status.h"
#include "loop/jobs.h"

#include <stdio.h>
#include <stdlib.h>

#define UPDATE_MEMORY ((size_t)8 << 20) /* bytes, to try an update of interrupt_timeout */

struct resume_work {
    struct job job; /* first */
    struct request *request;
    struct thread *thread;
    struct run *run;
    Renga__V1__ResumeRunRequest message;
    Renga__V1__InterruptAnswer bare, *list[1];
    struct given_answer *given;
    size_t given_count, bytes;
    struct status unfit; /* the fault of an answer, or of the update */

    /* With an update: its request, the number of its record, and the fields that it makes. */
    Renga__V1__UpdateStateRequest write;
    Renga__V1__HandUpdate update;
    uint64_t number;
    struct state_change *change;
};

/* ---- owners of answers ------------------------------------------------------------------------------------------- */

struct open_interrupt {
    const char *id;
    size_t count;
};

static void resume_note_interrupt(struct interrupt_visit *visit, const struct frame *frame, const struct node *node,
                                  const struct activation *activation, struct interrupt *interrupt,
                                  Renga__V1__InterruptKind kind)
{
    struct open_interrupt *open = visit->data;
    if (!interrupt)
        return;
    open->id = interrupt->id;
    open->count++;
}

static bool resume_find_interrupt(struct resume_work *work, const Renga__V1__InterruptAnswer *answer)
{
    struct thread *thread = work->thread;
    struct interrupt *interrupt = interrupt_find(thread, answer->interrupt_id);
    if (!interrupt && run_has_answer(thread->run, answer->interrupt_id))
        return request_refuse(work->request, "ALREADY_ANSWERED", FAILED_PRECONDITION,
                              "the question '%.64s' has its answer", answer->interrupt_id);
    if (!interrupt)
        return request_refuse(work->request, NULL, NOT_FOUND, "the run asks no question '%.64s'", answer->interrupt_id);
    if (interrupt->answer)
        return request_refuse(work->request, "ALREADY_ANSWERED", FAILED_PRECONDITION,
                              "the question '%s' has its answer", interrupt->id);
    struct given_answer given = {interrupt->asked->answer_schema_json, answer->answer_json};
    work->given[work->given_count++] = given;
    work->bytes += strlen(given.schema) + strlen(given.answer);
    return true;
}

static bool resume_find_interrupts(struct resume_work *work)
{
    struct request *request = work->request;
    struct thread *thread = work->thread;
    Renga__V1__ResumeRunRequest *message = &work->message;
    struct open_interrupt open = {0};
    struct interrupt_visit visit = {.came = resume_note_interrupt, .data = &open};
    interrupts_each(thread->root, &visit);
    bool has_bare = message->maybe_answer_json_case == RENGA__V1__RESUME_RUN_REQUEST__MAYBE_ANSWER_JSON_ANSWER_JSON;
    if (has_bare && message->n_answers)
        return request_refuse(request, NULL, INVALID_ARGUMENT, "answer_json: not together with answers");
    if (has_bare && open.count > 1)
        return request_refuse(request, "AMBIGUOUS_ANSWER", FAILED_PRECONDITION,
                              "%zu questions are open; answer them by interrupt_id", open.count);
    work->given = xnonnull(calloc(message->n_answers + 1, sizeof *work->given));
    for (size_t i = 0; i < message->n_answers && !open.count; i++)
        if (run_has_answer(thread->run, message->answers[i]->interrupt_id))
            return resume_find_interrupt(work, message->answers[i]);
    if ((has_bare || message->n_answers) && !open.count)
        return request_refuse(request, "NO_QUESTION", FAILED_PRECONDITION, "no question is open");
    if (has_bare) {
        renga__v1__interrupt_answer__init(&work->bare);
        work->bare.interrupt_id = xnonnull(arena_strdup(request->arena, open.id)); /* an update may close its graph */
        work->bare.answer_json = message->answer_json;
        work->list[0] = &work->bare;
        message->answers = work->list;
        message->n_answers = 1;
    }
    for (size_t i = 0; i < message->n_answers; i++)
        if (!resume_find_interrupt(work, message->answers[i]))
            return false;
    return true;
}

/* ---- whether the run may go on ----------------------------------------------------------------------------------- */

static bool resume_is_allowed(struct request *request, struct thread *thread, const struct run *run,
                              const Renga__V1__ResumeRunRequest *message)
{
    uint64_t expected;
    bool budget = run && run->state == RENGA__V1__RUN_STATE__RUN_STATE_SUCCEEDED &&
                  run->reason != RENGA__V1__STOP_REASON__STOP_REASON_COMPLETED && thread->root &&
                  thread->root->phase != FRAME_ENDED; /* "then": "fail" has let it come to its end */
    bool stopped = run && (run->state == RENGA__V1__RUN_STATE__RUN_STATE_WAITING ||
                           run->state == RENGA__V1__RUN_STATE__RUN_STATE_FAILED ||
                           run->state == RENGA__V1__RUN_STATE__RUN_STATE_CANCELLED || budget);
    if (!stopped || run != thread->run || !thread->root || !run->started_ms)
        return request_refuse(request, "NOT_RESUMABLE", FAILED_PRECONDITION, "%s",
                              !run || run != thread->run ? "the thread has gone on without the run"
                              : run_is_open(run)         ? "the run is at work"
                                                         : "the run is done");
    if (thread_busy(thread))
        return request_refuse(request, "THREAD_BUSY", ABORTED, "run %s is on thread '%s'", thread->queue->id,
                              thread->id);
    if (!run->agent)
        return request_refuse(request, "NOT_RESUMABLE", FAILED_PRECONDITION, "the version %s of its agent is not there",
                              run->begun->graph_version);
    if (*message->expected_checkpoint_id &&
        (!id_checkpoint_number(message->expected_checkpoint_id, thread->place, &expected) || expected != thread->head))
        return request_refuse(request, "STALE", ABORTED, "'%.64s' is not the thread's head any more",
                              message->expected_checkpoint_id);
    return true;
}

/* ---- the update -------------------------------------------------------------------------------------------------- */

/* `under`: the field of the request that has the update. `node`: the node in whose name it is made; NULL: no node. */
static bool resume_find_node(const struct graph *graph, const Renga__V1__ResumeUpdate *wish, const char *under,
                             const struct node **node, struct status *st)
{
    char field[STATUS_FIELD_MAX];
    *node = *wish->as_node ? graph_node(graph, wish->as_node) : NULL;
    snprintf(field, sizeof field, "%s.%s", under, *node ? "outcome" : "as_node");
    if (*wish->as_node && !*node)
        return fail_field(st, field, "is '%.64s', but the graph '%s' has no such node", wish->as_node, graph->name);
    const char *outcome = *wish->outcome                      ? wish->outcome
                          : *node && (*node)->edge_count == 1 ? (*node)->edges[0].outcome
                                                              : "done";
    return !*node || !(*node)->edge_count || node_edge(*node, outcome) ||
           fail_field(st, field, "'%.64s' is no outcome of node '%s'", outcome, (*node)->name);
}

bool resume_update_fits(const struct graph *graph, const Renga__V1__ResumeUpdate *wish, const char *under,
                        struct status *st)
{
    struct arena arena;
    struct write write;
    struct status why = {0};
    const struct node *node;
    char field[STATUS_FIELD_MAX];
    if (!resume_find_node(graph, wish, under, &node, st))
        return false;
    struct write_source source = {
        .node = "update",
        .update_json = wish->update_json,
        .update_size = strlen(wish->update_json),
        .overwrite_fields = wish->overwrite_fields,
        .overwrite_count = wish->n_overwrite_fields,
        .clear_fields = wish->clear_fields,
        .clear_count = wish->n_clear_fields,
    };
    arena_init(&arena, NULL, 0, UPDATE_MEMORY);
    bool good = write_parse(graph, &source, &arena, &write, &why);
    arena_fini(&arena);
    snprintf(field, sizeof field, "%s.update_json", under);
    return good || fail_field(st, field, "%s", why.text);
}

static bool resume_take_update(struct resume_work *work)
{
    const Renga__V1__ResumeUpdate *wish = work->message.update;
    if (!wish)
        return true;
    renga__v1__update_state_request__init(&work->write);
    work->write.outcome = wish->outcome;
    work->write.update_json = wish->update_json;
    work->write.overwrite_fields = wish->overwrite_fields;
    work->write.n_overwrite_fields = wish->n_overwrite_fields;
    work->write.clear_fields = wish->clear_fields;
    work->write.n_clear_fields = wish->n_clear_fields;
    renga__v1__hand_update__init(&work->update);
    work->update.request = &work->write;
    work->update.graph_version = work->thread->agent->version;
    work->number = work->thread->last + 1;
    work->bytes += strlen(wish->update_json);
    const struct node *node;
    if (*wish->as_node && work->message.n_answers)
        return fail_field(&work->unfit, "update.as_node",
                          "is '%.64s', but goes with no answer: the node that asked is not due any more",
                          wish->as_node);
    bool good = resume_find_node(work->thread->root->graph, wish, "update", &node, &work->unfit);
    work->update.as_node = good && node ? (uint32_t)node->index + 1 : 0;
    return good;
}

/* In a worker thread if it is long. */
static void resume_prepare(struct resume_work *work)
{
    struct status why = {0};
    if (!interrupt_answers_fit(work->given, work->given_count, &work->unfit) || !work->message.update)
        return;
    work->change = apply_prepare_update(work->thread->root, &work->update, work->number, &why);
    if (!work->change)
        fail_field(&work->unfit, "update.update_json", "%s", why.text);
}

/* ---- for the history --------------------------------------------------------------------------------------------- */

static void resume_note_node(struct interrupt_visit *visit, const struct frame *frame, const struct node *node,
                             const struct activation *activation, struct interrupt *interrupt,
                             Renga__V1__InterruptKind kind)
{
    const char **first = visit->data;
    if (!*first)
        *first = node->name;
}

/* NULL: it does not wait. */
static const char *resume_waits_at(struct thread *thread)
{
    const char *first = NULL;
    struct interrupt_visit visit = {.came = resume_note_node, .data = &first};
    interrupts_each(thread->root, &visit);
    return first;
}

/* ---- the answers ------------------------------------------------------------------------------------------------- */

static void resume_go_on(struct resume_work *work)
{
    struct request *request = work->request;
    struct run *run = work->run;
    if (work->unfit.code != OK) {
        request_fail(request, &work->unfit, NULL);
        return;
    }
    bool wait = work->message.wait;
    request_remember(request, work->thread, work->message.request_id, run->id, 0);
    run_take_trace(run, request);
    const char *node = resume_waits_at(work->thread);
    if (work->change)
        apply_prepared_update(work->thread, work->change, &work->update, work->number, wall_ms());
    run_resume(run, &(struct resumption){.client = request->access.principal.name,
                                         .node = node,
                                         .request = &work->message,
                                         .update = work->change ? &work->update : NULL});
    request_wait(request, run, wait);
}

static void resume_free(struct resume_work *work)
{
    state_change_destroy(&work->change);
    free(work->given);
    free(work);
}

static void answers_check(struct job *job)
{
    resume_prepare((struct resume_work *)job);
}

static void answers_checked(struct job *job)
{
    struct resume_work *work = (struct resume_work *)job;
    struct thread *thread = work->thread;
    struct status st = job->status;
    thread->holds--;
    thread->held = false;
    if (st.code == OK && (thread->phase != THREAD_READY || (work->change && thread->last + 1 != work->number)))
        fail(&st, UNAVAILABLE, "thread '%s' is being read again", thread->id);
    if (st.code != OK)
        request_fail(work->request, &st, NULL);
    else
        resume_go_on(work);
    if (!thread->held)
        thread_unhold(thread);
    resume_free(work);
}

static void start_check(struct resume_work *work)
{
    const struct request *request = work->request;
    work->job = request_job(request, work->thread, answers_check, answers_checked);
    work->job.deadline_ns = request->deadline_ns;
    work->thread->held = true;
    work->thread->holds++;
    job_start(&work->job, work->bytes);
}

void request_resume_run(struct request *request, struct thread *thread)
{
    const Renga__V1__ResumeRunRequest *message = (const void *)request->message;
    if (!request_is_new(request, thread, message->request_id))
        return;
    if (!thread->exists) {
        request_refuse(request, NULL, NOT_FOUND, "there is no thread '%s'", thread->id);
        return;
    }
    struct run *run = *message->run_id ? thread_find_run(thread, message->run_id) : thread->run;
    if (!resume_is_allowed(request, thread, run, message))
        return;
    struct resume_work *work = xnonnull(calloc(1, sizeof *work));
    *work = (struct resume_work){.request = request, .thread = thread, .run = run, .message = *message};
    if (!resume_find_interrupts(work)) {
        resume_free(work);
        return;
    }
    if (!resume_take_update(work)) {
        request_fail(request, &work->unfit, NULL);
        resume_free(work);
        return;
    }
    if (work->bytes > JOB_INLINE_MAX) {
        start_check(work);
        return;
    }
    resume_prepare(work);
    resume_go_on(work);
    resume_free(work);
}

/* ---- without a caller -------------------------------------------------------------------------------------------- */

bool run_resume_timed_out(struct run *run, struct status *st)
{
    struct resume_work work = {.thread = run->thread, .run = run};
    renga__v1__resume_run_request__init(&work.message);
    work.message.update = run->request->interrupt_timeout->update;
    if (resume_take_update(&work))
        resume_prepare(&work);
    *st = work.unfit;
    const char *node = resume_waits_at(run->thread);
    if (st->code == OK && work.change)
        apply_prepared_update(work.thread, work.change, &work.update, work.number, wall_ms());
    if (st->code == OK)
        run_resume(run,
                   &(struct resumption){.timed_out = true, .node = node, .update = work.change ? &work.update : NULL});
    state_change_destroy(&work.change);
    return st->code == OK;
}
