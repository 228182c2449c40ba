/* A long text for the watchers of a run, piece by piece. */
#ifndef RENGA_ORCHESTRATOR_PROGRESS_H
#define RENGA_ORCHESTRATOR_PROGRESS_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

#define PROGRESS_PIECES_MAX ((size_t)100) /* as RunNodeResponse.progress_json */

/* Writes {"text": …} for each piece, in the arena. False: the text is too long to be shown, or no memory. */
bool progress_pieces(struct arena *arena, const char *text, char *pieces[PROGRESS_PIECES_MAX], size_t *count);

#endif
