/* The orchestrators that share a store. Each has a row there that it rewrites at every beat, and reads those of the
 * others; one whose row has not changed for a lease's time is dead. Time is counted by the reader's own monotonic clock
 * and only while it reads: neither a jump of any clock, nor a freeze of the reader or of the store, kills anybody.
 *
 *      UNKNOWN (a name in some row, no row of its own) ---.
 *                                                          >--- a lease without a change ---> DEAD
 *      ALIVE <--- its row has changed --------------------'                                     |
 *        ^---------------------------------- its row has changed -------------------------------'
 *
 * One in whose place another has come (the same address) is dead at once: a container that was started anew takes back
 * what its earlier life had, and nobody waits for the lease of that.
 *
 * To be taken for dead by mistake costs time, never a write: threads are fenced (owner.h). One a process; what it does
 * it does in its loop, what it knows may be asked from any thread. */
#ifndef RENGA_ORCHESTRATOR_MEMBERS_H
#define RENGA_ORCHESTRATOR_MEMBERS_H

#include "log/ids.h"
#include "store/store.h"

#include "renga/v1/log.pb-c.h"

#include <stdbool.h>
#include <stdint.h>

#define MEMBERS_MAX        1000
#define MEMBER_ADDRESS_MAX 256
#define MEMBER_BEATS       8 /* in a lease */

struct members;

/* One that takes attempts of fan-outs (fanout/far.c). */
struct fellow {
    char id[ID_MAX];
    char address[MEMBER_ADDRESS_MAX];
    uint8_t token[16];
    uint32_t version, loops;
    uint64_t letter_max;
};

struct members_options {
    struct loop *loop;
    struct store *store;
    const char *name;    /* for operators; copied */
    const char *address; /* where the others reach this one: "host:port"; "" where they cannot. Copied */
    const Renga__V1__MemberFanOut *fan_out; /* borrowed; NULL: it takes no attempts of others */
    int64_t lease_ms;
    void (*died)(void *data);   /* one or more have died, or left; in the loop */
    void (*lapsed)(void *data); /* our own lease had ended: others may have taken what was ours; in the loop */
    void *data;
};
struct members *members_create(const struct members_options *options);
/* From any thread, once. The row is there soon, and the others' are known. */
void members_start(struct members *members);
/* From inside its loop: the others need not wait for the lease. `left` runs once, also where the store refuses. */
void members_leave(struct members *members, void (*left)(void *data), void *data);
/* From inside its loop: no beat and no callback any more. It may still be asked. */
void members_stop(struct members *members);
/* It is gone when what is under way in the store has come back. When it was stopped, or never started. */
void members_release(struct members **members);

enum member_state { MEMBER_SELF, MEMBER_ALIVE, MEMBER_DEAD };
/* One that was never heard of counts as alive, and from now on its lease runs. Its address is "" where none is known.
 */
enum member_state members_state(struct members *members, const char *id, char address[MEMBER_ADDRESS_MAX]);
/* Whether it is known to live, and where; nothing is noted of one that was never heard of. */
bool members_reaches(struct members *members, const char *id, char address[MEMBER_ADDRESS_MAX]);
/* Whoever takes what a dead one had does so in a batch that the store refuses if that one has shown life since: it may
 * have begun to believe again what it has in memory. False: it lives, as is known by now. */
bool members_expect_dead(struct members *members, const char *id, struct store_batch *batch);
/* Whether it ended in good order; and whether it shows life, though it may once have been taken for dead. */
bool members_left(struct members *members, const char *id);
bool members_lives(struct members *members, const char *id);
const char *members_self(const struct members *members);
/* The living others that take attempts, under a lock: `each` does not wait and asks nothing here. */
void members_each_fellow(struct members *members, void (*each)(const struct fellow *fellow, void *data), void *data);
/* How often its lease has ended; so often others may have taken what it had. */
uint64_t members_term(const struct members *members);
/* Whether, since the term began, no other can have taken this one for dead. */
bool members_holds(const struct members *members, uint64_t term);
/* Whether no other can take this one for dead now, counted from when its last beat was sent. An orchestrator that is
 * not sure does not begin it: another may have begun it. From any thread. */
bool members_is_sure(const struct members *members);
/* So long a process may stand still without being taken for dead. */
int64_t members_patience_ns(const struct members *members);
/* Whether this one is the first of the living for what stands at this place: each has its share. */
bool members_is_first(struct members *members, uint64_t place);
/* Whether it is the first to take up what a dead one had at this place: who has come where that was, has all of it,
 * else each of those that may know of its death has its share. */
bool members_is_heir(struct members *members, const char *dead, uint64_t place);

#endif
