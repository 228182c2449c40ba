#include "span_content.h"

#include "base/text.h"
#include "telemetry/redact.h"
#include "telemetry/spans.h"

#include <stdio.h>
#include <string.h>

#define SHOWN_MAX     8192 /* bytes of a text */
#define SHOWN_HIT_MAX 1024 /* bytes of a hit's text */
#define SHOWN_HITS    10

static void span_part(struct span *span, const char *key, const char *text, size_t most)
{
    char copy[SHOWN_MAX];
    size_t size = text_cut(text, strlen(text), most);
    memcpy(copy, text, size);
    redact_keys(copy, size);
    span_text(span, key, copy, size);
}

void tool_span_text(struct span *span, const char *key, const char *text)
{
    span_part(span, key, text, SHOWN_MAX);
}

void tool_span_hits(struct span *span, Renga__V1__SearchHit *const *hits, size_t count)
{
    for (size_t i = 0; i < count && i < SHOWN_HITS; i++) {
        char key[64];
        snprintf(key, sizeof key, "retrieval.documents.%zu.document.content", i);
        span_part(span, key, hits[i]->snippet, SHOWN_HIT_MAX);
        snprintf(key, sizeof key, "retrieval.documents.%zu.document.id", i);
        span_part(span, key, hits[i]->uri, SHOWN_HIT_MAX);
    }
}
