/* Private to the orchestrator: records change the lasting part of a thread. Live, a record is made, applied and
 * appended; when a thread is loaded the same record is applied again. So memory always holds the state that a crash
 * would leave. All lasting changes are made here. Starts no work, reads no clock, and writes to no store. From inside
 * the loop of the shard, but for apply_prepare_*: any thread. */
#ifndef RENGA_ORCHESTRATOR_APPLY_H
#define RENGA_ORCHESTRATOR_APPLY_H

#include "frame.h"

#include "renga/v1/log.pb-c.h"

#include <stdbool.h>
#include <stdint.h>

struct graph;
struct run;
struct state;
struct state_change;
struct status;
struct thread;

#define RECORDS_LOST_MAX (1u << 17) /* more than are ever on their way to the disk for one thread */

typedef Renga__V1__LogRecord Record; /* generated from a proto */

/* apply.c and apply_run.c */
bool apply_record(struct thread *thread, const Record *record, uint64_t number, struct status *st);
/* The same without the count of records; `record->run` is set. */
bool apply_parts(struct thread *thread, const Record *record, uint64_t number, struct status *st);
bool apply_step(struct frame *frame, struct activation *only, struct status *st);
bool activation_read_write(struct activation *activation, struct status *st);
void apply_resumed(struct frame *frame, bool recovered);
/* All of a change but the state. */
void apply_changed_fields(struct run *run, const Renga__V1__RunChanged *changed, int64_t now_ms);
void apply_changed(struct run *run, const Renga__V1__RunChanged *changed, int64_t now_ms);
/* apply_attempts.c: numbers of attempts. */
void apply_attempts(struct thread *thread, const Record *record);
void attempts_resume(struct activation *activation, bool recovered); /* the node goes on: with an unused number */
/* For a node that holds graphs: no node in an open graph of it has had an attempt number above this. */
uint32_t attempts_within(const struct activation *activation);
/* `from` is the run's thread, or the thread as it was at a checkpoint, which is then taken over. The caller frees the
 * run that the thread had before. False: the run is refused, and both are unchanged. */
bool apply_went_to_work(struct run *run, struct thread *from, bool keeps_activations, uint64_t number, int64_t now_ms,
                        struct status *st);
struct run *apply_begun(struct thread *thread, const Renga__V1__RunBegun *begun, uint32_t number, uint64_t record,
                        int64_t now_ms);
void thread_queue_first(struct thread *thread, struct run *run); /* a run that has just begun goes before the others */
bool run_input_fits(const struct graph *graph, const char *input_json, struct status *st);
void apply_spent(struct run *run, const Response *response);
bool apply_answer(struct thread *thread, const char *interrupt_id, const char *answer);
/* As apply_went_to_work: `from` is taken over, or both are unchanged. */
bool apply_update(struct thread *thread, struct thread *from, const Renga__V1__HandUpdate *update, uint64_t number,
                  int64_t now_ms, struct status *st);
/* The same of a new update in two parts. The first may run in a worker thread while a request has the thread for
 * itself; NULL: the state does not take it. The second follows with the same `number`. */
struct state_change *apply_prepare_update(const struct frame *root, const Renga__V1__HandUpdate *update,
                                          uint64_t number, struct status *st);
void apply_prepared_update(struct thread *thread, struct state_change *change, const Renga__V1__HandUpdate *update,
                           uint64_t number, int64_t now_ms);

/* The state after a run's input, made beside the old one: apply_went_to_work takes it if it fits. */
struct prepared_input {
    uint32_t run;             /* its number; 0: a change by hand */
    uint64_t record;          /* of a change by hand that is read from the log; else 0 */
    const struct state *base; /* NULL: a new state of `graph` */
    const struct graph *graph;
    struct state_change *change;
};
/* As apply_prepare_update. `base` may be NULL. */
bool apply_prepare_input(struct prepared_input *prepared, const char *input_json, struct status *st);
bool apply_migrated(struct run *run, const Renga__V1__RunMigrated *migrated, uint64_t number, int64_t now_ms,
                    struct status *st);

#endif
