/* Rows of notes, in the store of the record (run/record.h):
 *
 *      N tenant 0 thread 0 run 0 step_no    the note, packed
 *
 * Nothing sweeps them: they go with their thread. Names are checked before they come here. Ranges are the arena's;
 * bytes NULL: it is out. */
#ifndef RENGA_TOOL_RUNNER_NOTE_ROWS_H
#define RENGA_TOOL_RUNNER_NOTE_ROWS_H

#include "base/arena.h"
#include "store/store.h"

#include <stdint.h>

/* That note alone: `from` is its key. */
void note_range(struct arena *arena, const char *tenant, const char *thread, const char *run, int32_t step_no,
                struct store_bytes *from, struct store_bytes *to);
/* All of a run; `run` NULL: of the thread. */
void notes_range(struct arena *arena, const char *tenant, const char *thread, const char *run, struct store_bytes *from,
                 struct store_bytes *to);

#endif
