/* The record: calls that were begun and calls that have ended, with their results, so that no call with side effects
 * runs twice under the same idempotency key; and the highest fencing token seen of each run. In a store of the
 * tool-runner's own.
 *
 *      C tenant 0 key 0 call        begun or ended, when, the digest of name and arguments, the result
 *      T tenant 0 thread 0 key 0 call    the call belongs to the thread: when it is due
 *      F tenant 0 thread 0 run      the highest fencing token
 *      N …                          notes (notes/note_rows.h)
 *      X due, then a key of C or F  when that is to go, its size and its row of T
 *
 * Rows of a call are written together. Other tool-runners may have the store open too (Redis): if two begin a call
 * at the same moment, the store accepts only the first. */
#ifndef RENGA_TOOL_RUNNER_RECORD_H
#define RENGA_TOOL_RUNNER_RECORD_H

#include "renga/v1/tool_runner.pb-c.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>

#define RECORD_DIGEST     32 /* bytes */
#define RECORD_TENANT_MAX 96 /* bytes, so that every key fits */

/* The key of a call's record. Texts are borrowed. */
struct record_name {
    const char *tenant, *key; /* of the request */
    const char *thread, *run; /* "" if there is no thread or run */
};

struct record_call {
    bool known;
    bool damaged; /* its row cannot be read: it is unknown whether it has run */
    bool ended;
    const uint8_t *digest;
    int64_t due_ms;
    struct store_bytes result; /* a packed ToolResult; of an ended call */
};

/* All calls of a request: the range of their rows, and a call among the rows that were found. */
void record_range(struct arena *arena, const struct record_name *name, struct store_bytes *from,
                  struct store_bytes *to);
struct record_call record_find(const struct store_scan *scan, const struct record_name *name, const char *call_id);

/* The digest that identifies the call beside its id. */
void record_digest(const char *tool, const char *arguments_json, uint8_t digest[RECORD_DIGEST]);

/* Adds to a batch: the call has begun (`result` NULL; the batch counts only if the call has not begun yet) or ended.
 * `due_ms`, Unix time, is the same both times. False: the result is too large for the store. */
bool record_put(struct store_batch *batch, const struct record_name *name, const char *call_id,
                const uint8_t digest[RECORD_DIGEST], int64_t due_ms, const Renga__V1__ToolResult *result);
/* Deletes the call's rows: the tool had no effect. */
void record_forget(struct store_batch *batch, const struct record_name *name, const char *call_id, int64_t due_ms);

/* ---- fencing ----------------------------------------------------------------------------------------------------- */

void record_fence_range(struct arena *arena, const struct record_name *name, struct store_bytes *from,
                        struct store_bytes *to);
/* 0 if no token was seen. */
int64_t record_fence(const struct store_scan *scan);
/* Whether calls with this token (0: no token) are compared with the highest token seen: those of a run or a thread. */
bool record_is_fenced(const struct record_name *name, int64_t token);
/* The batch counts only while the token on disk is that owner's token. */
void record_expect_fence(struct store_batch *batch, const struct record_name *name, int64_t token);
/* The batch counts only if the row is still as the scan found it. */
void record_hold_fence(struct store_batch *batch, const struct record_name *name, const struct store_scan *scan);
/* The same condition; then raises the token. */
void record_raise_fence(struct store_batch *batch, const struct record_name *name, const struct store_scan *scan,
                        int64_t token);

/* ---- rows that expire -------------------------------------------------------------------------------------------- */

/* All rows of X, those due first in front; all calls of a thread. */
void record_due_range(struct store_bytes *from, struct store_bytes *to);
void record_thread_range(struct arena *arena, const char *tenant, const char *thread, struct store_bytes *from,
                         struct store_bytes *to);

/* The content of a row of X. */
struct record_due {
    int64_t due_ms;
    bool is_call; /* else a token */
    uint64_t bytes;
};
struct record_due record_due_of(const struct store_row *row);

/* Deletes the subject of a row of X, or of a row of T, and the row itself. */
void record_delete_due(struct store_batch *batch, const struct store_row *row);
void record_delete_thread_call(struct store_batch *batch, const struct store_row *row);
void record_delete_fences(struct store_batch *batch, const char *tenant, const char *thread);

#endif
