/* Markdown: blocks between empty lines under headings of both forms; front matter gives the title.
 *
 * Lines that belong together stay together, as far as a paragraph reaches: the items of a list, and a line that ends in
 * a colon with the list, table or code that it announces. */
#include "documents/reading.h"
#include "words/sentences.h"

#include <string.h>

#define FRONT_MATTER_MAX 200 /* lines */
#define JOINED_MAX       (PARAGRAPH_MAX / 2)

enum kind { TEXT, LIST, CODE };

struct markdown {
    struct document *document;
    struct lines lines;
    struct piece block; /* `at` NULL: no block is open */
    int block_line;
    enum kind kind;
    bool one_line;    /* the block has no second line yet */
    bool gap;         /* an empty line stands after the block */
    char fence;       /* '`', '~'; 0: not within fences */
    size_t fence_run; /* how many open it */
};

static void markdown_close_block(struct markdown *markdown)
{
    if (markdown->block.at)
        document_add_paragraph(markdown->document, markdown->block, markdown->block_line);
    markdown->block.at = NULL;
}

static void markdown_add_line(struct markdown *markdown, struct piece line, enum kind kind)
{
    markdown->one_line = !markdown->block.at;
    if (!markdown->block.at) {
        markdown->block.at = line.at;
        markdown->block_line = markdown->lines.number;
        markdown->kind = kind;
    }
    if (kind != TEXT)
        markdown->kind = kind;
    markdown->block.length = (size_t)(line.at + line.length - markdown->block.at);
    markdown->gap = false;
}

/* ---- kinds of lines ---------------------------------------------------------------------------------------------- */

static size_t indent(struct piece line)
{
    size_t columns = 0;
    for (size_t i = 0; i < line.length && (line.at[i] == ' ' || line.at[i] == '\t'); i++)
        columns = line.at[i] == '\t' ? (columns / 4 + 1) * 4 : columns + 1;
    return columns;
}

static size_t run_of(struct piece line, char c)
{
    size_t run = 0;
    while (run < line.length && line.at[run] == c)
        run++;
    return run;
}

/* "## Words ##": the level; 0: it is no heading. */
static unsigned atx_heading(struct piece line, struct piece *text)
{
    struct piece trimmed = piece_trim(line);
    size_t level = run_of(trimmed, '#');
    if (indent(line) > 3 || level < 1 || level > 6)
        return 0;
    *text = (struct piece){trimmed.at + level, trimmed.length - level};
    if (text->length && *text->at != ' ' && *text->at != '\t')
        return 0;
    size_t end = text->length;
    while (end && text->at[end - 1] == '#')
        end--;
    if (end == 0 || text->at[end - 1] == ' ')
        text->length = end;
    return (unsigned)level;
}

/* Three or more of the same mark and no other characters, spaces between them allowed. */
static bool is_rule(struct piece line)
{
    struct piece trimmed = piece_trim(line);
    size_t marks = 0;
    if (!trimmed.length || !strchr("-*_", *trimmed.at))
        return false;
    for (size_t i = 0; i < trimmed.length; i++) {
        if (trimmed.at[i] != *trimmed.at && trimmed.at[i] != ' ')
            return false;
        marks += trimmed.at[i] == *trimmed.at;
    }
    return marks >= 3;
}

/* A line of "=" or "-" under a single line of text. */
static unsigned setext_level(const struct markdown *markdown, struct piece line)
{
    struct piece trimmed = piece_trim(line);
    bool one_line = markdown->block.at && markdown->kind == TEXT && !markdown->gap && markdown->one_line;
    if (!one_line || !trimmed.length || indent(line) > 3)
        return 0;
    if (run_of(trimmed, '=') == trimmed.length)
        return 1;
    return run_of(trimmed, '-') == trimmed.length ? 2 : 0;
}

static bool markdown_is_item(struct piece line)
{
    struct piece text = piece_trim(line);
    size_t digits = 0;
    if (text.length >= 2 && strchr("-*+", *text.at) && text.at[1] == ' ')
        return true;
    while (digits < text.length && digits < 9 && text.at[digits] >= '0' && text.at[digits] <= '9')
        digits++;
    return digits && text.length >= digits + 2 && strchr(".)", text.at[digits]) && text.at[digits + 1] == ' ';
}

static bool markdown_announces(struct piece block)
{
    struct piece text = piece_trim(block);
    return sentences_announce(text.at, text.length);
}

/* Whether the text after an empty line still belongs to the open block. */
static bool markdown_goes_on(const struct markdown *markdown, bool continues_list)
{
    if (!markdown->block.at || markdown->block.length > JOINED_MAX)
        return false;
    return markdown_announces(markdown->block) || (markdown->kind == LIST && continues_list);
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

static bool opens_fence(struct markdown *markdown, struct piece line)
{
    struct piece trimmed = piece_trim(line);
    char c = trimmed.length ? *trimmed.at : '\0';
    size_t run = run_of(trimmed, c);
    if ((c != '`' && c != '~') || run < 3)
        return false;
    if (c == '`' && memchr(trimmed.at + run, '`', trimmed.length - run))
        return false; /* code within a line */
    markdown->fence = c;
    markdown->fence_run = run;
    return true;
}

static void take_fenced(struct markdown *markdown, struct piece line)
{
    struct piece trimmed = piece_trim(line);
    markdown_add_line(markdown, line, CODE);
    if (trimmed.length < markdown->fence_run || run_of(trimmed, markdown->fence) != trimmed.length)
        return;
    markdown->fence = 0;
    markdown_close_block(markdown);
}

static void markdown_take_line(struct markdown *markdown, struct piece line)
{
    struct piece text;
    unsigned level;
    if (!piece_trim(line).length) {
        markdown->gap = true;
    } else if ((level = atx_heading(line, &text))) {
        markdown_close_block(markdown);
        document_add_heading(markdown->document, level, text, markdown->lines.number);
    } else if ((level = setext_level(markdown, line))) {
        document_add_heading(markdown->document, level, markdown->block, markdown->block_line);
        markdown->block.at = NULL;
    } else if (is_rule(line)) {
        markdown_close_block(markdown);
    } else if (opens_fence(markdown, line)) {
        if (!markdown_goes_on(markdown, indent(line) >= 2))
            markdown_close_block(markdown);
        markdown_add_line(markdown, line, CODE);
    } else {
        bool item = markdown_is_item(line);
        if (markdown->gap && !markdown_goes_on(markdown, item || indent(line) >= 2))
            markdown_close_block(markdown);
        markdown_add_line(markdown, line, item ? LIST : TEXT);
    }
}

/* ---- front matter ------------------------------------------------------------------------------------------------ */

static void take_title(struct document *document, struct piece line)
{
    static const char key[] = "title:";
    if (!piece_begins(line, key))
        return;
    struct piece title = piece_trim((struct piece){line.at + sizeof key - 1, line.length - (sizeof key - 1)});
    bool quoted = title.length >= 2 && strchr("\"'", *title.at) && title.at[title.length - 1] == *title.at;
    if (quoted)
        title = (struct piece){title.at + 1, title.length - 2};
    document_set_title(document, title);
}

/* Skips the front matter if it has an end; otherwise the document begins with a rule. */
static void take_front_matter(struct markdown *markdown)
{
    struct lines lines = markdown->lines;
    struct piece line;
    if (!lines_next(&lines, &line) || !piece_is(line, "---"))
        return;
    while (lines.number < FRONT_MATTER_MAX && lines_next(&lines, &line))
        if (piece_is(line, "---") || piece_is(line, "..."))
            break;
    if (!piece_is(line, "---") && !piece_is(line, "..."))
        return;
    int end = lines.number;
    if (end == 1)
        return;
    while (markdown->lines.number < end && lines_next(&markdown->lines, &line))
        take_title(markdown->document, line);
}

bool read_markdown(struct document *document, struct piece text, struct status *st)
{
    struct markdown markdown = {.document = document, .lines = {text.at, text.at + text.length, 0}};
    struct piece line;
    take_front_matter(&markdown);
    while (lines_next(&markdown.lines, &line))
        if (markdown.fence)
            take_fenced(&markdown, line);
        else
            markdown_take_line(&markdown, line);
    markdown_close_block(&markdown);
    return true;
}
