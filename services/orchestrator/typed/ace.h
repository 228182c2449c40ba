/* Private to typed/: the service AceGenerator. Each method is a run of an agent; its file has the request, the input
 * and the answer. */
#ifndef RENGA_ORCHESTRATOR_ACE_H
#define RENGA_ORCHESTRATOR_ACE_H

#include "agent_run.h"

#include "renga/v1/ace.pb-c.h"

struct ace_service {
    Renga__V1__AceGenerator_Service base; /* first */
    ProtobufCService *orchestrator;       /* in this process */
};

/* ---- ace_check.c: requests; INVALID_ARGUMENT names the field ----------------------------------------------------- */

bool ace_check_query(const char *query, struct status *st);
bool ace_check_top_k(int32_t top_k, struct status *st);

/* ---- the methods, a file each ------------------------------------------------------------------------------------ */

/* ace_generate.c */
void ace_generate(Renga__V1__AceGenerator_Service *self, const Renga__V1__GenerateRequest *request,
                  Renga__V1__GenerateResponse_Closure reply, void *data);

#endif
