/* HTML and marks of sources in a model's text, before it is read as Markdown. */
#ifndef RENGA_ORCHESTRATOR_CITE_MARKUP_H
#define RENGA_ORCHESTRATOR_CITE_MARKUP_H

#include "base/arena.h"

#include <stdbool.h>

/* The text without tags that only shape it, without comments, without controls and directions of text, and without
 * marks of sources but "[1]"; other tags are escaped. In the arena; NULL: no memory. Linear. */
char *cite_unmark(struct arena *arena, const char *text);

/* Whether [0, length), from a tick to a tick, is code that stays in a single sentence; the text may go on behind it. If
 * it is not, a tick may be left out with its sentence, and then the rest is no code. */
bool cite_code_is_whole(const char *text, size_t length);

#endif
