/* The input of a StartRun. A worker thread reads a large input, and makes the fields that it changes, while the request
 * has exclusive use of the thread. A run that goes to work at once takes them over; else it reads its input again
 * later.
 */
#include "engine/run_lifecycle.h"
#include "graph/agents.h"
#include "start_run.h"
#include "state/state.h"
#include "thread/apply.h"
#include "thread/memory.h"
#include "thread/request.h"
#include "thread/shard.h"
#include "thread/thread.h"

#include "base/status.h"
#include "loop/jobs.h"
#include "json/json.h"

#include <stdlib.h>

#define INPUT_INLINE_MAX ((size_t)32 << 10) /* bytes that the loop reads itself: as in update_state.c */

struct input_work {
    struct job job; /* first */
    struct request *request;
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

static void input_go_on(struct request *request, struct thread *thread, struct agent *agent, bool good,
                        const struct status *unfit)
{
    const Renga__V1__StartRunRequest *message = (const void *)request->message;
    struct status st = {0};
    if (!good)
        fail_field(&st, "input_json", "%s", unfit->text);
    if (good && check_configuration(message->configuration_json, &st)) {
        request_start_checked(request, thread, agent);
        return;
    }
    request_fail(request, &st, NULL);
    agent_release(thread->shard->runner->options.agents, agent);
}

/* ---- by a worker ------------------------------------------------------------------------------------------------- */

static void input_prepare(struct job *job)
{
    struct input_work *work = (struct input_work *)job;
    struct status st = {0};
    work->good = run_input_fits(work->prepared.graph, work->input_json, &work->why);
    if (work->good && work->applies) /* if the state does not take it, the run fails: that is told there */
        apply_prepare_input(&work->prepared, work->input_json, &st);
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
    struct request *request = work->request;
    struct status st = job->status;
    size_t size = strlen(work->input_json);
    work->job = request_job(work->request, work->thread, input_drop, input_dropped);
    thread->holds--;
    thread->held = false;
    if (st.code == OK && thread->phase != THREAD_READY)
        fail(&st, UNAVAILABLE, "thread '%s' is being read again", thread->id);
    if (st.code == OK) {
        thread->prepared = work->prepared.change ? &work->prepared : NULL;
        input_go_on(request, thread, work->agent, work->good, &work->why);
        thread->prepared = NULL;
    } else {
        request_fail(request, &st, NULL);
        agent_release(thread->shard->runner->options.agents, work->agent);
    }
    if (!thread->held)
        thread_unhold(thread);
    job_start(&work->job, size); /* the values before are freed there, too */
}

static void start_input(struct request *request, struct thread *thread, struct agent *agent)
{
    const Renga__V1__StartRunRequest *message = (const void *)request->message;
    const struct frame *root = thread->root;
    struct input_work *work = xnonnull(calloc(1, sizeof *work));
    *work =
        (struct input_work){.request = request, .thread = thread, .agent = agent, .input_json = message->input_json};
    work->applies = !thread_busy(thread) && (!root || root->graph == agent->graph);
    work->prepared = (struct prepared_input){
        .run = thread->runs_begun + 1, .base = root ? root->state : NULL, .graph = agent->graph};
    work->job = request_job(work->request, work->thread, input_prepare, input_prepared);
    work->job.deadline_ns = request->deadline_ns;
    thread->held = true;
    thread->holds++;
    job_start(&work->job, strlen(work->input_json));
}

/* ---- either way -------------------------------------------------------------------------------------------------- */

void request_check_input(struct request *request, struct thread *thread, struct agent *agent)
{
    const Renga__V1__StartRunRequest *message = (const void *)request->message;
    struct status why = {0};
    if (strlen(message->input_json) > INPUT_INLINE_MAX)
        start_input(request, thread, agent);
    else
        input_go_on(request, thread, agent, run_input_fits(agent->graph, message->input_json, &why), &why);
}
