/* The input of a StartRun. A worker thread reads a large input, and makes the fields that it changes, while the request
 * has exclusive use of the thread. A run that goes to work at once takes them over; else it reads its input again
 * later.
 */
#include "errand.h"
#include "run_priv.h"

#include "base/json.h"

#include <stdlib.h>

#define INPUT_INLINE_MAX ((size_t)32 << 10) /* bytes that the loop reads itself: as in update.c */

struct input_work {
    struct job job; /* first */
    struct errand *errand;
    struct thread *thread;
    struct agent *agent;
    const char *input_json;
    bool applies; /* else the thread is at work: its state will be another */
    bool good;
    struct prepared_input prepared;
    struct status why;
};

static bool check_configuration(const char *configuration, struct status *st)
{
    struct status why = {0};
    if (!*configuration || (json_check(configuration, strlen(configuration), NULL, &why) &&
                            configuration[strspn(configuration, " \t\r\n")] == '{'))
        return true;
    return fail_field(st, "configuration_json", "must be a JSON object");
}

static void input_go_on(struct errand *errand, struct thread *thread, struct agent *agent, bool good,
                        const struct status *unfit)
{
    const Renga__V1__StartRunRequest *request = (const void *)errand->request;
    struct status st = {0};
    if (!good)
        fail_field(&st, "input_json", "%s", unfit->text);
    if (good && check_configuration(request->configuration_json, &st)) {
        errand_start_checked(errand, thread, agent);
        return;
    }
    errand_fail(errand, &st, NULL);
    agent_release(thread->home->runner->options.agents, agent);
}

/* ---- by a worker ------------------------------------------------------------------------------------------------- */

static void input_prepare(struct job *job)
{
    struct input_work *work = (struct input_work *)job;
    struct status st = {0};
    work->good = run_input_fits(work->prepared.graph, work->input_json, &work->why);
    if (work->good && work->applies) /* if the state does not take it, the run fails: that is told there */
        fold_prepare_input(&work->prepared, work->input_json, &st);
}

static void input_drop(struct job *job)
{
    state_change_destroy(&((struct input_work *)job)->prepared.change);
}

static void input_dropped(struct job *job)
{
    input_drop(job); /* if no worker had room for it */
    free(job);
}

static void input_prepared(struct job *job)
{
    struct input_work *work = (struct input_work *)job;
    struct thread *thread = work->thread;
    struct errand *errand = work->errand;
    struct status st = job->status;
    size_t size = strlen(work->input_json);
    work->job = errand_job(work->errand, work->thread, input_drop, input_dropped);
    thread->holds--;
    thread->held = false;
    if (st.code == OK && thread->phase != THREAD_READY)
        fail(&st, UNAVAILABLE, "thread '%s' is being read again", thread->id);
    if (st.code == OK) {
        thread->prepared = work->prepared.change ? &work->prepared : NULL;
        input_go_on(errand, thread, work->agent, work->good, &work->why);
        thread->prepared = NULL;
    } else {
        errand_fail(errand, &st, NULL);
        agent_release(thread->home->runner->options.agents, work->agent);
    }
    if (!thread->held)
        thread_unhold(thread);
    job_start(&work->job, size); /* the values before are freed there, too */
}

static void start_input(struct errand *errand, struct thread *thread, struct agent *agent)
{
    const Renga__V1__StartRunRequest *request = (const void *)errand->request;
    const struct frame *root = thread->root;
    struct input_work *work = need(calloc(1, sizeof *work));
    *work = (struct input_work){.errand = errand, .thread = thread, .agent = agent, .input_json = request->input_json};
    work->applies = !thread_busy(thread) && (!root || root->graph == agent->graph);
    work->prepared = (struct prepared_input){
        .run = thread->runs_begun + 1, .base = root ? root->state : NULL, .graph = agent->graph};
    work->job = errand_job(work->errand, work->thread, input_prepare, input_prepared);
    work->job.deadline_ns = errand->deadline_ns;
    thread->held = true;
    thread->holds++;
    job_start(&work->job, strlen(work->input_json));
}

/* ---- either way -------------------------------------------------------------------------------------------------- */

void errand_check_input(struct errand *errand, struct thread *thread, struct agent *agent)
{
    const Renga__V1__StartRunRequest *request = (const void *)errand->request;
    struct status why = {0};
    if (strlen(request->input_json) > INPUT_INLINE_MAX)
        start_input(errand, thread, agent);
    else
        input_go_on(errand, thread, agent, run_input_fits(agent->graph, request->input_json, &why), &why);
}
