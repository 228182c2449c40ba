/* Ranking by words: BM25 over the postings of a query's terms. Belongs to one thread. Keeps its memory between
 * queries: an array of scores, and the lengths of paragraphs of the last collections. */
#ifndef RENGA_TOOL_RUNNER_RANK_H
#define RENGA_TOOL_RUNNER_RANK_H

#include "knowledge/tables.h"
#include "words/words.h"

#define RANK_TERMS_MAX 192 /* of a query: some 100 Japanese characters of content, or 150 English words */
#define RANK_HITS_MAX  200
#define RANK_STEMS_MAX 3

struct rank;

struct rank_term {
    const char *text;
    size_t length;
    unsigned times;
    bool stop_word;
    bool exact;       /* a number, an identifier or a part of one: no other word replaces it */
    const char *word; /* as it stands in the query, `word_length` bytes */
    size_t word_length;
    enum latin_language language;      /* that it was stemmed in */
    double share;                      /* of it beside others of the same letters */
    const char *stems[RANK_STEMS_MAX]; /* in other languages; NULL: no more */
    double weight;                     /* filled in: its weight */
};

struct rank_query {
    struct rank_term *terms; /* all different */
    size_t term_count;
    bool answers;           /* only answers of Q&A pairs */
    bool number;            /* it asks for one: paragraphs without any come behind */
    bool method;            /* it asks for one: paragraphs with steps come before */
    bool english, japanese; /* its language: paragraphs in the other one come behind; neither: of both */
    bool only_stop_words;   /* filled in: there are only stop words */
    struct arena *arena;    /* of the texts of terms; NULL: no word of the index replaces another one */
    size_t damaged;         /* filled in: rows of the index that were left out */
    const char *damaged_in; /* filled in: the collection that has some of them */
};

/* Of a paragraph; `score` 0 to 1. */
struct ranked {
    int64_t collection; /* its id */
    uint32_t paragraph;
    double score;
};

struct rank *rank_create(void);
void rank_destroy(struct rank **rank);

/* Best first, at most `room`, which is at most RANK_HITS_MAX. Every hit has at least one term. */
bool rank_run(struct rank *rank, struct tables *tables, const struct collection *collections, size_t collection_count,
              struct rank_query *query, struct ranked *ranked, size_t room, size_t *count, struct status *st);

/* Keeps the best of those it is given; equal ones in the order of paragraphs. */
void ranked_insert(struct ranked *ranked, size_t room, size_t *count, const struct ranked *one);

/* The terms of a text, stop words last, at most RANK_TERMS_MAX; their texts are in `arena`. */
struct arena;
size_t rank_read_terms(struct arena *arena, const char *text, struct rank_term terms[RANK_TERMS_MAX]);

/* The length of each paragraph by its number, with LENGTH_ANSWER; 0: deleted. `next` entries, valid until the next
 * call. NULL with the reason in `st`. */
const uint16_t *rank_lengths(struct rank *rank, struct tables *tables, const struct collection *collection,
                             struct status *st);

#endif
