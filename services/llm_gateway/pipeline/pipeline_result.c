/* The outcome of a request that all operations share: the caller, HTTP, the transport. */
#include "pipeline_result.h"

#include "base/clock.h"
#include "instance/gateway_instance.h"
#include "provider/provider.h"
#include "routing/deployment.h"
#include "routing/route.h"
#include "upstream/retry_hint.h"

#define BUSY_RETRY_MS 1000 /* our own queue is full: it moves within a second or not at all */

static const char *pipeline_result_header_of(const void *transfer, const char *name)
{
    return transfer_header(transfer, name);
}

bool pipeline_check_caller(struct pipeline *pipeline)
{
    struct status *st = &pipeline->failure.status;
    if (rpc_call_cancelled(pipeline->call)) {
        bool late = clock_now_ns() >= rpc_call_deadline_ns(pipeline->call);
        return fail(st, late ? DEADLINE_EXCEEDED : CANCELLED, "the caller has gone; the upstream was told to stop");
    }
    if (pipeline->client_is_slow)
        return fail(st, RESOURCE_EXHAUSTED, "the client took nothing of the stream for %lld ms",
                    (long long)pipeline->gateway->reader_timeout_ms);
    return true;
}

bool pipeline_fail_http(struct pipeline *pipeline)
{
    struct transfer *transfer = &pipeline->transfer;
    struct failure *failure = &pipeline->failure;
    const struct provider *provider = pipeline->target->deployment->provider;
    provider->read_error(transfer->http_status, transfer->content, transfer->content_size, failure);
    enum status_code code = failure->status.code;
    if (code == UNAVAILABLE || (code == RESOURCE_EXHAUSTED && !failure_is_quota(failure)))
        failure->status.retry_after_ms =
            retry_hint_ms(pipeline_result_header_of, transfer, clock_wall_ns() / NS_PER_MS);
    return false;
}

bool pipeline_timed_out(const struct pipeline *pipeline)
{
    return pipeline->transfer.end == TRANSFER_LATE && !pipeline->timeout_is_callers &&
           pipeline->failure.status.code == DEADLINE_EXCEEDED;
}

/* Only the caller's own deadline may be reported as DEADLINE_EXCEEDED. */
bool pipeline_fail_transport(struct pipeline *pipeline)
{
    const struct transfer *transfer = &pipeline->transfer;
    struct status *st = &pipeline->failure.status;
    bool began = transfer->http_status != 0;
    switch (transfer->end) {
    case TRANSFER_REFUSED:
        pipeline->failure.ours = true;
        fail(st, RESOURCE_EXHAUSTED, "the gateway has too many requests under way; come back later");
        st->retry_after_ms = BUSY_RETRY_MS;
        return false;
    case TRANSFER_INVALID:
    case TRANSFER_UNRECORDED: /* asking again would not help */
        return fail(st, FAILED_PRECONDITION, "%s", transfer->status.text);
    case TRANSFER_LATE:
        return pipeline->timeout_is_callers
                   ? fail(st, DEADLINE_EXCEEDED, "%s", transfer->status.text)
                   : fail(st, DEADLINE_EXCEEDED, "no answer within llm_gateway.timeout, %lld ms: %s",
                          (long long)pipeline->gateway->timeout_ms, transfer->status.text);
    case TRANSFER_TOO_LARGE:
        pipeline->failure.too_large = true;
        return fail(st, DATA_LOSS, "the answer is larger than the gateway takes (%zu bytes)", transfer->response_max);
    case TRANSFER_CUT:
    case TRANSFER_MALFORMED:
        return fail(st, began ? DATA_LOSS : UNAVAILABLE, "%s", transfer->status.text);
    default:
        return fail(st, UNAVAILABLE, "%s", transfer->status.text);
    }
}
