/* Private to the orchestrator: the events of a record. They are not kept: whoever reads a record again gets the same
 * ones, with the same ids, each by the version of the agent that made the record. */
#ifndef RENGA_ORCHESTRATOR_EVENTS_H
#define RENGA_ORCHESTRATOR_EVENTS_H

#include "graph/agents.h"
#include "journal_writer.h"

#include "base/arena.h"
#include "base/buffer.h"

#include "renga/v1/orchestrator.pb-c.h"

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
struct event_reader event_reader_of(struct run *run, struct arena *arena);
const struct node *node_at(const struct graph *graph, uint32_t index); /* NULL where there is none */
/* The names of an object's fields, those that are not among them yet. */
void name_fields(struct arena *arena, const char *json, char **names, size_t *count, size_t room);
bool record_is_checkpoint(const Record *record);
void events_of_record(struct event_reader *reader, const Record *record, uint64_t number);
/* The kept ones. */
uint32_t events_count(const Record *record);
Renga__V1__RunEvent *event_of_pending(struct event_reader *reader, const Renga__V1__ShownEvent *pending,
                                      uint64_t number, int64_t time_ms);
Renga__V1__Checkpoint *checkpoint_of_record(struct arena *arena, const struct agent *agent, uint64_t place,
                                            const Record *record, uint64_t number, uint64_t parent);
void path_of_place(const struct agent *agent, const uint32_t *place, size_t count, struct buffer *out,
                   const struct graph **graph);

#endif
