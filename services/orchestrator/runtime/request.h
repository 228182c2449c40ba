/* Private to the orchestrator: requests under way (runner.h). Each is in the shard of its thread from arrival to
 * answer, and waits in the thread's queue for its turn. Then a single function owns it, and answers it once: at once,
 * when the thread's next batch is on disk, or when its run has stopped. */
#ifndef RENGA_ORCHESTRATOR_REQUEST_H
#define RENGA_ORCHESTRATOR_REQUEST_H

#include "runtime/runner.h"

#include "loop/jobs.h"

#include "renga/v1/log.pb-c.h"

struct graph;
struct shard;
struct run;
struct thread;

/* request.c: there and back. */
struct shard *shard_of_place(struct runner *runner, uint64_t place);
void request_queue(struct request *request, struct thread *thread); /* it waits for its turn */
/* In its thread's turn; `place` is the maintenance request's own. */
void request_do_maintenance(struct runner *runner, struct request *request, const char *thread_id);
void request_retry(struct request *request, const struct status *why); /* as if it had just come; too often: why */
void request_answer(struct request *request);
/* A job of this caller's, which ends in the loop of the thread. */
struct job request_job(const struct request *request, const struct thread *thread, void (*run)(struct job *job),
                       void (*ended)(struct job *job));
void request_fail(struct request *request, const struct status *st, const char *reason);
bool request_refuse(struct request *request, const char *reason, enum status_code code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void request_answer_on_commit(struct request *request, struct thread *thread,
                              void *response); /* when the filling batch is on disk */

/* read_checkpoint.c: the same for GetStateResponse and UpdateStateResponse; their checkpoint has its id alone. Of a
 * repeated update it is read from the store. */
void request_answer_with_checkpoint(struct request *request, struct thread *thread, void *response);

/* request_serve.c: its turn; and the common parts of requests about a run. */
void request_serve(struct request *request, struct thread *thread);
struct run *request_find_run(struct request *request, struct thread *thread,
                             const char *run_id);                      /* NULL: not in memory */
void request_read_run(struct request *request, struct shard *shard);   /* its row; then it is served */
void request_complete(struct request *request, const struct run *run); /* its answer: the run as it is */
void request_wait(struct request *request, struct run *run, bool wait);
struct run *request_end_wait(struct request *request); /* request.c: for that run; NULL: it did not wait */

/* run_input.c: checks input and configuration of a StartRun; then request_start_checked, now or later, which takes the
 * agent. */
void request_check_input(struct request *request, struct thread *thread, struct agent *agent);

/* start_run.c */
void run_take_trace(struct run *run, const struct request *request);
void request_start_checked(struct request *request, struct thread *thread, struct agent *agent);
void request_start_run(struct request *request, struct thread *thread);
void request_resume_run(struct request *request, struct thread *thread); /* resume_run.c */
/* resume_run.c: whether the graph has the node, the outcome and the fields of an update. `under`: the field that has
 * it. */
bool resume_update_fits(const struct graph *graph, const Renga__V1__ResumeUpdate *wish, const char *under,
                        struct status *st);
/* True if the request is not a repetition, as far as known; else it is looked up, and served or answered later. */
bool request_is_new(struct request *request, struct thread *thread, const char *request_id);
void request_remember(struct request *request, struct thread *thread, const char *request_id, const char *run_id,
                      uint64_t checkpoint);

/* request_serve.c: the run as it is now, from memory or from its row. */
void request_get_run(struct request *request, struct thread *thread);
void request_cancel_run(struct request *request, struct thread *thread);
void request_repeat_run(struct request *request, struct thread *thread, const Renga__V1__RequestRow *row);

/* thread_requests.c, update_state.c, fork_thread.c, copy_thread.c, lists.c */
void request_get_state(struct request *request, struct thread *thread);
void request_serve_update(struct request *request, struct thread *thread);
void request_delete_thread(struct request *request, struct thread *thread);
void request_list_checkpoints(struct request *request, struct thread *thread);
void request_repeat_update(struct request *request, struct thread *thread, const Renga__V1__RequestRow *row);
void request_repeat_fork(struct request *request, struct thread *thread, const Renga__V1__RequestRow *row);
void request_repeat_copy(struct request *request, struct thread *thread, const Renga__V1__RequestRow *row);
/* `from`: the thread, or that as it was at a checkpoint, which is taken over. False: it was refused, and both are
 * unchanged. */
bool request_update_state(struct request *request, struct thread *thread, struct thread *from);
void history_fork(struct request *request, struct thread *thread);
void history_copy(struct request *request, struct thread *thread);
void request_list_runs(struct request *request);
void request_list_threads(struct request *request);

#endif
