/* An instance of the Orchestrator service: each loop has one. process/process.h has the parts that all instances
 * share. */
#ifndef RENGA_ORCHESTRATOR_API_H
#define RENGA_ORCHESTRATOR_API_H

#include "process/process.h"
#include "renga/v1/orchestrator.pb-c.h"
#include "thread/access_control.h"

struct unary_call;
struct rpc_auth;
struct rpc_call;
struct watch_call;

struct api {
    Renga__V1__Orchestrator_Service base; /* first */
    struct loop *loop;
    struct orchestrator *orchestrator;
    const struct rpc_auth *auth; /* NULL: every client may call every method */
    struct watch_call *watches;  /* under way */
    bool draining;
};

/* unary_call.c: calls that the runner answers at once or when a run has stopped. */
void unary_call_begin(struct api *api, struct rpc_call *call, const ProtobufCMessage *request, ProtobufCClosure reply);

/* watch.c */
void watch_begin(struct api *api, struct rpc_call *call, const Renga__V1__WatchRunRequest *request,
                 Renga__V1__RunEvent_Closure reply);
/* Ends those of other processes with UNAVAILABLE; clients come back with the last id they saw. */
void watches_end(struct api *api);

/* describe.c */
void list_agents(struct api *api, struct rpc_call *call, Renga__V1__ListAgentsResponse_Closure reply);
void describe_agent(struct api *api, struct rpc_call *call, const Renga__V1__DescribeAgentRequest *request,
                    Renga__V1__DescribeAgentResponse_Closure reply);

/* The access rights of the caller. */
struct access_control api_access_control(const struct api *api, struct rpc_call *call);

/* The first step of every call: checks the request and that the store is open. False: the call is refused. */
bool api_enter(struct api *api, struct rpc_call *call, const ProtobufCMessage *request);

#endif
