/* What the files of `renga ask` share: the question on its way, and how it is shown. */
#ifndef RENGA_ASK_H
#define RENGA_ASK_H

#include "orchestra.h"
#include "renga/v1/helpdesk.pb-c.h"

#define ASK_SUBTASKS_MAX 32 /* as AgentResult.subtasks */

/* Everything that is said besides the answer, in the language of the question. */
struct ask_words {
    const char *planning, *answering, *extractive, *partial, *incomplete;
    const char *try[2], *more[2]; /* before and after the number */
    const char *stages[8];        /* by SubtaskStage */
    const char *space;            /* between a sentence and its number */
};

/* `language` may be NULL. */
const struct ask_words *ask_words(const char *language, const char *question);

struct ask_row {
    char *name;
    Renga__V1__SubtaskStage stage;
    int try;
    bool is_completed;
    char tools[64]; /* the first names */
};

/* The plan and its subtasks side by side, drawn anew with each event. */
struct ask_view {
    struct ask_row rows[ASK_SUBTASKS_MAX];
    size_t count;
    size_t drawn;   /* lines above the cursor that are drawn anew */
    char tail[256]; /* the end of what is being written */
};

struct ask {
    struct command_call call; /* first */
    struct orchestra way;     /* who asks, and whether there are colours */
    ProtobufCService *helpdesk;
    const struct ask_words *words;
    Renga__V1__AskRequest request;
    bool json;
    bool live;    /* a terminal, on which the work is drawn */
    bool verbose; /* lines about the work on standard error */
    size_t width; /* of the terminal; 0: lines are not broken */
    struct ask_view view;
    bool nothing_found;
};

/* ask_view.c */
void ask_view_event(struct ask *ask, const Renga__V1__AskEvent *event);
/* What was drawn stays, as the subtasks have ended. */
void ask_view_end(struct ask *ask);
void ask_view_free(struct ask *ask);

/* ask_answer.c: the answer with numbers, the sources they stand for, and where it falls short. */
void ask_show_answer(struct ask *ask, const Renga__V1__AgentResult *result);

#endif
