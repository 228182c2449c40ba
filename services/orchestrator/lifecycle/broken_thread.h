/* Private to the orchestrator: threads whose log cannot be read or written. Their requests fail, and they are loaded
 * again later. From inside the loop of the shard. */
#ifndef RENGA_ORCHESTRATOR_BROKEN_THREAD_H
#define RENGA_ORCHESTRATOR_BROKEN_THREAD_H

struct shard;
struct status;
struct thread;

void thread_break(struct thread *thread, const struct status *why);
void thread_unload(struct thread *thread, const struct status *why); /* its requests fail, and it leaves memory */
void thread_reload_later(const struct thread *thread);
void shard_end_reload_retries(struct shard *shard);

#endif
