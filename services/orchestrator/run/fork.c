/* ForkThread: a new thread from a checkpoint of an old thread. */
#include "errand.h"
#include "run_priv.h"

#include <stdlib.h>

#define NEW(arena, name, Name)                                                                                         \
    Renga__V1__##Name *name = need(arena_alloc(arena, sizeof *name));                                                  \
    renga__v1__##name##__init(name)

/* False if it is too large for a snapshot: a thread cannot go back to the log of another thread. */
static bool take(struct errand *errand, struct thread *thread, struct thread *past)
{
    frame_due_anew(past->root);
    thread_adopt(thread, past);
    if (log_snapshot_fits(thread))
        return true;
    thread_adopt(thread, thread_new(thread->home, thread->tenant, thread->id));
    return errand_refuse(errand, NULL, RESOURCE_EXHAUSTED,
                         "what stands there is larger than the %u bytes that a thread can begin with; CopyThread "
                         "takes the whole history",
                         STORE_VALUE_MAX);
}

static void begin(struct errand *errand, struct thread *thread, struct thread *past)
{
    const Renga__V1__ForkThreadRequest *request = (const void *)errand->request;
    Record record = RENGA__V1__LOG_RECORD__INIT;
    Renga__V1__ThreadOrigin origin = RENGA__V1__THREAD_ORIGIN__INIT;
    origin.thread_id = unconst(request->thread_id);
    origin.checkpoint_id = checkpoint_text(errand->arena, past, past->head);
    if (!take(errand, thread, past))
        return;
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

/* Its state is that of another checkpoint than its head. */
static bool stands_elsewhere(const struct thread *past)
{
    return past->root && thread_stands_at(past) != past->head;
}

static void fork_came(struct loader *loader);

static void read_past(struct errand *errand, uint64_t upto)
{
    const Renga__V1__ForkThreadRequest *request = (const void *)errand->request;
    const struct thread *thread = errand->place;
    struct loader *loader = need(calloc(1, sizeof *loader));
    *loader = (struct loader){.upto = upto, .loaded = fork_came, .owner = errand};
    loader->thread = thread_new(thread->home, errand->tenant, request->thread_id);
    loader_start(loader);
}

/* The request is in the shard of the new thread; the old thread is read from the store. */
static void fork_came(struct loader *loader)
{
    struct errand *errand = loader->owner;
    struct thread *past = loader->thread, *thread = errand->place;
    struct status st = loader->status;
    const Renga__V1__ForkThreadRequest *request = (const void *)errand->request;
    uint64_t number = *request->checkpoint_id ? loader->upto : past->head;
    uint64_t stands_at = thread_stands_at(past);
    bool again = st.code == OK && !*request->checkpoint_id && stands_elsewhere(past) && stands_at;
    free(loader);
    if (again) {
        thread_free(past);
        read_past(errand, stands_at);
        return;
    }
    thread->holds--;
    if (st.code == OK && thread->phase != THREAD_READY)
        fail(&st, UNAVAILABLE, "thread '%s' is being read again", thread->id);
    else if (st.code == OK && (!past->exists || !past->root || (!*request->checkpoint_id && stands_elsewhere(past))))
        fail(&st, NOT_FOUND, "there is no thread '%s'", request->thread_id);
    else if (st.code == OK && past->head != number)
        fail(&st, NOT_FOUND, "thread '%s' has no checkpoint '%.64s'", request->thread_id, request->checkpoint_id);
    else if (st.code == OK && past->agent)
        rights_check(&errand->rights, past->agent->name, &st);
    if (st.code != OK) {
        errand_fail(errand, &st, NULL);
        thread_free(past);
    } else {
        begin(errand, thread, past);
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
    errand->place = thread;
    thread->held = true;
    thread->holds++;
    read_past(errand, number);
}
