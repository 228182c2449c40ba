/* A result in one message: the longest summaries are cut first, then the last citations are left out. */
#include "deep_research.h"

#include "base/text.h"

#include <string.h>

#define RESULT_BYTES_MAX ((size_t)4 << 20)
#define AROUND_BYTES     ((size_t)64 << 10) /* the event around it, and the degradation that tells of the cut */
#define DEGRADATIONS_MAX 100

static size_t result_excess(const Renga__V1__DeepResearchResult *result)
{
    size_t size = renga__v1__deep_research_result__get_packed_size(result);
    return size > RESULT_BYTES_MAX - AROUND_BYTES ? size - (RESULT_BYTES_MAX - AROUND_BYTES) : 0;
}

/* Bytes that go if no summary may have more than `most`. */
static size_t result_freed_by(const Renga__V1__DeepResearchResult *result, size_t most)
{
    size_t freed = 0;
    for (size_t i = 0; i < result->n_notes; i++) {
        size_t length = strlen(result->notes[i]->summary_md);
        freed += length > most ? length - most : 0;
    }
    return freed;
}

/* All that are longer than a limit are cut to it: the greatest limit that is enough, or 0. */
static bool result_cut_summaries(Renga__V1__DeepResearchResult *result)
{
    size_t over = result_excess(result), least = 0, most = RESULT_BYTES_MAX;
    if (!over || !result_freed_by(result, 0))
        return false;
    while (least < most) {
        size_t middle = least + (most - least + 1) / 2;
        if (result_freed_by(result, middle) >= over)
            least = middle;
        else
            most = middle - 1;
    }
    for (size_t i = 0; i < result->n_notes; i++) {
        char *summary = result->notes[i]->summary_md;
        size_t length = strlen(summary);
        if (length > least)
            summary[text_cut(summary, length, least)] = '\0';
    }
    return true;
}

static bool result_cut_citations(Renga__V1__DeepResearchResult *result)
{
    size_t over = result_excess(result), freed = 0;
    bool cut = over > 0 && result->n_citations > 0;
    while (freed < over && result->n_citations > 0)
        freed += renga__v1__citation__get_packed_size(result->citations[--result->n_citations]);
    return cut;
}

static void result_note_cut(Renga__V1__AgentOutcome *outcome, const char *part, const char *reason, struct arena *arena)
{
    size_t count = outcome->n_degradations;
    Renga__V1__Degradation *degradation = arena_alloc(arena, sizeof *degradation);
    Renga__V1__Degradation **list = arena_alloc(arena, (count + 1) * sizeof(*list));
    if (!degradation || !list || count >= DEGRADATIONS_MAX)
        return;
    renga__v1__degradation__init(degradation);
    degradation->part = (char *)(uintptr_t)part;
    degradation->kind = RENGA__V1__DEGRADATION_KIND__DEGRADATION_KIND_PARTIAL;
    degradation->reason = (char *)(uintptr_t)reason;
    if (count)
        memcpy(list, outcome->degradations, count * sizeof(*list));
    list[count] = degradation;
    outcome->degradations = list;
    outcome->n_degradations++;
}

void deep_research_cut(Renga__V1__DeepResearchResult *result, struct arena *arena)
{
    bool summaries = result_cut_summaries(result), citations = result_cut_citations(result);
    if (summaries)
        result_note_cut(result->outcome, "notes", "the longest summaries are cut, so that the result fits in 4 MiB",
                        arena);
    if (citations)
        result_note_cut(result->outcome, "citations",
                        "the last citations are left out, so that the result fits in 4 MiB", arena);
}
