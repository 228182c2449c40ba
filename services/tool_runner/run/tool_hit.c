/* Checks a hit of a searching tool against the limits of SearchHit. */
#include "base/text.h"
#include "tool_run.h"

#include <math.h>
#include <string.h>

#define SOURCE_MAX     64
#define COLLECTION_MAX 64
#define URI_MAX        2048
#define TITLE_MAX      512
#define HEADINGS_MAX   8
#define HEADING_MAX    256
#define SNIPPET_MAX    16384
#define QUOTE_MAX      4096
#define DATE_MAX       64

static char *tool_hit_cut(struct tool_run *run, const char *text, size_t max)
{
    size_t clean = text_clean_length(text, strlen(text)), length = text_cut(text, clean, max);
    run->truncated |= text[length] != '\0';
    return arena_strndup(&run->arena, text, length);
}

static bool copy_headings(struct tool_run *run, Renga__V1__SearchHit *copy, const Renga__V1__SearchHit *hit)
{
    size_t count = hit->n_heading_path < HEADINGS_MAX ? hit->n_heading_path : HEADINGS_MAX;
    copy->heading_path = arena_zalloc(&run->arena, (count + 1) * sizeof(char *));
    for (size_t i = 0; copy->heading_path && i < count; i++)
        if (!(copy->heading_path[copy->n_heading_path++] = tool_hit_cut(run, hit->heading_path[i], HEADING_MAX)))
            return false;
    return copy->heading_path != NULL;
}

static Renga__V1__SearchHit *copy_hit(struct tool_run *run, const Renga__V1__SearchHit *hit)
{
    Renga__V1__SearchHit *copy = arena_alloc(&run->arena, sizeof *copy);
    if (!copy)
        return NULL;
    renga__v1__search_hit__init(copy);
    copy->source = tool_hit_cut(run, hit->source, SOURCE_MAX);
    copy->collection = tool_hit_cut(run, hit->collection, COLLECTION_MAX);
    copy->uri = tool_hit_cut(run, hit->uri, URI_MAX);
    copy->title = tool_hit_cut(run, hit->title, TITLE_MAX);
    copy->line_from = hit->line_from;
    copy->line_to = hit->line_to;
    copy->snippet = tool_hit_cut(run, hit->snippet, SNIPPET_MAX);
    copy->quote = tool_hit_cut(run, hit->quote, QUOTE_MAX);
    copy->score = isfinite(hit->score) ? fmin(fmax(hit->score, 0), 1) : 0;
    copy->published_date = tool_hit_cut(run, hit->published_date, DATE_MAX);
    return copy_headings(run, copy, hit) && !run->arena.exhausted ? copy : NULL;
}

void tool_hit(struct tool_run *run, const Renga__V1__SearchHit *hit)
{
    if (run->state != TOOL_RUN_RUNNING)
        return;
    if (!run->hits)
        run->hits = arena_alloc(&run->arena, TOOL_HITS_MAX * sizeof(*run->hits));
    Renga__V1__SearchHit *copy = run->hits && run->hit_count < TOOL_HITS_MAX ? copy_hit(run, hit) : NULL;
    if (copy)
        run->hits[run->hit_count++] = copy;
    else
        run->truncated = true;
}
