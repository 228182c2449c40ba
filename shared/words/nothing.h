/* The one sentence that a search writes where it has found nothing. It repeats the words that were looked for, so
 * whoever weighs texts by their words must know it: it supports nothing. */
#ifndef RENGA_WORDS_NOTHING_H
#define RENGA_WORDS_NOTHING_H

#include <stdbool.h>
#include <stddef.h>

/* True for a single short line that says so, in Japanese or English. */
bool words_say_nothing_found(const char *text, size_t length);

/* True for the sentence by which a report says that no source speaks of a point, or of its theme (the prompt
 * writer.missing of autonomous_research). It claims no fact. */
bool words_say_no_source(const char *text, size_t length);

#endif
