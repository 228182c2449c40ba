/* Private to `renga eval`: questions with known answers, the result of each, and the figures over all of them. */
#ifndef RENGA_EVAL_H
#define RENGA_EVAL_H

#include "interval.h"
#include "live.h"
#include "orchestrator_client.h"

#include "base/arena.h"
#include "renga/v1/helpdesk.pb-c.h"

#define EVAL               "renga eval"
#define EVAL_QUESTIONS_MAX 20000
#define EVAL_FILE_MAX      ((size_t)64 << 20)  /* bytes of a file of questions */
#define EVAL_RUN_MAX       ((size_t)256 << 20) /* bytes of the results of an earlier run */
#define EVAL_LINE_MAX      ((size_t)256 << 10) /* bytes of a line of either */
#define EVAL_ANSWERS_MAX   64                  /* right answers of a question */
#define EVAL_CITATIONS_MAX 8                   /* kept for the report, of a question */
#define EVAL_MEMORY        ((size_t)1 << 30)

/* ---- questions (eval_questions.c) -------------------------------------------------------------------------------- */

enum eval_class {
    EVAL_ANSWERABLE,
    EVAL_ABSENT, /* the documents do not say it */
    EVAL_NEAR,   /* the same, but with passages on a similar subject */
};

struct eval_question {
    const char *id;   /* of the file, else made of the question */
    const char *text; /* the question */
    const char *language;
    const char *file; /* the name of the right file or the end of its path; NULL: any */
    const char *const *answers;
    size_t answer_count; /* 0: unknown */
    enum eval_class class;
    size_t line;
};

struct eval_questions {
    struct eval_question *list;
    size_t count, bad; /* bad: lines that were left out */
    bool cut;          /* there were more than `limit` */
};

/* A line of JSON. INVALID_ARGUMENT names the field and the right form. */
bool eval_question_read(struct eval_question *question, const char *line, size_t length, struct arena *arena,
                        struct status *st);
/* A file of them, at most `limit`; 0: EVAL_QUESTIONS_MAX. Lines that are wrong are named on standard error and left
 * out. Fails if no line is left. */
bool eval_questions_read(struct eval_questions *questions, const char *path, size_t limit, struct arena *arena,
                         struct status *st);

/* ---- the result of a question (eval_score.c, eval_text.c, eval_quotes.c) ------------------------------------------
 */

enum eval_why {
    EVAL_RIGHT,
    EVAL_NOT_FOUND,      /* no answer, and the search did not find it */
    EVAL_ABSTAINED,      /* no answer, although the search found it */
    EVAL_WRONG_FILE,     /* an answer from other files alone */
    EVAL_WRONG_SENTENCE, /* an answer from the right file without the words */
    EVAL_NOT_ABSTAINED,  /* an answer, although the documents lack it */
    EVAL_FAILED,         /* the call failed */
};
#define EVAL_WHYS 7

/* Figures of one question. A field is EVAL_UNKNOWN if it does not apply: without known words, file, or hits. */
#define EVAL_UNKNOWN (-1)
struct eval_score {
    enum eval_why why;
    int answered, contained, first_sentence, first_file, words_at_5; /* 0, 1 or EVAL_UNKNOWN */
    int rank;                                                        /* of the file, 1 to 10; 0: not among ten hits */
    int sentences, carrying;                                         /* of the answer; those with the words */
    int citations, other_file;
    int quotes, quotes_standing; /* quotes that could be looked up; those that stand at their lines */
    bool no_model;               /* the gateway had none to ask */
    int64_t latency_us, input_tokens, output_tokens, model_calls, cost_micros, unpriced_calls;
};

struct eval_citation {
    const char *uri, *quote;
    int line_from, line_to;
};

struct eval_row {
    const struct eval_question *question; /* of an earlier run: its id alone is compared */
    bool asked;
    struct eval_score score;
    const char *answer, *run, *error; /* error: "" */
    struct eval_citation citations[EVAL_CITATIONS_MAX];
    size_t citation_count;
    bool nearest; /* no answer was found: the citations are the nearest passages */
};

/* The files that quotes are compared with: the folder of --docs. */
struct eval_quotes {
    const char *folder; /* NULL: nowhere */
    char path[PATH_MAX];
    struct buffer file; /* the one that was read last */
    bool known;         /* it is text */
};
void eval_quotes_init(struct eval_quotes *quotes, const char *folder);
void eval_quotes_fini(struct eval_quotes *quotes);
/* 1: the quote stands at its lines; 0: not; EVAL_UNKNOWN: the file has no lines that could be compared. White space
 * does not count. */
int eval_quote_stands(struct eval_quotes *quotes, const Renga__V1__Citation *citation);

/* Whether a text has one of the right answers. Both are compared in their normal form without white space and marks of
 * Markdown; a Latin word or a number must be whole. Linear in both. */
bool eval_text_has(const char *text, size_t length, const struct eval_question *question);
/* Whether a path is the file of the question: the same, or ending with "/" and its name. */
bool eval_file_is(const char *uri, const char *file);

void eval_score_result(struct eval_score *score, const struct eval_question *question,
                       const Renga__V1__AgentResult *result, struct eval_quotes *quotes);
void eval_score_error(struct eval_score *score, const struct eval_question *question);
/* Copies the texts of a result that a report shows, cut to its bounds. */
void eval_row_keep(struct eval_row *row, const Renga__V1__AgentResult *result, struct arena *arena);

extern const char *const eval_why_names[EVAL_WHYS]; /* "wrong_file" */
extern const char *const eval_class_names[3];       /* "answerable" */

/* ---- figures (eval_figures.c) ------------------------------------------------------------------------------------ */

enum eval_kind { EVAL_SHARE, EVAL_MEAN, EVAL_RATIO, EVAL_QUANTILE };

struct eval_figure {
    const char *name;
    const char *titles[2]; /* English, Japanese; at most 30 columns */
    enum eval_kind kind;
    bool lower_is_better;
    double share;     /* of EVAL_QUANTILE */
    const char *unit; /* "" for shares */
    /* The share of one question as over / under; false if it does not apply. */
    bool (*value)(const struct eval_row *row, double *over, double *under);
};
extern const struct eval_figure eval_figures[];
extern const size_t eval_figure_count;

/* ---- fixed texts (eval_words.c) ---------------------------------------------------------------------------------- */

struct eval_words {
    const char *tag;
    const char *whys[EVAL_WHYS];
    const char *title, *asked, *right, *failed, *unusable, *interrupted;
    const char *columns[5], *changes[4]; /* of the two tables */
    const char *all, *against, *common, *test, *better, *worse, *became, *lost;
    const char *line[2]; /* before and after the number */
    const char *expected, *from, *none, *answer, *cited, *nearest, *run, *more;
};
/* In a language, or in that of most questions if it is NULL. */
const struct eval_words *eval_words(const char *language, const struct eval_questions *questions);
const char *eval_title(const struct eval_words *words, const struct eval_figure *figure);

struct eval_result {
    const struct eval_figure *figure;
    const char *group; /* "all", or a language */
    size_t count;      /* questions to which it applies */
    struct interval interval;
};

struct eval_change {
    const struct eval_figure *figure;
    size_t count; /* questions of both runs to which it applies */
    double before, after;
    size_t better, worse;   /* questions; of shares */
    double chance;          /* McNemar's, of shares */
    struct interval change; /* of means and ratios */
};

struct eval_rows {
    struct eval_row *list;
    size_t count;
};

/* All figures to which a question applies, for all questions and for each language if there are several. */
struct eval_result *eval_measure(const struct eval_rows *rows, struct arena *arena, size_t *count);
/* "87.5 %", "1.42", "35 ms" */
void eval_put_value(const struct eval_figure *figure, double value, char *out, size_t room);

/* ---- an earlier run (eval_against.c) ----------------------------------------------------------------------------- */

struct eval_against {
    const char *path;
    struct eval_rows rows;
    struct eval_row **before; /* for each row of this run: the same question then, or NULL */
    struct eval_change *changes;
    size_t change_count, common;
    size_t *better, *worse; /* rows of this run that became right, and that were right */
    size_t better_count, worse_count;
};
bool eval_against_read(struct eval_against *against, const char *path, struct arena *arena, struct status *st);
void eval_against_compare(struct eval_against *against, const struct eval_rows *rows, struct arena *arena);

/* ---- the run ----------------------------------------------------------------------------------------------------- */

struct eval {
    struct orchestrator_client client; /* first */
    ProtobufCService *helpdesk;
    const char *path; /* of the questions */
    const char *collection;
    const struct eval_words *words;
    struct eval_questions questions;
    struct eval_rows rows; /* one for each question, in the same order */
    size_t asked, failed, right;
    struct eval_result *results;
    size_t result_count;
    struct eval_against against;
    struct eval_quotes quotes;
    bool json, quiet, verbose, interrupted, given_up;
    const char *const *reports;
    size_t report_count;
    struct live live;
    int64_t began_ns;
    struct arena memory;
};

/* eval_run.c: asks all questions; an exit code. */
int eval_run(struct eval *eval);

/* eval_view.c */
void eval_view_progress(struct eval *eval, const struct eval_row *row);
void eval_view_end(struct eval *eval);

/* eval_json.c: a line for each question that was asked, and a last line with the figures. */
void eval_put_json(struct buffer *out, const struct eval *eval);
/* eval_report.c, eval_html.c: at most EVAL_REPORT_MAX bytes; the worst of many failures stand in JSON alone. */
#define EVAL_REPORT_MAX ((size_t)5 << 20)
void eval_put_counts(struct buffer *out, const struct eval *eval);
void eval_put_markdown(struct buffer *out, const struct eval *eval);
void eval_put_html(struct buffer *out, const struct eval *eval);
/* eval_output.c: false, after an error message, if a file of --report could not be written. */
bool eval_check_reports(const struct eval *eval, struct status *st);
bool eval_write_reports(const struct eval *eval);

#endif
