/* The answer of a source: a bounded list of results, filled by its provider while it reads. All texts are copied into
 * the answer's arena and cut there, at a character. */
#ifndef RENGA_TOOL_RUNNER_ANSWER_H
#define RENGA_TOOL_RUNNER_ANSWER_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

#define SEARCH_RESULTS_MAX 40         /* of an answer: twice SEARCH_LIMIT_MAX, for two lists */
#define SEARCH_LISTS_MAX   4          /* of an answer */
#define SEARCH_URI_MAX     2048       /* bytes; a result with a longer URI is left out: a truncated URI does not work */
#define SEARCH_TITLE_MAX   512        /* bytes */
#define SEARCH_SNIPPET_MAX 4096       /* bytes */
#define SEARCH_DATE_MAX    64         /* bytes */
#define SEARCH_ARENA_MAX   (4u << 20) /* bytes of an answer's arena */

struct search_result {
    const char *uri;            /* required */
    const char *title;          /* may be NULL or "" */
    const char *snippet;        /* its text; may be NULL or "" */
    const char *published_date; /* as the provider writes it; NULL or "": not known */
    double score;               /* the provider's own; NaN: missing */
};

struct search_answer {
    struct arena arena; /* the provider's own texts may live here too, until the answer ends */
    struct search_result results[SEARCH_RESULTS_MAX];
    unsigned list[SEARCH_RESULTS_MAX]; /* of each result: the list it stands in, and its rank there from 1 */
    unsigned rank[SEARCH_RESULTS_MAX];
    size_t count;
    unsigned lists;      /* begun so far, at least 1 */
    size_t left_out;     /* results beyond the bounds, or without an address */
    const char *partial; /* why the answer is less than it could be, as a sentence; NULL: it is whole */
};

void search_answer_init(struct search_answer *answer);
void search_answer_fini(struct search_answer *answer);

/* Adds the next best result of the present list. Bytes that are no UTF-8 end a text; control characters and runs of
 * white space become a blank. */
void search_answer_add(struct search_answer *answer, const struct search_result *result);

/* Begins a further list, ranked by itself: for two queries in a request (words and vector). The lists are fused by
 * rank. */
void search_answer_next_list(struct search_answer *answer);

/* Says that the answer is partial. The first reason stays. */
void search_answer_partial(struct search_answer *answer, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
