/* The rules that relate several fields of a request; the contract's options have the bounds of each field. */
#include "check.h"

#include "proto/contract_check.h"

#include "renga/v1/orchestrator.pb-c.h"

#include <stdio.h>
#include <string.h>

#define TIMEOUT_JSON_MAX 32768 /* bytes of update_json in an InterruptTimeout */

static bool check_outcome(const char *field, const char *outcome, const char *as_node, struct status *st)
{
    return !outcome[0] || as_node[0] ||
           fail_field(st, field, "is '%.64s', but goes with as_node, which is empty", outcome);
}

static bool check_resume_update(const Renga__V1__ResumeUpdate *update, struct status *st)
{
    return !update || check_outcome("update.outcome", update->outcome, update->as_node, st);
}

static bool check_interrupt_timeout(const Renga__V1__InterruptTimeout *limit, struct status *st)
{
    if (!limit || !limit->update)
        return true;
    if (limit->then == RENGA__V1__INTERRUPT_DEFAULT__INTERRUPT_DEFAULT_CANCEL)
        return fail_field(st, "interrupt_timeout.update", "goes with RESUME; leave it out");
    size_t length = strlen(limit->update->update_json);
    if (length > TIMEOUT_JSON_MAX)
        return fail_field(st, "update.update_json", "has %zu bytes; at most %d are allowed here", length,
                          TIMEOUT_JSON_MAX);
    return check_resume_update(limit->update, st);
}

static bool check_start(const Renga__V1__StartRunRequest *request, struct status *st)
{
    if (request->checkpoint_id[0] && !request->thread_id[0])
        return fail_field(st, "thread_id", "is empty; checkpoint_id needs the thread it is of");
    return check_interrupt_timeout(request->interrupt_timeout, st);
}

static bool check_answers(const Renga__V1__ResumeRunRequest *request, struct status *st)
{
    char field[STATUS_FIELD_MAX];
    for (size_t i = 0; i < request->n_answers; i++)
        for (size_t other = 0; other < i; other++)
            if (strcmp(request->answers[other]->interrupt_id, request->answers[i]->interrupt_id) == 0) {
                snprintf(field, sizeof field, "answers[%zu].interrupt_id", i);
                return fail_field(st, field, "is that of answers[%zu] too; answer each question once", other);
            }
    return true;
}

static bool check_resume(const Renga__V1__ResumeRunRequest *request, struct status *st)
{
    bool bare = request->maybe_answer_json_case == RENGA__V1__RESUME_RUN_REQUEST__MAYBE_ANSWER_JSON_ANSWER_JSON;
    if (!request->run_id[0] && !request->thread_id[0])
        return fail_field(st, "run_id", "is empty, and so is thread_id; one of them is required");
    if (bare && request->n_answers)
        return fail_field(st, "answer_json", "does not go together with answers; give one or the other");
    return check_answers(request, st) && check_resume_update(request->update, st);
}

bool check_request(const ProtobufCMessage *request, struct status *st)
{
    if (!contract_check(request, st))
        return false;
    if (request->descriptor == &renga__v1__start_run_request__descriptor)
        return check_start((const Renga__V1__StartRunRequest *)request, st);
    if (request->descriptor == &renga__v1__resume_run_request__descriptor)
        return check_resume((const Renga__V1__ResumeRunRequest *)request, st);
    const Renga__V1__UpdateStateRequest *update = (const Renga__V1__UpdateStateRequest *)request;
    return request->descriptor != &renga__v1__update_state_request__descriptor ||
           check_outcome("outcome", update->outcome, update->as_node, st);
}
