/* Private to selection*.c. */
#ifndef RENGA_WORDS_SELECTION_PRIV_H
#define RENGA_WORDS_SELECTION_PRIV_H

#include "words/asked.h"
#include "words/evidence.h"
#include "words/selection.h"

#define NEAR_BYTES 12 /* of the question between two terms that are neighbours */

/* A question while sentences are ranked for it. */
struct question {
    const char *text;
    size_t length;
    struct query terms;
    double best_own, best_search;
    struct asked asked;
};

/* Which terms of the question the units [unit, end) and their place have. */
enum { HAS_SENTENCE = 1, HAS_CONTEXT = 2, HAS_PASSAGE = 4 };
void selection_mark(const struct evidence *evidence, const struct query *query, uint32_t unit, uint32_t end,
                    bool whole_passage, uint8_t has[QUERY_TERMS_MAX]);

/* ---- lists (selection_list.c) */

#define LIST_UNITS_MAX 32 /* sentences of a list that are searched on each side of one */

/* Whether the unit begins an item: its line has a mark, or it begins with a number or a bullet. */
bool selection_is_item(const struct evidence *evidence, uint32_t unit);

/* Whether the unit is a further sentence of an item, in its line. */
bool selection_continues_item(const struct evidence *evidence, uint32_t unit);

/* Behind the lines of code that a fence below the unit has; unit + 1: it has none. */
uint32_t selection_code_end(const struct evidence *evidence, uint32_t unit);

/* ---- tables (selection_table.c) */

/* The fit of a row to the asked type: of its first cell and of those whose heads have words of the question, each
 * before its head; of all cells if no head has any. */
struct asked_fit selection_fit_row(const struct evidence *evidence, const struct question *question, uint32_t unit);

/* ---- neighbours */

bool selection_are_beside(const struct evidence *evidence, uint32_t unit, uint32_t next);

/* The list that the unit stands in: its first item, and the unit behind its last one. False: it is in none. */
bool selection_list_of(const struct evidence *evidence, uint32_t unit, uint32_t *first, uint32_t *end);

/* The same of a list of two or more numbered items, or bullets where `bullets` says so. */
bool selection_steps_of(const struct evidence *evidence, uint32_t unit, bool bullets, uint32_t *first, uint32_t *end);

/* The shares of the terms in a span of the question that a place has one of the `bits` for. */
double selection_share_of(const struct question *question, const struct span *span, const uint8_t has[QUERY_TERMS_MAX],
                          uint8_t bits);

/* Fills the covers of a selection that has a best sentence. */
void selection_cover(const struct evidence *evidence, const struct question *question, struct selection *selection);

#endif
