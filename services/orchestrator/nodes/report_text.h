/* A report of five parts, for the node `report`:
 *
 *      # theme
 *      ## Executive Summary      200 to 300 characters, whole sentences
 *      ## Key Findings           3 to 5 items
 *      ## Detailed Analysis      a `###` section for each point
 *      ## References             [^1]: title — URL
 *
 * The sentences are a model's, as far as a source carries them. Code composes the rest from sentences of the sources,
 * and says so if no source speaks of a point. Each sentence has the note of its source. */
#ifndef RENGA_ORCHESTRATOR_REPORT_TEXT_H
#define RENGA_ORCHESTRATOR_REPORT_TEXT_H

#include "cite_text.h"

struct report_lines;

#define REPORT_POINTS_MAX     32  /* as ResearchPlan.investigation_points */
#define REPORT_SUMMARY_LEAST  200 /* characters, without notes */
#define REPORT_SUMMARY_MOST   300 /* characters, with notes */
#define REPORT_FINDINGS_LEAST 3
#define REPORT_FINDINGS_MOST  5

enum report_part { REPORT_SUMMARY, REPORT_FINDINGS, REPORT_ANALYSIS, REPORT_REFERENCES, REPORT_PARTS };

/* A text, not NUL-terminated. */
struct report_span {
    const char *text;
    size_t length;
};

/* Sentences of the sources that answer a question. Asked once each. */
#define REPORT_THEME REPORT_POINTS_MAX /* the question of the theme; the others are those of the points */
struct report_answer {
    bool asked;
    size_t count;
    struct chosen chosen[CHOSEN_MAX];
};

/* A sentence of the draft that no source carries, and the sentence of the sources that is nearest to it. */
#define REPORT_DROPPED_MAX 3 /* that are told */
struct report_dropped {
    struct report_span sentence, nearest; /* nearest.length 0: no source speaks of it */
    size_t passage;
};

/* All zero but for the first part. `cite` is as for cite_text_write, with footnotes. */
struct report {
    struct cite_text cite;
    const char *theme;
    struct report_span headings[REPORT_PARTS];
    struct report_span missing;   /* the sentence for a part of which no source speaks */
    struct report_span no_source; /* ... if there is no source at all */
    struct report_span points[REPORT_POINTS_MAX];
    size_t point_count;

    /* Results. */
    int32_t looked, kept;                              /* sentences of the draft */
    struct report_dropped dropped[REPORT_DROPPED_MAX]; /* the first of them, each once */
    size_t dropped_count;
    bool composed[REPORT_PARTS]; /* sentences of the sources stand in the part */
    bool no_memory;

    /* Private. */
    struct report_answer answers[REPORT_POINTS_MAX + 1];
    const struct report_lines *summary; /* the lines of the summary */
};

/* Writes the report into report->cite.out, all but the references. `draft` is a model's and may be "". Linear in the
 * draft. */
void report_write(struct report *report, const char *draft);
/* Adds the references; if there are no references, the sentence that says so. */
void report_write_references(struct report *report);

/* ---- report_split.c: the parts of a draft ---- */

/* The draft within the fences and small talk that a model puts around it, in the arena; NULL: no memory. */
char *report_unwrap(struct arena *arena, const char *draft);

/* A section of the analysis: its heading, without marks, may be empty. */
struct report_section {
    struct report_span heading, text;
};
#define REPORT_SECTIONS_MAX 256 /* later ones are part of the last */

struct report_draft {
    struct report_span summary, findings;
    struct report_section sections[REPORT_SECTIONS_MAX];
    size_t section_count;
};
/* Spans of `text`, which is as cite_clean gives it. A text without any known heading is a single section. */
void report_split(const char *text, struct report_draft *draft);

/* ---- report_choose.c: sentences of the sources ---- */

/* A sentence for the report; `carried` is false for a sentence of the draft that no source carries. */
struct report_line {
    struct report_span sentence;
    size_t characters;
    struct support support;
    bool carried;
    size_t item; /* lines of the same item belong together */
};
#define REPORT_LINES_MAX 64
struct report_lines {
    struct report_line list[REPORT_LINES_MAX];
    size_t count;
};

/* Appends sentences of the sources that answer a point, or REPORT_THEME, best: at most `most`, unlike each other and
 * those of `lines` and `used`. `used` may be NULL. */
void report_choose(struct report *report, size_t question, size_t most, const struct report_lines *used,
                   struct report_lines *lines);
/* The same from the beginnings of the sources, on any subject. */
void report_choose_first(struct report *report, size_t most, struct report_lines *lines);
/* The sentences of a text of the draft. */
void report_read_lines(struct report *report, struct report_span text, struct report_lines *lines);
size_t report_characters(const char *text, size_t length);

/* ---- report_orders.c: orders of a page to its reader ---- */

/* The offset of the first sentence with orders of a page to its reader; `length`: it has no orders. Linear. */
size_t report_orders_begin(const char *text, size_t length);

/* ---- report_aspects.c: points that any theme has ---- */

/* Whether a point names no more than an aspect of the theme: "Overview and background", 課題と論点. */
bool report_aspect_is(struct report_span point);
/* Whether a sentence about the theme goes with the point, for which report_aspect_is holds. */
bool report_aspect_fits(struct report_span point, struct report_span sentence);

#endif
