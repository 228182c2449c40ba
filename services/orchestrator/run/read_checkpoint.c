/* The checkpoint of a state's answer, whole, as ListCheckpoints describes it: from its record, which is on disk by
 * then, and from the ones before it, which tell its parent. */
#include "errand.h"
#include "events.h"
#include "log/rows.h"
#include "run_priv.h"

#include <stdlib.h>

#define ROWS_AT_ONCE 16
#define BYTES_MAX    ((size_t)16 << 20)

struct checkpoint_reading {
    struct store_scan scan;
    struct errand *errand;
    struct thread *thread;
    Renga__V1__Checkpoint *checkpoint; /* of the answer: its id, run and version are there */
    struct key from, to;
    bool found; /* its record was read; the parent is looked for */
};

static Renga__V1__Checkpoint *checkpoint_of_answer(const struct errand *errand)
{
    if (errand->response->descriptor == &renga__v1__get_state_response__descriptor)
        return ((Renga__V1__GetStateResponse *)errand->response)->checkpoint;
    return ((Renga__V1__UpdateStateResponse *)errand->response)->checkpoint;
}

static void checkpoint_fill(struct checkpoint_reading *reading, const Record *record, uint64_t number)
{
    struct thread *thread = reading->thread;
    struct arena *arena = reading->errand->arena;
    Renga__V1__Checkpoint *to = reading->checkpoint;
    struct agents *agents = thread->home->runner->options.agents;
    const char *version = record->update ? record->update->graph_version : to->graph_version;
    struct agent *agent = *version ? thread_agent_for(thread, version) : NULL;
    Renga__V1__Checkpoint *made = checkpoint_of_record(arena, agent, thread->place, record, number, 0);
    made = message_copy(arena, &made->base); /* its names are the agent's */
    made->run_id = record->run ? to->run_id : unconst("");
    made->graph_version = need(arena_strdup(arena, version));
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
    reading->checkpoint->parent_checkpoint_id = need(arena_strdup(reading->errand->arena, id));
    return true;
}

static void checkpoint_read(struct checkpoint_reading *reading, const struct status *st)
{
    struct errand *errand = reading->errand;
    struct thread *thread = reading->thread;
    bool changed = errand->response->descriptor == &renga__v1__update_state_response__descriptor;
    if (st->code == OK || changed) /* the change is made, whether it can be described or not */
        errand_answer(errand);
    else
        errand_fail(errand, st, NULL);
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
    store_scan_init(&reading->scan, reading->thread->home->loop, checkpoint_rows_came);
    reading->scan.from = key_bytes(&reading->from);
    reading->scan.to = key_bytes(&reading->to);
    reading->scan.backwards = true;
    reading->scan.limit = ROWS_AT_ONCE;
    reading->scan.bytes_max = BYTES_MAX;
    store_scan(reading->thread->home->runner->options.store, &reading->scan);
}

static void read_checkpoint(struct errand *errand)
{
    uint64_t number;
    Renga__V1__Checkpoint *checkpoint = checkpoint_of_answer(errand);
    struct thread *thread = thread_get(errand->home, errand->tenant, errand->thread_id, false);
    if (!id_checkpoint_number(checkpoint->checkpoint_id, thread->place, &number) || !number) {
        errand_answer(errand);
        return;
    }
    struct checkpoint_reading *reading = need(calloc(1, sizeof *reading));
    reading->errand = errand;
    reading->thread = thread;
    reading->checkpoint = checkpoint;
    thread->holds++;
    key_numbered(&reading->from, KEY_RECORD, thread->tenant, thread->id, 0);
    key_numbered(&reading->to, KEY_RECORD, thread->tenant, thread->id, number + 1);
    scan_records(reading);
}

void errand_done_with_checkpoint(struct errand *errand, struct thread *thread, void *response)
{
    errand->before_answer = read_checkpoint;
    errand_done(errand, thread, response);
}
