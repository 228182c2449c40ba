/* StartRun: its refusals, and the run that it starts; requests that are repeated. */
#include "engine/run.h"
#include "graph/agents.h"
#include "journal/journal_writer.h"
#include "journal/replay.h"
#include "journal/run_rows.h"
#include "log/ids.h"
#include "log/keys.h"
#include "log/rows.h"
#include "request.h"
#include "resume_run.h"
#include "thread/apply.h"
#include "thread/memory.h"
#include "thread/pause_points.h"
#include "thread/request.h"
#include "thread/request_type.h"
#include "thread/run.h"
#include "thread/shard.h"
#include "thread/thread.h"
#include "upgrade/agent_versions.h"

#include "base/arena.h"
#include "base/status.h"
#include "base/trace.h"
#include "store/store.h"
#include "json/json.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#define REQUEST_ROW_MAX 1024 /* bytes */
#define REPLACED        RENGA__V1__STOP_REASON__STOP_REASON_REPLACED

/* ---- a request that may be a repetition -------------------------------------------------------------------------- */

struct request_id_lookup {
    struct store_scan scan;
    struct request *request;
    struct thread *thread;
};

static uint64_t content_hash(const ProtobufCMessage *message)
{
    size_t size = protobuf_c_message_get_packed_size(message);
    uint8_t *bytes = xnonnull(malloc(size + 1));
    protobuf_c_message_pack(message, bytes);
    uint64_t hash = id_hash_text(id_hash(ID_HASH, bytes, size), message->descriptor->name);
    free(bytes);
    return hash;
}

static void start_run_repeat(struct request *request, struct thread *thread, const Renga__V1__RequestRow *row)
{
    if (row->content != content_hash(request->message)) {
        struct status st = {0};
        fail_field(&st, "request_id", "was used for another request; take a new one");
        request_fail(request, &st, NULL);
        return;
    }
    request->repeated = true;
    request->type->repeat(request, thread, xnonnull(message_copy(request->arena, &row->base)));
}

static void request_id_came(struct store_scan *scan)
{
    struct request_id_lookup *lookup = (struct request_id_lookup *)scan;
    struct request *request = lookup->request;
    struct thread *thread = lookup->thread;
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
    request->checked = true;
    if (st.code != OK)
        request_fail(request, &st, NULL);
    else if (row)
        start_run_repeat(request, thread, row);
    else
        request_serve(request, thread);
    arena_fini(&arena);
    store_scan_fini(scan);
    free(lookup);
    if (!thread->held)
        thread_unhold(thread);
    else
        loop_defer(thread->shard->loop, &thread->go);
}

static void repeat_pending(struct request *request, struct thread *thread, struct store_bytes bytes)
{
    struct status st = {0};
    const Renga__V1__RequestRow *row = message_read(request->arena, &renga__v1__request_row__descriptor, bytes, &st);
    request->checked = true;
    if (row)
        start_run_repeat(request, thread, row);
    else
        request_fail(request, &st, NULL);
}

bool request_is_new(struct request *request, struct thread *thread, const char *request_id)
{
    struct key key;
    char last[sizeof key.bytes + 1];
    if (!*request_id || request->checked)
        return true;
    if (log_pending_request(thread, request_id).bytes) { /* not on disk yet */
        repeat_pending(request, thread, log_pending_request(thread, request_id));
        return false;
    }
    struct request_id_lookup *lookup = xnonnull(calloc(1, sizeof *lookup));
    lookup->request = request;
    lookup->thread = thread;
    thread->held = true;
    thread->holds++;
    key_named(&key, KEY_REQUEST, request->tenant, request_id);
    memcpy(last, key.bytes, key.size);
    last[key.size] = '\0';
    store_scan_init(&lookup->scan, thread->shard->loop, request_id_came);
    lookup->scan.from = key_bytes(&key);
    lookup->scan.to = (struct store_bytes){last, key.size + 1};
    lookup->scan.limit = 1;
    lookup->scan.bytes_max = REQUEST_ROW_MAX;
    store_scan(thread->shard->runner->options.store, &lookup->scan);
    return false;
}

void request_remember(struct request *request, struct thread *thread, const char *request_id, const char *run_id,
                      uint64_t checkpoint)
{
    char id[ID_MAX] = "";
    Renga__V1__RequestRow row = RENGA__V1__REQUEST_ROW__INIT;
    if (!*request_id)
        return;
    if (checkpoint)
        id_make_checkpoint(id, thread->place, checkpoint);
    row.content = content_hash(request->message);
    row.thread_id = thread->id;
    row.run_id = unconst(run_id);
    row.checkpoint_id = id;
    log_put_request(thread, request_id, &row);
}

/* ---- StartRun ---------------------------------------------------------------------------------------------------- */

static bool check_guards(struct request *request, const struct graph *graph, const char *name, char *const *guards,
                         size_t count)
{
    char field[STATUS_FIELD_MAX];
    struct status st = {0}, why = {0};
    for (size_t i = 0; i < count; i++) {
        if (guard_check(graph, guards[i], &why))
            continue;
        snprintf(field, sizeof field, "%s[%zu]", name, i);
        fail_field(&st, field, "%s", why.text);
        request_fail(request, &st, NULL);
        return false;
    }
    return true;
}

static bool start_run_check_interrupt_timeout(struct request *request, const struct graph *graph)
{
    struct status st = {0};
    const Renga__V1__InterruptTimeout *limit =
        ((const Renga__V1__StartRunRequest *)request->message)->interrupt_timeout;
    if (!limit || !limit->update || resume_update_fits(graph, limit->update, "interrupt_timeout.update", &st))
        return true;
    request_fail(request, &st, NULL);
    return false;
}

static bool check_thread(struct request *request, struct thread *thread, const struct agent *agent)
{
    const Renga__V1__StartRunRequest *message = (const void *)request->message;
    const struct run *last = thread->run ? thread->run : thread->queue;
    const char *owner = thread->agent ? thread->agent->name : last ? last->request->agent : agent->name;
    uint64_t number;
    if (strcmp(owner, agent->name) != 0)
        return request_refuse(request, "OTHER_AGENT", FAILED_PRECONDITION,
                              "thread '%s' belongs to the agent '%s', not to '%s'; take another thread", thread->id,
                              owner, agent->name);
    if (*message->checkpoint_id &&
        (!id_checkpoint_number(message->checkpoint_id, thread->place, &number) || !number || number > thread->head))
        return request_refuse(request, NULL, NOT_FOUND, "thread '%s' has no checkpoint '%.64s'", thread->id,
                              message->checkpoint_id);
    bool rejects = message->on_busy <= RENGA__V1__ON_BUSY__ON_BUSY_REJECT;
    if (thread_busy(thread) && rejects)
        return request_refuse(request, "THREAD_BUSY", ABORTED,
                              "run %s is on thread '%s'; wait for it, or choose another on_busy",
                              run_is_open(thread->run) ? thread->run->id : thread->queue->id, thread->id);
    bool rolls_back = message->on_busy == RENGA__V1__ON_BUSY__ON_BUSY_ROLLBACK && run_is_open(thread->run);
    return !(*message->checkpoint_id || rolls_back || thread_rolls_back(thread)) || thread_may_go_back(thread, request);
}

/* Cancels the run at work, if `on_busy` asks for it; queued runs keep waiting, behind the new run. */
static void start_run_make_room(struct thread *thread, Renga__V1__OnBusy on_busy, const char *run_id)
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

void run_take_trace(struct run *run, const struct request *request)
{
    run->asked = request->trace ? *request->trace : (struct trace_context){0};
}

/* Whether it goes to work with the same record that accepts it: no record of another run or checkpoint comes between.
 */
static bool goes_at_once(const struct thread *thread, const Renga__V1__StartRunRequest *message)
{
    const struct run *before = thread->run;
    bool alone = !before || (before->state > RENGA__V1__RUN_STATE__RUN_STATE_WAITING && !before->pending_event_count);
    return alone && !thread_busy(thread) && !thread_rolls_back(thread) && !*message->checkpoint_id;
}

static void start_run_start(struct request *request, struct thread *thread, struct agent *agent)
{
    char id[ID_MAX];
    Renga__V1__StartRunRequest message = *(const Renga__V1__StartRunRequest *)request->message;
    Renga__V1__RunBegun begun = RENGA__V1__RUN_BEGUN__INIT;
    Record record = RENGA__V1__LOG_RECORD__INIT;
    int64_t now_ms = wall_ms();
    id_make_run(id, now_ms, thread->place);
    thread->held = true; /* the next run begins when its record is there */
    start_run_make_room(thread, message.on_busy, id);
    thread->held = false;
    message.thread_id = unconst("");
    begun.run_id = id;
    begun.graph_version = agent->version;
    begun.request = &message;
    begun.queued = thread_busy(thread);
    begun.client = unconst(request->access.principal.name);
    begun.first = thread->queue && (message.on_busy == RENGA__V1__ON_BUSY__ON_BUSY_INTERRUPT ||
                                    message.on_busy == RENGA__V1__ON_BUSY__ON_BUSY_ROLLBACK);
    record.begun = &begun;
    bool at_once = goes_at_once(thread, &message);
    struct run *run = apply_begun(thread, &begun, thread->runs_begun + 1, thread->last + 1, now_ms);
    run->agent = agent;
    if (begun.first)
        thread_queue_first(thread, run);
    run->unlogged = at_once;
    run_take_trace(run, request);
    if (!at_once)
        log_append(thread, run, &record);
    log_write_name(run);
    request_remember(request, thread, run->request->request_id, run->id, 0);
    if (begun.queued)
        log_write_rows(run);
    request->run_id = xnonnull(arena_strdup(request->arena, id));
    request_wait(request, run, true); /* a run that cannot begin is gone then, and the request gets the reason */
    run_next(thread);
    assert(!thread->queue || !thread->queue->unlogged);
    run = message.wait ? NULL : request_end_wait(request);
    if (run)
        request_wait(request, run, false);
}

void request_start_checked(struct request *request, struct thread *thread, struct agent *agent)
{
    const Renga__V1__StartRunRequest *message = (const void *)request->message;
    if (check_guards(request, agent->graph, "interrupt_before", message->interrupt_before,
                     message->n_interrupt_before) &&
        check_guards(request, agent->graph, "interrupt_after", message->interrupt_after, message->n_interrupt_after) &&
        start_run_check_interrupt_timeout(request, agent->graph) && check_thread(request, thread, agent))
        start_run_start(request, thread, agent);
    else
        agent_release(thread->shard->runner->options.agents, agent);
}

void request_start_run(struct request *request, struct thread *thread)
{
    const Renga__V1__StartRunRequest *message = (const void *)request->message;
    if (!request_is_new(request, thread, message->request_id))
        return;
    struct agent *agent = request_find_agent(request, thread, message->agent, message->graph_version);
    if (agent)
        request_check_input(request, thread, agent);
}

/* ---- again ------------------------------------------------------------------------------------------------------- */

/* The run of a repeated request, as it is now. */
void request_repeat_run(struct request *request, struct thread *thread, const Renga__V1__RequestRow *row)
{
    request->run_id = row->run_id;
    struct run *run = thread_find_run(thread, row->run_id);
    if (run)
        request_wait(request, run, request_flag(request->message, request->type->wait));
    else
        request_read_run(request, thread->shard);
}
