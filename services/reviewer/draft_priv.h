/* Private to review_draft.c and draft_*.c. */
#ifndef RENGA_REVIEWER_DRAFT_PRIV_H
#define RENGA_REVIEWER_DRAFT_PRIV_H

#include "reviewer_priv.h"

#include "words/sentences.h"

#define DRAFT_ISSUES_MAX 100
#define LOCATION_MAX     ((size_t)512) /* bytes */
#define DESCRIPTION_MAX  ((size_t)4096)

struct draft_reviewing {
    struct model_task task; /* first */
    const Renga__V1__ReviewDraftRequest *request;
    Renga__V1__ReviewDraftResponse_Closure reply;
    Renga__V1__ReviewDraftResponse response;
    Renga__V1__DraftReview review;
    Renga__V1__DraftScores scores;
    Renga__V1__DraftIssue *issues[DRAFT_ISSUES_MAX];
    bool cut; /* the model was not shown the whole request */

    /* Set by code, before a model is asked. */
    struct job checking;
    double facts;                                   /* the mark for facts, which a model cannot raise */
    Renga__V1__DraftScores weighed;                 /* all other marks, by code alone */
    double completeness_most;                       /* the highest mark for completeness that a model can give */
    Renga__V1__NextAction wanted;                   /* if the draft is not approved */
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

/* The source with the first address in a line of the draft, or whose whole address is a word of it; -1: no source. */
int draft_source_of(struct source_table *table, const char *line, size_t length);

/* Whether an address of the web begins here; "HTTP://" too. */
bool draft_is_address(const char *at, size_t length);
/* The first address in a text; NULL: there is none. */
const char *draft_address_in(const char *text, size_t length);

/* Without punctuation behind it. `at` ends with NUL. */
size_t draft_address_length(const char *at);

/* The source with this address; -1: no source. */
int draft_source_at(struct source_table *table, const char *address);

/* The share of the addresses in the draft that are sources; 1 if the draft has no addresses. Each unknown address
 * becomes an issue. */
double draft_known_addresses(struct draft_reviewing *reviewing);

/* Computes the overall score, the verdict and the next action from the marks. All of them are whole millionths, and the
 * verdict is exact on the marks as they are reported. `wanted` is the next action if the draft is not approved:
 * RESEARCH or WRITE. An issue of facts with severity HIGH keeps the mark for facts at DRAFT_CONTRADICTED at most. */
#define DRAFT_CONTRADICTED 0.5
void draft_conclude(struct draft_reviewing *reviewing, Renga__V1__NextAction wanted, char *feedback);

/* Keeps the issues so far as those that code found. */
void draft_keep_found(struct draft_reviewing *reviewing);
/* Restarts a review: keeps only the issues that code found. */
void draft_restart(struct draft_reviewing *reviewing);

/* ---- draft_facts.c: facts by code ---- */

/* Compares each claim of the draft with its citations, or with the sources. Sets `facts` and adds issues. `facts` is
 * the share of supported claims, times the share of addresses that are sources. A claim that its source contradicts, a
 * number that no source has and a citation that its source does not contain are issues with severity HIGH, which keep
 * `facts` below the limit for approval. */
void draft_facts_check(struct draft_reviewing *reviewing);

/* ---- draft_parts.c: the parts of a draft ---- */

enum draft_part { DRAFT_SUMMARY, DRAFT_FINDINGS, DRAFT_ANALYSIS, DRAFT_REFERENCES, DRAFT_PARTS };

/* The lines of a part, without its heading; begin SIZE_MAX: the draft does not have it. */
struct draft_parts {
    struct span parts[DRAFT_PARTS];
    int titles; /* headings of the first level */
};
void draft_parts_read(const char *draft, struct draft_parts *parts);

/* The level of the heading that begins at `line`; 0: no heading. */
int draft_heading_level(const char *line);
/* Whether the heading says no more than the name of a part. */
bool draft_heading_is_part(const char *line);
/* Whether the section "### point" exists, and makes no claim. Its heading must not count as coverage. */
bool draft_point_is_empty(const char *draft, const char *point);
/* Whether the analysis has a section for the point. */
bool draft_has_section(const char *draft, const struct span *analysis, const char *point);

/* ---- draft_form.c: form by code ---- */

/* The share of the formal requirements that the draft meets. Adds an issue for each one that it does not meet. */
double draft_form(struct draft_reviewing *reviewing);

/* ---- draft_notes.c: notes like [^1] ---- */

/* The length of "[^1]", "[^name]" or "[1]" at `text`; 0 if there is no note. *number is 0 for a name. */
size_t draft_note_read(const char *text, size_t length, int *number);

#define NOTE_SLOTS 4096 /* a power of 2 */

/* The notes of a draft by their labels, and the defects of each. Initialised with zeros. With more than half of the
 * slots taken, further notes are neither defined nor used. */
struct draft_notes {
    struct draft_note {
        const char *label;
        size_t length; /* 0: free */
        bool defined, used;
        uint16_t source; /* + 1; 0: the definition names no source */
    } slots[NOTE_SLOTS];
    size_t count, undefined, unused;
};
/* Linear in the draft. */
void draft_notes_read(struct draft_notes *notes, const Renga__V1__ReviewDraftRequest *request);
/* The note with this label, without "[^" and "]"; NULL if it does not exist. */
const struct draft_note *draft_note_find(const struct draft_notes *notes, const char *label, size_t length);
/* Adds an issue for each note that is not defined, and for each definition that is not used. */
void draft_notes_report(struct draft_reviewing *reviewing, const struct draft_notes *notes);

/* ---- draft_weigh.c: marks without a model ---- */

/* Sets `weighed`, `completeness_most` and `wanted`, and adds issues, by coverage and form. */
void draft_weigh(struct draft_reviewing *reviewing);

#endif
