/* The parts of a report by their headings: summary, findings, analysis and references. */
#include "draft_priv.h"

#include "words/no_results.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define HEADING_MAX      ((size_t)200) /* bytes of a heading that is compared */
#define PART_HEADING_MAX 64            /* bytes of a heading that says no more than the name of its part */

static const struct {
    enum draft_part part;
    const char *name;
} names[] = {
    {DRAFT_SUMMARY, "summary"},       {DRAFT_SUMMARY, "エグゼクティブ"}, {DRAFT_SUMMARY, "要約"},
    {DRAFT_SUMMARY, "サマリー"},      {DRAFT_FINDINGS, "findings"},      {DRAFT_FINDINGS, "主な発見"},
    {DRAFT_FINDINGS, "主要な発見"},   {DRAFT_FINDINGS, "重要な発見"},    {DRAFT_FINDINGS, "発見事項"},
    {DRAFT_ANALYSIS, "analysis"},     {DRAFT_ANALYSIS, "詳細分析"},      {DRAFT_ANALYSIS, "詳細な分析"},
    {DRAFT_REFERENCES, "references"}, {DRAFT_REFERENCES, "sources"},     {DRAFT_REFERENCES, "bibliography"},
    {DRAFT_REFERENCES, "参考文献"},   {DRAFT_REFERENCES, "参考資料"},    {DRAFT_REFERENCES, "情報源"},
    {DRAFT_REFERENCES, "出典"},
};

int draft_heading_level(const char *line)
{
    size_t marks = strspn(line, "#");
    return marks && marks <= 6 && (line[marks] == ' ' || line[marks] == '\t') ? (int)marks : 0;
}

/* The part that a heading names; DRAFT_PARTS: no part. */
static enum draft_part draft_parts_part_of(const char *line)
{
    char heading[HEADING_MAX + 1];
    size_t length = strcspn(line, "\r\n");
    length = length < HEADING_MAX ? length : HEADING_MAX;
    for (size_t i = 0; i < length; i++)
        heading[i] = (char)tolower((unsigned char)line[i]);
    heading[length] = '\0';
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strstr(heading, names[i].name))
            return names[i].part;
    return DRAFT_PARTS;
}

bool draft_heading_is_part(const char *line)
{
    size_t length = 0;
    while (length <= PART_HEADING_MAX && line[length] && !strchr("0123456789\r\n", line[length]))
        length++;
    return draft_heading_level(line) == 2 && length <= PART_HEADING_MAX && strchr("\r\n", line[length]) &&
           draft_parts_part_of(line) != DRAFT_PARTS;
}

static const char *draft_parts_next_line(const char *line)
{
    line += strcspn(line, "\n");
    return *line ? line + 1 : line;
}

/* A part begins at its heading of the second level and ends at the next heading of the first or second level. Of two
 * parts with the same name the first one counts, but the last list of references. */
void draft_parts_read(const char *draft, struct draft_parts *parts)
{
    enum draft_part open = DRAFT_PARTS;
    size_t end = strlen(draft);
    *parts = (struct draft_parts){.titles = 0};
    for (size_t i = 0; i < DRAFT_PARTS; i++)
        parts->parts[i] = (struct span){SIZE_MAX, SIZE_MAX};
    for (const char *line = draft; *line; line = draft_parts_next_line(line)) {
        int level = draft_heading_level(line);
        size_t at = (size_t)(line - draft);
        parts->titles += level == 1;
        if (!level || level > 2)
            continue;
        if (open < DRAFT_PARTS)
            parts->parts[open].end = at;
        open = level == 2 ? draft_parts_part_of(line) : DRAFT_PARTS;
        if (open < DRAFT_REFERENCES && parts->parts[open].begin != SIZE_MAX)
            open = DRAFT_PARTS;
        if (open < DRAFT_PARTS)
            parts->parts[open] = (struct span){(size_t)(draft_parts_next_line(line) - draft), end};
    }
}

/* ---- the sections of points -------------------------------------------------------------------------------------- */

/* Whether the heading names the point. */
static bool draft_parts_heading_names(const char *line, const char *point)
{
    size_t length = strcspn(line, "\r\n"), wanted = strlen(point);
    return wanted && length >= wanted && memmem(line, length, point, wanted);
}

bool draft_has_section(const char *draft, const struct span *analysis, const char *point)
{
    if (analysis->begin == SIZE_MAX)
        return false;
    for (const char *line = draft + analysis->begin; line < draft + analysis->end; line = draft_parts_next_line(line))
        if (draft_heading_level(line) >= 3 && draft_parts_heading_names(line, point))
            return true;
    return false;
}

static bool line_claims(const char *line)
{
    size_t length = strcspn(line, "\r\n"), blanks = strspn(line, " \t");
    return blanks < length && !words_say_no_source(line, length);
}

bool draft_point_is_empty(const char *draft, const char *point)
{
    for (const char *line = draft; *line; line = draft_parts_next_line(line)) {
        if (draft_heading_level(line) < 2 || !draft_parts_heading_names(line, point))
            continue;
        bool claims = false;
        for (const char *next = draft_parts_next_line(line); *next && !draft_heading_level(next) && !claims;
             next = draft_parts_next_line(next))
            claims = line_claims(next);
        return !claims;
    }
    return false;
}
