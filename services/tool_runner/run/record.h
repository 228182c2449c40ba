/* The record: which calls were begun and which have ended, with their results, so that no call with side effects runs
 * twice under one idempotency key; and the highest fencing token seen of each run. In a store of the tool-runner's own.
 *
 *      C tenant 0 key 0 call        begun or ended, when, the digest of name and arguments, the result
 *      T tenant 0 thread 0 key 0 call    the call belongs to the thread: when it is due
 *      F tenant 0 thread 0 run      the highest fencing token
 *      N …                          notes (notes/note_rows.h)
 *      X due, then a key of C or F  when that is to go, its size and its row of T
 *
 * Rows of a call are written together. Other tool-runners may have the store open too (Redis): of two that begin a call
 * in the same moment the store lets one. */
#ifndef RENGA_TOOL_RUNNER_RECORD_H
#define RENGA_TOOL_RUNNER_RECORD_H

#include "renga/v1/tool_runner.pb-c.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>

#define RECORD_DIGEST     32 /* bytes */
#define RECORD_TENANT_MAX 96 /* bytes, so that every key fits */

/* Whose call it is. Texts are borrowed. */
struct record_name {
    const char *tenant, *key; /* of the request */
    const char *thread, *run; /* "" where there is none */
};

struct record_call {
    bool known;
    bool damaged; /* its row cannot be read: it is unknown whether it has run */
    bool ended;
    const uint8_t *digest;
    int64_t due_ms;
    struct store_bytes result; /* a packed ToolResult; of one that has ended */
};

/* All calls of a request: the range of their rows, and one call among the rows that were found. */
void record_range(struct arena *arena, const struct record_name *name, struct store_bytes *from,
                  struct store_bytes *to);
struct record_call record_find(const struct store_scan *scan, const struct record_name *name, const char *call_id);

/* What identifies the call beside its id. */
void record_digest(const char *tool, const char *arguments_json, uint8_t digest[RECORD_DIGEST]);

/* Adds to a batch: the call has begun (`result` NULL; counts only where nobody has begun it) or ended. `due_ms`, Unix
 * time, is the same both times. False: the result is too large for the store. */
bool record_put(struct store_batch *batch, const struct record_name *name, const char *call_id,
                const uint8_t digest[RECORD_DIGEST], int64_t due_ms, const Renga__V1__ToolResult *result);
/* As if it had never begun: nothing was done. */
void record_forget(struct store_batch *batch, const struct record_name *name, const char *call_id, int64_t due_ms);

/* ---- fencing ----------------------------------------------------------------------------------------------------- */

void record_fence_range(struct arena *arena, const struct record_name *name, struct store_bytes *from,
                        struct store_bytes *to);
/* 0 where none was seen. */
int64_t record_fence(const struct store_scan *scan);
/* Whether calls with this token (0: none) are held against the highest one seen: those of a run or a thread. */
bool record_is_fenced(const struct record_name *name, int64_t token);
/* The batch counts only while that owner's token is the one on disk. */
void record_expect_fence(struct store_batch *batch, const struct record_name *name, int64_t token);
/* The batch counts only where the row is still as the scan found it. */
void record_hold_fence(struct store_batch *batch, const struct record_name *name, const struct store_scan *scan);
/* So does it then. */
void record_raise_fence(struct store_batch *batch, const struct record_name *name, const struct store_scan *scan,
                        int64_t token);

/* ---- what goes --------------------------------------------------------------------------------------------------- */

/* All rows of X, those due first in front; all calls of a thread. */
void record_due_range(struct store_bytes *from, struct store_bytes *to);
void record_thread_range(struct arena *arena, const char *tenant, const char *thread, struct store_bytes *from,
                         struct store_bytes *to);

/* What a row of X tells. */
struct record_due {
    int64_t due_ms;
    bool is_call; /* else a token */
    uint64_t bytes;
};
struct record_due record_due_of(const struct store_row *row);

/* Deletes what a row of X, of T stands for, itself included. */
void record_delete_due(struct store_batch *batch, const struct store_row *row);
void record_delete_thread_call(struct store_batch *batch, const struct store_row *row);
void record_delete_fences(struct store_batch *batch, const char *tenant, const char *thread);

#endif
