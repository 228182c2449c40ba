/* A unary call and the request that it sends to the shard of a thread. A worker thread checks a large request.
 *
 *      checked ---> runner_run ---> answered ---> a reply, or a refusal with its reason
 *                        ^
 *      the client leaves '--- runner_abandon: the answer comes all the same, soon, and is dropped
 *
 *      another orchestrator has the thread ---> forward ---> its answer
 *                   ^                             |--- it does not answer, or gives it back, and no run works on the
 *                   |                             |    thread: done here, if the thread has no write since
 *                   '---------- 100 ms -----------'--- else it is sent again, if it is idempotent or was
 *                                                      given back, until an orchestrator owns the thread */
#include "api.h"
#include "graph/agents.h"
#include "graph/graph.h"
#include "thread/request.h"

#include "check.h"
#include "collection_check.h"
#include "forward.h"
#include "refuse.h"
#include "rpc/rpc.h"
#include "runtime/request_types.h"
#include "runtime/runner.h"

#include "base/clock.h"
#include "loop/jobs.h"

#define AGAIN_MS     100
#define SOON_MS      10   /* pause if the thread has moved meanwhile, and the call had no effect */
#define TAKING_UP_MS 1000 /* time for the take-over after a death, beside the leases */
#define AGAIN_LEASES 2    /* until a death is detected, and the threads left over are taken */

struct unary_call {
    struct request request; /* first */
    struct job checking;
    struct status unfit;                 /* the fault of the request */
    struct collection_check collections; /* of StartRun: those that its input names */
    struct rpc_call *call;
    ProtobufCClosure reply;
    struct api *api;
    struct caller caller;
    struct forward forward; /* used if another orchestrator has the thread */
    struct status lost;     /* how that has ended, while the request is `returned` */
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

bool api_enter(struct api *api, struct rpc_call *call, const ProtobufCMessage *message)
{
    struct status unfit = {0};
    check_request(message, &unfit);
    return may_enter(api, call, &unfit);
}

struct access_control api_access_control(const struct api *api, struct rpc_call *call)
{
    return (struct access_control){.auth = api->auth, .principal = *rpc_call_principal(call)};
}

/* A list must name an agent, if the key may not use all agents. */
static bool may_list(struct rpc_call *call, const struct access_control *access, const ProtobufCMessage *message)
{
    const struct request_type *type = request_type_of(message);
    struct status st = {0};
    if (!type || !type->list || !type->agent || !access_control_is_limited(access))
        return true;
    const char *agent = request_text(message, type->agent);
    if (*agent ? access_control_check(access, agent, &st)
               : fail(&st, PERMISSION_DENIED, "key '%s' may use some agents alone; name one of them in agent",
                      access->principal.name))
        return true;
    rpc_fail(call, &st);
    return false;
}

static void unary_call_rested(struct timer *timer)
{
    struct unary_call *self = CONTAINER_OF(timer, struct unary_call, rest);
    self->is_resting = false;
    runner_run(self->api->orchestrator->runner, &self->request);
}

static bool asks_again(struct unary_call *self, int64_t rest_ms)
{
    int64_t now_ns = clock_now_ns(), lease_ms = self->api->orchestrator->lease_ms;
    if (!self->asks_until_ns)
        self->asks_until_ns = now_ns + (AGAIN_LEASES * lease_ms + TAKING_UP_MS) * NS_PER_MS;
    if (now_ns >= self->asks_until_ns || rpc_call_cancelled(self->call)) {
        self->request.status.retry_after_ms = self->forward.call.status.retry_after_ms = AGAIN_MS;
        return false;
    }
    self->is_resting = true;
    self->rest.expired = unary_call_rested;
    loop_arm_after(self->api->loop, &self->rest, rest_ms);
    return true;
}

/* For a thread at rest there: as long as the owner's row is unchanged, the lost call had no effect; after our write it
 * cannot have an effect any more. */
static bool takes_back(struct unary_call *self, const struct status *lost)
{
    struct request *request = &self->request;
    if (!request->at_rest || rpc_call_cancelled(self->call))
        return false;
    self->lost = *lost;
    if (lost->code == ABORTED)
        self->lost.code = UNAVAILABLE; /* for our own client */
    request->returned = request->thread_token;
    runner_run(self->api->orchestrator->runner, request);
    return true;
}

/* The other orchestrator is unreachable, overloaded or refuses our key: this one answers. */
static bool is_no_answer(enum status_code code)
{
    return code == UNAVAILABLE || code == RESOURCE_EXHAUSTED || code == UNAUTHENTICATED || code == PERMISSION_DENIED;
}

static void unary_call_forwarded(struct forward *forward, const ProtobufCMessage *response)
{
    struct unary_call *self = CONTAINER_OF(forward, struct unary_call, forward);
    const struct status *status = &forward->call.status;
    if (response) {
        self->reply(response, self->call);
        return;
    }
    bool given_back = forward_was_given_back(&forward->call);
    self->undone = given_back || (status->code == UNAVAILABLE && request_is_repeatable(self->request.message));
    if ((given_back || is_no_answer(status->code)) && takes_back(self, status))
        return;
    if (!self->undone || !asks_again(self, given_back ? SOON_MS : AGAIN_MS))
        forward_refuse(self->call, &forward->call);
}

static bool unary_call_hand_on(struct unary_call *self)
{
    struct request *request = &self->request;
    struct status st = {0};
    self->forward.came = unary_call_forwarded;
    if (forward_begin(&self->forward, self->api, self->call, request->message, request->handoff_address,
                      request->thread_token, &st))
        return true;
    request->status = st;
    self->undone = true;
    return takes_back(self, &st);
}

/* A call that was forwarded to us is given back: the sender is wrong about the owner, or the thread has just moved on.
 */
static bool is_handed_off(struct unary_call *self)
{
    struct request *request = &self->request;
    if (self->caller.forwarded && request->given)
        forward_give_back(self->call, &request->status);
    if (self->caller.forwarded)
        return request->given;
    if (request->returned) { /* too late: another write exists, which may be this very request */
        request->returned = 0;
        request->status = self->lost;
        return self->undone && asks_again(self, SOON_MS);
    }
    if (!*request->handoff_address) /* it may soon be known, or declared dead; the request had no effect yet */
        return asks_again(self, AGAIN_MS);
    return unary_call_hand_on(self);
}

static void unary_call_answered(struct request *request)
{
    struct unary_call *self = (struct unary_call *)request;
    if (request->status.code == OK)
        self->reply(request->response, self->call);
    else if (!request->handoff_address || !is_handed_off(self))
        refuse(self->call, &request->status, request->reason);
}

static void unary_call_client_left(struct rpc_call *call, void *data)
{
    struct unary_call *self = data;
    if (!self->is_resting) {
        runner_abandon(&self->request);
        return;
    }
    loop_disarm(self->api->loop, &self->rest);
    rpc_fail_with(call, CANCELLED, "the client has left");
}

static void unary_call_send(struct unary_call *self)
{
    runner_run(self->api->orchestrator->runner, &self->request);
    rpc_call_on_cancel(self->call, unary_call_client_left, self);
}

static void unary_call_collections_checked(struct collection_check *check, const struct status *st)
{
    struct unary_call *self = CONTAINER_OF(check, struct unary_call, collections);
    self->request.unfit_if_new = *st;
    if (rpc_call_cancelled(self->call))
        rpc_fail_with(self->call, CANCELLED, "the client has left");
    else
        unary_call_send(self);
}

static void unary_call_run(struct unary_call *self)
{
    struct rpc_call *call = self->call;
    struct api *api = self->api;
    if (!may_enter(api, call, &self->unfit) || !caller_find(api, call, &self->caller) ||
        !may_list(call, &self->caller.access, self->request.message))
        return;
    self->request.tenant = self->caller.access.principal.tenant;
    self->request.access = self->caller.access;
    self->request.given = self->caller.thread_token;
    if (!self->collections.count) {
        unary_call_send(self);
        return;
    }
    self->collections.principal = &self->caller.access.principal;
    collection_check_begin(&self->collections);
}

/* A typed service has checked its own. */
static void find_collections(struct unary_call *self, const Renga__V1__StartRunRequest *message)
{
    size_t size;
    struct status ignored = {0};
    struct orchestrator *orchestrator = self->api->orchestrator;
    struct collection_check *check = &self->collections;
    check->tool_runner = orchestrator->services.peers[PEER_TOOL_RUNNER];
    if (!check->tool_runner || rpc_call_metadata(self->call, COLLECTIONS_CHECKED_KEY, &size))
        return;
    struct agent *agent = agents_find(orchestrator->agents, message->agent, message->graph_version, &ignored);
    if (!agent)
        return;
    struct arena *arena = rpc_call_arena(self->call);
    check->call = self->call;
    check->checked = unary_call_collections_checked;
    check->count = collection_names_of_input(agent->graph, message->input_json, arena, &check->names);
    if (check->count)
        check->field = arena_printf(arena, "input_json.%s", agent->graph->collections->name);
    agent_release(orchestrator->agents, agent);
}

static void unary_call_check(struct job *job)
{
    struct unary_call *self = CONTAINER_OF(job, struct unary_call, checking);
    check_request(self->request.message, &self->unfit);
    if (self->unfit.code == OK && self->request.message->descriptor == &renga__v1__start_run_request__descriptor)
        find_collections(self, (const Renga__V1__StartRunRequest *)self->request.message);
}

static void unary_call_checked(struct job *job)
{
    struct unary_call *self = CONTAINER_OF(job, struct unary_call, checking);
    if (job->status.code != OK)
        rpc_fail(self->call, &job->status);
    else if (rpc_call_cancelled(self->call))
        rpc_fail_with(self->call, CANCELLED, "the client has left");
    else
        unary_call_run(self);
}

static void client_left_early(struct rpc_call *call, void *data)
{
    struct unary_call *self = data;
    job_cancel(&self->checking);
}

void unary_call_begin(struct api *api, struct rpc_call *call, const ProtobufCMessage *message, ProtobufCClosure reply)
{
    struct unary_call *self = arena_zalloc(rpc_call_arena(call), sizeof *self);
    if (!self) {
        rpc_fail_with(call, RESOURCE_EXHAUSTED, "no memory for the call");
        return;
    }
    self->call = call;
    self->reply = reply;
    self->api = api;
    self->request = (struct request){
        .loop = api->loop,
        .message = message,
        .deadline_ns = rpc_call_deadline_ns(call),
        .trace = rpc_call_trace_apart(call),
        .in_call = rpc_call_is_local(call),
        .arena = rpc_call_arena(call),
        .call = call,
        .answered = unary_call_answered,
        .owner = self,
    };
    rpc_call_job(call, &self->checking);
    self->checking.run = unary_call_check;
    self->checking.ended = unary_call_checked;
    rpc_call_on_cancel(call, client_left_early, self);
    job_start(&self->checking, rpc_call_received_bytes(call));
}
