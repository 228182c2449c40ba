/* Private to run/: requests under way (runner.h). Each is in the shard of its thread from arrival to answer, and waits
 * in the thread's queue for its turn. Then a single function owns it, and answers it once: at once, when the thread's
 * next batch is on disk, or when its run has stopped. */
#ifndef RENGA_ORCHESTRATOR_ERRAND_H
#define RENGA_ORCHESTRATOR_ERRAND_H

#include "run/runner.h"

#include "loop/jobs.h"

#include "renga/v1/log.pb-c.h"

struct graph;
struct home;
struct run;
struct thread;

/* errand.c: there and back. */
struct home *home_of_place(struct runner *runner, uint64_t place);
void errand_queue(struct errand *errand, struct thread *thread); /* it waits for its turn */
/* In its thread's turn; `place` is the chore's own. */
void errand_do_chore(struct runner *runner, struct errand *errand, const char *thread_id);
void errand_again(struct errand *errand, const struct status *why); /* as if it had just come; too often: why */
void errand_answer(struct errand *errand);
/* A job of this caller's, which ends in the loop of the thread. */
struct job errand_job(const struct errand *errand, const struct thread *thread, void (*run)(struct job *job),
                      void (*ended)(struct job *job));
void errand_fail(struct errand *errand, const struct status *st, const char *reason);
bool errand_refuse(struct errand *errand, const char *reason, enum status_code code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void errand_done(struct errand *errand, struct thread *thread, void *response); /* when the filling batch is on disk */

/* read_checkpoint.c: the same for GetStateResponse and UpdateStateResponse; their checkpoint has its id alone. Of a
 * repeated update it is read from the store. */
void errand_done_with_checkpoint(struct errand *errand, struct thread *thread, void *response);

/* serve.c: its turn; and the common parts of requests about a run. */
void errand_serve(struct errand *errand, struct thread *thread);
struct run *errand_run(struct errand *errand, struct thread *thread, const char *run_id); /* NULL: not in memory */
void errand_read_run(struct errand *errand, struct home *home);     /* its row; then it is served */
void errand_complete(struct errand *errand, const struct run *run); /* its answer: the run as it stands */
void errand_wait(struct errand *errand, struct run *run, bool wait);
struct run *errand_wait_no_more(struct errand *errand); /* errand.c: for that run; NULL: it did not wait */

/* input.c: checks input and configuration of a StartRun; then errand_start_checked, now or later, which takes the
 * agent. */
void errand_check_input(struct errand *errand, struct thread *thread, struct agent *agent);

/* begin.c */
void run_take_trace(struct run *run, const struct errand *errand);
void errand_start_checked(struct errand *errand, struct thread *thread, struct agent *agent);
void errand_start(struct errand *errand, struct thread *thread);
void errand_resume(struct errand *errand, struct thread *thread); /* resume.c */
/* resume.c: whether the graph has the node, the outcome and the fields of an update. `under`: the field that has it. */
bool resume_update_fits(const struct graph *graph, const Renga__V1__ResumeUpdate *wish, const char *under,
                        struct status *st);
/* True if the request is not a repetition, as far as known; else it is looked up, and served or answered later. */
bool errand_is_new(struct errand *errand, struct thread *thread, const char *request_id);
void errand_remember(struct errand *errand, struct thread *thread, const char *request_id, const char *run_id,
                     uint64_t checkpoint);

/* history.c, update.c, fork.c, copy.c, lists.c */
void errand_serve_history(struct errand *errand, struct thread *thread);
/* `from`: the thread, or that as it stood at a checkpoint, which is taken over. False: it was refused, and both are
 * unchanged. */
bool errand_update(struct errand *errand, struct thread *thread, struct thread *from);
void errand_repeat_thread(struct errand *errand, struct thread *thread, const Renga__V1__RequestRow *row);
void history_fork(struct errand *errand, struct thread *thread);
void history_copy(struct errand *errand, struct thread *thread);
void errand_list(struct errand *errand);

#endif
