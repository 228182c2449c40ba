#include "model_task/check.h"

#include "base/field_check.h"

#include "proto/contract_check.h"

bool check_model_request(const ProtobufCMessage *request, const Renga__V1__Prompting *prompting, struct status *st)
{
    if (!contract_check(request, st))
        return false;
    return !prompting || !prompting->without_model || !prompting->model_required ||
           fail_field(st, "prompting.without_model", "is true, and so is model_required; at most one of them can be");
}
