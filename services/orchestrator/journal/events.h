/* Private to the orchestrator: the events of a record. They are not kept: each reader of a record gets the same
 * events, with the same ids, by the version of the agent that made the record. From inside the loop of the shard. */
#ifndef RENGA_ORCHESTRATOR_EVENTS_H
#define RENGA_ORCHESTRATOR_EVENTS_H

#include "thread/apply.h"
#include "thread/event_count.h"

#include "renga/v1/log.pb-c.h"
#include "renga/v1/orchestrator.pb-c.h"

#include <stddef.h>
#include <stdint.h>

struct agent;
struct arena;
struct buffer;
struct graph;
struct node;
struct run;

/* In their order. */
struct event_reader {
    const struct agent *agent;
    const char *run_id, *thread_id;
    uint64_t place;
    const struct run *live; /* its output, where it has stopped with this record; NULL: left out */
    struct arena *arena;
    void (*came)(struct event_reader *reader, const Renga__V1__RunEvent *event);
    void *data;
};
const struct node *node_at(const struct graph *graph, uint32_t index); /* NULL where there is none */
void events_of_record(struct event_reader *reader, const Record *record, uint64_t number);
Renga__V1__RunEvent *event_of_pending(struct event_reader *reader, const Renga__V1__ShownEvent *pending,
                                      uint64_t number, int64_t time_ms);
void path_of_place(const struct agent *agent, const uint32_t *place, size_t count, struct buffer *out,
                   const struct graph **graph);

#endif
