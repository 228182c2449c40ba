/* A node that works only on its inputs, which may be long: a worker thread does the work. By example:
 *
 *      static void start(struct task *task)
 *      {
 *          struct citing *citing = task_data(task);            // begins with its struct input_job
 *          input_job_start(&citing->base, task, citing_run, citing_finish);
 *      }
 *
 * `run` may read the inputs and write fields into job->update; then `finish`, in the loop, ends the task. */
#ifndef RENGA_ORCHESTRATOR_INPUT_JOB_H
#define RENGA_ORCHESTRATOR_INPUT_JOB_H

#include "service_call.h"

#include "loop/jobs.h"

struct input_job {
    struct service_call base; /* its inputs are there while `run` runs */
    struct job job;
    struct update update;
    struct status status;
    bool light; /* its language and its model are not read */
    bool (*run)(struct input_job *job, struct status *st);
    const char *(*finish)(struct input_job *job, struct update *update); /* the outcome */
};

void input_job_start(struct input_job *job, struct task *task, bool (*run)(struct input_job *job, struct status *st),
                     const char *(*finish)(struct input_job *job, struct update *update));
/* The same for work that costs no more than parsing the inputs: up to INPUT_JOB_INLINE bytes of them in the loop. */
#define INPUT_JOB_INLINE ((size_t)32 << 10)
void input_job_start_light(struct input_job *job, struct task *task,
                           bool (*run)(struct input_job *job, struct status *st),
                           const char *(*finish)(struct input_job *job, struct update *update));
/* The `cancel` of a kind whose data begins with its job. */
void input_job_cancel(struct task *task);

/* Adds a degradation of the node itself. It lives as long as the task; false: no memory. */
bool input_job_degrade(struct input_job *job, struct update *update, Renga__V1__DegradationKind kind,
                       const char *reason);
/* ... of a part with a name for people, which is borrowed for good. */
bool input_job_degrade_part(struct input_job *job, struct update *update, Renga__V1__DegradationKind kind,
                            const char *part, const char *reason);

#endif
