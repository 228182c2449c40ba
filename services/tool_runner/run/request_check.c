/* The rules that relate several fields; the contract's options have the bounds of each field. */
#include "request_check.h"

#include "record/request_name.h"
#include "tools/tool.h"

#include "proto/contract_check.h"

#include <stdio.h>
#include <string.h>

bool tool_name_is_legal(const char *name)
{
    size_t length = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-");
    return length > 0 && length <= TOOL_NAME_MAX && name[length] == '\0';
}

/* Ids are names here, and differ; at the gateway a model may have written any text. */
static bool check_calls(const Renga__V1__RunToolsRequest *request, struct status *st)
{
    char field[STATUS_FIELD_MAX];
    if (request->n_calls > RUN_CALLS_MAX) /* room of callers; the contract allows as many */
        return fail_field(st, "calls", "has %zu entries; 1 to %d are allowed", request->n_calls, RUN_CALLS_MAX);
    for (size_t i = 0; i < request->n_calls; i++) {
        const char *id = request->calls[i]->call->id;
        snprintf(field, sizeof field, "calls[%zu].call.id", i);
        if (!request_check_name(field, id, SIZE_MAX, true, st))
            return false;
        for (size_t k = 0; k < i; k++)
            if (strcmp(request->calls[k]->call->id, id) == 0)
                return fail_field(st, field, "is that of calls[%zu] too; ids are all different", k);
    }
    return true;
}

static bool request_check_origin(const Renga__V1__CallOrigin *origin, struct status *st)
{
    return !origin || (request_check_name("origin.run_id", origin->run_id, SIZE_MAX, false, st) &&
                       request_check_name("origin.thread_id", origin->thread_id, SIZE_MAX, false, st) &&
                       request_check_name("origin.agent", origin->agent, SIZE_MAX, false, st) &&
                       request_check_name("origin.node", origin->node, SIZE_MAX, false, st));
}

bool request_check(const Renga__V1__RunToolsRequest *request, struct status *st)
{
    return contract_check(&request->base, st) && check_calls(request, st) && request_check_origin(request->origin, st);
}
