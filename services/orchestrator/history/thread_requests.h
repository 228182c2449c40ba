/* Private to the orchestrator: requests about threads and their histories: states at checkpoints, changes by hand,
 * forks, copies, lists. From inside the loop of the thread's shard; request_list in that of its caller. */
#ifndef RENGA_ORCHESTRATOR_THREAD_REQUESTS_H
#define RENGA_ORCHESTRATOR_THREAD_REQUESTS_H

#include "renga/v1/log.pb-c.h"

#include <stdbool.h>

struct request;
struct thread;

/* For GetStateResponse and UpdateStateResponse, once on disk; their checkpoint has its id alone. Of a repeated
 * update it is read from the store. */
void request_answer_with_checkpoint(struct request *request, struct thread *thread, void *response);

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
