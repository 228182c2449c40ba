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
    bool cut; /* the model was not shown the whole request */

    /* Set by draft_facts_check, before a model is asked. */
    struct job checking;
    double facts;                                   /* the mark for facts, which a model cannot raise */
    Renga__V1__DraftIssue *found[DRAFT_ISSUES_MAX]; /* the worst first */
    size_t found_count;
};

/* ---- draft_marks.c: score and verdict from marks ---- */

void draft_add_issue(struct draft_reviewing *reviewing, Renga__V1__DraftIssueType type,
                     Renga__V1__IssueSeverity severity, char *description, char *location);

#define SOURCE_SLOTS 2048 /* a power of 2, more than the sources of a request */

/* The sources of a request by their addresses: an index + 1, or 0 for a free slot. Initialised with zeros. */
struct source_table {
    const Renga__V1__ReviewDraftRequest *request;
    uint16_t slots[SOURCE_SLOTS];
};
void draft_sources_index(struct source_table *table, const Renga__V1__ReviewDraftRequest *request);

/* The source with the first address in a line of the draft; -1: no source. */
int draft_source_of(struct source_table *table, const char *line, size_t length);

/* The share of the addresses in the draft that are sources; 1 if the draft has no addresses. Each unknown address
 * becomes an issue. */
double draft_known_addresses(struct draft_reviewing *reviewing);

/* Computes the overall score, the verdict and the next action from the marks. `wanted` is the next action if the draft
 * is not approved: RESEARCH or WRITE. */
void draft_conclude(struct draft_reviewing *reviewing, Renga__V1__NextAction wanted, char *feedback);

/* Restarts a review: keeps only the issues that code found. */
void draft_restart(struct draft_reviewing *reviewing);

/* ---- draft_facts.c: facts by code ---- */

/* Compares each claim of the draft with its citations, or with the sources. Sets `facts`, `found` and `found_count`.
 * `facts` is the share of supported claims, times the share of addresses that are sources. A claim that its source
 * contradicts, or whose number no source has, is an issue with severity HIGH. It keeps `facts` below the limit for
 * approval. For a long draft this runs in a worker thread. */
void draft_facts_check(struct draft_reviewing *reviewing);

/* ---- draft_weigh.c: marks without a model ---- */

/* The beginning of the line that contains byte `known` of a draft. Initialised with zeros except `references`: from
 * this offset on, a sentence with an address is a reference. */
struct draft_line {
    size_t begin, known;
    size_t references;
};

/* The offset of the last heading of a list of references; SIZE_MAX: no heading found. */
size_t draft_references(const char *draft);

/* Whether a sentence makes a claim. These do not: a heading, a table row, a reference, a short sentence, and the
 * sentence that there is no source. Call it for the sentences of a draft in their order, with the same `line`: each
 * byte is then scanned once. */
bool draft_claims(const char *draft, const struct span *span, struct draft_line *line);

/* Sets all marks except the mark for facts, and adds issues, by coverage and form. Returns the next action. */
Renga__V1__NextAction draft_weigh(struct draft_reviewing *reviewing);

#endif
