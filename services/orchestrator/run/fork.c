/* New threads from old ones, and the end of a thread. */
#include "run_priv.h"

#include <stdlib.h>

#define NEW(arena, name, Name)                                                                                         \
    Renga__V1__##Name *name = need(arena_alloc(arena, sizeof *name));                                                  \
    renga__v1__##name##__init(name)

/* ---- ForkThread -------------------------------------------------------------------------------------------------- */

/* The errand is at the home of the new thread; the old one is read from the store. */
static void fork_came(struct loader *loader)
{
    struct errand *errand = loader->owner;
    struct thread *past = loader->thread, *thread = errand->place;
    struct status st = loader->status;
    const Renga__V1__ForkThreadRequest *request = (const void *)errand->request;
    uint64_t number = *request->checkpoint_id ? loader->upto : past->head;
    Record record = RENGA__V1__LOG_RECORD__INIT;
    Renga__V1__ThreadOrigin origin = RENGA__V1__THREAD_ORIGIN__INIT;
    free(loader);
    thread->holds--;
    if (st.code == OK && (!past->exists || !past->root))
        fail(&st, NOT_FOUND, "there is no thread '%s'", request->thread_id);
    else if (st.code == OK && past->head != number)
        fail(&st, NOT_FOUND, "thread '%s' has no checkpoint '%.64s'", request->thread_id, request->checkpoint_id);
    if (st.code != OK) {
        errand_fail(errand, &st, NULL);
        thread_free(past);
    } else {
        origin.thread_id = unconst(request->thread_id);
        origin.checkpoint_id = checkpoint_text(errand->arena, past, number);
        thread_adopt(thread, past);
        origin.graph_version = thread->agent->version;
        record.origin = &origin;
        thread->created_ms = wall_ms();
        uint64_t made = log_append(thread, NULL, &record);
        thread->head = made;
        log_snapshot_now(thread);
        errand_remember(errand, thread, request->request_id, "", made);
        log_write_thread(thread);
        NEW(errand->arena, fork_thread_response, ForkThreadResponse);
        fork_thread_response->thread = answer_thread(errand->arena, thread);
        errand_done(errand, thread, fork_thread_response);
    }
    thread_unhold(thread);
}

void history_fork(struct errand *errand, struct thread *thread)
{
    const Renga__V1__ForkThreadRequest *request = (const void *)errand->request;
    uint64_t number = 0;
    if (!errand_is_new(errand, thread, request->request_id))
        return;
    if (thread->exists) {
        errand_refuse(errand, NULL, ALREADY_EXISTS, "there is a thread '%s' already", thread->id);
        return;
    }
    uint64_t place = id_of_place(errand->tenant, request->thread_id);
    if (*request->checkpoint_id && (!id_checkpoint_number(request->checkpoint_id, place, &number) || !number)) {
        errand_refuse(errand, NULL, NOT_FOUND, "thread '%s' has no checkpoint '%.64s'", request->thread_id,
                      request->checkpoint_id);
        return;
    }
    struct loader *loader = need(calloc(1, sizeof *loader));
    *loader = (struct loader){.upto = number, .loaded = fork_came, .owner = errand};
    loader->thread = thread_new(thread->home, errand->tenant, request->thread_id);
    errand->place = thread;
    thread->held = true;
    thread->holds++;
    loader_start(loader);
}

/* ---- DeleteThread ------------------------------------------------------------------------------------------------ */

struct deletion {
    struct store_scan scan;
    struct errand *errand;
    struct thread *thread;
};

static void delete_range(struct thread *thread, enum key_kind kind)
{
    struct key from, to;
    key_numbered(&from, kind, thread->tenant, thread->id, 0);
    key_numbered(&to, kind, thread->tenant, thread->id, UINT64_MAX);
    store_delete_range(log_batch(thread), key_bytes(&from), key_bytes(&to));
}

static void delete_key(struct thread *thread, enum key_kind kind, const char *name)
{
    struct key key;
    key_named(&key, kind, thread->tenant, name);
    store_delete(log_batch(thread), key_bytes(&key));
}

static void runs_came(struct store_scan *scan)
{
    struct deletion *deletion = (struct deletion *)scan;
    struct errand *errand = deletion->errand;
    struct thread *thread = deletion->thread;
    struct status st = scan->status;
    NEW(errand->arena, delete_thread_response, DeleteThreadResponse);
    thread->holds--;
    thread->held = false;
    for (size_t i = 0; i < scan->count && thread->phase == THREAD_READY; i++)
        delete_key(thread, KEY_RUN, scan->rows[i].value.bytes); /* ends with a NUL */
    store_scan_fini(scan);
    free(deletion);
    if (st.code != OK || thread->phase != THREAD_READY) {
        if (st.code == OK)
            fail(&st, UNAVAILABLE, "thread '%s' is being read again", thread->id);
        errand_fail(errand, &st, NULL);
        thread_unhold(thread);
        return;
    }
    delete_range(thread, KEY_RECORD);
    delete_range(thread, KEY_SNAPSHOT);
    delete_range(thread, KEY_THREAD_RUN);
    delete_key(thread, KEY_THREAD, thread->id);
    delete_key(thread, KEY_PENDING, thread->id);
    delete_thread_response->deleted = true;
    delete_thread_response->cleaning = true;
    thread->deleted = thread->held = true; /* it is forgotten when this is on disk */
    errand_done(errand, thread, delete_thread_response);
    loop_defer(thread->home->loop, &thread->go);
}

void history_delete(struct errand *errand, struct thread *thread)
{
    struct key from, to;
    const Renga__V1__DeleteThreadRequest *request = (const void *)errand->request;
    if (thread_busy(thread) && !request->cancel_runs) {
        errand_refuse(errand, "THREAD_BUSY", ABORTED, "a run is at work on thread '%s'; set cancel_runs", thread->id);
        return;
    }
    thread->held = true;
    while (thread->queue)
        run_change(thread->queue, RENGA__V1__RUN_STATE__RUN_STATE_CANCELLED,
                   RENGA__V1__STOP_REASON__STOP_REASON_CANCELLED, CANCELLED, "its thread is deleted");
    if (run_is_open(thread->run))
        run_halt(thread->run);
    if (run_is_open(thread->run))
        run_change(thread->run, RENGA__V1__RUN_STATE__RUN_STATE_CANCELLED,
                   RENGA__V1__STOP_REASON__STOP_REASON_CANCELLED, CANCELLED, "its thread is deleted");
    struct deletion *deletion = need(calloc(1, sizeof *deletion));
    deletion->errand = errand;
    deletion->thread = thread;
    thread->holds++;
    key_numbered(&from, KEY_THREAD_RUN, thread->tenant, thread->id, 0);
    key_numbered(&to, KEY_THREAD_RUN, thread->tenant, thread->id, UINT64_MAX);
    store_scan_init(&deletion->scan, thread->home->loop, runs_came);
    deletion->scan.from = key_bytes(&from);
    deletion->scan.to = key_bytes(&to);
    store_scan(thread->home->runner->options.store, &deletion->scan);
}
