/* The service of a request at its turn: the function that serves it, and the check that its key may use that agent.
 * Requests about a run are all answered with the run, from memory or from its row. */
#include "errand.h"
#include "keep.h"
#include "run_priv.h"

#include <assert.h>
#include <stdlib.h>

#define REQUEST_BYTES_MAX                                                                                              \
    ((size_t)STORE_VALUE_MAX - ((size_t)1 << 20)) /* the rest is for the other fields of its record */
#define TYPE(request, name) ((request)->descriptor == &renga__v1__##name##__descriptor)

/* ---- the run as an answer ---------------------------------------------------------------------------------------- */

#define WITH_RUN(name, Name)                                                                                           \
    if (TYPE(errand->request, name##_request)) {                                                                       \
        Renga__V1__##Name##Response *response = need(arena_alloc(errand->arena, sizeof *response));                    \
        renga__v1__##name##_response__init(response);                                                                  \
        response->run = run;                                                                                           \
        errand->response = &response->base;                                                                            \
    }

static void answer_with(struct errand *errand, Renga__V1__Run *run)
{
    WITH_RUN(start_run, StartRun)
    WITH_RUN(get_run, GetRun)
    WITH_RUN(cancel_run, CancelRun)
    WITH_RUN(resume_run, ResumeRun)
    if (errand->repeated && TYPE(errand->request, start_run_request))
        ((Renga__V1__StartRunResponse *)errand->response)->repeated_request = true;
    if (errand->repeated && TYPE(errand->request, resume_run_request))
        ((Renga__V1__ResumeRunResponse *)errand->response)->repeated_request = true;
}

void errand_complete(struct errand *errand, const struct run *run)
{
    answer_with(errand, answer_run(errand->arena, run, ANSWER_WHOLE));
}

void errand_wait(struct errand *errand, struct run *run, bool wait)
{
    if (wait && run_is_open(run)) {
        errand->next = run->waiters;
        run->waiters = errand;
        errand->waits_on = run;
        return;
    }
    errand_complete(errand, run);
    log_await(run->thread, errand);
}

/* ---- a run's row ------------------------------------------------------------------------------------------------- */

struct row_scan {
    struct store_scan scan;
    struct errand *errand;
    struct home *home;
};

static void row_came(struct store_scan *scan)
{
    struct row_scan *row = (struct row_scan *)scan;
    struct errand *errand = row->errand;
    struct status st = scan->status;
    Renga__V1__RunRow *found = NULL;
    if (st.code == OK && !scan->count)
        fail(&st, NOT_FOUND, "there is no run '%.64s'", errand->run_id);
    else if (st.code == OK)
        found = answer_read_row(errand->arena, &scan->rows[0], &st);
    errand->place = found;
    if (!found)
        errand_fail(errand, &st, NULL);
    else
        errand_queue(errand, thread_get(row->home, errand->tenant, found->run->thread_id, false));
    store_scan_fini(scan);
    free(row);
}

void errand_read_run(struct errand *errand, struct home *home)
{
    struct key key;
    char last[sizeof key.bytes + 1];
    struct row_scan *row = need(calloc(1, sizeof *row));
    row->errand = errand;
    row->home = home;
    key_named(&key, KEY_RUN, errand->tenant, errand->run_id);
    memcpy(last, key.bytes, key.size);
    last[key.size] = '\0';
    store_scan_init(&row->scan, home->loop, row_came);
    row->scan.from = key_bytes(&key);
    row->scan.to = (struct store_bytes){last, key.size + 1};
    row->scan.limit = 1;
    row->scan.bytes_max = OUTPUT_ROW_MAX;
    store_scan(home->runner->options.store, &row->scan);
}

struct run *errand_run(struct errand *errand, struct thread *thread, const char *run_id)
{
    assert(run_id);
    if (thread->run && strcmp(thread->run->id, run_id) == 0)
        return thread->run;
    for (struct run *run = thread->queue; run; run = run->next)
        if (strcmp(run->id, run_id) == 0)
            return run;
    return NULL;
}

/* ---- requests about runs ----------------------------------------------------------------------------------------- */

static void serve_get(struct errand *errand, struct thread *thread)
{
    struct run *run = errand_run(errand, thread, errand->run_id);
    const Renga__V1__RunRow *row = errand->place;
    if (run) {
        errand_complete(errand, run);
        log_await(thread, errand);
    } else if (row) {
        answer_with(errand, row->run);
        errand_answer(errand);
    } else {
        errand_refuse(errand, NULL, NOT_FOUND, "there is no run '%.64s'", errand->run_id);
    }
}

static void serve_cancel(struct errand *errand, struct thread *thread)
{
    const Renga__V1__CancelRunRequest *request = (const void *)errand->request;
    struct run *run = errand_run(errand, thread, errand->run_id);
    if (!run || run->state >= RENGA__V1__RUN_STATE__RUN_STATE_SUCCEEDED) {
        serve_get(errand, thread);
        return;
    }
    run_halt(run);
    if (run->state >= RENGA__V1__RUN_STATE__RUN_STATE_SUCCEEDED) {
        serve_get(errand, thread);
        return;
    }
    if (request->wait && run->loose) {
        errand->next = run->quiet_waiters;
        run->quiet_waiters = errand;
    } else {
        errand->next = run->waiters;
        run->waiters = errand;
    }
    errand->waits_on = run;
    run_change(run, RENGA__V1__RUN_STATE__RUN_STATE_CANCELLED, RENGA__V1__STOP_REASON__STOP_REASON_CANCELLED, CANCELLED,
               "%s", *request->reason ? request->reason : "cancelled by its caller");
}

/* ---- its turn ---------------------------------------------------------------------------------------------------- */

/* The agent that it is about: of the run, the thread, or the request. */
static const char *agent_of(const struct errand *errand, const struct thread *thread)
{
    const Renga__V1__RunRow *row = errand->place;
    if (TYPE(errand->request, start_run_request))
        return ((const Renga__V1__StartRunRequest *)errand->request)->agent;
    if (errand->run_id && row)
        return row->run->agent;
    if (thread->agent)
        return thread->agent->name;
    return thread->run ? thread->run->request->agent : NULL;
}

static bool may_ask(struct errand *errand, const struct thread *thread)
{
    struct status st = {0};
    const char *agent = errand->rights.auth ? agent_of(errand, thread) : NULL;
    if (thread->unreadable && rights_are_limited(&errand->rights))
        fail(&st, PERMISSION_DENIED,
             "the agent of thread '%s' cannot be read; only a key that reaches all agents can delete it", thread->id);
    else if (!agent || rights_check(&errand->rights, agent, &st))
        return true;
    errand_fail(errand, &st, NULL);
    return false;
}

/* A request that begins or changes a run is stored whole in its record. The API limits are smaller, but not all
 * requests pass the API. */
static bool fits_record(struct errand *errand)
{
    size_t size = errand->request ? protobuf_c_message_get_packed_size(errand->request) : 0;
    return size <= REQUEST_BYTES_MAX ||
           errand_refuse(errand, NULL, RESOURCE_EXHAUSTED,
                         "%s has %zu bytes; at most %zu can be kept: write less, or a part of it with each of several "
                         "UpdateState",
                         errand->request->descriptor->short_name, size, REQUEST_BYTES_MAX);
}

void errand_serve(struct errand *errand, struct thread *thread)
{
    if (!errand->chore && !(may_ask(errand, thread) && fits_record(errand)))
        return;
    if (expire_serves(errand, thread))
        return;
    if (errand->chore)
        errand->chore(errand, thread);
    else if (TYPE(errand->request, get_run_request) || (errand->repeated && errand->run_id))
        serve_get(errand, thread);
    else if (TYPE(errand->request, cancel_run_request))
        serve_cancel(errand, thread);
    else if (TYPE(errand->request, watch_run_request))
        audience_join(errand, thread);
    else if (TYPE(errand->request, start_run_request))
        errand_start(errand, thread);
    else if (TYPE(errand->request, resume_run_request))
        errand_resume(errand, thread);
    else
        errand_serve_history(errand, thread);
}
