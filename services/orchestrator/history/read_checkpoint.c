/* The checkpoint of a state's answer, whole, as ListCheckpoints describes it: from its record, which is on disk by
 * then, and from the ones before it, which tell its parent. */
#include "graph/agents.h"
#include "journal/checkpoint.h"
#include "lifecycle/request_queue.h"
#include "lifecycle/thread_lifecycle.h"
#include "log/ids.h"
#include "log/keys.h"
#include "log/rows.h"
#include "thread/apply.h"
#include "thread/memory.h"
#include "thread/request.h"
#include "thread/shard.h"
#include "thread/thread.h"
#include "thread_requests.h"

#include "base/arena.h"
#include "base/status.h"
#include "store/store.h"

#include <stdlib.h>

#define ROWS_AT_ONCE 16
#define BYTES_MAX    ((size_t)64 << 10) /* read in a visit of the loop; a larger record has a visit of its own */

struct checkpoint_reading {
    struct store_scan scan;
    struct request *request;
    struct thread *thread;
    Renga__V1__Checkpoint *checkpoint; /* of the answer: its id, run and version are there */
    struct key from, to;
    bool found; /* its record was read; the parent is looked for */
};

static Renga__V1__Checkpoint *checkpoint_of_answer(const struct request *request)
{
    if (request->response->descriptor == &renga__v1__get_state_response__descriptor)
        return ((Renga__V1__GetStateResponse *)request->response)->checkpoint;
    return ((Renga__V1__UpdateStateResponse *)request->response)->checkpoint;
}

static void checkpoint_fill(struct checkpoint_reading *reading, const Record *record, uint64_t number)
{
    struct thread *thread = reading->thread;
    struct arena *arena = reading->request->arena;
    Renga__V1__Checkpoint *to = reading->checkpoint;
    struct agents *agents = thread->shard->runner->options.agents;
    const char *version = record->update ? record->update->graph_version : to->graph_version;
    struct agent *agent = *version ? thread_agent_for(thread, version) : NULL;
    Renga__V1__Checkpoint *made = checkpoint_of_record(arena, agent, thread->place, record, number, 0);
    made = message_copy(arena, &made->base); /* its names are the agent's */
    made->run_id = record->run ? to->run_id : unconst("");
    made->graph_version = xnonnull(arena_strdup(arena, version));
    *to = *made;
    if (agent)
        agent_release(agents, agent);
}

/* True if the reading is complete. */
static bool take_record(struct checkpoint_reading *reading, const Record *record, uint64_t number)
{
    char id[ID_MAX];
    bool of_root = record_is_checkpoint(record) && !(record->step && record->step->n_place);
    if (!reading->found) {
        checkpoint_fill(reading, record, number);
        reading->found = true;
        return record->parent != 0;
    }
    if (!of_root)
        return false;
    id_make_checkpoint(id, reading->thread->place, number);
    reading->checkpoint->parent_checkpoint_id = xnonnull(arena_strdup(reading->request->arena, id));
    return true;
}

static void checkpoint_read(struct checkpoint_reading *reading, const struct status *st)
{
    struct request *request = reading->request;
    struct thread *thread = reading->thread;
    bool changed = request->response->descriptor == &renga__v1__update_state_response__descriptor;
    if (st->code == OK || changed) /* the change is made, whether it can be described or not */
        request_answer(request);
    else
        request_fail(request, st, NULL);
    free(reading);
    thread->holds--;
    thread_settle(thread);
}

static void scan_records(struct checkpoint_reading *reading);

static void checkpoint_rows_came(struct store_scan *scan)
{
    struct checkpoint_reading *reading = (struct checkpoint_reading *)scan;
    struct status st = scan->status;
    bool done = false;
    for (size_t i = 0; i < scan->count && !done && st.code == OK; i++) {
        struct arena arena;
        arena_init(&arena, NULL, 0, RECORD_MEMORY_MAX);
        const Record *record = row_read(&arena, &renga__v1__log_record__descriptor, &scan->rows[i], &st);
        done = record && take_record(reading, record, key_number(scan->rows[i].key));
        arena_fini(&arena);
    }
    bool more = scan->more && !done && st.code == OK;
    if (more)
        key_numbered(&reading->to, KEY_RECORD, reading->thread->tenant, reading->thread->id,
                     key_number(scan->rows[scan->count - 1].key));
    store_scan_fini(scan);
    if (more)
        scan_records(reading);
    else
        checkpoint_read(reading, &st);
}

static void scan_records(struct checkpoint_reading *reading)
{
    store_scan_init(&reading->scan, reading->thread->shard->loop, checkpoint_rows_came);
    reading->scan.from = key_bytes(&reading->from);
    reading->scan.to = key_bytes(&reading->to);
    reading->scan.backwards = true;
    reading->scan.limit = ROWS_AT_ONCE;
    reading->scan.bytes_max = BYTES_MAX;
    store_scan(reading->thread->shard->runner->options.store, &reading->scan);
}

static void read_checkpoint(struct request *request)
{
    uint64_t number;
    Renga__V1__Checkpoint *checkpoint = checkpoint_of_answer(request);
    struct thread *thread = thread_get(request->shard, request->tenant, request->thread_id, false);
    if (!id_checkpoint_number(checkpoint->checkpoint_id, thread->place, &number) || !number) {
        request_answer(request);
        return;
    }
    struct checkpoint_reading *reading = xnonnull(calloc(1, sizeof *reading));
    reading->request = request;
    reading->thread = thread;
    reading->checkpoint = checkpoint;
    thread->holds++;
    key_numbered(&reading->from, KEY_RECORD, thread->tenant, thread->id, 0);
    key_numbered(&reading->to, KEY_RECORD, thread->tenant, thread->id, number + 1);
    scan_records(reading);
}

void request_answer_with_checkpoint(struct request *request, struct thread *thread, void *response)
{
    request->before_answer = read_checkpoint;
    request_answer_on_commit(request, thread, response);
}
