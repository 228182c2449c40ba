/* The names that characters have in a page: "&nbsp;". */
#ifndef RENGA_TOOL_RUNNER_HTML_ENTITIES_H
#define RENGA_TOOL_RUNNER_HTML_ENTITIES_H

#include <stdint.h>

/* The character that "&name;" stands for in HTML 4.01 and XML; 0 if it stands for none. */
uint32_t html_entity(const char *name);

#endif
