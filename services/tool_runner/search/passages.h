/* Passages of a result, joined by " … " into a single text: excerpts, highlights, captions. */
#ifndef RENGA_TOOL_RUNNER_PASSAGES_H
#define RENGA_TOOL_RUNNER_PASSAGES_H

#include "search/answer.h"

#include <stdbool.h>
#include <stddef.h>

/* Marks that a provider is asked to put around the words of the query. They are no part of the text. */
#define SEARCH_MARK_BEGIN '\x02'
#define SEARCH_MARK_END   '\x03'

/* Begins as {0}. */
struct search_passages {
    size_t length;
    bool goes_on; /* a passage is being written */
    bool is_full;
    char text[SEARCH_SNIPPET_MAX + 1];
};

/* Adds a passage without its marks; NULL and "" add no text. A text that is too long is cut at a character.
 * O(length). */
void search_passages_add(struct search_passages *passages, const char *text);

/* The same of HTML: tags are left out, references (&amp;) become their characters. */
void search_passages_add_html(struct search_passages *passages, const char *html);

/* The text; NULL: it is empty. */
const char *search_passages_text(const struct search_passages *passages);

#endif
