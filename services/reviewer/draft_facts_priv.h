/* Private to draft_facts.c, draft_words.c, draft_quotes.c and draft_issues.c: the comparison of a draft with its
 * sources.
 */
#ifndef RENGA_REVIEWER_DRAFT_FACTS_PRIV_H
#define RENGA_REVIEWER_DRAFT_FACTS_PRIV_H

#include "draft_priv.h"

#include "base/arena.h"
#include "words/claims.h"
#include "words/support.h"

#include <string.h>

#define NOTES_MOST 4 /* of a claim */

/* A text of a source: its summary, or a passage. */
struct fact_text {
    struct passage passage;
    size_t owner;        /* the index of the source */
    size_t next;         /* the next text of the same source + 1; 0: the last */
    const char *letters; /* without white space, in normal form; NULL: not read yet */
    size_t letter_count;
};

struct draft_facts {
    struct draft_reviewing *reviewing;
    const Renga__V1__ReviewDraftRequest *request;
    struct arena *arena;
    struct evidence *evidence; /* of all texts */
    struct evidence *planned;  /* of the theme and the points */
    struct passage *passages;  /* of the texts */
    struct fact_text *texts;
    size_t text_count;
    size_t *firsts;            /* the first text of each source + 1; 0: no text */
    struct evidence **sources; /* of each source alone, made when it is first used */
    struct source_table table;
    struct draft_notes notes;
    size_t searched; /* bytes in which quotes were searched */
};

/* The kind of a sentence of the draft. */
enum fact_kind {
    FACT_NOTHING, /* it makes no claim */
    FACT_CLAIM,
    FACT_LABEL, /* a heading, or a short text that is not a sentence: it must not claim more than the sources */
    FACT_ROW,   /* of a table */
};

/* A claim without marks, notes and addresses. */
struct fact {
    char words[SENTENCE_MAX + 1];
    size_t length;
    int number; /* of the sentence */
    const struct draft_note *notes[NOTES_MOST];
    size_t note_count;
    bool open_note;       /* a note without a definition, or whose definition has no source */
    struct claim columns; /* of a row: the header of its table */
};

/* The source that a claim is compared with. */
struct fact_source {
    struct claim quote, title;
    int number; /* of the note, the reference, or the source in the request */
};

static inline struct claim fact_claim(const char *text)
{
    return (struct claim){text, strlen(text)};
}

static inline struct claim fact_words(const struct fact *fact)
{
    return (struct claim){fact->words, fact->length};
}

/* ---- draft_words.c: the words of a claim ---- */

/* The place in a draft while its sentences are read in their order. Initialised with zeros except `references`: from
 * this offset on, a sentence with an address is a reference. */
struct fact_line {
    size_t begin, known;
    size_t references;
    struct claim columns; /* the header of the table that is being read */
    size_t row;           /* the row that was read last: its offset + 1 */
    bool header;          /* that row is a header */
};
enum fact_kind fact_kind_of(struct draft_facts *facts, const struct span *span, struct fact_line *line);

/* Reads the words of a sentence and its notes. */
void fact_read(const struct draft_facts *facts, struct fact *fact, const struct span *span, int number,
               enum fact_kind kind);

/* ---- draft_quotes.c: citations ---- */

enum fact_cited {
    FACT_NOT_CITED,
    FACT_CITED,         /* `source` is the last citation, and it does not support the claim */
    FACT_SUPPORTED,     /* `source` supports the claim, and `owner` is its index */
    FACT_FORGED_SOURCE, /* a citation names no source of the request; `source` is the citation */
    FACT_FORGED_QUOTE,  /* the source does not contain the quote; `source` is the citation */
};
enum fact_cited fact_cited_by(struct draft_facts *facts, const struct fact *fact, struct fact_source *source,
                              size_t *owner);

/* ---- draft_facts.c ---- */

/* Whether the quote supports the claim: numbers, names, units, order, denial. */
bool fact_agrees(const struct fact *fact, const struct fact_source *source);

/* ---- draft_issues.c: issues ---- */

void fact_report_contradicted(struct draft_facts *facts, const struct fact *fact, const struct fact_source *source);
/* `number`: no source has a number of the claim. */
void fact_report_unsupported(struct draft_facts *facts, const struct fact *fact, bool number);
void fact_report_forged(struct draft_facts *facts, const struct fact *fact, const struct fact_source *source,
                        bool quote);
/* The claim names no source, or a source that does not support it. */
void fact_report_reference(struct draft_facts *facts, const struct fact *fact);
/* Claims from this one on are not compared. */
void fact_report_rest(struct draft_facts *facts, const struct fact *fact);

#endif
