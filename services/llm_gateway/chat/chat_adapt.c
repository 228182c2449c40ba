/* A parameter that the upstream refuses by name, and that the answer can do without, is left out from then on; the
 * request goes out once more, and the answer says what was missing (ChatFinish.degradations, attempts). */
#include "chat_priv.h"

#include "base/log.h"
#include "base/text.h"

#include <string.h>

#define REFUSED 400 /* HTTP */

/* The one that is refused, where the request has it and it was sent. */
static uint32_t refused_bit(struct chat *chat, struct failure *failure)
{
    const struct transfer *transfer = &chat->transfer;
    chat->deployment->provider->read_error(transfer->http_status, transfer->content, transfer->content_size, failure);
    enum parameter parameter = capability_refused(failure->status.field, transfer->content, transfer->content_size);
    if (failure->status.code != INVALID_ARGUMENT || parameter == PARAMETERS)
        return 0;
    return capability_missed(chat->answer.request, PARAMETER_BIT(parameter) & ~chat->left_out);
}

static void note(struct chat *chat, const struct failure *failure)
{
    struct attempt *attempt = &chat->refused;
    char *text = attempt->error;
    size_t size = text_cut(failure->status.text, strlen(failure->status.text), ATTEMPT_ERROR_MAX);
    memcpy(text, failure->status.text, size);
    text[size] = '\0';
    deployment_redact(chat->deployment, text);
    chat_attempt(chat, attempt);
    attempt->told.status_code = INVALID_ARGUMENT;
    attempt->told.error = text;
}

bool chat_adapt(struct chat *chat)
{
    struct failure failure = {0};
    if (chat->transfer.http_status != REFUSED || chat->transfer.end != TRANSFER_COMPLETE || chat->reads_events ||
        rpc_call_cancelled(chat->call))
        return false;
    uint32_t bit = refused_bit(chat, &failure);
    if (!bit)
        return false;
    deployment_learn(chat->deployment, chat->model, bit);
    if (chat->adapted) /* once: the next call will do without both */
        return false;
    note(chat, &failure);
    log_info("llm_gateway.adapted", "%s, model %s: %s", chat->deployment->name, chat->model, chat->refused.error);
    chat->adapted = true;
    chat->answer.usage.model_calls++;
    chat_ask(chat);
    return true;
}
