/* The length limit of an answer. A model ends in the middle of a word; so does this provider. */
#include "extract.h"

#include "words/tokens.h"

#include <string.h>

static size_t before_stops(const Renga__V1__ChatRequest *request, const char *text, size_t length)
{
    for (size_t i = 0; i < request->n_stop; i++) {
        const char *stop = request->stop[i], *found = *stop ? memmem(text, length, stop, strlen(stop)) : NULL;
        if (found)
            length = (size_t)(found - text);
    }
    return length;
}

const char *extract_cut(const Renga__V1__ChatRequest *request, const char *text, size_t *length)
{
    int64_t most = request->max_output_tokens;
    *length = before_stops(request, text, *length);
    if (most <= 0 || tokens_of_text(text, *length) <= most)
        return "stop";
    *length = tokens_fit(text, *length, most);
    return "length";
}
