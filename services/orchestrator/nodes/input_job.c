#include "input_job.h"

#include "json/json.h"

#include <string.h>

static bool input_job_parse(struct input_job *work)
{
    const char *inputs = task_request(work->base.task)->state_json;
    if (!work->light)
        return service_call_inputs(&work->base, work->base.task, &work->status);
    work->base.inputs = json_parse(inputs, strlen(inputs), NULL, &work->status);
    return work->base.inputs;
}

static void input_job_run(struct job *job)
{
    struct input_job *work = CONTAINER_OF(job, struct input_job, job);
    if (input_job_parse(work))
        work->run(work, &work->status);
    service_call_close(&work->base);
}

/* The end of the task frees the job, so the update is copied first. */
static void input_job_ended(struct job *job)
{
    struct input_job *work = CONTAINER_OF(job, struct input_job, job);
    const struct status status = job->status.code != OK ? job->status : work->status;
    struct update update = work->update;
    struct task *task = work->base.task;
    update.out.out = &update.text;
    if (status.code == OK) {
        const char *outcome = work->finish(work, &update);
        update_finish(&update, task, outcome);
        return;
    }
    buffer_fini(&update.text);
    task_fail(task, &status);
}

static void input_job_begin(struct input_job *job, struct task *task, bool light,
                            bool (*run)(struct input_job *job, struct status *st),
                            const char *(*finish)(struct input_job *job, struct update *update))
{
    job->base.task = task;
    job->light = light;
    job->run = run;
    job->finish = finish;
    job->job = (struct job){.loop = task_loop(task),
                            .run = input_job_run,
                            .ended = input_job_ended,
                            .deadline_ns = task_deadline_ns(task),
                            .owner = job_owner(task_tenant(task), NULL)};
    update_begin(&job->update);
    size_t size = strlen(task_request(task)->state_json);
    job_start(&job->job, light && size <= INPUT_JOB_INLINE ? 0 : size);
}

void input_job_start(struct input_job *job, struct task *task, bool (*run)(struct input_job *job, struct status *st),
                     const char *(*finish)(struct input_job *job, struct update *update))
{
    input_job_begin(job, task, false, run, finish);
}

void input_job_start_light(struct input_job *job, struct task *task,
                           bool (*run)(struct input_job *job, struct status *st),
                           const char *(*finish)(struct input_job *job, struct update *update))
{
    input_job_begin(job, task, true, run, finish);
}

void input_job_cancel(struct task *task)
{
    struct input_job *job = task_data(task);
    job_cancel(&job->job);
}

bool input_job_degrade_part(struct input_job *job, struct update *update, Renga__V1__DegradationKind kind,
                            const char *part, const char *reason)
{
    struct arena *arena = task_arena(job->base.task);
    size_t count = update->response.n_degradations;
    Renga__V1__Degradation *degradation = arena_alloc(arena, sizeof *degradation);
    Renga__V1__Degradation **list = arena_alloc(arena, (count + 1) * sizeof *list);
    char *kept = arena_strdup(arena, reason);
    if (!degradation || !list || !kept)
        return false;
    renga__v1__degradation__init(degradation);
    degradation->part = (char *)(uintptr_t)part;
    degradation->kind = kind;
    degradation->reason = kept;
    if (count)
        memcpy(list, update->response.degradations, count * sizeof *list);
    list[count] = degradation;
    update->response.degradations = list;
    update->response.n_degradations = count + 1;
    return true;
}

bool input_job_degrade(struct input_job *job, struct update *update, Renga__V1__DegradationKind kind,
                       const char *reason)
{
    return input_job_degrade_part(job, update, kind, task_node(job->base.task)->name, reason);
}
