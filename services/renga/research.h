/* Private to `renga research`: a question on its way to a report, and how both are shown. */
#ifndef RENGA_RESEARCH_H
#define RENGA_RESEARCH_H

#include "live.h"
#include "loop/loop.h"
#include "reconnect.h"
#include "renga/v1/deep_research.pb-c.h"

#define RESEARCH            "renga research"
#define RESEARCH_ROWS_MAX   9 /* queries, as DeepResearchResult.queries */
#define RESEARCH_RUN_SIZE   65
#define RESEARCH_ID_SIZE    129 /* bytes of a request_id, with the NUL */
#define RESEARCH_CYCLES_MAX 3
#define RESEARCH_LANGUAGE   "renga.language" /* labels of the run, so that it can go on as it began */
#define RESEARCH_MODEL      "renga.model"
#define RESEARCH_LABELS     5

/* All texts besides the report, in the language of the question. */
struct research_words {
    const char *tag; /* "ja" */
    const char *planning, *searching, *writing, *answering;
    const char *cycle[2];   /* before and after the number */
    const char *results[2]; /* behind numbers, [1] behind 1 */
    const char *nothing;
    const char *note[2];
    const char *sources, *gaps, *nothing_known, *queries;
    const char *quoted[2]; /* around a quote */
    const char *lines[2];  /* before and after "3-5" */
    const char *seconds, *further;
    const char *figures[2][5], *no_model; /* behind numbers, [1] behind 1: cycles, searches, sources, calls, tokens */
    const char *colon, *list;
};

/* `language` may be NULL. */
const struct research_words *research_words(const char *language, const char *question);
/* "2 cycles, 5 searches, …" */
void research_put_figures(struct buffer *out, const struct research_words *words,
                          const Renga__V1__DeepResearchResult *result);

struct research_row {
    char *query;
    int cycle;
    bool searched;
    int results, status_code;
    char why[128];
};

/* The queries with the state of each, drawn anew; notes scroll away above them. */
struct research_view {
    struct research_row rows[RESEARCH_ROWS_MAX];
    size_t count;
    struct live live;
    struct timer tick;
    int64_t began_ns;
    bool planned, writing;
    char tail[LIVE_TAIL]; /* the end of the text being written */
};

struct research {
    struct command_call call;          /* first */
    struct orchestrator_client client; /* the command that asks, and the use of colours */
    ProtobufCService *service;
    struct reconnect reconnect; /* with a suite that runs elsewhere */
    const struct research_words *words;
    Renga__V1__DeepResearchRequest request;
    Renga__V1__DeepResearchFollowUpRequest further; /* run_id "": a question that is studied */
    Renga__V1__AgentOptions how;
    Renga__V1__DeepResearchSource sources[2];
    char *collection;
    Renga__V1__AgentOptions__LabelsEntry labels[RESEARCH_LABELS], *label_list[RESEARCH_LABELS];
    char title[COMMAND_TITLE_MAX]; /* a label */
    char request_id[RESEARCH_ID_SIZE];
    char run_id[RESEARCH_RUN_SIZE]; /* "" before it is known */
    const char *output;             /* a file, or NULL */
    bool json, quiet, verbose;
    bool live; /* a terminal, on which the work is drawn */
    size_t width;
    struct research_view view;
    struct arena kept;         /* of a run that goes on: the data read from it */
    const Renga__V1__Run *run; /* in `kept` */
    struct arena memory;
    const Renga__V1__DeepResearchResult *result; /* in `memory`; NULL before it came */
    const ProtobufCMessage *exact;               /* in place of `result` as JSON; NULL: `result` itself */
    struct autonomous *autonomous;               /* NULL: deep research */
};

/* ---- research_view.c; in the loop of the call, but for research_view_free ------------------------------------------
 */

void research_view_begin(struct research *research);
void research_view_event(struct research *research, const Renga__V1__DeepResearchEvent *event);
/* No line is drawn any more; the rows stay. */
void research_view_end(struct research *research);
void research_view_free(struct research *research);

/* research_call.c: makes the call and waits, shows the report or the reason for its absence, and gives the exit code.
 */
int research_study(struct research *research);

/* research_resume.c: makes the request of a run that was cancelled or has failed again, and lets the run go on. False,
 * after an error message, if that fails. */
bool research_resume(struct research *research);

/* ---- research_sources.c: the list of sources that the citations stand for ---------------------------------------- */

struct research_sources {
    const Renga__V1__DeepResearchResult *result;
    size_t *numbers;      /* of each citation */
    size_t *order;        /* of citations: by number, then as they come */
    size_t count, most;   /* citations; the highest number */
    bool listed;          /* the report has the numbers, and a list of its own */
    size_t report_length; /* of the report without its own list */
};

void research_sources_init(struct research_sources *sources, const Renga__V1__DeepResearchResult *result);
void research_sources_fini(struct research_sources *sources);
/* Whether the quote of the citation at this place of the order is the first of its kind. */
bool research_sources_is_new(const struct research_sources *sources, size_t place);
/* ":3-5", or "" if a source has no lines. */
void research_lines_text(const Renga__V1__Citation *citation, char out[32]);

/* Marks for a report without numbers: they stand behind the sentences that are cited. */
struct research_marks {
    struct research_mark {
        size_t offset, number;
    } * marks;
    size_t count, next;
};

void research_marks_init(struct research_marks *marks, const struct research_sources *sources);
void research_marks_fini(struct research_marks *marks);
/* The number of the next mark that stands at `offset` or before; 0: no mark. */
size_t research_marks_take(struct research_marks *marks, size_t offset);

/* ---- output ------------------------------------------------------------------------------------
 */

/* research_report.c: the report on a terminal or, as Markdown, in a pipe; then its cost. */
void research_show(const struct research *research);
void research_put_markdown(struct buffer *out, const struct research_words *words,
                           const Renga__V1__DeepResearchResult *result);
/* research_html.c: a page that needs no other file. */
void research_put_html(struct buffer *out, const struct research_words *words,
                       const Renga__V1__DeepResearchResult *result);
/* research_output.c: FILE by its suffix. False, after an error message, if it cannot be written. */
bool research_check_output(const char *path, struct status *st);
bool research_write(const struct research *research);

#endif
