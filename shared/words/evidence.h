/* Private to support*.c and evidence.c: an inverted index from the terms of the passages to the units that have them.
 *
 * A unit is a sentence or a heading. A term is identified by a 64-bit hash of its text. Two terms with the same hash
 * are treated as equal; with a million terms the probability of this is 1 in 30 million. */
#ifndef RENGA_WORDS_EVIDENCE_H
#define RENGA_WORDS_EVIDENCE_H

#include "words/support.h"
#include "words/words.h"

#define NO_TERM UINT32_MAX

struct unit {
    uint32_t passage;
    uint32_t header; /* of a row of a table: the unit of the table's header; NO_TERM: it is no such row */
    struct span span;
    uint32_t terms, terms_end; /* of evidence->unit_terms */
    bool heading;
};

struct known_term {
    uint64_t hash; /* 0: the slot is free */
    uint32_t id;
};

/* The units that have a term: `count` entries of evidence->holders from index `holders`, ascending. */
struct term_entry {
    uint32_t holders, count;
    uint32_t last; /* the last unit with this term, while reading */
    bool stop_word;
};

struct evidence {
    struct arena *arena;
    const struct passage *passages;
    size_t passage_count;
    struct unit *units;
    size_t unit_count, unit_room;
    uint32_t *firsts; /* the first unit of each passage, which may be its heading */
    uint32_t *unit_terms;
    size_t unit_term_count, unit_term_room;
    struct known_term *known;
    size_t known_room; /* a power of 2 */
    struct term_entry *terms;
    size_t term_count, term_room;
    uint32_t *holders;
};

/* Never 0. The hash has a secret key, so that a sender cannot construct two terms with the same hash. */
uint64_t term_hash(const char *text, size_t length);

/* Whether the unit is the header of a table, or the rule below it. */
bool evidence_heads_table(const struct evidence *evidence, uint32_t unit);

/* The id of a term, or NO_TERM. */
uint32_t evidence_term(const struct evidence *evidence, uint64_t hash);

/* The weight (idf) of a term that `count` units have. */
double evidence_weight(const struct evidence *evidence, uint32_t count, bool stop_word);

/* The terms of the query text, each once. */
struct query_term {
    uint64_t hash;
    uint32_t id; /* NO_TERM: the evidence does not have it */
    double weight;
    size_t begin, end;
    bool stop_word, exact; /* exact: a number or an identifier */
};
#define QUERY_SLOTS (2 * QUERY_TERMS_MAX) /* a power of 2 */
struct query {
    struct query_term terms[QUERY_TERMS_MAX];
    size_t count;
    double weight;               /* of all terms together */
    uint16_t slots[QUERY_SLOTS]; /* index + 1 of the terms that are in the evidence, by id; 0: free */
};
/* Reads the terms of a query text. Their weights are idf values from `weights`. */
void query_read(const struct evidence *evidence, const struct evidence *weights, const char *text, size_t length,
                struct query *query);

/* The index of the query term with this id, or -1. */
int query_find(const struct query *query, uint32_t id);

#endif
