/* Private to the orchestrator: requests under way (runtime/runner.h). Each is in the shard of its thread from arrival
 * to answer, and waits in the thread's queue for its turn. Then a single function owns it, and answers it once: at
 * once, when the thread's next batch is on disk, or when its run has stopped. */
#ifndef RENGA_ORCHESTRATOR_REQUEST_QUEUE_H
#define RENGA_ORCHESTRATOR_REQUEST_QUEUE_H

#include "renga/v1/log.pb-c.h"

#include <stdbool.h>
#include <stdint.h>

struct agent;
struct request;
struct run;
struct runner;
struct shard;
struct status;
struct thread;

/* request_queue.c */
void request_prepare(struct runner *runner, struct request *request); /* before it is sent to a shard: `coming` */
void request_queue(struct request *request, struct thread *thread);   /* it waits for its turn */
void request_refuse_in_quarantine(struct thread *thread); /* those that wait; GetRun is answered with the run's row */
/* In its thread's turn; `place` is the maintenance request's own. */
void request_do_maintenance(struct runner *runner, struct request *request, const char *thread_id);
void request_retry(struct request *request, const struct status *why); /* as if it had just come; too often: why */
void request_come_again(struct request *request);                      /* as if it had just come */
void request_answer_on_commit(struct request *request, struct thread *thread,
                              void *response); /* when the filling batch is on disk */

/* request_serve.c: its turn; and the common parts of requests about a run. */
void request_serve(struct request *request, struct thread *thread);
void request_read_run(struct request *request, struct shard *shard); /* its row; then it is served */
void request_wait(struct request *request, struct run *run, bool wait);
struct run *request_end_wait(struct request *request); /* request_queue.c: for that run; NULL: it did not wait */

/* repeated_request.c */
/* True if the request is not a repetition, as far as known; else it is looked up, and served or answered later. */
bool request_is_new(struct request *request, struct thread *thread, const char *request_id);
void request_remember(struct request *request, struct thread *thread, const char *request_id, const char *run_id,
                      uint64_t checkpoint);

/* request_serve.c: the run as it is now, from memory or from its row. */
void request_get_run(struct request *request, struct thread *thread);
/* cancel_run.c */
void request_cancel_run(struct request *request, struct thread *thread);

#endif
