/* Private to support*.c and evidence.c: the terms of the passages' sentences, and who has them.
 *
 * A unit is a sentence or a heading. Terms are known by a 64-bit hash of their text; two that share one are taken for
 * the same, which with a million terms happens once in 30 million times. */
#ifndef RENGA_WORDS_EVIDENCE_H
#define RENGA_WORDS_EVIDENCE_H

#include "words/support.h"
#include "words/words.h"

#define NO_TERM UINT32_MAX

struct unit {
    uint32_t passage;
    struct span span;
    uint32_t terms, terms_end; /* of evidence->unit_terms */
    bool heading;
};

struct known_term {
    uint64_t hash; /* 0: the slot is free */
    uint32_t id;
};

/* Units that have a term: evidence->holders from `holders`, `count` of them, ascending. */
struct term_entry {
    uint32_t holders, count;
    uint32_t last; /* unit while reading */
    bool weak;
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

/* Never 0. A hash stands for its term: its key is secret, so a sender cannot choose two terms that share one. */
uint64_t term_hash(const char *text, size_t length);

/* The id of a term, or NO_TERM. */
uint32_t evidence_term(const struct evidence *evidence, uint64_t hash);

/* What a term that `count` units have weighs. */
double evidence_weight(const struct evidence *evidence, uint32_t count, bool weak);

/* The terms of a text that is asked about, each once. */
struct asked_term {
    uint64_t hash;
    uint32_t id; /* NO_TERM: the evidence does not have it */
    double weight;
    size_t begin, end;
    bool weak, exact; /* exact: a number or an identifier */
};
#define ASKED_SLOTS (2 * ASKED_MAX) /* a power of 2 */
struct asked {
    struct asked_term terms[ASKED_MAX];
    size_t count;
    double weight;               /* of all */
    uint16_t slots[ASKED_SLOTS]; /* index + 1 of the terms the evidence has, by id; 0: free */
};
/* ... weighed by how rare they are in `weights`. */
void asked_read(const struct evidence *evidence, const struct evidence *weights, const char *text, size_t length,
                struct asked *asked);

/* Which of the asked terms this is, or -1. */
int asked_find(const struct asked *asked, uint32_t id);

#endif
