/* Private to run/: whose a thread is, where several orchestrators share a store. A row says so, with a token that only
 * grows; each batch of the thread expects the row as its writer knows it, so the store refuses whoever has been
 * overtaken. Where nobody shares the store all of it costs nothing.
 *
 *                      a batch with which work is left to do
 *      FREE (token n) ---------------------------------------> MINE (n + 1) ---> a batch that leaves none ---> FREE
 *        ^  '--- a batch that leaves nothing to do: n + 1               '--- the owner has died: another takes it
 *        '--- read: a thread that was never written is FREE too              in a batch of its own, then reads the log
 *
 * Who let it go still stands in the row of a FREE one, and calls that come elsewhere are handed on to it (elsewhere.c):
 * it has the thread in memory. That binds nobody; where it does not answer, whoever has the call takes the thread.
 *
 * What is in memory of a thread counts while it is known to be the newest: while the lease goes on of one that is MINE,
 * else by the row, read again after the request came. */
#ifndef RENGA_ORCHESTRATOR_OWNER_H
#define RENGA_ORCHESTRATOR_OWNER_H

#include "log/ids.h"
#include "run/members.h"
#include "store/store.h"

struct errand;
struct runner;
struct status;
struct thread;

struct owner_view { /* the row */
    bool there, at_rest;
    uint64_t token;
    char member[ID_MAX]; /* where it is FREE: who had it last; empty: nobody knows */
};

struct ownership {
    struct owner_view known, next; /* next: when the batch that is under way is on disk */
    uint64_t known_at, stamped_at; /* errands that came so far: it is new enough for these; so will it be then */
    uint64_t since;                /* the row names us from this token on, without a gap; 0: it names another */
    uint64_t listed;               /* the token with which what is pending is listed as ours */
    unsigned handed;               /* requests that others handed on, and that found it at rest */
    bool asking;                   /* the row is being read */
    bool mine;
    uint64_t term, next_term; /* of our lease (members.h), when it became so, or is to */
};

/* Before a thread is read: asks whose it is and takes it where its owner is dead. `asked` runs once, later: OK with the
 * thread as it may be read; ABORTED where another works on it, with its address, or "". */
struct owner_question {
    struct thread *thread;
    void (*asked)(struct owner_question *question);
    struct status status;
    char address[MEMBER_ADDRESS_MAX];

    /* Private. */
    struct store_scan scan;
    struct store_batch batch;
    uint64_t asked_at;
    unsigned tries;
};
void owner_ask(struct owner_question *question);
/* Whether it is FREE, and another that lives and can be reached had it last. */
bool owner_rests_elsewhere(const struct thread *thread, char address[MEMBER_ADDRESS_MAX]);
/* Whether the log that was read is of the time before somebody took the thread: nobody's has no run at work. */
bool owner_was_overtaken(const struct thread *thread);

/* A thread that is nobody's could not be read: is it so, or was it changed meanwhile? It breaks, or is lost. False
 * where it is ours. */
bool owner_doubts(struct thread *thread, const struct status *why);

/* Whether the thread in memory is new enough to serve this; else that is found out, and thread->go comes again. */
bool owner_vouches(struct thread *thread, const struct errand *errand);

/* Whether an attempt may begin: no other orchestrator can have taken the thread. Else its row is read, when the lease
 * holds again, and thread->go comes again. */
bool owner_may_begin(struct thread *thread);

/* Our lease had ended. Whoever writes will hear whether a thread is still ours; of those that somebody watches or waits
 * for, at rest or not, it is found out at once, in all homes. */
void owners_recheck(struct runner *runner);

/* The same of one thread that is watched at rest: whom others cannot reach, or have had no answer from, they do not ask
 * before they write. */
void owner_recheck(struct thread *thread);

/* A batch came while an errand had the thread for itself, or it was taken and there was nothing to do: it is to be let
 * go, in a batch of its own. */
bool owner_keeps_for_nothing(const struct thread *thread);

/* Into a batch beside the log of a thread that is being found: it is refused if another has the thread by now. */
void owner_expect(struct thread *thread, struct store_batch *batch);

/* Into a batch of the thread's, the last before it is committed; and how that ended. False: another has the thread. */
void owner_stamp(struct thread *thread, struct store_batch *batch);
bool owner_stamped(struct thread *thread, const struct status *st);

/* The fencing token for what the thread's run does next; 0: nobody shares the store. */
int64_t owner_token(const struct thread *thread);

/* The thread leaves memory. */
void owner_forget(struct thread *thread);

#endif
