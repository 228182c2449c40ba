/* Rows of notes, in the store of the record (record/record.h):
 *
 *      N tenant 0 thread 0 run 0 step_no    the note, packed, with a checksum (store/checksum.h)
 *
 * Notes have no sweep: they are deleted with their thread. Callers have checked the names. Ranges are in the arena;
 * bytes NULL: it is exhausted. */
#ifndef RENGA_TOOL_RUNNER_NOTE_ROWS_H
#define RENGA_TOOL_RUNNER_NOTE_ROWS_H

#include "base/arena.h"
#include "store/store.h"

#include "renga/v1/tool_runner.pb-c.h"

#include <stdint.h>

/* That note alone: `from` is its key. */
void note_range(struct arena *arena, const char *tenant, const char *thread, const char *run, int32_t step_no,
                struct store_bytes *from, struct store_bytes *to);
/* All of a run; `run` NULL: of the thread. */
void notes_range(struct arena *arena, const char *tenant, const char *thread, const char *run, struct store_bytes *from,
                 struct store_bytes *to);

/* The content of a row, in the arena. NULL with DATA_LOSS, which names the note, or with RESOURCE_EXHAUSTED. */
Renga__V1__Note *note_read(struct arena *arena, const struct store_row *row, struct status *st);
/* Its new row; NULL if the arena is exhausted. */
struct store_bytes note_write(struct arena *arena, struct store_bytes key, const Renga__V1__Note *note);

#endif
