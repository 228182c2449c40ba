#include "table.h"

#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#define MEMORY_MAX ((size_t)256 << 20)
#define GAP        2 /* blanks between columns */
#define BOLD       "\033[1m"
#define DIM        "\033[2m"
#define PLAIN      "\033[0m"

void table_init(struct table *table, const struct table_column *columns, size_t count)
{
    *table = (struct table){.columns = columns, .column_count = count};
    table->last = &table->first;
    arena_init(&table->arena, NULL, 0, MEMORY_MAX);
}

void table_fini(struct table *table)
{
    arena_fini(&table->arena);
}

const char **table_row(struct table *table)
{
    struct table_row *row = arena_zalloc(&table->arena, sizeof *row);
    if (!row)
        return NULL;
    for (size_t i = 0; i < TABLE_COLUMNS_MAX; i++)
        row->cells[i] = "";
    *table->last = row;
    table->last = &row->next;
    return row->cells;
}

static const char *harmless(char *text)
{
    for (char *at = text; at && *at; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7F)
            *at = '?';
    return text ? text : "";
}

const char *table_text(struct table *table, const char *text)
{
    return harmless(arena_strdup(&table->arena, text));
}

const char *table_print_cell(struct table *table, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = arena_vprintf(&table->arena, format, arguments);
    va_end(arguments);
    return harmless(text);
}

/* ---- how wide ---------------------------------------------------------------------------------------------------- */

/* Characters of East Asian scripts and pictures take two places of a terminal. */
static size_t places(uint32_t code)
{
    static const struct {
        uint32_t first, last;
    } wide[] = {{0x1100, 0x115F}, {0x2E80, 0xA4CF}, {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},  {0xFE30, 0xFE6F},
                {0xFF00, 0xFF60}, {0xFFE0, 0xFFE6}, {0x1F300, 0x1FAFF}, {0x20000, 0x3FFFD}};
    for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++)
        if (code >= wide[i].first && code <= wide[i].last)
            return 2;
    return 1;
}

/* Of well-formed UTF-8, as all text of a message is. */
static size_t width_of(const char *text)
{
    size_t width = 0;
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        size_t more = *at < 0x80 ? 0 : *at < 0xE0 ? 1 : *at < 0xF0 ? 2 : 3;
        uint32_t code = more ? *at & (0x3Fu >> more) : *at;
        for (at++; more > 0 && *at; more--)
            code = code << 6 | (*at++ & 0x3F);
        width += places(code);
    }
    return width;
}

/* ---- out --------------------------------------------------------------------------------------------------------- */

static void print_cell(const struct table_column *column, const char *text, size_t width, bool last, FILE *out)
{
    int blanks = (int)(width - width_of(text));
    if (column->number)
        fprintf(out, "%*s%s", blanks, "", text);
    else
        fprintf(out, "%s%*s", text, last ? 0 : blanks, "");
    fprintf(out, "%*s", last ? 0 : GAP, "");
}

static void print_row(const struct table *table, const char *const *cells, const size_t *widths, const char *colour,
                      FILE *out)
{
    fputs(colour, out);
    for (size_t i = 0; i < table->column_count; i++)
        print_cell(&table->columns[i], cells[i], widths[i], i + 1 == table->column_count, out);
    fprintf(out, "%s\n", *colour ? PLAIN : "");
}

void table_print(const struct table *table, FILE *out, bool colours)
{
    size_t widths[TABLE_COLUMNS_MAX];
    const char *titles[TABLE_COLUMNS_MAX];
    for (size_t i = 0; i < table->column_count; i++) {
        titles[i] = table->columns[i].title;
        widths[i] = width_of(titles[i]);
        for (const struct table_row *row = table->first; row; row = row->next)
            if (width_of(row->cells[i]) > widths[i])
                widths[i] = width_of(row->cells[i]);
    }
    print_row(table, titles, widths, colours ? DIM : "", out);
    for (const struct table_row *row = table->first; row; row = row->next)
        print_row(table, row->cells, widths, colours && !row->next ? BOLD : "", out);
}
