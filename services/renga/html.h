/* Text within HTML: for reports that are pages of their own. */
#ifndef RENGA_RENGA_HTML_H
#define RENGA_RENGA_HTML_H

#include "base/buffer.h"

#include <stddef.h>

/* Appends text that stands for itself in an element or a quoted attribute. Control characters become blanks, except for
 * line ends and tabs. Linear. */
void html_escape(struct buffer *out, const char *text, size_t length);

#endif
