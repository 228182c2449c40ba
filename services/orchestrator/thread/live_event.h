/* Private to the orchestrator: events of a thread that its log does not hold yet, kept in memory while a caller watches
 * a run of it, until the record with them is on disk and they were handed out. The room watch/ makes them. From inside
 * the loop of the shard. */
#ifndef RENGA_ORCHESTRATOR_LIVE_EVENT_H
#define RENGA_ORCHESTRATOR_LIVE_EVENT_H

#include "loop/loop.h"

#include "renga/v1/orchestrator.pb-c.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct subscription;
struct thread;

struct live_event {
    int64_t id;
    uint32_t run;
    uint64_t record; /* it is shown when this one is on disk; 0: at once, behind those before it */
    size_t size;
    Renga__V1__RunEventKind kind;
    bool inner, stops; /* stops: the last of the stream, but for those that follow */
    bool waits;        /* the run waits for a person */
    struct live_event *next;
    uint8_t bytes[];
};

/* Events are handed to the subscriptions one after another, over several visits of the loop if there are many. */
struct live_pass {
    struct work work;
    struct subscription *next; /* that has not got them */
    uint64_t upto;             /* behind the pass, events of records up to this one are dropped */
    bool under_way, again;     /* again: there are more events since it began */
};

void live_drop_first(struct thread *thread);
void live_drop(struct thread *thread); /* all of them */

#endif
