/* Requests on their way: to the shard of their thread, through the thread's queue, and back to the loop they came
 * from. */
#include "request_queue.h"
#include "journal/journal_writer.h"
#include "log/ids.h"
#include "quarantine/crashes.h"
#include "thread/memory.h"
#include "thread/request.h"
#include "thread/request_type.h"
#include "thread/run.h"
#include "thread/shard.h"
#include "thread/thread.h"
#include "thread_lifecycle.h"

#include "base/status.h"
#include "loop/loop.h"

#include <stdio.h>
#include <stdlib.h>

#define AGAIN_MAX 8 /* threads that are lost before it is served; then its caller rests before it asks again */

void request_answer_on_commit(struct request *request, struct thread *thread, void *response)
{
    request->response = response;
    log_await(thread, request);
}

/* ---- in the shard ------------------------------------------------------------------------------------------------ */

static bool asks_for_row(const struct request *request)
{
    return request->type && request->place && request->type->traits & REQUEST_SHOWS_RUN;
}

void request_refuse_in_quarantine(struct thread *thread)
{
    struct status why = crashes_quarantine_status(thread);
    while (thread->first_request) {
        struct request *request = thread->first_request;
        thread->first_request = request->next;
        if (asks_for_row(request))
            request_serve(request, thread);
        else
            request_fail(request, &why, NULL);
    }
    thread->last_request = NULL;
}

void request_queue(struct request *request, struct thread *thread)
{
    request->next = NULL;
    if (thread->last_request)
        thread->last_request->next = request;
    else
        thread->first_request = request;
    thread->last_request = request;
    if (crashes_is_in_quarantine(thread))
        request_refuse_in_quarantine(thread);
    loop_defer(thread->shard->loop, &thread->go);
}

static void request_send_to_run(struct shard *shard, struct request *request)
{
    struct run *run = shard_find_run(shard, request->tenant, request->run_id);
    if (run)
        request_queue(request, run->thread);
    else
        request_read_run(request, shard);
}

static void request_came(struct work *work)
{
    struct request *request = CONTAINER_OF(work, struct request, coming);
    struct shard *shard = request->shard;
    request->arrival = ++shard->arrivals;
    if (request->run_id)
        request_send_to_run(shard, request);
    else
        request_queue(request, thread_get(shard, request->tenant, request->thread_id, request->drawn));
}

/* ---- there ------------------------------------------------------------------------------------------------------- */

/* Sets it to the state of a new request. */
static void request_reset(struct request *request)
{
    request->place = request->waits_on = NULL;
    request->row_asked = 0;
    request->repeated = request->checked = request->looked_up = request->drawn = request->at_rest = false;
    request->replaces = false;
    request->response = NULL;
    request->reason = request->handoff_address = NULL;
    request->status = (struct status){0};
    request->coming = (struct work){.run = request_came};
    request->going = (struct work){0};
}

void request_prepare(struct runner *runner, struct request *request)
{
    request_reset(request);
    request->runner = runner;
    request->type = NULL;
    request->thread_id = request->run_id = NULL;
    request->leaves = request->is_back = false;
    request->again = 0;
    request->shard = NULL;
}

void request_do_maintenance(struct runner *runner, struct request *request, const char *thread_id)
{
    void *place = request->place;
    request_prepare(runner, request);
    request->place = place;
    request->thread_id = thread_id;
    request->shard = shard_of_place(runner, id_of_place(request->tenant, thread_id));
    loop_post(request->shard->loop, &request->coming);
}

void request_come_again(struct request *request)
{
    request_reset(request);
    if (request->thread_id)
        request->run_id = NULL; /* of a request that was repeated */
    loop_post(request->shard->loop, &request->coming);
}

/* From inside its shard: the fields of the loop that it comes from are left alone, since its caller may leave now. */
void request_retry(struct request *request, const struct status *why)
{
    if (!request->message || request->again++ == AGAIN_MAX || request->runner->draining) {
        request->handoff_address = request->message && (request->given || !request->runner->draining) ? "" : NULL;
        request_fail(request, why, NULL);
        return;
    }
    request_come_again(request);
}

/* ---- the caller leaves ------------------------------------------------------------------------------------------- */

static bool request_remove_from(struct request **list, struct request *request)
{
    while (*list && *list != request)
        list = &(*list)->next;
    if (!*list)
        return false;
    *list = request->next;
    return true;
}

struct run *request_end_wait(struct request *request)
{
    struct run *run = request->waits_on;
    request->waits_on = NULL;
    return run && (request_remove_from(&run->waiters, request) || request_remove_from(&run->quiet_waiters, request))
               ? run
               : NULL;
}
