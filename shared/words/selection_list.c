/* The lists in the evidence: which sentences are items, and which list a sentence belongs to. */
#include <string.h>

#include "words/selection_priv.h"
#include "words/sentences_priv.h"

#define LINE_BACK   64 /* bytes before a sentence that are searched for the mark of its line */
#define FURTHER_MAX 4  /* sentences of an item behind its first one */
#define STEPS_LEAST 2  /* items of a list of steps */

static bool starts_line(const char *text, size_t at)
{
    while (at > 0 && is_blank(text[at - 1]))
        at--;
    return at == 0 || text[at - 1] == '\n';
}

/* The mark that the sentence itself begins with: a number stays with its item. */
static struct marker selection_list_mark(const struct evidence *evidence, uint32_t unit)
{
    const struct unit *at = &evidence->units[unit];
    const char *text = evidence->passages[at->passage].text;
    return (starts_line(text, at->span.begin) ? marker_of_line : marker_read)(text, at->span.end, at->span.begin);
}

bool selection_is_item(const struct evidence *evidence, uint32_t unit)
{
    const struct unit *at = &evidence->units[unit];
    const char *text = evidence->passages[at->passage].text;
    size_t begin = at->span.begin, line = begin;
    if (at->heading)
        return false;
    while (line > 0 && begin - line < LINE_BACK && text[line - 1] != '\n')
        line--;
    size_t behind = line_mark(text, at->span.end, line), first = skip_space(text, at->span.end, behind);
    bool marked = behind > line && text[line + strspn(text + line, " \t")] != '#' && first == begin;
    char kind = selection_list_mark(evidence, unit).kind;
    return marked || kind == 'n' || kind == 'b';
}

bool selection_are_beside(const struct evidence *evidence, uint32_t unit, uint32_t next)
{
    return next < evidence->unit_count && evidence->units[unit].passage == evidence->units[next].passage &&
           !evidence->units[unit].heading;
}

bool selection_continues_item(const struct evidence *evidence, uint32_t unit)
{
    for (size_t i = 0; i <= FURTHER_MAX; i++, unit--) {
        if (selection_is_item(evidence, unit))
            return i > 0;
        if (unit == 0 || !selection_are_beside(evidence, unit - 1, unit))
            return false;
        const struct span *before = &evidence->units[unit - 1].span, *at = &evidence->units[unit].span;
        const char *text = evidence->passages[evidence->units[unit].passage].text;
        if (memchr(text + before->end, '\n', at->begin - before->end))
            return false;
    }
    return false;
}

/* A sentence between two items belongs to the first one, in another line, too. */
static bool selection_in_list(const struct evidence *evidence, uint32_t unit)
{
    if (evidence->units[unit].heading)
        return false;
    if (selection_is_item(evidence, unit) || selection_continues_item(evidence, unit))
        return true;
    return unit > 0 && selection_are_beside(evidence, unit - 1, unit) &&
           selection_are_beside(evidence, unit, unit + 1) && selection_is_item(evidence, unit + 1) &&
           (selection_is_item(evidence, unit - 1) || selection_continues_item(evidence, unit - 1));
}

bool selection_list_of(const struct evidence *evidence, uint32_t unit, uint32_t *first, uint32_t *end)
{
    if (!selection_in_list(evidence, unit))
        return false;
    *first = unit;
    *end = unit + 1;
    while (*first > 0 && unit - *first < LIST_UNITS_MAX && selection_are_beside(evidence, *first - 1, *first) &&
           selection_in_list(evidence, *first - 1))
        --*first;
    while (*end - unit < LIST_UNITS_MAX && selection_are_beside(evidence, *end - 1, *end) &&
           selection_in_list(evidence, *end))
        ++*end;
    return true;
}

bool selection_steps_of(const struct evidence *evidence, uint32_t unit, bool bullets, uint32_t *first, uint32_t *end)
{
    size_t items = 0;
    if (!selection_list_of(evidence, unit, first, end))
        return false;
    for (uint32_t at = *first; at < *end; at++)
        items += bullets ? selection_is_item(evidence, at) : selection_list_mark(evidence, at).kind == 'n';
    return items >= STEPS_LEAST;
}

/* Whether a line between two neighbours opens or closes a fence. */
static bool has_fence_between(const struct evidence *evidence, uint32_t unit)
{
    const char *text = evidence->passages[evidence->units[unit].passage].text;
    size_t at = evidence->units[unit].span.end, end = evidence->units[unit + 1].span.begin;
    for (; at < end; at++)
        if (text[at] == '\n' && line_is_fence(text, end, at + 1))
            return true;
    return false;
}

uint32_t selection_code_end(const struct evidence *evidence, uint32_t unit)
{
    uint32_t end = unit + 1;
    if (!selection_are_beside(evidence, unit, end) || !has_fence_between(evidence, unit))
        return end;
    for (end++; end - unit < LIST_UNITS_MAX && selection_are_beside(evidence, end - 1, end); end++)
        if (has_fence_between(evidence, end - 1))
            break;
    return end;
}
