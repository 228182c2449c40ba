/* Private to the orchestrator: records change the lasting part of a thread. Live, a record is made and applied; when a
 * thread is loaded the same record is applied again. All lasting changes are made here. */
#ifndef RENGA_ORCHESTRATOR_APPLY_H
#define RENGA_ORCHESTRATOR_APPLY_H

#include "frame.h"
#include "journal/journal_writer.h"

#include "base/buffer.h"

struct graph;

/* apply.c and apply_run.c */
bool apply_record(struct thread *thread, const Record *record, uint64_t number, struct status *st);
/* The same without the count of records; `record->run` is set. */
bool apply_parts(struct thread *thread, const Record *record, uint64_t number, struct status *st);
bool apply_step(struct frame *frame, struct activation *only, struct status *st);
bool activation_read_write(struct activation *activation, struct status *st);
struct interrupt *interrupt_find(struct thread *thread, const char *id);
bool run_has_answer(const struct run *run, const char *interrupt_id); /* it was asked, and answered */
void run_note_answered(struct run *run, uint64_t hash);
void apply_resumed(struct frame *frame, bool recovered);
void apply_changed_fields(struct run *run, const Renga__V1__RunChanged *changed, int64_t now_ms);
void apply_changed(struct run *run, const Renga__V1__RunChanged *changed, int64_t now_ms);
/* apply_attempts.c: numbers of attempts. */
void apply_attempts(struct thread *thread, const Record *record);
void attempts_resume(struct activation *activation, bool recovered); /* the node goes on: with an unused number */
/* For a node that holds graphs: no node in an open graph of it has had an attempt number above this. */
uint32_t attempts_within(const struct activation *activation);
/* `from` is the run's thread, or the thread as it was at a checkpoint, which is then taken over. False: the run is
 * refused, and both are unchanged. */
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

/* record.c: records of new events, applied and appended. */
void record_results(struct frame *frame);
void record_opened(struct frame *frame);
void record_step(struct frame *frame, struct activation *only);

/* snapshot.c: the lasting part of a thread, as a row. */
bool snapshot_possible(const struct thread *thread);
/* In the arena, and for as long as the thread does not change. */
Renga__V1__ThreadSnapshot *snapshot_make(const struct thread *thread, struct arena *arena);
/* `state`: of its own graph, taken over; NULL: it is read here. */
bool snapshot_read(struct thread *thread, const Renga__V1__ThreadSnapshot *snapshot, uint64_t number,
                   struct state **state, struct status *st);

#endif
