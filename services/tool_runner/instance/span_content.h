/* Content in spans, if the option tool_runner.trace_content asks for it: cut short, without words that look like
 * keys. */
#ifndef RENGA_TOOL_SPAN_CONTENT_H
#define RENGA_TOOL_SPAN_CONTENT_H

#include "renga/v1/tool_runner.pb-c.h"

#include <stddef.h>

struct span;

void tool_span_text(struct span *span, const char *key, const char *text);
/* The best hits, as LangSmith reads documents of a retriever. */
void tool_span_hits(struct span *span, Renga__V1__SearchHit *const *hits, size_t count);

#endif
