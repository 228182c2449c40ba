/* Reading an answer: a short one in the loop, a long one by a worker thread, which also asks a provider that answers in
 * this process.
 *
 *      pipeline_read --- short ------------------ read ---.
 *          '------- long ---- job: read -------------+--- handed on --- was_read
 *          '------- the caller has gone -------------'   */
#include "pipeline_priv.h"
#include "pipeline_result.h"

#include "loop/jobs.h"
#include "provider/provider.h"

/* Bytes, as `weight` counts them. If the queue of the workers is full, a provider in this process answers these in the
 * loop: refused, an agent would fall back for want of a few milliseconds. */
#define CROWDED_INLINE_MAX (10 * JOB_INLINE_MAX)

struct pipeline_reading {
    struct job job; /* first */
    struct pipeline *pipeline;
    struct failure before;
    struct transfer_keep kept; /* not of a provider in this process */
    bool here, good;
    size_t bytes;
    void (*was_read)(struct pipeline *pipeline, bool good);
};

/* It asks no upstream, so it cannot fail as an upstream does: if it cannot stand in, the caller gets the failure that
 * it was to stand in for. */
static void pipeline_answer_local(struct pipeline *pipeline, const struct failure *before)
{
    struct failure *failure = &pipeline->failure;
    if (pipeline->kind->answer_locally)
        pipeline->kind->answer_locally(pipeline);
    else
        fail(&failure->status, FAILED_PRECONDITION, "the provider %s only chats",
             pipeline->target->deployment->provider->name);
    if (failure->status.code == OK)
        return;
    if (before->status.code != OK)
        *failure = *before;
    failure->ours = true;
}

static bool pipeline_read_answer(struct pipeline *pipeline, const struct failure *before, bool here)
{
    if (here)
        pipeline_answer_local(pipeline, before);
    return pipeline->kind->read_result(pipeline);
}

static void pipeline_reading_end(struct pipeline *pipeline, bool good,
                                 void (*was_read)(struct pipeline *pipeline, bool good))
{
    good = pipeline_check_caller(pipeline) && good;
    if (pipeline->kind->forward)
        pipeline->kind->forward(pipeline);
    was_read(pipeline, good);
}

/* ---- by a worker ------------------------------------------------------------------------------------------------- */

static void pipeline_reading_run(struct job *job)
{
    struct pipeline_reading *reading = (struct pipeline_reading *)job;
    reading->good = pipeline_read_answer(reading->pipeline, &reading->before, reading->here);
}

static void pipeline_reading_ended(struct job *job)
{
    struct pipeline_reading *reading = (struct pipeline_reading *)job;
    struct pipeline *pipeline = reading->pipeline;
    struct transfer_keep kept = reading->kept;
    pipeline->reading = NULL;
    if (job->status.code == RESOURCE_EXHAUSTED && reading->here && reading->bytes <= CROWDED_INLINE_MAX) {
        reading->good = pipeline_read_answer(pipeline, &reading->before, true);
    } else if (job->status.code != OK) {
        pipeline->failure.status = job->status;
        pipeline->failure.ours = true;
    }
    pipeline_reading_end(pipeline, reading->good,
                         reading->was_read); /* which may end the call: the reading is gone with it */
    if (kept.client)
        transfer_keep_end(&kept);
}

/* False if memory is out. */
static bool pipeline_reading_start(struct pipeline *pipeline, const struct failure *before, bool here, size_t bytes,
                                   void (*was_read)(struct pipeline *pipeline, bool good))
{
    struct pipeline_reading *reading = arena_zalloc(rpc_call_arena(pipeline->call), sizeof *reading);
    if (!reading)
        return false;
    rpc_call_job(pipeline->call, &reading->job);
    reading->job.run = pipeline_reading_run;
    reading->job.ended = pipeline_reading_ended;
    reading->pipeline = pipeline;
    reading->before = *before;
    reading->here = here;
    reading->bytes = bytes;
    reading->was_read = was_read;
    if (!here)
        transfer_keep(&pipeline->transfer, &reading->kept);
    pipeline->reading = reading;
    job_start(&reading->job, bytes);
    return true;
}

/* ---- either way -------------------------------------------------------------------------------------------------- */

void pipeline_read(struct pipeline *pipeline, const struct failure *before, bool here,
                   void (*was_read)(struct pipeline *pipeline, bool good))
{
    const struct pipeline_kind *kind = pipeline->kind;
    if (here && kind->local_begun)
        kind->local_begun(pipeline);
    if (kind->closed)
        kind->closed(pipeline);
    if (!pipeline_check_caller(pipeline)) {
        was_read(pipeline, false);
        return;
    }
    size_t bytes = pipeline->transfer.content_size + (kind->weight ? kind->weight(pipeline) : 0);
    if (bytes > JOB_INLINE_MAX && pipeline_reading_start(pipeline, before, here, bytes, was_read))
        return;
    pipeline_reading_end(pipeline, pipeline_read_answer(pipeline, before, here), was_read);
}

void pipeline_read_cancel(struct pipeline *pipeline)
{
    if (pipeline->reading)
        job_cancel(&pipeline->reading->job);
}
