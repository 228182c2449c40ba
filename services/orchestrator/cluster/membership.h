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
 * A wrong declaration of death costs time, never a write: threads are fenced (ownership.h). One a process. It works in
 * its own loop; its knowledge may be queried from any thread. */
#ifndef RENGA_ORCHESTRATOR_MEMBERSHIP_H
#define RENGA_ORCHESTRATOR_MEMBERSHIP_H

#include "log/ids.h"

#include "store/store.h"

#include "renga/v1/log.pb-c.h"

#include <stdbool.h>
#include <stdint.h>

struct loop;
struct membership;
struct store;

#define MEMBERS_MAX        1000
#define MEMBER_ADDRESS_MAX 256
#define MEMBER_BEATS       8 /* in a lease */

/* A member that takes attempts of fan-outs (fanout/remote_peer.c). */
struct fanout_member {
    char id[ID_MAX];
    char address[MEMBER_ADDRESS_MAX];
    uint8_t token[16];
    uint32_t version, loops;
    uint64_t datagram_max;
};

struct membership_options {
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
struct membership *membership_create(const struct membership_options *options);
/* From any thread, once. The row is there soon, and the others' are known. */
void membership_start(struct membership *membership);
/* From inside its loop: the others need not wait for the lease. `left` runs once, also if the store refuses. */
void membership_leave(struct membership *membership, void (*left)(void *data), void *data);
/* From inside its loop: no beat and no callback any more. Queries are still allowed. */
void membership_stop(struct membership *membership);
/* It is freed when its operations in the store have returned. Call it after a stop, or if it was never started. */
void membership_release(struct membership **membership);

enum member_state { MEMBER_SELF, MEMBER_ALIVE, MEMBER_DEAD };
/* An unknown member counts as alive, and from now on its lease runs. Its address is "" if it is unknown.
 */
enum member_state membership_state(struct membership *membership, const char *id, char address[MEMBER_ADDRESS_MAX]);
/* Whether it is known to live, and its address; an unknown member is not recorded. */
bool membership_reaches(struct membership *membership, const char *id, char address[MEMBER_ADDRESS_MAX]);
/* The take-over of a dead member's threads needs this expectation in its batch. The store refuses the batch if the
 * member has shown life since: it may trust its memory again. False: it is known by now to live. */
bool membership_expect_dead(struct membership *membership, const char *id, struct store_batch *batch);
/* Whether it ended in good order; and whether it shows life, though it may once have been taken for dead. */
bool membership_left(struct membership *membership, const char *id);
bool membership_lives(struct membership *membership, const char *id);
const char *membership_self(const struct membership *membership);
/* The living others that take attempts, under a lock: `each` must not block, and must not call these functions. */
void membership_each_fanout_member(struct membership *membership,
                                   void (*each)(const struct fanout_member *fanout_member, void *data), void *data);
/* The number of times that its lease has ended; each time, others may have taken its threads. */
uint64_t membership_term(const struct membership *membership);
/* Whether, since the term began, no other member can have declared this process dead. */
bool membership_holds(const struct membership *membership, uint64_t term);
/* Whether no other can declare this process dead now, counted from the time at which its last beat was sent. An
 * orchestrator that is not sure does not begin it: another may have begun it. From any thread. */
bool membership_is_sure(const struct membership *membership);
/* So long a process may be frozen without being taken for dead. */
int64_t membership_patience_ns(const struct membership *membership);
/* Whether this process is the first living member for this place in the hash space: each has its share. */
bool membership_is_first(struct membership *membership, uint64_t place);
/* Whether it is the first to take up a dead member's threads at this place. The member that replaced it at its address
 * takes all; else each member that may know of its death has its share. */
bool membership_is_replacement(struct membership *membership, const char *dead, uint64_t place);

#endif
