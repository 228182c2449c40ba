#include "tool_results.h"

#include "base/text.h"
#include "rpc/message_json.h"

#include "renga/v1/helpdesk.pb-c.h"

#include <string.h>

#define ARGUMENTS_MAX ((size_t)8 << 10) /* bytes of a call that are kept */
#define HIT_BYTES     128               /* of a hit beside its texts, about */

static bool tool_results_no_memory(struct status *st)
{
    return fail(st, RESOURCE_EXHAUSTED, "no memory for the results of tools");
}

static Renga__V1__ToolResult *result_of(const Renga__V1__SubtaskToolResult *kept, struct arena *arena)
{
    Renga__V1__ToolResult *result = arena_alloc(arena, sizeof *result);
    if (!result)
        return NULL;
    renga__v1__tool_result__init(result);
    result->name = kept->tool_name;
    result->status_code = kept->status_code;
    result->message = kept->message;
    result->text = kept->text;
    result->hits = kept->results;
    result->n_hits = kept->n_results;
    result->truncated = kept->truncated;
    result->duration_ms = kept->duration_ms;
    return result;
}

bool tool_results_of_try(const cJSON *tries, struct arena *arena, Renga__V1__ToolResult ***results, size_t *count,
                         struct status *st)
{
    int number = cJSON_GetArraySize(tries);
    const cJSON *last = number ? cJSON_GetArrayItem(tries, number - 1) : NULL;
    *count = 0;
    if (!last)
        return true;
    const Renga__V1__SubtaskToolResults *kept = (const Renga__V1__SubtaskToolResults *)message_read_json(
        &renga__v1__subtask_tool_results__descriptor, last, arena, st);
    if (!kept)
        return false;
    *results = arena_alloc(arena, kept->n_results * sizeof **results);
    for (size_t i = 0; *results && i < kept->n_results; i++) {
        (*results)[i] = result_of(kept->results[i], arena);
        if (!(*results)[(*count)++])
            return tool_results_no_memory(st);
    }
    return *results || tool_results_no_memory(st);
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static char *tool_results_cut(const char *text, size_t room, struct arena *arena)
{
    return arena_strndup(arena, text, text_cut(text, strlen(text), room));
}

static size_t bytes_of(const Renga__V1__SearchHit *hit)
{
    size_t bytes = HIT_BYTES + strlen(hit->uri) + strlen(hit->title) + strlen(hit->snippet) + strlen(hit->quote);
    for (size_t i = 0; i < hit->n_heading_path; i++)
        bytes += strlen(hit->heading_path[i]);
    return bytes;
}

/* Keeps the best hits that fit. If the first hit does not fit, its text is cut. */
static bool take_hits(Renga__V1__SubtaskToolResult *kept, const Renga__V1__ToolResult *result, size_t most,
                      struct arena *arena)
{
    size_t used = 0;
    kept->results = result->hits;
    while (kept->n_results < result->n_hits && used + bytes_of(result->hits[kept->n_results]) <= most)
        used += bytes_of(result->hits[kept->n_results++]);
    kept->truncated |= kept->n_results < result->n_hits;
    if (kept->n_results || !result->n_hits)
        return true;
    Renga__V1__SearchHit *first = arena_copy(arena, result->hits[0], sizeof *first);
    kept->results = arena_alloc(arena, sizeof(*kept->results));
    if (!first || !kept->results)
        return false;
    first->snippet = tool_results_cut(first->snippet, most, arena);
    first->quote = (char *)(uintptr_t) "";
    kept->results[kept->n_results++] = first;
    return first->snippet;
}

bool tool_results_write(struct json_writer *out, Renga__V1__ToolCall *const *calls,
                        Renga__V1__ToolResult *const *results, size_t count, size_t most, struct arena *arena,
                        struct status *st)
{
    json_write_object(out, NULL);
    json_write_array(out, "results");
    for (size_t i = 0; i < count; i++) {
        Renga__V1__SubtaskToolResult kept = RENGA__V1__SUBTASK_TOOL_RESULT__INIT;
        const Renga__V1__ToolResult *result = results[i];
        size_t length = strlen(result->text);
        kept.tool_name = calls[i]->name;
        kept.args = tool_results_cut(calls[i]->arguments_json, ARGUMENTS_MAX, arena);
        kept.status_code = result->status_code;
        kept.message = result->message;
        kept.text = result->n_hits || result->found_nothing ? (char *)(uintptr_t) ""
                                                            : tool_results_cut(result->text, most, arena);
        kept.truncated = result->truncated || (!result->n_hits && length > most);
        kept.duration_ms = result->duration_ms;
        if (!kept.args || !kept.text || !take_hits(&kept, result, most, arena))
            return tool_results_no_memory(st);
        message_write_json(out, NULL, &kept.base);
    }
    json_write_end(out);
    json_write_end(out);
    return true;
}
