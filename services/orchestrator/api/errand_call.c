/* A unary call and the request that it sends to the shard of a thread. A worker thread checks a large request.
 *
 *      checked ---> runner_run ---> answered ---> a reply, or a refusal with its reason
 *                        ^
 *      the client leaves '--- runner_forget: the answer comes all the same, soon, and is dropped
 *
 *      another orchestrator has the thread ---> forward ---> its answer
 *                   ^                             |--- it does not answer, or gives it back, and no run works on the
 *                   |                             |    thread: done here, if the thread has no write since
 *                   '---------- 100 ms -----------'--- else, where nothing can happen twice: asked again, until
 *                                                      somebody has taken the thread up */
#include "api.h"

#include "check.h"
#include "forward.h"
#include "refuse.h"
#include "rpc/rpc.h"
#include "run/runner.h"

#include "base/clock.h"
#include "loop/jobs.h"

#define AGAIN_MS     100
#define SOON_MS      10   /* pause if the thread has moved meanwhile, and the call had no effect */
#define TAKING_UP_MS 1000 /* time for the take-over after a death, beside the leases */
#define AGAIN_LEASES 2    /* until a death is detected, and the threads left over are taken */

struct errand_call {
    struct errand errand; /* first */
    struct job checking;
    struct status unfit; /* the fault of the request */
    struct rpc_call *call;
    ProtobufCClosure reply;
    struct api *api;
    struct caller caller;
    struct forward forward; /* used if another orchestrator has the thread */
    struct status lost;     /* how that has ended, while the errand is `returned` */
    bool undone;            /* it had no effect there, or may be done twice */
    struct timer rest;
    int64_t asks_until_ns; /* 0: it was not asked again */
    bool is_resting;       /* before it is asked again */
};

/* `unfit`: how the check of the request ended. */
static bool may_enter(struct api *api, struct rpc_call *call, struct status *unfit)
{
    if (unfit->code == OK && orchestrator_open(api->orchestrator, unfit))
        return true;
    rpc_fail(call, unfit);
    return false;
}

bool api_enter(struct api *api, struct rpc_call *call, const ProtobufCMessage *request)
{
    struct status unfit = {0};
    check_request(request, &unfit);
    return may_enter(api, call, &unfit);
}

struct rights api_rights(const struct api *api, struct rpc_call *call)
{
    return (struct rights){.auth = api->auth, .principal = *rpc_call_principal(call)};
}

/* A list must name an agent, if the key may not use all agents. */
static bool may_list(struct rpc_call *call, const struct rights *rights, const ProtobufCMessage *request)
{
    const char *agent = NULL;
    struct status st = {0};
    if (request->descriptor == &renga__v1__list_runs_request__descriptor)
        agent = ((const Renga__V1__ListRunsRequest *)request)->agent;
    else if (request->descriptor == &renga__v1__list_threads_request__descriptor)
        agent = ((const Renga__V1__ListThreadsRequest *)request)->agent;
    if (!agent || !rights_are_limited(rights))
        return true;
    if (*agent ? rights_check(rights, agent, &st)
               : fail(&st, PERMISSION_DENIED, "key '%s' may use some agents alone; name one of them in agent",
                      rights->principal.name))
        return true;
    rpc_fail(call, &st);
    return false;
}

static bool is_about(const ProtobufCMessage *request, const ProtobufCMessageDescriptor *type)
{
    return request->descriptor == type;
}

/* True for idempotent requests, and for requests whose repetition is recognized. */
static bool is_repeatable(const ProtobufCMessage *request)
{
    if (is_about(request, &renga__v1__start_run_request__descriptor))
        return *((const Renga__V1__StartRunRequest *)request)->request_id;
    if (is_about(request, &renga__v1__resume_run_request__descriptor))
        return *((const Renga__V1__ResumeRunRequest *)request)->request_id;
    return is_about(request, &renga__v1__get_run_request__descriptor) ||
           is_about(request, &renga__v1__cancel_run_request__descriptor) ||
           is_about(request, &renga__v1__get_state_request__descriptor) ||
           is_about(request, &renga__v1__list_checkpoints_request__descriptor);
}

static void rested(struct timer *timer)
{
    struct errand_call *self = OWNER_OF(timer, struct errand_call, rest);
    self->is_resting = false;
    runner_run(self->api->orchestrator->runner, &self->errand);
}

static bool asks_again(struct errand_call *self, int64_t rest_ms)
{
    int64_t now_ns = clock_now_ns(), lease_ms = self->api->orchestrator->lease_ms;
    if (!self->asks_until_ns)
        self->asks_until_ns = now_ns + (AGAIN_LEASES * lease_ms + TAKING_UP_MS) * NS_PER_MS;
    if (now_ns >= self->asks_until_ns || rpc_call_cancelled(self->call)) {
        self->errand.status.retry_after_ms = self->forward.call.status.retry_after_ms = AGAIN_MS;
        return false;
    }
    self->is_resting = true;
    self->rest.expired = rested;
    loop_arm_after(self->api->loop, &self->rest, rest_ms);
    return true;
}

/* For a thread at rest there: as long as the owner's row is unchanged, the lost call had no effect; after our write it
 * cannot have an effect any more. */
static bool takes_back(struct errand_call *self, const struct status *lost)
{
    struct errand *errand = &self->errand;
    if (!errand->at_rest || rpc_call_cancelled(self->call))
        return false;
    self->lost = *lost;
    if (lost->code == ABORTED)
        self->lost.code = UNAVAILABLE; /* for our own client */
    errand->returned = errand->thread_token;
    runner_run(self->api->orchestrator->runner, errand);
    return true;
}

/* It is not there, has no room, or does not believe us: then we answer for ourselves. */
static bool is_no_answer(enum status_code code)
{
    return code == UNAVAILABLE || code == RESOURCE_EXHAUSTED || code == UNAUTHENTICATED || code == PERMISSION_DENIED;
}

static void forwarded(struct forward *forward, const ProtobufCMessage *response)
{
    struct errand_call *self = OWNER_OF(forward, struct errand_call, forward);
    const struct status *status = &forward->call.status;
    if (response) {
        self->reply(response, self->call);
        return;
    }
    bool given_back = forward_was_given_back(&forward->call);
    self->undone = given_back || (status->code == UNAVAILABLE && is_repeatable(self->errand.request));
    if ((given_back || is_no_answer(status->code)) && takes_back(self, status))
        return;
    if (!self->undone || !asks_again(self, given_back ? SOON_MS : AGAIN_MS))
        forward_refuse(self->call, &forward->call);
}

static bool hand_on(struct errand_call *self)
{
    struct errand *errand = &self->errand;
    struct status st = {0};
    self->forward.came = forwarded;
    if (forward_begin(&self->forward, self->api, self->call, errand->request, errand->elsewhere, errand->thread_token,
                      &st))
        return true;
    errand->status = st;
    self->undone = true;
    return takes_back(self, &st);
}

/* A call that was forwarded to us is given back: the sender is wrong about the owner, or the thread has just moved on.
 */
static bool goes_elsewhere(struct errand_call *self)
{
    struct errand *errand = &self->errand;
    if (self->caller.forwarded && errand->given)
        forward_give_back(self->call, &errand->status);
    if (self->caller.forwarded)
        return errand->given;
    if (errand->returned) { /* too late: another write exists, which may be this very request */
        errand->returned = 0;
        errand->status = self->lost;
        return self->undone && asks_again(self, SOON_MS);
    }
    if (!*errand->elsewhere) /* it may soon be known, or dead; the request had no effect yet */
        return asks_again(self, AGAIN_MS);
    return hand_on(self);
}

static void answered(struct errand *errand)
{
    struct errand_call *self = (struct errand_call *)errand;
    if (errand->status.code == OK)
        self->reply(errand->response, self->call);
    else if (!errand->elsewhere || !goes_elsewhere(self))
        refuse(self->call, &errand->status, errand->reason);
}

static void client_left(struct rpc_call *call, void *data)
{
    struct errand_call *self = data;
    if (!self->is_resting) {
        runner_forget(&self->errand);
        return;
    }
    loop_disarm(self->api->loop, &self->rest);
    rpc_fail_with(call, CANCELLED, "the client has left");
}

static void errand_call_run(struct errand_call *self)
{
    struct rpc_call *call = self->call;
    struct api *api = self->api;
    if (!may_enter(api, call, &self->unfit) || !caller_find(api, call, &self->caller) ||
        !may_list(call, &self->caller.rights, self->errand.request))
        return;
    self->errand.tenant = self->caller.rights.principal.tenant;
    self->errand.rights = self->caller.rights;
    self->errand.given = self->caller.thread_token;
    runner_run(api->orchestrator->runner, &self->errand);
    rpc_call_on_cancel(call, client_left, self);
}

static void errand_call_check(struct job *job)
{
    struct errand_call *self = OWNER_OF(job, struct errand_call, checking);
    check_request(self->errand.request, &self->unfit);
}

static void errand_call_checked(struct job *job)
{
    struct errand_call *self = OWNER_OF(job, struct errand_call, checking);
    if (job->status.code != OK)
        rpc_fail(self->call, &job->status);
    else if (rpc_call_cancelled(self->call))
        rpc_fail_with(self->call, CANCELLED, "the client has left");
    else
        errand_call_run(self);
}

static void client_left_early(struct rpc_call *call, void *data)
{
    struct errand_call *self = data;
    job_cancel(&self->checking);
}

void errand_call_begin(struct api *api, struct rpc_call *call, const ProtobufCMessage *request, ProtobufCClosure reply)
{
    struct errand_call *self = arena_zalloc(rpc_call_arena(call), sizeof *self);
    if (!self) {
        rpc_fail_with(call, RESOURCE_EXHAUSTED, "no memory for the call");
        return;
    }
    self->call = call;
    self->reply = reply;
    self->api = api;
    self->errand = (struct errand){
        .loop = api->loop,
        .request = request,
        .deadline_ns = rpc_call_deadline_ns(call),
        .trace = rpc_call_trace_apart(call),
        .in_call = rpc_call_is_local(call),
        .arena = rpc_call_arena(call),
        .answered = answered,
        .owner = self,
    };
    rpc_call_job(call, &self->checking);
    self->checking.run = errand_call_check;
    self->checking.ended = errand_call_checked;
    rpc_call_on_cancel(call, client_left_early, self);
    job_start(&self->checking, rpc_call_received_bytes(call));
}
