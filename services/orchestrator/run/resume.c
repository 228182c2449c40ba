/* ResumeRun: its refusals, and the nodes that it starts. Long answers are held against the schemas of their questions
 * by a worker thread, and a long update is read there; the errand has the thread for itself meanwhile. */
#include "errand.h"
#include "run_priv.h"

#include "loop/jobs.h"

#include <stdio.h>
#include <stdlib.h>

#define UPDATE_MEMORY ((size_t)8 << 20) /* bytes, to try an update of interrupt_timeout */

struct resume_work {
    struct job job; /* first */
    struct errand *errand;
    struct thread *thread;
    struct run *run;
    Renga__V1__ResumeRunRequest request;
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

struct open_question {
    const char *id;
    size_t count;
};

static void resume_note_question(struct interrupt_visit *visit, const struct frame *frame, const struct node *node,
                                 const struct due *due, struct question *question, Renga__V1__InterruptKind kind)
{
    struct open_question *open = visit->data;
    if (!question)
        return;
    open->id = question->id;
    open->count++;
}

static bool resume_find_question(struct resume_work *work, const Renga__V1__InterruptAnswer *answer)
{
    struct thread *thread = work->thread;
    struct question *question = question_find(thread, answer->interrupt_id);
    if (!question && run_has_answer(thread->run, answer->interrupt_id))
        return errand_refuse(work->errand, "ALREADY_ANSWERED", FAILED_PRECONDITION,
                             "the question '%.64s' has its answer", answer->interrupt_id);
    if (!question)
        return errand_refuse(work->errand, NULL, NOT_FOUND, "the run asks no question '%.64s'", answer->interrupt_id);
    if (question->answer)
        return errand_refuse(work->errand, "ALREADY_ANSWERED", FAILED_PRECONDITION, "the question '%s' has its answer",
                             question->id);
    struct given_answer given = {question->asked->answer_schema_json, answer->answer_json};
    work->given[work->given_count++] = given;
    work->bytes += strlen(given.schema) + strlen(given.answer);
    return true;
}

static bool resume_find_questions(struct resume_work *work)
{
    struct errand *errand = work->errand;
    struct thread *thread = work->thread;
    Renga__V1__ResumeRunRequest *request = &work->request;
    struct open_question open = {0};
    struct interrupt_visit visit = {.came = resume_note_question, .data = &open};
    question_each(thread->root, &visit);
    bool has_bare = request->maybe_answer_json_case == RENGA__V1__RESUME_RUN_REQUEST__MAYBE_ANSWER_JSON_ANSWER_JSON;
    if (has_bare && request->n_answers)
        return errand_refuse(errand, NULL, INVALID_ARGUMENT, "answer_json: not together with answers");
    if (has_bare && open.count > 1)
        return errand_refuse(errand, "AMBIGUOUS_ANSWER", FAILED_PRECONDITION,
                             "%zu questions are open; answer them by interrupt_id", open.count);
    work->given = need(calloc(request->n_answers + 1, sizeof *work->given));
    for (size_t i = 0; i < request->n_answers && !open.count; i++)
        if (run_has_answer(thread->run, request->answers[i]->interrupt_id))
            return resume_find_question(work, request->answers[i]);
    if ((has_bare || request->n_answers) && !open.count)
        return errand_refuse(errand, "NO_QUESTION", FAILED_PRECONDITION, "no question is open");
    if (has_bare) {
        renga__v1__interrupt_answer__init(&work->bare);
        work->bare.interrupt_id = need(arena_strdup(errand->arena, open.id)); /* an update may close its graph */
        work->bare.answer_json = request->answer_json;
        work->list[0] = &work->bare;
        request->answers = work->list;
        request->n_answers = 1;
    }
    for (size_t i = 0; i < request->n_answers; i++)
        if (!resume_find_question(work, request->answers[i]))
            return false;
    return true;
}

/* ---- whether the run may go on ----------------------------------------------------------------------------------- */

static bool resume_is_allowed(struct errand *errand, struct thread *thread, const struct run *run,
                              const Renga__V1__ResumeRunRequest *request)
{
    uint64_t expected;
    bool budget = run && run->state == RENGA__V1__RUN_STATE__RUN_STATE_SUCCEEDED &&
                  run->reason != RENGA__V1__STOP_REASON__STOP_REASON_COMPLETED && thread->root &&
                  thread->root->phase != FRAME_ENDED; /* "then": "fail" has let it come to its end */
    bool stopped = run && (run->state == RENGA__V1__RUN_STATE__RUN_STATE_WAITING ||
                           run->state == RENGA__V1__RUN_STATE__RUN_STATE_FAILED ||
                           run->state == RENGA__V1__RUN_STATE__RUN_STATE_CANCELLED || budget);
    if (!stopped || run != thread->run || !thread->root || !run->started_ms)
        return errand_refuse(errand, "NOT_RESUMABLE", FAILED_PRECONDITION, "%s",
                             !run || run != thread->run ? "the thread has gone on without the run"
                             : run_is_open(run)         ? "the run is at work"
                                                        : "the run is done");
    if (thread_busy(thread))
        return errand_refuse(errand, "THREAD_BUSY", ABORTED, "run %s is on thread '%s'", thread->queue->id, thread->id);
    if (!run->agent)
        return errand_refuse(errand, "NOT_RESUMABLE", FAILED_PRECONDITION, "the version %s of its agent is not there",
                             run->begun->graph_version);
    if (*request->expected_checkpoint_id &&
        (!id_checkpoint_number(request->expected_checkpoint_id, thread->place, &expected) || expected != thread->head))
        return errand_refuse(errand, "STALE", ABORTED, "'%.64s' is not the thread's head any more",
                             request->expected_checkpoint_id);
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
    const Renga__V1__ResumeUpdate *wish = work->request.update;
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
    if (*wish->as_node && work->request.n_answers)
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
    if (!question_answers_fit(work->given, work->given_count, &work->unfit) || !work->request.update)
        return;
    work->change = fold_prepare_update(work->thread->root, &work->update, work->number, &why);
    if (!work->change)
        fail_field(&work->unfit, "update.update_json", "%s", why.text);
}

/* ---- for the history --------------------------------------------------------------------------------------------- */

static void resume_note_node(struct interrupt_visit *visit, const struct frame *frame, const struct node *node,
                             const struct due *due, struct question *question, Renga__V1__InterruptKind kind)
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
    question_each(thread->root, &visit);
    return first;
}

/* ---- the answers ------------------------------------------------------------------------------------------------- */

static void resume_go_on(struct resume_work *work)
{
    struct errand *errand = work->errand;
    struct run *run = work->run;
    if (work->unfit.code != OK) {
        errand_fail(errand, &work->unfit, NULL);
        return;
    }
    bool wait = work->request.wait;
    errand_remember(errand, work->thread, work->request.request_id, run->id, 0);
    run_take_trace(run, errand);
    const char *node = resume_waits_at(work->thread);
    if (work->change)
        fold_prepared_update(work->thread, work->change, &work->update, work->number, wall_ms());
    run_resume(run, &(struct resumption){.client = errand->rights.principal.name,
                                         .node = node,
                                         .request = &work->request,
                                         .update = work->change ? &work->update : NULL});
    errand_wait(errand, run, wait);
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
        errand_fail(work->errand, &st, NULL);
    else
        resume_go_on(work);
    if (!thread->held)
        thread_unhold(thread);
    resume_free(work);
}

static void start_check(struct resume_work *work)
{
    const struct errand *errand = work->errand;
    work->job = errand_job(errand, work->thread, answers_check, answers_checked);
    work->job.deadline_ns = errand->deadline_ns;
    work->thread->held = true;
    work->thread->holds++;
    job_start(&work->job, work->bytes);
}

void errand_resume(struct errand *errand, struct thread *thread)
{
    const Renga__V1__ResumeRunRequest *request = (const void *)errand->request;
    if (!errand_is_new(errand, thread, request->request_id))
        return;
    if (!thread->exists) {
        errand_refuse(errand, NULL, NOT_FOUND, "there is no thread '%s'", thread->id);
        return;
    }
    struct run *run = *request->run_id ? errand_run(errand, thread, request->run_id) : thread->run;
    if (!resume_is_allowed(errand, thread, run, request))
        return;
    struct resume_work *work = need(calloc(1, sizeof *work));
    *work = (struct resume_work){.errand = errand, .thread = thread, .run = run, .request = *request};
    if (!resume_find_questions(work)) {
        resume_free(work);
        return;
    }
    if (!resume_take_update(work)) {
        errand_fail(errand, &work->unfit, NULL);
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
    renga__v1__resume_run_request__init(&work.request);
    work.request.update = run->request->interrupt_timeout->update;
    if (resume_take_update(&work))
        resume_prepare(&work);
    *st = work.unfit;
    const char *node = resume_waits_at(run->thread);
    if (st->code == OK && work.change)
        fold_prepared_update(work.thread, work.change, &work.update, work.number, wall_ms());
    if (st->code == OK)
        run_resume(run,
                   &(struct resumption){.timed_out = true, .node = node, .update = work.change ? &work.update : NULL});
    state_change_destroy(&work.change);
    return st->code == OK;
}
