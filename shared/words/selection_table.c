/* The rows of tables: a number in a row is read with the head of its column. */
#include <stdio.h>

#include "words/selection_priv.h"
#include "words/table.h"

#define ROW_MAX 600 /* bytes of a row that is read with its heads */

static struct claim selection_line(const struct evidence *evidence, uint32_t unit)
{
    const struct unit *at = &evidence->units[unit];
    return (struct claim){evidence->passages[at->passage].text + at->span.begin, at->span.end - at->span.begin};
}

static bool selection_has_asked_word(const struct evidence *evidence, const struct query *query, struct claim text)
{
    struct term_reader reader;
    struct term term;
    terms_begin(&reader, text.text, text.length);
    while (terms_next(&reader, &term)) {
        uint32_t id = term.stop_word ? NO_TERM : evidence_term(evidence, term_hash(term.text, term.length));
        int asked = id == NO_TERM ? -1 : query_find(query, id);
        if (asked >= 0 && query->terms[asked].weight > 0)
            return true;
    }
    return false;
}

struct asked_fit selection_fit_row(const struct evidence *evidence, const struct question *question, uint32_t unit)
{
    struct claim row = selection_line(evidence, unit), heads = selection_line(evidence, evidence->units[unit].header);
    struct claim cell, head;
    char text[ROW_MAX];
    size_t length = 0, columns = 0, at = 0, at_head = 0;
    for (size_t i = 0; table_next_cell(row, &at, &cell) && table_next_cell(heads, &at_head, &head); i++) {
        bool asked = i > 0 && selection_has_asked_word(evidence, &question->terms, head);
        if (i > 0 && !asked)
            continue;
        int written = snprintf(text + length, sizeof text - length, "%s%.*s %.*s", length ? ", " : "", (int)cell.length,
                               cell.text, asked ? (int)head.length : 0, head.text);
        if (written < 0 || (size_t)written >= sizeof text - length)
            break;
        length += (size_t)written;
        columns += asked;
    }
    return columns ? asked_fits(&question->asked, question->text, question->length, text, length)
                   : asked_fits(&question->asked, question->text, question->length, row.text, row.length);
}
