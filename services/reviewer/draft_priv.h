/* Private to review_draft.c and draft_*.c. */
#ifndef RENGA_REVIEWER_DRAFT_PRIV_H
#define RENGA_REVIEWER_DRAFT_PRIV_H

#include "reviewer_priv.h"

#include "words/sentences.h"

#define DRAFT_ISSUES_MAX 100
#define LOCATION_MAX     ((size_t)512) /* bytes */
#define DESCRIPTION_MAX  ((size_t)4096)

struct draft_reviewing {
    struct thought thought; /* first */
    const Renga__V1__ReviewDraftRequest *request;
    Renga__V1__ReviewDraftResponse_Closure reply;
    Renga__V1__ReviewDraftResponse response;
    Renga__V1__DraftReview review;
    Renga__V1__DraftScores scores;
    Renga__V1__DraftIssue *issues[DRAFT_ISSUES_MAX];
    bool cut; /* the model was not shown all */

    /* Set by draft_facts_check, before a model is asked. */
    struct job checking;
    double facts;                                   /* the mark for facts that no model raises */
    Renga__V1__DraftIssue *found[DRAFT_ISSUES_MAX]; /* the worst first */
    size_t found_count;
};

/* ---- draft_marks.c: what is made of marks ---- */

void draft_add_issue(struct draft_reviewing *reviewing, Renga__V1__DraftIssueType type,
                     Renga__V1__IssueSeverity severity, char *description, char *location);

#define SOURCE_SLOTS 2048 /* a power of 2, more than the sources of a request */

/* The sources of a request by their addresses: an index + 1, 0 for a free slot. All zero at first. */
struct source_table {
    const Renga__V1__ReviewDraftRequest *request;
    uint16_t slots[SOURCE_SLOTS];
};
void draft_sources_index(struct source_table *table, const Renga__V1__ReviewDraftRequest *request);

/* The source whose address is the first one in a line of the draft; -1: none. */
int draft_source_of(struct source_table *table, const char *line, size_t length);

/* The part of the addresses in the draft that are sources; 1 where it has none. Each other one becomes an issue. */
double draft_known_addresses(struct draft_reviewing *reviewing);

/* From the marks: the sum, the verdict, and what follows. `wanted` is what is to be done where it is not approved:
 * RESEARCH or WRITE. */
void draft_conclude(struct draft_reviewing *reviewing, Renga__V1__NextAction wanted, char *feedback);

/* Begins a judgement anew: the issues that code found, and no others. */
void draft_restart(struct draft_reviewing *reviewing);

/* ---- draft_facts.c: facts by code ---- */

/* Compares each claim of the draft with its citations, or with the sources. Sets `facts`, `found`, `found_count`: the
 * part of the claims that are supported, times the part of the addresses that are sources. A claim that its source
 * contradicts, or whose number no source has, is an issue with severity HIGH, and keeps `facts` below the mark that is
 * approved. For a long draft in a worker thread. */
void draft_facts_check(struct draft_reviewing *reviewing);

/* ---- draft_weigh.c: marks without a model ---- */

/* The beginning of the line with byte `known` of a draft. Zero at first, but for `references`: from there on a sentence
 * with an address is a reference. */
struct draft_line {
    size_t begin, known;
    size_t references;
};

/* The last heading of a list of references, as an offset; SIZE_MAX: there is none. */
size_t draft_references(const char *draft);

/* Whether a sentence claims something: a heading, a row of a table, a list of references, a short sentence and one that
 * says that there is no source do not.
 * To be asked for the sentences of a draft in their order, with the same `line`: no byte is looked at twice. */
bool draft_claims(const char *draft, const struct span *span, struct draft_line *line);

/* Fills in the marks but that for facts, and issues, by coverage and form; what is to be done. */
Renga__V1__NextAction draft_weigh(struct draft_reviewing *reviewing);

#endif
