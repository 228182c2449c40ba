/* A model task: a request of Planner or Reviewer on its way to a plan or a judgement.
 *
 *      model_task_start
 *         |
 *      prompts filled ---- a template is wrong ----------------------------> failed
 *         |
 *      ASKING          the gateway: system and user prompt, a strict schema
 *         |  ^  ^
 *         |  |  '-- the connection is lost: again after a pause, LOST_MAX times (a gateway that restarts)
 *         |  '--- once more, shown its mistake (correcting), as far as max_model_calls goes
 *         |
 *      read?  --- yes -----------------------------------------------------> answered
 *         |
 *         '------ no: the caller's own fault, or a model is required ------> failed, with Usage in the details
 *                 else the kind's fallback, listed in `degradations` ----> answered
 *
 * A kind of task is a const entry in a file of its own. The task is embedded in the service's state of the call, in the
 * call's arena. Deadline and cancellation of the call stop the model. */
#ifndef RENGA_MODEL_TASK_H
#define RENGA_MODEL_TASK_H

#include "loop/jobs.h"
#include "model_task/model_client.h"
#include "rpc/rpc.h"

#include "renga/v1/citation.pb-c.h"
#include "renga/v1/llm_gateway.pb-c.h"
#include "renga/v1/prompt.pb-c.h"
#include "renga/v1/usage.pb-c.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

#define MODEL_TASK_DEGRADATIONS_MAX 8

struct model_task;

/* A note for people, in the languages there are. */
struct note {
    const char *ja, *en;
};

struct model_task_kind {
    const char *name;          /* "subtasks": of its prompts, its schema, and in metrics */
    const char *part;          /* that a degradation names: "plan" */
    const char *schema;        /* of the answer, strict */
    struct note fallback_note; /* describes the fallback, after "no model gave a usable answer" */

    /* Adds the variables of templates to an object, under the names of the request's fields. */
    void (*describe)(struct model_task *task, cJSON *values);

    /* Makes the result from an answer that fits the schema. False with an explanation for the model if the answer is
     * unusable; the model is then asked once more. Runs in a worker thread for long answers or requests. */
    bool (*read)(struct model_task *task, const cJSON *answer, struct status *st);

    /* Makes the result without a model; of a long request in a worker thread (loop/jobs.h). */
    void (*fallback)(struct model_task *task);

    /* Ends the call with the result. The task holds usage, model and degradations. */
    void (*reply)(struct model_task *task);
};

struct model_task {
    /* Set by model_task_init. */
    const struct model_task_kind *kind;
    const struct model_client *client;
    struct rpc_call *call;
    const Renga__V1__Prompting *prompting; /* never NULL */
    const Renga__V1__CallOrigin *origin;   /* may be NULL */
    const char *language;                  /* of the answer: a BCP 47 tag */
    bool japanese;                         /* which of our two languages our own texts are in */

    /* To be replied. */
    Renga__V1__Usage usage;
    const char *model; /* "" if no model answered */
    Renga__V1__Degradation *degradations[MODEL_TASK_DEGRADATIONS_MAX];
    size_t degradation_count;

    /* Private. */
    struct rpc_client_call asking;
    Renga__V1__ChatRequest request;
    Renga__V1__ResponseFormat format;
    Renga__V1__Sampling sampling;
    Renga__V1__ChatMessage turns[4], *turn_list[4];
    struct job fallback, reading;
    struct timer pause;     /* before the gateway is asked again */
    unsigned lost;          /* requests whose connection was lost */
    char *answer_text;      /* the answer that is being read */
    bool good, correctable; /* of it */
    struct status problem;  /* of it */
    bool correcting;        /* it has been asked once more */
    bool limited; /* the gateway has reported one of our limits: the caller gets the error instead of a fallback */
};

/* The service's state of a call, zeroed, in the call's arena; the task must be its first member. NULL when memory runs
 * out; the call has then ended. */
void *model_task_create(struct rpc_call *call, size_t size);

/* `about` decides the language if the request does not. The request has been checked. */
void model_task_init(struct model_task *task, const struct model_task_kind *kind, const struct model_client *client,
                     struct rpc_call *call, const Renga__V1__Prompting *prompting, const Renga__V1__CallOrigin *origin,
                     const char *about);

/* Ends the call, now or later, with kind->reply or with a failure. */
void model_task_start(struct model_task *task);

/* Ends it without a model: the result is made already, by a rule. */
void model_task_rule(struct model_task *task);

/* From `describe`, `read`, `fallback`: the result is less than it should be. `kind` is one of DegradationKind. */
void model_task_degrade(struct model_task *task, Renga__V1__DegradationKind kind, enum status_code code,
                        const struct note *reason);

/* The note in the task's language. */
const char *model_task_note_text(const struct model_task *task, const struct note *note);

/* Copies into the call's arena; "" when memory runs out, and the call then fails later. `max` 0: whole; a longer text
 * is cut at a character. */
char *model_task_text(struct model_task *task, const char *text, size_t max);
/* The note with each "%s" replaced by a text, two at most. */
char *model_task_compose(struct model_task *task, const struct note *form, const char *first, const char *second);
char *model_task_printf(struct model_task *task, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Zeroed; NULL when memory runs out. */
void *model_task_alloc(struct model_task *task, size_t size);

#endif
