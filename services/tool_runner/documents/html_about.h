/* The title, byline, date and language of an HTML page. Private to documents/. */
#ifndef RENGA_TOOL_RUNNER_HTML_ABOUT_H
#define RENGA_TOOL_RUNNER_HTML_ABOUT_H

#include "documents/html_tree.h"

/* From the head's meta elements, JSON-LD, and elements of the body, in that order. */
void html_about_read(struct page_about *about, struct arena *arena, const struct html_tree *tree);

#endif
