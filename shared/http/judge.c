/* How a transfer ended, from what curl says and what the slot saw. */
#include "http/client_priv.h"

#include <stdlib.h>

static const char *detail(const struct http_slot *slot, CURLcode result)
{
    return slot->error[0] ? slot->error : curl_easy_strerror(result);
}

static void judge_unconnected(struct http_slot *slot, CURLcode result)
{
    struct transfer *transfer = slot->transfer;
    const char *origin = transfer->url->origin;
    if (slot->forbidden)
        transfer_fail(transfer, TRANSFER_FORBIDDEN, PERMISSION_DENIED,
                      "%s was not connected to: its address, or that of a redirect, is not allowed", origin);
    else if (result == CURLE_COULDNT_RESOLVE_HOST || result == CURLE_COULDNT_RESOLVE_PROXY)
        transfer_fail(transfer, TRANSFER_UNCONNECTED, UNAVAILABLE, "the name of %s cannot be resolved", origin);
    else if (result == CURLE_OPERATION_TIMEDOUT)
        transfer_fail(transfer, TRANSFER_UNCONNECTED, UNAVAILABLE, "no connection to %s within %lld ms", origin,
                      (long long)transfer->connect_timeout_ms);
    else
        transfer_fail(transfer, TRANSFER_UNCONNECTED, UNAVAILABLE, "no connection to %s: %s", origin,
                      detail(slot, result));
}

static void judge_cut(struct http_slot *slot, CURLcode result)
{
    struct transfer *transfer = slot->transfer;
    const char *origin = transfer->url->origin;
    transfer->stale = slot->repeated;
    if (slot->repeated)
        transfer_fail(transfer, TRANSFER_CUT, UNAVAILABLE,
                      "%s closed a connection kept from an earlier request without answering on it", origin);
    else if (transfer->answered)
        transfer_fail(transfer, TRANSFER_CUT, UNAVAILABLE, "%s cut its answer short after %zu bytes of the body: %s",
                      origin, transfer->received, detail(slot, result));
    else
        transfer_fail(transfer, TRANSFER_CUT, UNAVAILABLE, "%s closed the connection without an answer: %s", origin,
                      detail(slot, result));
}

static void judge_too_large(struct http_slot *slot)
{
    struct transfer *transfer = slot->transfer;
    if (slot->header_bytes > TRANSFER_RESPONSE_HEADER_MAX)
        transfer_fail(transfer, TRANSFER_TOO_LARGE, RESOURCE_EXHAUSTED, "%s sent more than %u bytes of headers",
                      transfer->url->origin, TRANSFER_RESPONSE_HEADER_MAX);
    else
        transfer_fail(transfer, TRANSFER_TOO_LARGE, RESOURCE_EXHAUSTED,
                      "the answer of %s is larger than the %zu bytes allowed", transfer->url->origin,
                      transfer->response_max);
}

void slot_judge(struct http_slot *slot, CURLcode result)
{
    struct transfer *transfer = slot->transfer;
    const char *origin = transfer->url->origin;
    if (transfer->state == TRANSFER_ENDING) /* cancelled from within a callback of curl's */
        return;
    if (slot->too_large) {
        judge_too_large(slot);
        return;
    }
    switch (result) {
    case CURLE_OK:
        return;
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_INVALIDCERTSTATUS:
    case CURLE_PROXY:
        judge_unconnected(slot, result);
        return;
    case CURLE_TOO_MANY_REDIRECTS:
        transfer_fail(transfer, TRANSFER_FORBIDDEN, FAILED_PRECONDITION, "%s redirects more than %u times", origin,
                      transfer->redirects_max);
        return;
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT:
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_BAD_CONTENT_ENCODING:
        transfer_fail(transfer, TRANSFER_GARBLED, UNAVAILABLE, "what %s sent cannot be understood: %s", origin,
                      detail(slot, result));
        return;
    case CURLE_OUT_OF_MEMORY:
        transfer_fail(transfer, TRANSFER_REFUSED, RESOURCE_EXHAUSTED, "no memory for a request to %s", origin);
        return;
    default:
        judge_cut(slot, result);
    }
}
