/* Private to the orchestrator: the owner of a thread, when several orchestrators share a store. A row names the owner,
 * with a token that only grows. Each batch of the thread expects the row as its writer knows it, so the store refuses
 * an overtaken writer. If the store is not shared, all of it is free of cost.
 *
 *                      a batch with which work is left to do
 *      FREE (token n) ---------------------------------------> MINE (n + 1) ---> a batch that ends all work ---> FREE
 *        ^  '--- a batch without work left: n + 1                       '--- the owner has died: another takes it
 *        '--- read: a thread that was never written is FREE too              in a batch of its own, then reads the log
 *
 * The row of a FREE thread still names its last owner, which has the thread in memory. Other orchestrators forward
 * calls to it (lifecycle/handoff.c). This is only a hint: if it does not answer, the orchestrator with the call takes
 * the thread.
 *
 * The memory of a thread is valid while it is known to be the newest. For a MINE thread the lease proves this; else the
 * row, read again after the request arrived. */
#ifndef RENGA_ORCHESTRATOR_OWNERSHIP_H
#define RENGA_ORCHESTRATOR_OWNERSHIP_H

#include "membership.h"

#include "base/status.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>

struct request;
struct runner;
struct thread;

/* Before a thread is read: reads its owner, and takes it if the owner is dead. `asked` runs once, later: OK if the
 * thread may be read; ABORTED if another works on it, with that owner's address, or "". */
struct owner_query {
    struct thread *thread;
    void (*asked)(struct owner_query *query);
    struct status status;
    char address[MEMBER_ADDRESS_MAX];

    /* Private. */
    struct store_scan scan;
    struct store_batch batch;
    uint64_t asked_at;
    unsigned tries;
};
void owner_ask(struct owner_query *query);
/* Whether it is FREE, and another that lives and can be reached had it last. */
bool owner_rests_at_other(const struct thread *thread, char address[MEMBER_ADDRESS_MAX]);
/* Whether the log that was read is older than a take-over of the thread: a FREE thread has no run at work. */
bool owner_was_overtaken(const struct thread *thread);

/* A FREE thread could not be read. Reads the row again: unchanged means broken, taken means lost. False if the thread
 * is ours. */
bool owner_doubts(struct thread *thread, const struct status *why);

/* Whether the thread in memory is new enough to serve this; else its row is read, and thread->go runs again. */
bool owner_vouches(struct thread *thread, const struct request *request);

/* Whether an attempt may begin: no other orchestrator can have taken the thread. Else its row is read, when the lease
 * holds again, and thread->go comes again. */
bool owner_may_begin(struct thread *thread);

/* Our lease had ended. The next write of a thread shows whether it is still ours. Threads with watchers or waiting
 * requests, at rest or not, are checked at once, in all shards. */
void owners_recheck(struct runner *runner);

/* The same for a single thread that is watched at rest. Other orchestrators write without asking an owner that they
 * cannot reach, or that did not answer. */
void owner_recheck(struct thread *thread);

/* A batch returned during a request's exclusive use of the thread, or the thread was taken without work left to do. It
 * must be released, in a batch of its own. */
bool owner_must_release(const struct thread *thread);

/* Into a batch beside the log of a thread that is being found: it is refused if another has the thread by now. */
void owner_expect(struct thread *thread, struct store_batch *batch);

/* Into a batch of the thread's, the last before it is committed; and how that ended. False: another has the thread. */
void owner_stamp(struct thread *thread, struct store_batch *batch);
bool owner_stamped(struct thread *thread, const struct status *st);

#endif
