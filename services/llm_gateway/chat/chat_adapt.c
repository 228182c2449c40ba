/* An optional parameter that the upstream refuses by name is left out from then on. The request is sent once more,
 * and the answer reports the missing parameter (ChatFinish.degradations, attempts). */
#include "chat_priv.h"

#include "base/log.h"

#define REFUSED 400 /* HTTP */

/* The bit of the refused parameter, if the request has it and it was sent. */
static uint32_t refused_bit(const struct chat *chat)
{
    const struct transfer *transfer = &chat->pipeline.transfer;
    const struct status *st = &chat->pipeline.failure.status;
    enum parameter parameter = capability_refused(st->field, transfer->content, transfer->content_size);
    if (st->code != INVALID_ARGUMENT || parameter == PARAMETERS)
        return 0;
    return capability_missed(chat->request, PARAMETER_BIT(parameter) & ~chat->refused_parameters);
}

bool chat_adapt(struct chat *chat)
{
    const struct pipeline *pipeline = &chat->pipeline;
    const struct target *target = pipeline->target;
    if (pipeline->transfer.http_status != REFUSED || pipeline->transfer.end != TRANSFER_COMPLETE ||
        chat->reads_events || rpc_call_cancelled(pipeline->call))
        return false;
    uint32_t bit = refused_bit(chat);
    if (!bit)
        return false;
    endpoint_health_refuse_parameters(target->health, bit);
    if (chat->adapted == target) /* once: the next call will do without both */
        return false;
    log_info("llm_gateway.adapted", "%s, model %s: %s", target->deployment->name, target->model,
             pipeline->failure.status.text);
    chat->adapted = target;
    return true;
}
