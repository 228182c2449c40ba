/* CSV (RFC 4180) with a header row; commas, semicolons or tabs, as the header has them. With a column of questions and
 * a column of answers each row is a pair: the answer is the paragraph and the question stands above it as a heading.
 * Any other row is a paragraph as it stands in the file, the header above it. */
#include "documents/table.h"

#include <string.h>

struct cell {
    struct piece raw; /* within its quotes */
    bool doubled;     /* quotes stand for quotes in it */
    int line;
};

struct row {
    struct piece text;
    int line;
    struct cell cells[TABLE_COLUMNS_MAX];
    size_t count; /* of cells that are kept */
};

struct csv {
    const char *at, *end;
    char separator;
    int line; /* of `at` */
};

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* `at` stands on the opening quote and then after the closing quote. */
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

/* False at the end of the file, or if it is not CSV. */
static bool csv_read_row(struct csv *csv, struct row *row, struct status *st)
{
    struct cell beyond;
    if (csv->at == csv->end)
        return false;
    const char *from = csv->at;
    row->line = csv->line;
    row->count = 0;
    do {
        bool kept = row->count < TABLE_COLUMNS_MAX;
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

/* The most frequent separator of the header, outside of quotes. */
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

/* The value of the cell: a doubled quote becomes a single quote. */
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

static struct table_cell pair_cell(struct document *document, const struct cell *cell)
{
    return (struct table_cell){cell_text(document, cell), cell->line};
}

static void add_pair(struct document *document, const struct row *row, size_t question, size_t answer)
{
    if (question < row->count && answer < row->count)
        table_add_pair(document, 2, pair_cell(document, &row->cells[question]),
                       pair_cell(document, &row->cells[answer]), true);
}

bool read_csv(struct document *document, struct piece text, struct status *st)
{
    struct csv csv = {text.at, text.at + text.length, find_separator(text), 1};
    struct row *row = arena_alloc(&document->arena, sizeof *row);
    size_t question, answer;
    if (!row || !csv_read_row(&csv, row, st))
        return st->code == OK;
    struct piece cells[TABLE_COLUMNS_MAX];
    for (size_t i = 0; i < row->count; i++)
        cells[i] = row->cells[i].raw;
    bool pairs = table_has_pairs(cells, row->count, &question, &answer);
    if (!pairs)
        document_add_heading(document, 2, row->text, row->line);
    while (csv_read_row(&csv, row, st))
        if (pairs)
            add_pair(document, row, question, answer);
        else
            document_add_paragraph(document, row->text, row->line);
    return st->code == OK;
}
