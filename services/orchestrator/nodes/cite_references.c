/* The list of references, made only of retrieved sources. */
#include "cite_text.h"

#include <string.h>

#define PLACES_MAX 6 /* of a document in the list */

static void references_print_title(struct buffer *out, const char *title)
{
    for (; *title; title++) {
        if (strchr("[]<>`*_\\|", *title))
            buffer_put(out, '\\');
        buffer_put(out, *title == '\n' || *title == '\r' ? ' ' : *title);
    }
}

/* `ends` are characters that could end the link. */
static void references_print_target(struct buffer *out, const char *uri, const char *ends)
{
    for (; *uri; uri++)
        if ((unsigned char)*uri <= ' ' || strchr(ends, *uri))
            buffer_printf(out, "%%%02X", (unsigned)(unsigned char)*uri);
        else
            buffer_put(out, *uri);
}

static int32_t references_count_lines(const char *text, size_t length)
{
    int32_t lines = 0;
    for (size_t i = 0; i < length; i++)
        lines += text[i] == '\n';
    return lines;
}

void cite_lines(const Renga__V1__SearchHit *hit, const struct span *quote, int32_t *from, int32_t *to)
{
    *from = hit->line_from;
    *to = hit->line_to;
    if (!hit->line_from || references_count_lines(hit->snippet, strlen(hit->snippet)) > hit->line_to - hit->line_from)
        return;
    *from = hit->line_from + references_count_lines(hit->snippet, quote->begin);
    *to = *from + references_count_lines(hit->snippet + quote->begin, quote->end - quote->begin);
}

/* "a.md:9, 12-14", each place once. */
static void references_print_places(struct cite_text *cite, size_t number)
{
    int32_t seen[PLACES_MAX][2];
    size_t count = 0;
    for (size_t i = 0; i < cite->cited_count && count < PLACES_MAX; i++) {
        const struct cited *cited = &cite->cited[i];
        int32_t from, to;
        if (cited->reference != number)
            continue;
        cite_lines(cite->sources->hits[cited->support.passage], &cited->support.quote, &from, &to);
        bool known = !from;
        for (size_t j = 0; j < count; j++)
            known |= seen[j][0] == from && seen[j][1] == to;
        if (known)
            continue;
        buffer_printf(&cite->out, "%s%d", count ? ", " : ":", (int)from);
        if (to > from)
            buffer_printf(&cite->out, "-%d", (int)to);
        seen[count][0] = from;
        seen[count++][1] = to;
    }
}

static bool references_is_web(const char *uri)
{
    return strncasecmp(uri, "https://", 8) == 0 || strncasecmp(uri, "http://", 7) == 0;
}

static const char *references_title(const Renga__V1__SearchHit *hit)
{
    return hit->title[0] ? hit->title : hit->uri;
}

/* "1. [title](URL)", "1. title — a.md:9" */
static void references_print_item(struct cite_text *cite, size_t number)
{
    const Renga__V1__SearchHit *hit = cite->sources->hits[cite->first_of[number]];
    bool web = references_is_web(hit->uri);
    buffer_printf(&cite->out, "\n%zu. %s", number, web ? "[" : "");
    references_print_title(&cite->out, references_title(hit));
    if (web) {
        buffer_print(&cite->out, "](");
        references_print_target(&cite->out, hit->uri, "()<>\\\"");
        buffer_put(&cite->out, ')');
        return;
    }
    buffer_print(&cite->out, " — ");
    references_print_title(&cite->out, hit->uri);
    references_print_places(cite, number);
}

/* "[^1]: title — URL", "[^1]: title — a.md:9". */
static void references_print_footnote(struct cite_text *cite, size_t number)
{
    const Renga__V1__SearchHit *hit = cite->sources->hits[cite->first_of[number]];
    bool shown = !cite_is_script(hit->uri);
    buffer_printf(&cite->out, "\n[^%zu]: ", number);
    references_print_title(&cite->out, hit->title);
    buffer_print(&cite->out, hit->title[0] && shown ? " — " : "");
    if (references_is_web(hit->uri)) {
        references_print_target(&cite->out, hit->uri, "<>\\\"");
    } else if (shown) {
        references_print_title(&cite->out, hit->uri);
        references_print_places(cite, number);
    }
}

void cite_text_write_references(struct cite_text *cite, const char *heading, size_t length)
{
    if (!cite->reference_count)
        return;
    buffer_print(&cite->out, "\n\n## ");
    buffer_append(&cite->out, heading, length);
    buffer_print(&cite->out, "\n");
    for (size_t i = 1; i <= cite->reference_count; i++)
        cite->footnotes ? references_print_footnote(cite, i) : references_print_item(cite, i);
}
