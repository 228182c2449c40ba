/* HTML and marks of sources in a model's text, before it is read as Markdown. */
#ifndef RENGA_ORCHESTRATOR_CITE_MARKUP_H
#define RENGA_ORCHESTRATOR_CITE_MARKUP_H

#include "base/arena.h"

/* The text without tags that only shape it, without comments and without marks of sources but "[1]"; other tags are
 * escaped. In the arena; NULL: no memory. Linear. */
char *cite_unmark(struct arena *arena, const char *text);

#endif
