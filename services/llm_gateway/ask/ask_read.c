/* Reading an answer: a short one in the loop, a long one by a worker thread, which also asks a provider that answers in
 * this process.
 *
 *      ask_read --- short ------------------ read ---.
 *          '------- long ---- job: read -------------+--- handed on --- was_read
 *          '------- the caller has gone -------------'   */
#include "ask_judge.h"
#include "ask_priv.h"

#include "loop/jobs.h"
#include "provider/provider.h"

struct ask_reading {
    struct job job; /* first */
    struct ask *ask;
    struct failure before;
    struct transfer_keep kept; /* not of a provider in this process */
    bool here, good;
    void (*was_read)(struct ask *ask, bool good);
};

/* It asks no upstream, so it cannot fail as an upstream does: if it cannot stand in, the caller gets the failure that
 * it was to stand in for. */
static void ask_read_here(struct ask *ask, const struct failure *before)
{
    struct failure *failure = &ask->failure;
    if (ask->kind->ask_here)
        ask->kind->ask_here(ask);
    else
        fail(&failure->status, FAILED_PRECONDITION, "the provider %s only chats",
             ask->target->deployment->provider->name);
    if (failure->status.code == OK)
        return;
    if (before->status.code != OK)
        *failure = *before;
    failure->ours = true;
}

static bool ask_read_answer(struct ask *ask, const struct failure *before, bool here)
{
    if (here)
        ask_read_here(ask, before);
    return ask->kind->judge(ask);
}

static void ask_reading_end(struct ask *ask, bool good, void (*was_read)(struct ask *ask, bool good))
{
    good = ask_judge_caller(ask) && good;
    if (ask->kind->hand_on)
        ask->kind->hand_on(ask);
    was_read(ask, good);
}

/* ---- by a worker ------------------------------------------------------------------------------------------------- */

static void ask_reading_run(struct job *job)
{
    struct ask_reading *reading = (struct ask_reading *)job;
    reading->good = ask_read_answer(reading->ask, &reading->before, reading->here);
}

static void ask_reading_ended(struct job *job)
{
    struct ask_reading *reading = (struct ask_reading *)job;
    struct ask *ask = reading->ask;
    struct transfer_keep kept = reading->kept;
    ask->reading = NULL;
    if (job->status.code != OK) {
        ask->failure.status = job->status;
        ask->failure.ours = true;
    }
    ask_reading_end(ask, reading->good, reading->was_read); /* which may end the call: the reading is gone with it */
    if (kept.client)
        transfer_keep_end(&kept);
}

/* False if memory is out. */
static bool ask_reading_start(struct ask *ask, const struct failure *before, bool here, size_t bytes,
                              void (*was_read)(struct ask *ask, bool good))
{
    struct ask_reading *reading = arena_zalloc(rpc_call_arena(ask->call), sizeof *reading);
    if (!reading)
        return false;
    rpc_call_job(ask->call, &reading->job);
    reading->job.run = ask_reading_run;
    reading->job.ended = ask_reading_ended;
    reading->ask = ask;
    reading->before = *before;
    reading->here = here;
    reading->was_read = was_read;
    if (!here)
        transfer_keep(&ask->transfer, &reading->kept);
    ask->reading = reading;
    job_start(&reading->job, bytes);
    return true;
}

/* ---- either way -------------------------------------------------------------------------------------------------- */

void ask_read(struct ask *ask, const struct failure *before, bool here, void (*was_read)(struct ask *ask, bool good))
{
    const struct ask_kind *kind = ask->kind;
    if (here && kind->here_begun)
        kind->here_begun(ask);
    if (kind->closed)
        kind->closed(ask);
    if (!ask_judge_caller(ask)) {
        was_read(ask, false);
        return;
    }
    size_t bytes = ask->transfer.content_size + (kind->weight ? kind->weight(ask) : 0);
    if (bytes > JOB_INLINE_MAX && ask_reading_start(ask, before, here, bytes, was_read))
        return;
    ask_reading_end(ask, ask_read_answer(ask, before, here), was_read);
}

void ask_read_cancel(struct ask *ask)
{
    if (ask->reading)
        job_cancel(&ask->reading->job);
}
