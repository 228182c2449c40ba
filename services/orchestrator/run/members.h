/* The orchestrators that share a store. Each has a row there that it rewrites at every beat, and reads those of the
 * others. A member whose row has not changed for the duration of a lease is dead. Time is counted by the reader's own
 * monotonic clock and only while it reads. Neither a jump of any clock, nor a freeze of the reader or of the store,
 * kills a member.
 *
 *      UNKNOWN (a name in some row, no row of its own) ---.
 *                                                          >--- a lease without a change ---> DEAD
 *      ALIVE <--- its row has changed --------------------'                                     |
 *        ^---------------------------------- its row has changed -------------------------------'
 *
 * A member whose address another member has taken over is dead at once. A restarted container takes back the threads of
 * its earlier life, and the others do not wait for that lease.
 *
 * A wrong declaration of death costs time, never a write: threads are fenced (owner.h). One a process. It works in its
 * own loop; its knowledge may be queried from any thread. */
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

/* A member that takes attempts of fan-outs (fanout/far.c). */
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
    const char *address; /* address at which the others reach this process: "host:port"; "" if they cannot. Copied */
    const Renga__V1__MemberFanOut *fan_out; /* borrowed; NULL: it takes no attempts of others */
    int64_t lease_ms;
    void (*died)(void *data);   /* at least one member has died, or left; in the loop */
    void (*lapsed)(void *data); /* our own lease had ended: others may have taken our threads; in the loop */
    void *data;
};
struct members *members_create(const struct members_options *options);
/* From any thread, once. The row is there soon, and the others' are known. */
void members_start(struct members *members);
/* From inside its loop: the others need not wait for the lease. `left` runs once, also if the store refuses. */
void members_leave(struct members *members, void (*left)(void *data), void *data);
/* From inside its loop: no beat and no callback any more. Queries are still allowed. */
void members_stop(struct members *members);
/* It is freed when its operations in the store have returned. Call it after a stop, or if it was never started. */
void members_release(struct members **members);

enum member_state { MEMBER_SELF, MEMBER_ALIVE, MEMBER_DEAD };
/* An unknown member counts as alive, and from now on its lease runs. Its address is "" if it is unknown.
 */
enum member_state members_state(struct members *members, const char *id, char address[MEMBER_ADDRESS_MAX]);
/* Whether it is known to live, and its address; an unknown member is not recorded. */
bool members_reaches(struct members *members, const char *id, char address[MEMBER_ADDRESS_MAX]);
/* The take-over of a dead member's threads needs this expectation in its batch. The store refuses the batch if the
 * member has shown life since: it may trust its memory again. False: it is known by now to live. */
bool members_expect_dead(struct members *members, const char *id, struct store_batch *batch);
/* Whether it ended in good order; and whether it shows life, though it may once have been taken for dead. */
bool members_left(struct members *members, const char *id);
bool members_lives(struct members *members, const char *id);
const char *members_self(const struct members *members);
/* The living others that take attempts, under a lock: `each` must not block, and must not call these functions. */
void members_each_fellow(struct members *members, void (*each)(const struct fellow *fellow, void *data), void *data);
/* The number of times that its lease has ended; each time, others may have taken its threads. */
uint64_t members_term(const struct members *members);
/* Whether, since the term began, no other member can have declared this process dead. */
bool members_holds(const struct members *members, uint64_t term);
/* Whether no other can declare this process dead now, counted from the time at which its last beat was sent. An
 * orchestrator that is not sure does not begin it: another may have begun it. From any thread. */
bool members_is_sure(const struct members *members);
/* So long a process may stand still without being taken for dead. */
int64_t members_patience_ns(const struct members *members);
/* Whether this process is the first living member for this place in the hash space: each has its share. */
bool members_is_first(struct members *members, uint64_t place);
/* Whether it is the first to take up a dead member's threads at this place. The member that replaced it at its address
 * takes all; else each member that may know of its death has its share. */
bool members_is_heir(struct members *members, const char *dead, uint64_t place);

#endif
