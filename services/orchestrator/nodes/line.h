/* Texts of a model or a person that stand as a single line of a record. */
#ifndef RENGA_ORCHESTRATOR_LINE_H
#define RENGA_ORCHESTRATOR_LINE_H

#include "base/arena.h"

/* At most `most` bytes of the text, whole characters, in the arena: control characters, which would be refused, become
 * blanks. NULL if the arena is out of memory. */
char *line_make(struct arena *arena, const char *text, size_t most);

#endif
