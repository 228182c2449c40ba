/* Private to run/: the thread's log on its way to the disk. What is appended gathers in a batch, with the rows beside
 * it; log_flush hands it to the store when the one before has come back. A batch that the disk refuses breaks the
 * thread. */
#ifndef RENGA_ORCHESTRATOR_COMMIT_H
#define RENGA_ORCHESTRATOR_COMMIT_H

#include "store/store.h"

#include "renga/v1/log.pb-c.h"

struct commit;
struct errand;
struct home;
struct run;
struct thread;

typedef Renga__V1__LogRecord Record; /* generated from a proto */

uint64_t log_append(struct thread *thread, struct run *run, Record *record);
struct store_batch *log_batch(struct thread *thread);         /* what is filling: for rows beside the record */
void log_await(struct thread *thread, struct errand *errand); /* answered when what is filling is on disk */
struct errand *commit_take_errands(struct commit *commit);    /* those that wait for it */
void commit_drop(struct commit **commit, const struct status *why);
void home_free_commits(struct home *home);
void log_flush(struct thread *thread);
/* The run at work has durability EXIT and is on disk: its steps gather in memory, and the next begins without waiting.
 */
bool log_gathers(const struct thread *thread);
void log_hurry(struct thread *thread); /* gathered records are written with the next flush */
/* Into the first batch of a thread for whose name nothing was looked for: it is only written where nothing is there. */
void log_expect_new(struct thread *thread, struct store_batch *batch);
void log_put_request(struct thread *thread, const char *request_id, const Renga__V1__RequestRow *row);
/* The row of a request that is on its way to the disk; NULL bytes: none. */
struct store_bytes log_pending_request(const struct thread *thread, const char *request_id);
void log_write_rows(struct run *run);
void log_write_thread(struct thread *thread);
void log_write_version(struct run *run);
void log_unlist_version(struct run *run);
void log_snapshot_now(struct thread *thread);
bool log_snapshot_fits(const struct thread *thread); /* also behind one record more */

#endif
