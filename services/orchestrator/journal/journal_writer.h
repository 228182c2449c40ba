/* Private to the orchestrator: the thread's log on its way to the disk. Appended records gather in a batch, with the
 * rows beside them; log_flush gives it to the store when the previous batch has returned. A batch that the disk refuses
 * breaks the thread. From inside the loop of the shard. */
#ifndef RENGA_ORCHESTRATOR_JOURNAL_WRITER_H
#define RENGA_ORCHESTRATOR_JOURNAL_WRITER_H

#include "thread/apply.h"

#include "renga/v1/log.pb-c.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct commit;
struct request;
struct run;
struct shard;
struct status;
struct store_batch;
struct store_bytes;
struct thread;

uint64_t log_append(struct thread *thread, struct run *run, Record *record);
struct store_batch *log_batch(struct thread *thread); /* the batch that is filling: for rows beside the record */
void log_await(struct thread *thread, struct request *request); /* answered when the filling batch is on disk */
struct request *commit_take_waiters(struct commit *commit);     /* those that wait for it */
void commit_drop(struct commit **commit, const struct status *why);
void shard_free_commits(struct shard *shard);
void log_flush(struct thread *thread);
/* The run at work has durability EXIT and is on disk: its steps gather in memory, and the next begins without waiting.
 */
bool log_gathers(const struct thread *thread);
void log_hurry(struct thread *thread); /* gathered records are written with the next flush */
/* Into the first batch of a thread whose name was not looked up: the batch is written only if no thread of that name
 * exists. */
void log_expect_new(struct thread *thread, struct store_batch *batch);
void log_put_request(struct thread *thread, const char *request_id, const Renga__V1__RequestRow *row);
/* The row of a request that is on its way to the disk; NULL bytes: there is no row. */
struct store_bytes log_pending_request(const struct thread *thread, const char *request_id);
void log_write_rows(struct run *run);
/* A run has left memory: its row may be older than its last record until the thread's batches are on disk. */
void log_note_gone(struct thread *thread);
/* A record about such a run, and its row, which has the same change then. */
void log_change_gone(struct thread *thread, Renga__V1__RunRow *row, Renga__V1__RunChanged *changed);
void log_write_thread(struct thread *thread);
void log_snapshot_now(struct thread *thread);
/* Puts `past`, the thread as it was after a record; gives its bytes, 0 if it has more than STORE_VALUE_MAX. */
size_t log_put_snapshot(struct store_batch *batch, const struct thread *thread, const struct thread *past,
                        uint64_t number);
bool log_snapshot_fits(const struct thread *thread); /* also behind a further record */

#endif
