/* Numbers for sources: those of the report if it has a list of references, else in the order of the first citation. */
#include "research.h"

#include "markdown.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MISSES_MAX 16 /* sentences that are not found in the report: each costs a pass */

static void *sources_memory_for(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    if (!memory)
        abort();
    return memory;
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static bool sources_is_same_quote(const Renga__V1__Citation *a, const Renga__V1__Citation *b)
{
    return a->line_from == b->line_from && a->line_to == b->line_to && strcmp(a->uri, b->uri) == 0 &&
           strcmp(a->quote, b->quote) == 0;
}

static bool sources_has_numbers(const Renga__V1__DeepResearchResult *result)
{
    for (size_t i = 0; i < result->n_citations; i++)
        if (result->citations[i]->reference_number < 1 || result->citations[i]->reference_number > 9999)
            return false;
    return result->n_citations > 0;
}

static size_t sources_first_of_its_document(const Renga__V1__DeepResearchResult *result, size_t citation)
{
    size_t first = 0;
    while (strcmp(result->citations[first]->uri, result->citations[citation]->uri) != 0)
        first++;
    return first;
}

static void sources_number(struct research_sources *sources)
{
    const Renga__V1__DeepResearchResult *result = sources->result;
    for (size_t i = 0; i < sources->count; i++) {
        size_t first = sources->listed ? i : sources_first_of_its_document(result, i);
        sources->numbers[i] = sources->listed ? (size_t)result->citations[i]->reference_number
                              : first == i    ? sources->most + 1
                                              : sources->numbers[first];
        if (sources->numbers[i] > sources->most)
            sources->most = sources->numbers[i];
    }
}

static int sources_by_number(const void *a, const void *b, void *data)
{
    const size_t *numbers = data, *left = a, *right = b;
    if (numbers[*left] != numbers[*right])
        return numbers[*left] < numbers[*right] ? -1 : 1;
    return *left < *right ? -1 : *left > *right;
}

/* ---- the report's own list --------------------------------------------------------------------------------------- */

static bool sources_is_heading_of_references(const struct markdown_block *block)
{
    static const char *const titles[] = {"References", "Sources", "参考文献", "出典", "参照", NULL};
    if (block->kind != MARKDOWN_HEADING)
        return false;
    for (const char *const *title = titles; *title; title++)
        if (strlen(*title) == block->length && strncasecmp(*title, block->text, block->length) == 0)
            return true;
    return false;
}

/* The list is the last section: it is shown with quotes instead. */
static size_t sources_length_without_list(const struct research_sources *sources)
{
    const char *report = sources->result->report_md;
    struct markdown reader;
    struct markdown_block block;
    size_t length = strlen(report), cut = length;
    markdown_begin(&reader, report, length);
    for (const char *at = reader.at; sources->listed && markdown_next(&reader, &block); at = reader.at)
        if (block.kind == MARKDOWN_HEADING)
            cut = sources_is_heading_of_references(&block) ? (size_t)(at - report) : length;
    return cut;
}

void research_sources_init(struct research_sources *sources, const Renga__V1__DeepResearchResult *result)
{
    *sources = (struct research_sources){.result = result, .count = result->n_citations};
    sources->listed = sources_has_numbers(result);
    sources->numbers = sources_memory_for(sources->count, sizeof *sources->numbers);
    sources->order = sources_memory_for(sources->count, sizeof *sources->order);
    sources_number(sources);
    for (size_t i = 0; i < sources->count; i++)
        sources->order[i] = i;
    qsort_r(sources->order, sources->count, sizeof *sources->order, sources_by_number, sources->numbers);
    sources->report_length = sources_length_without_list(sources);
}

void research_sources_fini(struct research_sources *sources)
{
    free(sources->numbers);
    free(sources->order);
}

bool research_sources_is_new(const struct research_sources *sources, size_t place)
{
    const size_t *order = sources->order;
    for (size_t before = place; before-- > 0 && sources->numbers[order[before]] == sources->numbers[order[place]];)
        if (sources_is_same_quote(sources->result->citations[order[before]], sources->result->citations[order[place]]))
            return false;
    return true;
}

void research_lines_text(const Renga__V1__Citation *citation, char out[32])
{
    out[0] = '\0';
    if (citation->line_to > citation->line_from && citation->line_from)
        snprintf(out, 32, "%d-%d", citation->line_from, citation->line_to);
    else if (citation->line_from)
        snprintf(out, 32, "%d", citation->line_from);
}

/* ---- marks ------------------------------------------------------------------------------------------------------- */

static bool sources_was_marked(const struct research_marks *marks, size_t offset, size_t number)
{
    for (size_t i = marks->count; i-- > 0 && marks->marks[i].offset == offset;)
        if (marks->marks[i].number == number)
            return true;
    return false;
}

void research_marks_init(struct research_marks *marks, const struct research_sources *sources)
{
    const Renga__V1__DeepResearchResult *result = sources->result;
    const char *report = result->report_md, *rest = report;
    size_t misses = 0;
    *marks = (struct research_marks){.marks = sources_memory_for(sources->count, sizeof *marks->marks)};
    for (size_t i = 0; !sources->listed && i < sources->count; i++) {
        const Renga__V1__Citation *citation = result->citations[i];
        bool again = i && citation->sentence_number == result->citations[i - 1]->sentence_number;
        const char *there = again || misses >= MISSES_MAX ? NULL : strstr(rest, citation->sentence);
        misses += !again && !there;
        if (there && *citation->sentence)
            rest = there + strlen(citation->sentence);
        size_t offset = (size_t)(rest - report);
        if ((there || again) && offset && !sources_was_marked(marks, offset, sources->numbers[i]))
            marks->marks[marks->count++] = (struct research_mark){offset, sources->numbers[i]};
    }
}

void research_marks_fini(struct research_marks *marks)
{
    free(marks->marks);
}

size_t research_marks_take(struct research_marks *marks, size_t offset)
{
    return marks->next < marks->count && marks->marks[marks->next].offset <= offset ? marks->marks[marks->next++].number
                                                                                    : 0;
}
