/* Private to the orchestrator: the crashes of a thread's owners as memory has them. The room quarantine/ alone changes
 * them. From inside the loop of the shard. */
#ifndef RENGA_ORCHESTRATOR_CRASH_STATE_H
#define RENGA_ORCHESTRATOR_CRASH_STATE_H

#include "log/ids.h"

#include "loop/loop.h"

#include <stdbool.h>
#include <stdint.h>

struct status;
struct thread;

#define CRASH_OWNERS_MAX 10

struct crash_record { /* CrashRow */
    char owners[CRASH_OWNERS_MAX][ID_MAX];
    unsigned count, parkings;
    int64_t taken_ms; /* when its owner began to take it up, by the wall clock; 0: before the first death */
    int64_t life_ms;  /* no owner that died lived longer; 0: not known */
};

enum trial_phase { TRIAL_NONE, TRIAL_WAITING, TRIAL_IN_LINE, TRIAL_AT_WORK };

struct crashes {                 /* of a thread */
    struct crash_record *record; /* as it is in the store; NULL: no record */
    enum trial_phase trial;
    void (*judged)(struct thread *thread, const struct status *st); /* of crashes_ask (quarantine/crashes.h) */
    bool parks;                                                     /* its run is to fail when it has been read */
    uint64_t cleared_at;   /* number of the record with which the row goes; 0: the row stays */
    int64_t trial_ns;      /* when the trial began */
    int64_t trial_life_ms; /* the longest life of its owners before */
    struct thread *next_in_line;
    struct work turn;
    struct timer timer;
};

#endif
