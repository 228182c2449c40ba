/* What became of a request, as far as it is the same for all that is asked: the caller, HTTP, the transport. */
#include "ask_judge.h"

#include "base/clock.h"
#include "gateway_priv.h"
#include "provider/provider.h"
#include "route/deployment.h"
#include "route/route.h"
#include "upstream/retry_hint.h"

#define BUSY_RETRY_MS 1000 /* our own queue is full: it moves within a second or not at all */

static const char *header_of(const void *transfer, const char *name)
{
    return transfer_header(transfer, name);
}

bool ask_judge_caller(struct ask *ask)
{
    struct status *st = &ask->failure.status;
    if (rpc_call_cancelled(ask->call)) {
        bool late = clock_now_ns() >= rpc_call_deadline_ns(ask->call);
        return fail(st, late ? DEADLINE_EXCEEDED : CANCELLED, "the caller has gone; the upstream was told to stop");
    }
    if (ask->reader_is_slow)
        return fail(st, RESOURCE_EXHAUSTED, "the client took nothing of the stream for %lld ms",
                    (long long)ask->gateway->reader_timeout_ms);
    return true;
}

bool ask_judge_error(struct ask *ask)
{
    struct transfer *transfer = &ask->transfer;
    struct failure *failure = &ask->failure;
    const struct provider *provider = ask->target->deployment->provider;
    provider->read_error(transfer->http_status, transfer->content, transfer->content_size, failure);
    enum status_code code = failure->status.code;
    if (code == UNAVAILABLE || (code == RESOURCE_EXHAUSTED && !failure_is_quota(failure)))
        failure->status.retry_after_ms = retry_hint_ms(header_of, transfer, clock_wall_ns() / NS_PER_MS);
    return false;
}

bool ask_is_late(const struct ask *ask)
{
    return ask->transfer.end == TRANSFER_LATE && !ask->timeout_is_callers &&
           ask->failure.status.code == DEADLINE_EXCEEDED;
}

/* Nothing but the caller's own deadline may look like it. */
bool ask_judge_break(struct ask *ask)
{
    const struct transfer *transfer = &ask->transfer;
    struct status *st = &ask->failure.status;
    bool began = transfer->http_status != 0;
    switch (transfer->end) {
    case TRANSFER_REFUSED:
        ask->failure.ours = true;
        fail(st, RESOURCE_EXHAUSTED, "the gateway has too many requests under way; come back later");
        st->retry_after_ms = BUSY_RETRY_MS;
        return false;
    case TRANSFER_INVALID:
    case TRANSFER_UNRECORDED: /* asking again would not help */
        return fail(st, FAILED_PRECONDITION, "%s", transfer->status.text);
    case TRANSFER_LATE:
        return ask->timeout_is_callers
                   ? fail(st, DEADLINE_EXCEEDED, "%s", transfer->status.text)
                   : fail(st, DEADLINE_EXCEEDED, "no answer within llm_gateway.timeout, %lld ms: %s",
                          (long long)ask->gateway->timeout_ms, transfer->status.text);
    case TRANSFER_TOO_LARGE:
        return fail(st, DATA_LOSS, "the answer is larger than the gateway takes (%zu bytes)", transfer->response_max);
    case TRANSFER_CUT:
    case TRANSFER_GARBLED:
        return fail(st, began ? DATA_LOSS : UNAVAILABLE, "%s", transfer->status.text);
    default:
        return fail(st, UNAVAILABLE, "%s", transfer->status.text);
    }
}
