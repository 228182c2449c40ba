/* Rows of tables with a header: pairs of questions and answers, or rows under their header. Private to documents/. */
#ifndef RENGA_TOOL_RUNNER_TABLE_H
#define RENGA_TOOL_RUNNER_TABLE_H

#include "documents/reading.h"

#define TABLE_COLUMNS_MAX 256

/* Which columns of the header are questions and answers (質問 and 回答, q and a); false: it does not have both. */
bool table_has_pairs(const struct piece header[], size_t count, size_t *question, size_t *answer);

struct table_cell {
    struct piece text;
    int line;
};

/* The question becomes a heading of `level`, the answer a paragraph. Without either there is no pair. `has_lines`: the
 * answer's own line ends count as lines. */
void table_add_pair(struct document *document, unsigned level, struct table_cell question, struct table_cell answer,
                    bool has_lines);

#endif
