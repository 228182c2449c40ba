/* CSV (RFC 4180) with a header row; commas, semicolons or tabs, as the header has them. With a column of questions and
 * one of answers each row is a pair: the answer is the paragraph and the question stands above it as a heading. Any
 * other row is a paragraph as it stands in the file, the header above it. */
#include "documents/reading.h"

#include <string.h>

#define COLUMNS_MAX 256

struct cell {
    struct piece raw; /* within its quotes */
    bool doubled;     /* quotes stand for quotes in it */
    int line;
};

struct row {
    struct piece text;
    int line;
    struct cell cells[COLUMNS_MAX];
    size_t count; /* of cells that are kept */
};

struct csv {
    const char *at, *end;
    char separator;
    int line; /* of `at` */
};

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* `at` stands on the opening quote and then after the closing one. */
static bool quoted_cell(struct csv *csv, struct cell *cell, struct status *st)
{
    int opened = csv->line;
    const char *from = ++csv->at;
    for (; csv->at < csv->end; csv->at++) {
        csv->line += *csv->at == '\n';
        if (*csv->at != '"')
            continue;
        if (csv->at + 1 == csv->end || csv->at[1] != '"')
            break;
        cell->doubled = true;
        csv->at++;
    }
    if (csv->at == csv->end)
        return fail(st, INVALID_ARGUMENT, "line %d: the quote that opens a cell is never closed", opened);
    cell->raw = (struct piece){from, (size_t)(csv->at++ - from)};
    return true;
}

static bool at_end_of_cell(const struct csv *csv)
{
    return csv->at == csv->end || *csv->at == csv->separator || *csv->at == '\n';
}

static bool read_cell(struct csv *csv, struct cell *cell, struct status *st)
{
    *cell = (struct cell){.line = csv->line};
    bool quoted = csv->at < csv->end && *csv->at == '"';
    if (quoted && !quoted_cell(csv, cell, st))
        return false;
    const char *from = csv->at;
    while (!at_end_of_cell(csv))
        csv->at++;
    if (!quoted)
        cell->raw = piece_trim((struct piece){from, (size_t)(csv->at - from)});
    return true;
}

/* False at the end of the file, and where it is not CSV. */
static bool read_row(struct csv *csv, struct row *row, struct status *st)
{
    struct cell beyond;
    if (csv->at == csv->end)
        return false;
    const char *from = csv->at;
    row->line = csv->line;
    row->count = 0;
    do {
        bool kept = row->count < COLUMNS_MAX;
        if (!read_cell(csv, kept ? &row->cells[row->count] : &beyond, st))
            return false;
        row->count += kept;
    } while (csv->at < csv->end && *csv->at++ == csv->separator);
    const char *to = csv->at;
    if (to > from && to[-1] == '\n') {
        csv->line++;
        to--;
    }
    row->text = piece_trim((struct piece){from, (size_t)(to - from)});
    return true;
}

/* What the header has most of, outside of quotes. */
static char find_separator(struct piece text)
{
    static const char separators[] = {',', ';', '\t'};
    size_t counts[sizeof separators] = {0}, most = 0;
    bool quoted = false;
    for (size_t i = 0; i < text.length && (quoted || text.at[i] != '\n'); i++) {
        quoted ^= text.at[i] == '"';
        const char *found = quoted ? NULL : memchr(separators, text.at[i], sizeof separators);
        if (found)
            counts[found - separators]++;
    }
    for (size_t i = 1; i < sizeof separators; i++)
        most = counts[i] > counts[most] ? i : most;
    return separators[most];
}

/* ---- columns ----------------------------------------------------------------------------------------------------- */

static size_t find_column(const struct row *header, const char *const names[])
{
    for (size_t i = 0; i < header->count; i++)
        for (const char *const *name = names; *name; name++)
            if (piece_is_word(piece_trim(header->cells[i].raw), *name))
                return i;
    return COLUMNS_MAX;
}

/* As it was meant: a doubled quote is one. */
static struct piece cell_text(struct document *document, const struct cell *cell)
{
    if (!cell->doubled)
        return cell->raw;
    char *text = arena_alloc(&document->arena, cell->raw.length);
    size_t length = 0;
    for (size_t i = 0; text && i < cell->raw.length; i++) {
        text[length++] = cell->raw.at[i];
        i += cell->raw.at[i] == '"';
    }
    return (struct piece){text, length};
}

/* A question without an answer, or an answer without its question, is no pair. */
static void add_pair(struct document *document, const struct row *row, size_t question, size_t answer)
{
    if (question >= row->count || answer >= row->count)
        return;
    struct piece asked = piece_trim(cell_text(document, &row->cells[question]));
    struct piece told = cell_text(document, &row->cells[answer]);
    if (!asked.length || !piece_trim(told).length)
        return;
    document_add_heading(document, 2, asked, row->cells[question].line);
    struct paragraph **link = document->last;
    document_add_paragraph(document, told, row->cells[answer].line);
    for (struct paragraph *paragraph = *link; paragraph; paragraph = paragraph->next)
        paragraph->answer = true;
}

bool read_csv(struct document *document, struct piece text, struct status *st)
{
    static const char *const questions[] = {"question", "q", "質問", NULL}, *const answers[] = {"answer", "a", "回答",
                                                                                                NULL};
    struct csv csv = {text.at, text.at + text.length, find_separator(text), 1};
    struct row *row = arena_alloc(&document->arena, sizeof *row);
    if (!row || !read_row(&csv, row, st))
        return st->code == OK;
    size_t question = find_column(row, questions), answer = find_column(row, answers);
    bool pairs = question < COLUMNS_MAX && answer < COLUMNS_MAX;
    if (!pairs)
        document_add_heading(document, 2, row->text, row->line);
    while (read_row(&csv, row, st))
        if (pairs)
            add_pair(document, row, question, answer);
        else
            document_add_paragraph(document, row->text, row->line);
    return st->code == OK;
}
