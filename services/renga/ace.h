/* Private to `renga ace`: the parts that its verbs share. A verb is a row in ace.c; its function runs in the command's
 * thread and gives the exit code. */
#ifndef RENGA_ACE_H
#define RENGA_ACE_H

#include "live.h"
#include "orchestrator_client.h"
#include "reconnect.h"

#include "renga/v1/ace.pb-c.h"
#include "renga/v1/tool_runner.pb-c.h"

#define ACE            "renga ace"
#define ACE_FILE_MAX   ((size_t)256 << 20) /* bytes of a file of samples */
#define ACE_MEMORY     ((size_t)512 << 20)
#define ACE_BULLETS(n) ((n) == 1 ? "bullet" : "bullets")
#define ACE_REQUEST_ID 129 /* bytes, with the NUL */

struct ace {
    struct orchestrator_client client; /* first: the arguments, the output format, and calls */
    ProtobufCService *generator;       /* AceGenerator */
    ProtobufCService *tool_runner;
    const char *dataset;
    const char *const *rest; /* arguments behind the dataset */
    size_t rest_count;
    bool quiet;
    struct arena memory; /* of answers that are kept */
};

/* Calls a method that answers once, within --timeout. The answer is kept in ace->memory; NULL after an error message.
 */
const ProtobufCMessage *ace_ask(struct ace *ace, ProtobufCService *service, const char *method,
                                const ProtobufCMessage *request);
/* A name for a change, so that it is made once however often it is sent. */
void ace_name_request(char name[ACE_REQUEST_ID], const char *what);
/* Bounds of a share with 95 % confidence, 0 to 1. */
void ace_share_bounds(int64_t correct, int64_t judged, double *low, double *high);
/* "12 of 20 (60.0 %, 38.7–78.1 %)": the share with these bounds. */
void ace_put_share(char *out, size_t room, int64_t correct, int64_t judged);
/* "3 calls, 1,204 tokens, USD 0.0021" */
void ace_put_cost(char *out, size_t room, const Renga__V1__Usage *usage);
void ace_add_usage(Renga__V1__Usage *sum, const Renga__V1__Usage *usage);

int ace_run_task(struct ace *ace);
int ace_learn(struct ace *ace);
int ace_eval(struct ace *ace);

int ace_playbook_list(struct ace *ace);
int ace_playbook_show(struct ace *ace);
int ace_playbook_search(struct ace *ace);
int ace_playbook_history(struct ace *ace);
int ace_playbook_diff(struct ace *ace);
int ace_playbook_undo(struct ace *ace);
int ace_playbook_import(struct ace *ace);
int ace_playbook_export(struct ace *ace);
int ace_playbook_proposals(struct ace *ace);
int ace_playbook_accept(struct ace *ace);
int ace_playbook_reject(struct ace *ace);
int ace_playbook_delete(struct ace *ace);

/* The playbook, at a revision or, with 0, as it is; NULL after an error message. */
const Renga__V1__GetPlaybookResponse *ace_get_playbook(struct ace *ace, int64_t revision,
                                                       Renga__V1__PlaybookFormat format);
/* Of a call that has failed. */
int ace_exit(const struct ace *ace);
/* A revision from the command line; false after an error message. */
bool ace_read_revision(const struct ace *ace, const char *text, int64_t *revision);

/* ---- samples (ace_samples.c) ------------------------------------------------------------------------------------- */

struct ace_samples {
    const char *path;
    Renga__V1__AceSample **list;
    size_t count;
    char digest[17]; /* of the content of the file, hexadecimal */
};

/* Reads a file of samples, a JSON object a line, into the arena. INVALID_ARGUMENT names the file, the line and the
 * right form. */
bool ace_samples_read(struct ace_samples *samples, const char *path, struct arena *arena, struct status *st);
/* How many samples from `first` on go into one request. */
size_t ace_samples_batch(const struct ace_samples *samples, size_t first);

/* ---- learning (ace_learn.c, ace_ledger.c, ace_learn_view.c) -------------------------------------------------------
 */

/* The stage of learning that a request belongs to. */
enum ace_stage { ACE_BEFORE, ACE_LEARN, ACE_AFTER };
#define ACE_STAGES 3

struct ace_step {
    enum ace_stage stage;
    int epoch;    /* from 1 */
    size_t first; /* sample */
};

/* The progress of a learning, on disk, so that the same command can resume it: a line for each request that was
 * accepted or has ended. */
struct ace_ledger {
    char path[PATH_MAX]; /* "": without a folder, the ledger is not kept */
    char id[33];         /* of the learning: its requests are named after it */
    cJSON *lines;        /* as they were found */
    bool accepted;       /* a request was accepted, so that the learning can be resumed */
};

/* Opens the ledger of this very command line, or begins one. */
void ace_ledger_open(struct ace_ledger *ledger, const char *identity, bool anew);
/* The run that was accepted for a step, NULL if there is none; and its result in the arena, if it has ended. */
const char *ace_ledger_run(const struct ace_ledger *ledger, const struct ace_step *step);
const Renga__V1__AdaptResult *ace_ledger_result(const struct ace_ledger *ledger, const struct ace_step *step,
                                                struct arena *arena);
void ace_ledger_accepted(struct ace_ledger *ledger, const struct ace_step *step, const char *run_id);
void ace_ledger_ended(struct ace_ledger *ledger, const struct ace_step *step, const Renga__V1__AdaptResult *result);
/* Removes the ledger when the learning is done, or no request was accepted. */
void ace_ledger_close(struct ace_ledger *ledger, bool done);

struct ace_learning {
    struct command_call call; /* first */
    struct ace *ace;
    struct reconnect reconnect;
    struct ace_ledger ledger;
    struct ace_samples samples, measured;
    enum ace_stage stage;
    struct ace_step step;
    Renga__V1__AdaptRequest request;
    Renga__V1__AgentOptions how;
    char request_id[ACE_REQUEST_ID];
    char run_id[65];
    const Renga__V1__AdaptResult *result; /* of the present request */
    /* Sums of all requests. */
    Renga__V1__AdaptResult sums[ACE_STAGES];
    bool gone[ACE_STAGES]; /* through them */
    Renga__V1__Usage usage;
    int64_t resumed; /* requests that had ended before */
    int epoch;
    size_t done; /* samples of the epoch */
    struct live live;
    bool verbose;
};

void ace_view_sample(struct ace_learning *learning, const Renga__V1__AdaptedSample *sample);
void ace_view_erase(struct ace_learning *learning);
void ace_view_end(struct ace_learning *learning);

#endif
