/* ForkThread: a new thread from a checkpoint of an old thread. */
#include "engine/run_lifecycle.h"
#include "graph/agents.h"
#include "journal/journal_writer.h"
#include "journal/load.h"
#include "lifecycle/request_queue.h"
#include "log/ids.h"
#include "thread/access_control.h"
#include "thread/apply.h"
#include "thread/frame.h"
#include "thread/memory.h"
#include "thread/request.h"
#include "thread/run_message.h"
#include "thread/thread.h"
#include "thread_requests.h"

#include "base/status.h"

#include <stdlib.h>

#define NEW(arena, name, Name)                                                                                         \
    Renga__V1__##Name *name = xnonnull(arena_alloc(arena, sizeof *name));                                              \
    renga__v1__##name##__init(name)

/* False if it is too large for a snapshot: a thread cannot go back to the log of another thread. */
static bool fork_thread_take(struct request *request, struct thread *thread, struct thread *past)
{
    frame_reset_activations(past->root);
    thread_adopt(thread, past);
    if (log_snapshot_fits(thread))
        return true;
    thread_adopt(thread, thread_new(thread->shard, thread->tenant, thread->id));
    return request_refuse(request, NULL, RESOURCE_EXHAUSTED,
                          "the state there is larger than the %u bytes that a thread can begin with; copy the "
                          "thread, with its whole history",
                          STORE_VALUE_MAX);
}

static void fork_thread_begin(struct request *request, struct thread *thread, struct thread *past)
{
    const Renga__V1__ForkThreadRequest *message = (const void *)request->message;
    Record record = RENGA__V1__LOG_RECORD__INIT;
    Renga__V1__ThreadOrigin origin = RENGA__V1__THREAD_ORIGIN__INIT;
    origin.thread_id = unconst(message->thread_id);
    origin.checkpoint_id = checkpoint_text(request->arena, past, past->head);
    if (!fork_thread_take(request, thread, past))
        return;
    origin.graph_version = thread->agent->version;
    record.origin = &origin;
    thread->created_ms = wall_ms();
    uint64_t made = log_append(thread, NULL, &record);
    thread->head = made;
    log_snapshot_now(thread);
    request_remember(request, thread, message->request_id, "", made);
    log_write_thread(thread);
    NEW(request->arena, fork_thread_response, ForkThreadResponse);
    fork_thread_response->thread = answer_thread(request->arena, thread);
    request_answer_on_commit(request, thread, fork_thread_response);
}

/* Its state is that of another checkpoint than its head. */
static bool state_is_behind_head(const struct thread *past)
{
    return past->root && thread_state_checkpoint(past) != past->head;
}

static void fork_came(struct loader *loader);

static void read_past(struct request *request, uint64_t upto)
{
    const Renga__V1__ForkThreadRequest *message = (const void *)request->message;
    const struct thread *thread = request->place;
    struct loader *loader = xnonnull(calloc(1, sizeof *loader));
    *loader = (struct loader){.upto = upto, .loaded = fork_came, .owner = request};
    loader->thread = thread_new(thread->shard, request->tenant, message->thread_id);
    loader_start(loader);
}

/* The request is in the shard of the new thread; the old thread is read from the store. */
static void fork_came(struct loader *loader)
{
    struct request *request = loader->owner;
    struct thread *past = loader->thread, *thread = request->place;
    struct status st = loader->status;
    const Renga__V1__ForkThreadRequest *message = (const void *)request->message;
    uint64_t number = *message->checkpoint_id ? loader->upto : past->head;
    uint64_t state_checkpoint = thread_state_checkpoint(past);
    bool again = st.code == OK && !*message->checkpoint_id && state_is_behind_head(past) && state_checkpoint;
    free(loader);
    if (again) {
        thread_free(past);
        read_past(request, state_checkpoint);
        return;
    }
    thread->holds--;
    if (st.code == OK && thread->phase != THREAD_READY)
        fail(&st, UNAVAILABLE, "thread '%s' is being read again", thread->id);
    else if (st.code == OK &&
             (!past->exists || !past->root || (!*message->checkpoint_id && state_is_behind_head(past))))
        fail(&st, NOT_FOUND, "there is no thread '%s'", message->thread_id);
    else if (st.code == OK && past->head != number)
        fail(&st, NOT_FOUND, "thread '%s' has no checkpoint '%.64s'", message->thread_id, message->checkpoint_id);
    else if (st.code == OK && past->agent)
        access_control_check(&request->access, past->agent->name, &st);
    if (st.code != OK) {
        request_fail(request, &st, NULL);
        thread_free(past);
    } else {
        fork_thread_begin(request, thread, past);
    }
    thread_unhold(thread);
}

void history_fork(struct request *request, struct thread *thread)
{
    const Renga__V1__ForkThreadRequest *message = (const void *)request->message;
    uint64_t number = 0;
    if (!request_is_new(request, thread, message->request_id))
        return;
    if (thread->exists) {
        request_refuse(request, NULL, ALREADY_EXISTS, "there is a thread '%s' already", thread->id);
        return;
    }
    uint64_t place = id_of_place(request->tenant, message->thread_id);
    if (*message->checkpoint_id && (!id_checkpoint_number(message->checkpoint_id, place, &number) || !number)) {
        request_refuse(request, NULL, NOT_FOUND, "thread '%s' has no checkpoint '%.64s'", message->thread_id,
                       message->checkpoint_id);
        return;
    }
    request->place = thread;
    thread->held = true;
    thread->holds++;
    read_past(request, number);
}
