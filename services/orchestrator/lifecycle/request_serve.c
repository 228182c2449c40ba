/* The service of a request at its turn: the function that serves it, and the check that its key may use that agent.
 * Requests about a run are all answered with the run, from memory or from its row. */
#include "engine/run_lifecycle.h"
#include "graph/agents.h"
#include "journal/journal_writer.h"
#include "log/keys.h"
#include "request_queue.h"
#include "thread/access_control.h"
#include "thread/memory.h"
#include "thread/request.h"
#include "thread/request_type.h"
#include "thread/run.h"
#include "thread/run_message.h"
#include "thread/shard.h"
#include "thread/thread.h"
#include "thread/thread_hooks.h"
#include "thread_lifecycle.h"

#include "base/hash.h"
#include "base/status.h"
#include "base/turns.h"
#include "store/store.h"

#include <assert.h>
#include <stdlib.h>

#define REQUEST_BYTES_MAX                                                                                              \
    ((size_t)STORE_VALUE_MAX - ((size_t)1 << 20)) /* the rest is for the other fields of its record */

/* ---- the run as an answer ---------------------------------------------------------------------------------------- */

void request_wait(struct request *request, struct run *run, bool wait)
{
    if (wait && run_is_open(run)) {
        request->next = run->waiters;
        run->waiters = request;
        request->waits_on = run;
        return;
    }
    request_complete(request, run);
    log_await(run->thread, request);
}

/* ---- a run's row ------------------------------------------------------------------------------------------------- */

struct row_scan {
    struct store_scan scan;
    struct turn turn;
    struct key key;
    char last[sizeof(struct key) + 1];
    struct request *request;
    struct shard *shard;
};

static void row_scan_begin(struct turn *turn)
{
    struct row_scan *row = CONTAINER_OF(turn, struct row_scan, turn);
    store_scan(row->shard->runner->options.store, &row->scan);
}

static void row_scan_end(struct row_scan *row)
{
    row->turn.cost = read_cost(&row->scan);
    store_scan_fini(&row->scan);
    turn_give(&row->shard->row_turns, &row->turn);
    free(row);
}

static void request_serve_row_came(struct store_scan *scan)
{
    struct row_scan *row = (struct row_scan *)scan;
    struct request *request = row->request;
    struct status st = scan->status;
    Renga__V1__RunRow *found = NULL;
    if (st.code == OK && !scan->count)
        fail(&st, NOT_FOUND, "there is no run '%.64s'", request->run_id);
    else if (st.code == OK)
        found = answer_read_row(request->arena, &scan->rows[0], &st);
    request->place = found;
    if (!found)
        request_fail(request, &st, NULL);
    else
        request_queue(request, thread_get(row->shard, request->tenant, found->run->thread_id, false));
    row_scan_end(row);
}

void request_read_run(struct request *request, struct shard *shard)
{
    struct row_scan *row = xnonnull(calloc(1, sizeof *row));
    request->row_asked = ++shard->arrivals;
    row->request = request;
    row->shard = shard;
    key_named(&row->key, KEY_RUN, request->tenant, request->run_id);
    memcpy(row->last, row->key.bytes, row->key.size); /* the zero behind it is there */
    store_scan_init(&row->scan, shard->loop, request_serve_row_came);
    row->scan.from = key_bytes(&row->key);
    row->scan.to = (struct store_bytes){row->last, row->key.size + 1};
    row->scan.limit = 1;
    row->scan.bytes_max = OUTPUT_ROW_MAX;
    row->turn.owner = hash_text(request->tenant);
    row->turn.came = row_scan_begin;
    if (turn_take(&shard->row_turns, &row->turn))
        row_scan_begin(&row->turn);
}

/* ---- requests about runs ----------------------------------------------------------------------------------------- */

/* The run that a repeated StartRun asks for was left by its caller while it was queued: no work is done, and it cannot
 * be resumed. */
static bool was_left_in_queue(const struct request *request, const struct run *run, const Renga__V1__RunRow *row)
{
    return request->repeated && request->message->descriptor == &renga__v1__start_run_request__descriptor && !run &&
           row && row->run->state == RENGA__V1__RUN_STATE__RUN_STATE_CANCELLED &&
           row->run->stop_reason == RENGA__V1__STOP_REASON__STOP_REASON_CALLER_LEFT && !row->run->started_ms;
}

/* Another run takes its place, under the same request_id. */
static void request_start_again(struct request *request, struct thread *thread)
{
    request->repeated = false;
    request->replaces = true;
    request->run_id = NULL;
    request->place = NULL;
    request->type->serve(request, thread);
}

void request_get_run(struct request *request, struct thread *thread)
{
    struct run *run = thread_find_run(thread, request->run_id);
    const Renga__V1__RunRow *row = request->place;
    struct status st = {0};
    if (was_left_in_queue(request, run, row)) {
        request_start_again(request, thread);
        return;
    }
    if (run && !request_hold(request, answer_output_size(run), &st)) {
        request_fail(request, &st, NULL);
    } else if (run) {
        request_complete(request, run);
        log_await(thread, request);
    } else if (row) {
        request_complete_with(request, row->run);
        request_answer(request);
    } else {
        request_refuse(request, NULL, NOT_FOUND, "there is no run '%.64s'", request->run_id);
    }
}

/* ---- its turn ---------------------------------------------------------------------------------------------------- */

/* The agent that it is about: of the run, the thread, or the request. */
static const char *request_agent(const struct request *request, const struct thread *thread)
{
    const Renga__V1__RunRow *row = request->place;
    if (request->type && request->type->agent)
        return request_text(request->message, request->type->agent);
    if (request->run_id && row)
        return row->run->agent;
    if (thread->agent)
        return thread->agent->name;
    return thread->run ? thread->run->request->agent : NULL;
}

static bool request_is_permitted(struct request *request, const struct thread *thread)
{
    struct status st = {0};
    const char *agent = request->access.auth ? request_agent(request, thread) : NULL;
    if (thread->unreadable && access_control_is_limited(&request->access))
        fail(&st, PERMISSION_DENIED,
             "the agent of thread '%s' cannot be read; only a key that reaches all agents can delete it", thread->id);
    else if (!agent || access_control_check(&request->access, agent, &st))
        return true;
    request_fail(request, &st, NULL);
    return false;
}

/* A request that begins or changes a run is stored whole in its record. The API limits are smaller, but not all
 * requests pass the API. */
static bool request_fits_record(struct request *request)
{
    size_t size = request->message ? protobuf_c_message_get_packed_size(request->message) : 0;
    return size <= REQUEST_BYTES_MAX ||
           request_refuse(request, NULL, RESOURCE_EXHAUSTED,
                          "%s has %zu bytes; at most %zu can be kept: write less, or a part of it with each of several "
                          "UpdateState",
                          request->message->descriptor->short_name, size, REQUEST_BYTES_MAX);
}

/* The row of its run was read before the last record about it was on disk. */
static bool row_is_stale(const struct request *request, const struct thread *thread)
{
    return !request->maintenance && request->run_id && request->place && !thread_find_run(thread, request->run_id) &&
           (thread->gone_record > thread->committed || thread->gone_committed > request->row_asked);
}

/* Once that record is on disk, the row is read again, and the row of a request that was repeated. */
static void request_serve_again(struct request *request, struct thread *thread)
{
    request->response = request->place;
    request->before_answer = request_come_again;
    log_await(thread, request);
}

void request_serve(struct request *request, struct thread *thread)
{
    if (row_is_stale(request, thread)) {
        request_serve_again(request, thread);
        return;
    }
    if (!request->maintenance && !(request_is_permitted(request, thread) && request_fits_record(request)))
        return;
    if (thread->shard->runner->hooks->expired(request, thread))
        return;
    if (request->maintenance)
        request->maintenance(request, thread);
    else if (request->repeated && request->run_id)
        request_get_run(request, thread);
    else if (request->type->traits & REQUEST_NEEDS_THREAD && !thread->exists)
        request_refuse(request, NULL, NOT_FOUND, "there is no thread '%s'", thread->id);
    else
        request->type->serve(request, thread);
}
