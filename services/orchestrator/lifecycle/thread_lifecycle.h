/* Private to the orchestrator: threads are loaded, and serve their requests in sequence. From inside the loop of the
 * shard. */
#ifndef RENGA_ORCHESTRATOR_THREAD_LIFECYCLE_H
#define RENGA_ORCHESTRATOR_THREAD_LIFECYCLE_H

#include <stdbool.h>

struct shard;
struct thread;
struct work;

/* `drawn`: its name has just been drawn out of 2^64, so it is not read, and there is no wait. */
struct thread *thread_get(struct shard *shard, const char *tenant, const char *id, bool drawn);
void thread_go(struct work *work);        /* its turn in its loop: `go` */
void thread_serve(struct thread *thread); /* requests that wait, if it can */

#endif
