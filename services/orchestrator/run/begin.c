/* StartRun: its refusals, and the run that it starts; requests that are repeated. */
#include "errand.h"
#include "guards.h"
#include "migrate.h"
#include "run_priv.h"

#include "base/json.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#define REQUEST_ROW_MAX 1024 /* bytes */
#define REPLACED        RENGA__V1__STOP_REASON__STOP_REASON_REPLACED

bool thread_busy(const struct thread *thread)
{
    return run_is_open(thread->run) || thread->queue;
}

/* ---- a request that may be a repetition -------------------------------------------------------------------------- */

struct request_scan {
    struct store_scan scan;
    struct errand *errand;
    struct thread *thread;
};

static uint64_t content_hash(const ProtobufCMessage *request)
{
    size_t size = protobuf_c_message_get_packed_size(request);
    uint8_t *bytes = need(malloc(size + 1));
    protobuf_c_message_pack(request, bytes);
    uint64_t hash = id_hash_text(id_hash(ID_HASH, bytes, size), request->descriptor->name);
    free(bytes);
    return hash;
}

static void errand_repeat_run(struct errand *errand, struct thread *thread, const Renga__V1__RequestRow *row);

static void repeat(struct errand *errand, struct thread *thread, const Renga__V1__RequestRow *row)
{
    if (row->content != content_hash(errand->request)) {
        struct status st = {0};
        fail_field(&st, "request_id", "was used for another request; take a new one");
        errand_fail(errand, &st, NULL);
        return;
    }
    errand->repeated = true;
    if (*row->run_id)
        errand_repeat_run(errand, thread, need(message_copy(errand->arena, &row->base)));
    else
        errand_repeat_thread(errand, thread, need(message_copy(errand->arena, &row->base)));
}

static void request_came(struct store_scan *scan)
{
    struct request_scan *request = (struct request_scan *)scan;
    struct errand *errand = request->errand;
    struct thread *thread = request->thread;
    struct status st = scan->status;
    struct arena arena;
    arena_init(&arena, NULL, 0, RECORD_MEMORY_MAX);
    const Renga__V1__RequestRow *row = NULL;
    thread->holds--;
    thread->held = false;
    if (st.code == OK && scan->count)
        row = row_read(&arena, &renga__v1__request_row__descriptor, &scan->rows[0], &st);
    if (st.code == OK && thread->phase != THREAD_READY)
        fail(&st, UNAVAILABLE, "thread '%s' is being read again", thread->id);
    errand->checked = true;
    if (st.code != OK)
        errand_fail(errand, &st, NULL);
    else if (row)
        repeat(errand, thread, row);
    else
        errand_serve(errand, thread);
    arena_fini(&arena);
    store_scan_fini(scan);
    free(request);
    if (!thread->held)
        thread_unhold(thread);
    else
        loop_defer(thread->home->loop, &thread->go);
}

static void repeat_pending(struct errand *errand, struct thread *thread, struct store_bytes bytes)
{
    struct status st = {0};
    const Renga__V1__RequestRow *row = message_read(errand->arena, &renga__v1__request_row__descriptor, bytes, &st);
    errand->checked = true;
    if (row)
        repeat(errand, thread, row);
    else
        errand_fail(errand, &st, NULL);
}

bool errand_is_new(struct errand *errand, struct thread *thread, const char *request_id)
{
    struct key key;
    char last[sizeof key.bytes + 1];
    if (!*request_id || errand->checked)
        return true;
    if (log_pending_request(thread, request_id).bytes) { /* not on disk yet */
        repeat_pending(errand, thread, log_pending_request(thread, request_id));
        return false;
    }
    struct request_scan *request = need(calloc(1, sizeof *request));
    request->errand = errand;
    request->thread = thread;
    thread->held = true;
    thread->holds++;
    key_named(&key, KEY_REQUEST, errand->tenant, request_id);
    memcpy(last, key.bytes, key.size);
    last[key.size] = '\0';
    store_scan_init(&request->scan, thread->home->loop, request_came);
    request->scan.from = key_bytes(&key);
    request->scan.to = (struct store_bytes){last, key.size + 1};
    request->scan.limit = 1;
    request->scan.bytes_max = REQUEST_ROW_MAX;
    store_scan(thread->home->runner->options.store, &request->scan);
    return false;
}

void errand_remember(struct errand *errand, struct thread *thread, const char *request_id, const char *run_id,
                     uint64_t checkpoint)
{
    char id[ID_MAX] = "";
    Renga__V1__RequestRow row = RENGA__V1__REQUEST_ROW__INIT;
    if (!*request_id)
        return;
    if (checkpoint)
        id_make_checkpoint(id, thread->place, checkpoint);
    row.content = content_hash(errand->request);
    row.thread_id = thread->id;
    row.run_id = unconst(run_id);
    row.checkpoint_id = id;
    log_put_request(thread, request_id, &row);
}

/* ---- StartRun ---------------------------------------------------------------------------------------------------- */

static bool check_guards(struct errand *errand, const struct graph *graph, const char *name, char *const *guards,
                         size_t count)
{
    char field[STATUS_FIELD_MAX];
    struct status st = {0}, why = {0};
    for (size_t i = 0; i < count; i++) {
        if (guard_check(graph, guards[i], &why))
            continue;
        snprintf(field, sizeof field, "%s[%zu]", name, i);
        fail_field(&st, field, "%s", why.text);
        errand_fail(errand, &st, NULL);
        return false;
    }
    return true;
}

static bool check_interrupt_timeout(struct errand *errand, const struct graph *graph)
{
    struct status st = {0};
    const Renga__V1__InterruptTimeout *limit = ((const Renga__V1__StartRunRequest *)errand->request)->interrupt_timeout;
    if (!limit || !limit->update || resume_update_fits(graph, limit->update, "interrupt_timeout.update", &st))
        return true;
    errand_fail(errand, &st, NULL);
    return false;
}

static bool check_thread(struct errand *errand, struct thread *thread, const struct agent *agent)
{
    const Renga__V1__StartRunRequest *request = (const void *)errand->request;
    const struct run *last = thread->run ? thread->run : thread->queue;
    const char *owner = thread->agent ? thread->agent->name : last ? last->request->agent : agent->name;
    uint64_t number;
    if (strcmp(owner, agent->name) != 0)
        return errand_refuse(errand, "OTHER_AGENT", FAILED_PRECONDITION,
                             "thread '%s' belongs to the agent '%s', not to '%s'; take another thread", thread->id,
                             owner, agent->name);
    if (*request->checkpoint_id &&
        (!id_checkpoint_number(request->checkpoint_id, thread->place, &number) || !number || number > thread->head))
        return errand_refuse(errand, NULL, NOT_FOUND, "thread '%s' has no checkpoint '%.64s'", thread->id,
                             request->checkpoint_id);
    bool rejects = request->on_busy <= RENGA__V1__ON_BUSY__ON_BUSY_REJECT;
    if (thread_busy(thread) && rejects)
        return errand_refuse(errand, "THREAD_BUSY", ABORTED,
                             "run %s is on thread '%s'; wait for it, or choose another on_busy",
                             run_is_open(thread->run) ? thread->run->id : thread->queue->id, thread->id);
    bool rolls_back = request->on_busy == RENGA__V1__ON_BUSY__ON_BUSY_ROLLBACK && run_is_open(thread->run);
    return !(*request->checkpoint_id || rolls_back || thread_rolls_back(thread)) || thread_may_go_back(thread, errand);
}

/* Cancels the run at work, if `on_busy` asks for it; queued runs keep waiting, behind the new run. */
static void make_room(struct thread *thread, Renga__V1__OnBusy on_busy, const char *run_id)
{
    bool back = on_busy == RENGA__V1__ON_BUSY__ON_BUSY_ROLLBACK;
    if (on_busy != RENGA__V1__ON_BUSY__ON_BUSY_INTERRUPT && !back)
        return;
    Renga__V1__StopReason reason = back ? RENGA__V1__STOP_REASON__STOP_REASON_ROLLED_BACK : REPLACED;
    struct run *run = thread->run;
    if (!run_is_open(run))
        return;
    run_halt(run);
    if (!run_is_open(run))
        return;
    run_change(run, RENGA__V1__RUN_STATE__RUN_STATE_CANCELLED, reason, CANCELLED, "run %s took its place", run_id);
}

void run_take_trace(struct run *run, const struct errand *errand)
{
    run->asked = errand->trace ? *errand->trace : (struct trace_context){0};
}

/* Whether it goes to work with the same record that accepts it: no record of another run or checkpoint comes between.
 */
static bool goes_at_once(const struct thread *thread, const Renga__V1__StartRunRequest *request)
{
    const struct run *before = thread->run;
    bool alone = !before || (before->state > RENGA__V1__RUN_STATE__RUN_STATE_WAITING && !before->shown_count);
    return alone && !thread_busy(thread) && !thread_rolls_back(thread) && !*request->checkpoint_id;
}

static void start(struct errand *errand, struct thread *thread, struct agent *agent)
{
    char id[ID_MAX];
    Renga__V1__StartRunRequest request = *(const Renga__V1__StartRunRequest *)errand->request;
    Renga__V1__RunBegun begun = RENGA__V1__RUN_BEGUN__INIT;
    Record record = RENGA__V1__LOG_RECORD__INIT;
    int64_t now_ms = wall_ms();
    id_make_run(id, now_ms, thread->place);
    thread->held = true; /* the next run begins when its record is there */
    make_room(thread, request.on_busy, id);
    thread->held = false;
    request.thread_id = unconst("");
    begun.run_id = id;
    begun.graph_version = agent->version;
    begun.request = &request;
    begun.queued = thread_busy(thread);
    begun.client = unconst(errand->rights.principal.name);
    begun.first = thread->queue && (request.on_busy == RENGA__V1__ON_BUSY__ON_BUSY_INTERRUPT ||
                                    request.on_busy == RENGA__V1__ON_BUSY__ON_BUSY_ROLLBACK);
    record.begun = &begun;
    bool at_once = goes_at_once(thread, &request);
    struct run *run = fold_begun(thread, &begun, thread->runs_begun + 1, thread->last + 1, now_ms);
    run->agent = agent;
    if (begun.first)
        thread_queue_first(thread, run);
    run->unlogged = at_once;
    run_take_trace(run, errand);
    if (!at_once)
        log_append(thread, run, &record);
    log_write_name(run);
    errand_remember(errand, thread, run->request->request_id, run->id, 0);
    if (begun.queued)
        log_write_rows(run);
    errand->run_id = need(arena_strdup(errand->arena, id));
    errand_wait(errand, run, true); /* a run that cannot begin is gone then, and the request gets the reason */
    run_next(thread);
    assert(!thread->queue || !thread->queue->unlogged);
    run = request.wait ? NULL : errand_wait_no_more(errand);
    if (run)
        errand_wait(errand, run, false);
}

void errand_start_checked(struct errand *errand, struct thread *thread, struct agent *agent)
{
    const Renga__V1__StartRunRequest *request = (const void *)errand->request;
    if (check_guards(errand, agent->graph, "interrupt_before", request->interrupt_before,
                     request->n_interrupt_before) &&
        check_guards(errand, agent->graph, "interrupt_after", request->interrupt_after, request->n_interrupt_after) &&
        check_interrupt_timeout(errand, agent->graph) && check_thread(errand, thread, agent))
        start(errand, thread, agent);
    else
        agent_release(thread->home->runner->options.agents, agent);
}

void errand_start(struct errand *errand, struct thread *thread)
{
    const Renga__V1__StartRunRequest *request = (const void *)errand->request;
    if (!errand_is_new(errand, thread, request->request_id))
        return;
    struct agent *agent = errand_agent(errand, thread, request->agent, request->graph_version);
    if (agent)
        errand_check_input(errand, thread, agent);
}

/* ---- again ------------------------------------------------------------------------------------------------------- */

/* The run of a repeated request, as it stands now. */
static void errand_repeat_run(struct errand *errand, struct thread *thread, const Renga__V1__RequestRow *row)
{
    errand->run_id = row->run_id;
    struct run *run = errand_run(errand, thread, row->run_id);
    bool wait = false;
    if (errand->request->descriptor == &renga__v1__start_run_request__descriptor)
        wait = ((const Renga__V1__StartRunRequest *)errand->request)->wait;
    else
        wait = ((const Renga__V1__ResumeRunRequest *)errand->request)->wait;
    if (run)
        errand_wait(errand, run, wait);
    else
        errand_read_run(errand, thread->home);
}
