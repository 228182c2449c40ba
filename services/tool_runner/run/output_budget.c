#include "output_budget.h"

#include "base/text.h"
#include "request_check.h"

#include <stdlib.h>
#include <string.h>

#define FRAME 16 /* bytes of tag and length around a message or text, at most */

static char empty[] = "";

static size_t hits_size(const Renga__V1__ToolResult *result)
{
    size_t size = 0;
    for (size_t i = 0; i < result->n_hits; i++)
        size += renga__v1__search_hit__get_packed_size(result->hits[i]) + FRAME;
    return size;
}

static size_t packed(const Renga__V1__ToolResult *result)
{
    return renga__v1__tool_result__get_packed_size(result) + FRAME;
}

static int by_size(const void *a, const void *b)
{
    size_t left = *(const size_t *)a, right = *(const size_t *)b;
    return (left > right) - (left < right);
}

/* The maximum size of a result so that all of them fit. */
static size_t output_budget_share_of(Renga__V1__ToolResult **results, size_t count, size_t bytes_max)
{
    size_t sizes[RUN_CALLS_MAX], rest = bytes_max;
    for (size_t i = 0; i < count; i++)
        sizes[i] = packed(results[i]);
    qsort(sizes, count, sizeof sizes[0], by_size);
    for (size_t i = 0; i < count; i++) {
        size_t share = rest / (count - i);
        if (sizes[i] > share)
            return share;
        rest -= sizes[i];
    }
    return bytes_max;
}

static void output_budget_cut(Renga__V1__ToolResult *result, size_t share)
{
    if (packed(result) <= share)
        return;
    result->truncated = true;
    result->structured_json = empty;
    if (packed(result) > share) {
        size_t text = strlen(result->text);
        size_t room = text < share / 2 ? share - text : share / 2;
        while (result->n_hits && hits_size(result) > room)
            result->n_hits--;
    }
    if (packed(result) > share && result->text[0]) {
        size_t length = strlen(result->text), size = packed(result), over = size > share ? size - share : 0;
        result->text[text_cut(result->text, length, over < length ? length - over : 0)] = '\0';
    }
}

void output_budget_apply(Renga__V1__ToolResult **results, size_t count, size_t bytes_max)
{
    size_t share = output_budget_share_of(results, count, bytes_max);
    for (size_t i = 0; i < count; i++)
        output_budget_cut(results[i], share);
}
