/* A table for people: columns as wide as their widest cell, numbers to the right, the last row apart.
 *
 *      table_init(&table, columns, 3);
 *      while (…)
 *          const char **cells = table_row(&table);   // NULL: memory is out
 *          cells[0] = table_text(&table, name);
 *      table_print(&table, stdout, isatty(STDOUT_FILENO));
 */
#ifndef RENGA_TABLE_H
#define RENGA_TABLE_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define TABLE_COLUMNS_MAX 16

/* Rows of the options of a command that shows a table. */
#define TABLE_OPTIONS                                                                                                  \
    {.name = "timeout",                                                                                                \
     .type = OPTION_DURATION,                                                                                          \
     .fallback = "30s",                                                                                                \
     .min = 1,                                                                                                         \
     .max = 600000,                                                                                                    \
     .unit = "DURATION",                                                                                               \
     .help = "How long to wait for an answer."},                                                                       \
    {                                                                                                                  \
        .name = "json", .type = OPTION_BOOLEAN, .fallback = "false",                                                   \
        .help = "Print one JSON object instead of a table."                                                            \
    }

struct table_column {
    const char *title;
    bool number;
};

struct table_row {
    struct table_row *next;
    const char *cells[TABLE_COLUMNS_MAX]; /* "" at first */
};

struct table {
    struct arena arena;
    const struct table_column *columns;
    size_t column_count;
    struct table_row *first, **last;
};

/* `columns` is borrowed. */
void table_init(struct table *table, const struct table_column *columns, size_t count);
void table_fini(struct table *table);

const char **table_row(struct table *table);

/* Texts of cells, in the table's memory; control characters become '?'. "" if memory is exhausted.
 */
const char *table_text(struct table *table, const char *text);
const char *table_print_cell(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The last row is the sum of the others. */
void table_print(const struct table *table, FILE *out, bool colours);

#endif
