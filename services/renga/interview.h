/* Private to `renga interview`: a conversation that fills a form, at a terminal or through a pipe. */
#ifndef RENGA_INTERVIEW_H
#define RENGA_INTERVIEW_H

#include "local_store.h"
#include "orchestrator_client.h"

#include "renga/v1/interview.pb-c.h"
#include "json/json.h"

#define INTERVIEW "renga interview"

enum conversation_method { CONVERSATION_START, CONVERSATION_ANSWER, CONVERSATION_CONFIRM, CONVERSATION_GET };

struct conversation {
    struct command_call call;          /* first */
    struct orchestrator_client client; /* the arguments, the output format, and calls */
    ProtobufCService *interview;
    char session_id[LOCAL_STORE_NAME_SIZE]; /* "" before a session is open */
    enum conversation_method method;
    Renga__V1__StartInterviewRequest start;
    Renga__V1__AnswerInterviewRequest answer;
    bool json, interactive; /* interactive: a person types at a terminal */
    FILE *result;           /* the form that is confirmed goes here */

    /* The last reply; its state is `state`. NULL before the first reply. The conversation owns both. */
    Renga__V1__InterviewReply *reply;
    Renga__V1__MainSessionState *state;
    struct arena memory; /* of the reply, if it exists */
};

/* ---- interview_call.c: calls of renga.v1.FormInterview ----------------------------------------------------------- */

/* Makes the call and waits: true for OK, then `reply` is the new reply. */
bool interview_call(struct conversation *conversation, enum conversation_method method);
void interview_forget(struct conversation *conversation);
/* Prints why the last call failed; interview_failed also gives the exit code. */
void interview_report(const struct conversation *conversation);
enum command_exit interview_failed(const struct conversation *conversation);

/* ---- interview_lines.c: the lines that a person types ------------------------------------------------------------ */

/* Until the form is confirmed (COMMAND_OK), the person stops (COMMAND_WAITS, COMMAND_INTERRUPTED), or a line cannot be
 * taken. */
enum command_exit interview_converse(struct conversation *conversation);

/* ---- interview_form.c: FORM.json --------------------------------------------------------------------------------- */

/* A SessionForm with the contract's names, or a JSON Schema. The message is in the arena; NULL with `st` filled, which
 * names the place in the file. */
Renga__V1__SessionForm *interview_form_read(const char *path, struct arena *arena, struct status *st);
/* Whether two forms ask for the same fields; INVALID_ARGUMENT if the first is no form. */
bool interview_form_matches(const Renga__V1__SessionForm *form, const Renga__V1__SessionForm *session, bool *matches,
                            struct arena *arena, struct status *st);

/* ---- interview_view.c: the conversation, in the person's language ------------------------------------------------ */

/* The Japanese or the English text. */
const char *interview_say(const struct conversation *conversation, const char *japanese, const char *english);
bool interview_is_over(const struct conversation *conversation); /* every field is settled */
void interview_show_reply(const struct conversation *conversation);
/* The values with the words that they were made of. */
void interview_show_values(const struct conversation *conversation);
void interview_show_help(const struct conversation *conversation);
/* The name of a session that the server named. */
void interview_show_name(const struct conversation *conversation);
/* The name of the session, and how it goes on; on standard error. */
void interview_show_waits(const struct conversation *conversation);
/* The field that a person means by its number in the list, its field_id or its label; `rest` is the text behind it.
 * -1: no field. */
int interview_find_field(const struct conversation *conversation, const char *text, const char **rest);

/* ---- interview_result.c ------------------------------------------------------------------------------------------ */

/* The result to standard output, or to a file: "csv" or "json". False if it cannot be written, after a report. */
bool interview_write_result(const struct conversation *conversation, const char *format, const char *path);

#endif
