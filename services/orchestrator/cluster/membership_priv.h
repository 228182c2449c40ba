/* Private to members: the state of an orchestrator and of the others. membership.c writes its row and reads theirs;
 * failure_detector.c decides from the rows which members live. The lock protects the list; all else belongs to the
 * loop. */
#ifndef RENGA_ORCHESTRATOR_MEMBERSHIP_PRIV_H
#define RENGA_ORCHESTRATOR_MEMBERSHIP_PRIV_H

#include "log/ids.h"
#include "log/rows.h"
#include "membership.h"

#include "base/clock.h"
#include "loop/loop.h"
#include "store/store.h"

#include "renga/v1/log.pb-c.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CALLED_MAX     129  /* bytes of a name for operators */
#define MEMBER_ROW_MAX 1024 /* bytes of a row */

enum replacement { REPLACEMENT_NONE, REPLACEMENT_SELF, REPLACEMENT_OTHER };

struct member {
    char id[ID_MAX];
    char name[CALLED_MAX], address[MEMBER_ADDRESS_MAX];
    struct fanout_member fanout_member; /* without loops: it takes no attempts */
    uint64_t beat;
    uint64_t seen_in;            /* the read that found its row first */
    int64_t unchanged_ns;        /* watched, without a change */
    bool has_row, dead, left;    /* left: its row says that it ended in good order */
    uint8_t row[MEMBER_ROW_MAX]; /* as it was read */
    size_t row_size;
    enum replacement replacement; /* the process that has replaced it at its address, as far as known */
    struct member *next;
};

struct membership {
    struct membership_options options;
    char id[ID_MAX], name[CALLED_MAX], address[MEMBER_ADDRESS_MAX];
    struct timer timer;
    struct work beginning;
    struct store_batch batch;
    struct store_scan scan;
    uint64_t beat, reads;
    int64_t beat_ns, sent_ns, read_ns, read_before_ns;
    unsigned out; /* batches and scans under way */
    atomic_uint holders;
    bool leaving, told, stopped; /* told: its last row says that it leaves */
    void (*left)(void *data);
    void *left_data;
    int64_t sent_boot_ns;     /* the beat that is under way, by clock_boot_ns */
    _Atomic int64_t lease_ns; /* by clock_boot_ns: until then no other declares this process dead */
    _Atomic uint64_t term;

    pthread_mutex_t lock; /* protects the fields that other threads query */
    struct member *list;
    unsigned count;
};

static inline int64_t membership_lease_ns(const struct membership *membership)
{
    return membership->options.lease_ms * NS_PER_MS;
}

/* NULL: not known. */
struct member *member_find(const struct membership *membership, const char *id);
/* NULL: there are too many members, and it is unknown. */
struct member *member_find_or_add(struct membership *membership, const char *id);

/* Of one read, in this order: it has come; each of its rows; that was all. True: a member is dead now. */
void failure_detector_age(struct membership *membership);
void failure_detector_note(struct membership *membership, const char *id, const Renga__V1__MemberRow *row,
                           struct store_bytes bytes);
bool failure_detector_judge(struct membership *membership);
/* When a read would find that somebody's lease is over, if that comes before `next_ns`; else that. */
int64_t failure_detector_next_ns(const struct membership *membership, int64_t next_ns);

#endif
