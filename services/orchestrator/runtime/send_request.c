/* Requests of callers are sent to the shard of their thread; a caller that waits may leave. */
#include "engine/run_lifecycle.h"
#include "lifecycle/request_queue.h"
#include "log/ids.h"
#include "request_types.h"
#include "runner.h"
#include "thread/memory.h"
#include "thread/request.h"
#include "thread/request_type.h"
#include "thread/run.h"
#include "thread/shard.h"
#include "thread/thread.h"

#include "base/random.h"
#include "base/status.h"
#include "loop/loop.h"

static void name_thread(struct request *request, const char *request_id)
{
    char id[ID_MAX];
    request->drawn = !*request_id;
    uint64_t number = request->drawn ? random_u64() : id_hash_text(id_hash_text(ID_HASH, request->tenant), request_id);
    id_make_hashed(id, "t_", number);
    request->thread_id = xnonnull(arena_strdup(request->arena, id));
}

/* False: the request has no subject, and is a list. */
static bool find_subject(struct request *request)
{
    const struct request_type *type = request->type;
    const char *run_id = request_text(request->message, type->run_id);
    if (type->run_id && (*run_id || !type->thread_id))
        request->run_id = run_id;
    else if (type->thread_id)
        request->thread_id = request_text(request->message, type->thread_id);
    if (request->thread_id && !*request->thread_id && type->traits & REQUEST_MAKES_THREAD)
        name_thread(request, request_text(request->message, type->request_id));
    return request->run_id || request->thread_id;
}

void runner_run(struct runner *runner, struct request *request)
{
    uint32_t place = 0;
    request_prepare(runner, request);
    if (runner->closing || (runner->draining && !request->in_call)) {
        request->handoff_address = request->given ? "" : NULL;
        request_refuse(request, NULL, UNAVAILABLE, "the server is draining");
        return;
    }
    request->type = request_type_of(request->message);
    if (!request->type) {
        request_refuse(request, NULL, UNIMPLEMENTED, "the runner does not know %s", request->message->descriptor->name);
        return;
    }
    if (!find_subject(request)) {
        request->type->list(request);
        return;
    }
    if (request->run_id && !id_run_place(request->run_id, &place)) {
        request_refuse(request, NULL, NOT_FOUND, "there is no run '%.64s'", request->run_id);
        return;
    }
    request->shard = shard_of_place(runner, request->run_id ? place : id_of_place(request->tenant, request->thread_id));
    loop_post(request->shard->loop, &request->coming);
}

/* ---- the caller leaves ------------------------------------------------------------------------------------------- */

static void left_and_back(struct work *work)
{
    struct request *request = CONTAINER_OF(work, struct request, leaving);
    request->leaves = false;
    if (request->is_back)
        request->answered(request);
}

static void request_stop_waiting(struct request *request)
{
    struct run *run = request_end_wait(request);
    if (!run)
        return;
    struct thread *thread = run->thread;
    request_refuse(request, NULL, CANCELLED, "the caller went away");
    if (!request_flag(request->message, request->type->cancel_on_disconnect) || !run_is_open(run))
        return;
    run_halt(run);
    if (run_is_open(run))
        run_change(run, RENGA__V1__RUN_STATE__RUN_STATE_CANCELLED, RENGA__V1__STOP_REASON__STOP_REASON_CALLER_LEFT,
                   CANCELLED, "the caller that waited for it went away");
    loop_defer(thread->shard->loop, &thread->go);
}

static void request_left(struct work *work)
{
    struct request *request = CONTAINER_OF(work, struct request, leaving);
    request_stop_waiting(request);
    request->leaving.run = left_and_back;
    loop_post(request->loop, &request->leaving);
}

void runner_abandon(struct request *request)
{
    if (!request->shard || request->leaves || request->is_back)
        return;
    request->leaves = true;
    request->leaving = (struct work){.run = request_left};
    loop_post(request->shard->loop, &request->leaving);
}
