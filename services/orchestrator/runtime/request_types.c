#include "request_types.h"
#include "history/thread_requests.h"
#include "lifecycle/request_queue.h"
#include "resume_run.h"
#include "start_run.h"
#include "upgrade/agent_versions.h"
#include "upgrade/migrate_run.h"
#include "watch_run.h"

#include <stddef.h>

#define MESSAGE(name)       .message = &renga__v1__##name##__descriptor
#define FIELD(Name, member) .member = offsetof(Renga__V1__##Name, member)
#define RUN_ANSWER(name, Name)                                                                                         \
    .response = &renga__v1__##name##__descriptor, .response_run = offsetof(Renga__V1__##Name, run)

static const struct request_type types[] = {
    {MESSAGE(start_run_request), .serve = request_start_run, .repeat = request_repeat_run,
     .traits = REQUEST_MAKES_THREAD | REQUEST_RECOGNIZED, FIELD(StartRunRequest, thread_id),
     FIELD(StartRunRequest, request_id), FIELD(StartRunRequest, agent), FIELD(StartRunRequest, wait),
     FIELD(StartRunRequest, cancel_on_disconnect), RUN_ANSWER(start_run_response, StartRunResponse),
     .response_repeated = offsetof(Renga__V1__StartRunResponse, repeated_request)},
    {MESSAGE(get_run_request), .serve = request_get_run, .traits = REQUEST_IDEMPOTENT | REQUEST_SHOWS_RUN,
     FIELD(GetRunRequest, run_id), RUN_ANSWER(get_run_response, GetRunResponse)},
    {MESSAGE(cancel_run_request), .serve = request_cancel_run, .traits = REQUEST_IDEMPOTENT,
     FIELD(CancelRunRequest, run_id), RUN_ANSWER(cancel_run_response, CancelRunResponse)},
    {MESSAGE(resume_run_request), .serve = request_resume_run, .repeat = request_repeat_run,
     .traits = REQUEST_RECOGNIZED, FIELD(ResumeRunRequest, thread_id), FIELD(ResumeRunRequest, run_id),
     FIELD(ResumeRunRequest, request_id), FIELD(ResumeRunRequest, wait), FIELD(ResumeRunRequest, cancel_on_disconnect),
     RUN_ANSWER(resume_run_response, ResumeRunResponse),
     .response_repeated = offsetof(Renga__V1__ResumeRunResponse, repeated_request)},
    {MESSAGE(watch_run_request), .serve = request_watch_run, FIELD(WatchRunRequest, run_id)},
    {MESSAGE(migrate_run_request), .serve = history_migrate, FIELD(MigrateRunRequest, run_id)},
    {MESSAGE(get_state_request), .serve = request_get_state, .traits = REQUEST_IDEMPOTENT | REQUEST_NEEDS_THREAD,
     FIELD(GetStateRequest, thread_id)},
    {MESSAGE(update_state_request), .serve = request_serve_update, .repeat = request_repeat_update,
     .traits = REQUEST_NEEDS_THREAD, FIELD(UpdateStateRequest, thread_id), FIELD(UpdateStateRequest, request_id)},
    {MESSAGE(list_checkpoints_request), .serve = request_list_checkpoints,
     .traits = REQUEST_IDEMPOTENT | REQUEST_NEEDS_THREAD, FIELD(ListCheckpointsRequest, thread_id)},
    {MESSAGE(fork_thread_request), .serve = history_fork, .repeat = request_repeat_fork, .traits = REQUEST_MAKES_THREAD,
     .thread_id = offsetof(Renga__V1__ForkThreadRequest, new_thread_id), FIELD(ForkThreadRequest, request_id)},
    {MESSAGE(copy_thread_request), .serve = history_copy, .repeat = request_repeat_copy, .traits = REQUEST_MAKES_THREAD,
     .thread_id = offsetof(Renga__V1__CopyThreadRequest, new_thread_id), FIELD(CopyThreadRequest, request_id)},
    {MESSAGE(delete_thread_request), .serve = request_delete_thread, .traits = REQUEST_DELETES_THREAD,
     FIELD(DeleteThreadRequest, thread_id)},
    {MESSAGE(list_runs_request), .list = request_list_runs, FIELD(ListRunsRequest, agent)},
    {MESSAGE(list_threads_request), .list = request_list_threads, FIELD(ListThreadsRequest, agent)},
    {MESSAGE(describe_agent_request), .list = request_describe_agent},
};

const struct request_type *request_type_of(const ProtobufCMessage *message)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].message == message->descriptor)
            return &types[i];
    return NULL;
}

bool request_is_repeatable(const ProtobufCMessage *message)
{
    const struct request_type *type = request_type_of(message);
    return type && (type->traits & REQUEST_IDEMPOTENT ||
                    (type->traits & REQUEST_RECOGNIZED && *request_text(message, type->request_id)));
}
