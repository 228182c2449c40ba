/* Requests on their way back to the loop they came from. */
#include "request.h"
#include "memory.h"
#include "request_type.h"
#include "run_message.h"
#include "shard.h"
#include "thread.h"

#include "base/budget.h"
#include "base/status.h"
#include "loop/jobs.h"
#include "rpc/rpc.h"

#include <stdarg.h>

static void request_went(struct work *work)
{
    struct request *request = CONTAINER_OF(work, struct request, going);
    request->is_back = true;
    if (!request->leaves) /* else its other message is still under way */
        request->answered(request);
}

void request_answer(struct request *request)
{
    void (*before)(struct request * request) = request->before_answer;
    request->before_answer = NULL;
    if (before && request->status.code == OK && request->response) {
        before(request);
        return;
    }
    request->waits_on = NULL; /* the run may go before the caller's leaving is seen */
    request->going.run = request_went;
    loop_post(request->loop, &request->going);
}

struct job request_job(const struct request *request, const struct thread *thread, void (*run)(struct job *job),
                       void (*ended)(struct job *job))
{
    return (struct job){
        .loop = thread->shard->loop,
        .run = run,
        .ended = ended,
        .owner = job_owner(request->tenant, request->access.principal.name),
    };
}

void request_fail(struct request *request, const struct status *st, const char *reason)
{
    request->status = *st;
    request->reason = reason;
    request->response = NULL;
    request_answer(request);
}

bool request_refuse(struct request *request, const char *reason, enum status_code code, const char *format, ...)
{
    va_list arguments;
    struct status st = {0};
    va_start(arguments, format);
    status_set(&st, code, format, arguments);
    va_end(arguments);
    request_fail(request, &st, reason);
    return false;
}

void request_complete_with(struct request *request, Renga__V1__Run *run)
{
    const struct request_type *type = request->type;
    char *response = xnonnull(arena_alloc(request->arena, type->response->sizeof_message));
    protobuf_c_message_init(type->response, response);
    *(Renga__V1__Run **)(response + type->response_run) = run;
    if (request->repeated && type->response_repeated)
        *(protobuf_c_boolean *)(response + type->response_repeated) = true;
    request->response = (ProtobufCMessage *)response;
}

bool request_hold(struct request *request, size_t size, struct status *st)
{
    return size <= BUDGET_SMALL_MAX || !request->call || rpc_call_hold(request->call, size, st);
}

void request_complete(struct request *request, const struct run *run)
{
    struct status no_room = {0};
    bool whole = request_hold(request, answer_output_size(run), &no_room);
    request_complete_with(request, answer_run(request->arena, run, whole ? ANSWER_WHOLE : ANSWER_ROW));
}

bool request_erases_thread(const struct request *request)
{
    return request->type ? request->type->traits & REQUEST_DELETES_THREAD : request->erases;
}
