/* Shared by the files of `renga ask`: the question under client, and its display. */
#ifndef RENGA_ASK_H
#define RENGA_ASK_H

#include "live.h"
#include "loop/loop.h"
#include "reconnect.h"
#include "renga/v1/helpdesk.pb-c.h"
#include "saved_run.h"
#include "words/languages.h"

#define ASK_SUBTASKS_MAX 32 /* as AgentResult.subtasks */

/* All texts besides the answer, in the language of the question. */
struct ask_words {
    const char *tag; /* "ja" */
    const char *planning, *answering, *incomplete;
    const char *try[2];    /* before and after the number */
    const char *stages[8]; /* by SubtaskStage */
    const char *space;     /* between a sentence and its number */
    const char *seconds;   /* behind a number */
};

/* `language` may be NULL. */
const struct ask_words *ask_words(const char *language, const char *question);

struct ask_row {
    char *name;
    Renga__V1__SubtaskStage stage;
    int try;
    bool is_completed, found;
    char tools[64];             /* the first names */
    int64_t began_ns, ended_ns; /* 0: not yet */
};

/* The plan and its subtasks side by side, drawn anew with each event and as the time goes. */
struct ask_view {
    struct ask_row rows[ASK_SUBTASKS_MAX];
    size_t count;
    struct live live;
    struct timer tick;
    int64_t began_ns;
    char tail[LIVE_TAIL]; /* the end of the text being written */
};

struct ask {
    struct command_call call;          /* first */
    struct orchestrator_client client; /* the command that asks, and the use of colours */
    ProtobufCService *helpdesk;
    struct reconnect reconnect; /* with a suite that runs elsewhere */
    const struct ask_words *words;
    enum language language; /* of the answer's fixed texts */
    Renga__V1__AskRequest request;
    bool json;
    bool live;    /* a terminal, on which the work is drawn */
    bool verbose; /* lines about the work on standard error */
    size_t width; /* of the terminal as it was drawn last; 0: lines are not broken */
    struct ask_view view;
    struct saved_run kept;         /* for `renga feedback` */
    bool shown;                    /* the answer, whole */
    bool no_documents;             /* there is nothing to search in: a model would not help */
    bool nothing_found, broke_off; /* broke_off: every subtask */
};

/* ask_view.c; in the loop of the call, but for ask_view_free */
void ask_view_begin(struct ask *ask);
void ask_view_event(struct ask *ask, const Renga__V1__AskEvent *event);
/* The drawn lines stay, as the subtasks have ended. */
void ask_view_end(struct ask *ask);
/* No line is drawn any more. */
void ask_view_stop(struct ask *ask);
/* The drawn lines stay, and other text follows below them. */
void ask_view_leave(struct ask *ask);
void ask_view_free(struct ask *ask);

/* ask_answer.c: the answer with numbers, the sources that they refer to, and the gaps of the result. */
void ask_show_answer(struct ask *ask, const Renga__V1__AgentResult *result);
/* A place with its headings and its quote, behind a label. */
void ask_show_place(const struct ask *ask, const Renga__V1__Citation *citation, const char *label, size_t width);

/* ask_missing.c: shows the nearest passages for the parts without an answer; the answer itself names the parts. */
void ask_show_missing(const struct ask *ask, const Renga__V1__AgentResult *result, size_t width);
void ask_show_connect(const struct ask *ask, const Renga__V1__AgentResult *result, size_t width);

#endif
