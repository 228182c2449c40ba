/* How a transfer ended, in words for its owner. */
#include "base/log.h"
#include "http/client_priv.h"

#include <stdlib.h>

bool judge_is_unconnected(CURLcode result)
{
    switch (result) {
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_OPERATION_TIMEDOUT:
    case NAMES_REFUSED:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_INVALIDCERTSTATUS:
    case CURLE_PROXY:
        return true;
    default:
        return false;
    }
}

const char *judge_peer(const struct transfer *transfer)
{
    return transfer->alias ? transfer->alias : transfer->url->origin;
}

const char *judge_told(const struct transfer *transfer, const char *detail, const char *without_address)
{
    if (!transfer->alias)
        return detail;
    log_warn("http.peer", "%s is at %s: %s", transfer->alias, transfer->url->origin, detail);
    return without_address;
}

void judge_unconnected(struct http_slot *slot, CURLcode result, const char *detail)
{
    struct transfer *transfer = slot->transfer;
    const char *peer = judge_peer(transfer);
    if (slot->forbidden)
        transfer_fail(transfer, TRANSFER_FORBIDDEN, PERMISSION_DENIED,
                      "%s was not connected to: its address, or that of a redirect, is not allowed", peer);
    else if (result == CURLE_COULDNT_RESOLVE_HOST || result == CURLE_COULDNT_RESOLVE_PROXY)
        transfer_fail(transfer, TRANSFER_UNCONNECTED, UNAVAILABLE, "the name of %s cannot be resolved", peer);
    else if (result == NAMES_REFUSED)
        transfer_fail(transfer, TRANSFER_UNCONNECTED, UNAVAILABLE,
                      "the name of %s was not looked up: %u lookups hang already; see that the name server answers",
                      peer, NAMES_HUNG_MAX);
    else if (result == CURLE_OPERATION_TIMEDOUT)
        transfer_fail(transfer, TRANSFER_UNCONNECTED, UNAVAILABLE, "no connection to %s within %lld ms", peer,
                      (long long)transfer->connect_timeout_ms);
    else
        transfer_fail(transfer, TRANSFER_UNCONNECTED, UNAVAILABLE, "no connection to %s: %s", peer, detail);
}

void judge_cut(struct http_slot *slot, bool stale, const char *detail)
{
    struct transfer *transfer = slot->transfer;
    const char *peer = judge_peer(transfer);
    transfer->stale = stale;
    if (!stale)
        judge_told(transfer, detail, detail);
    if (stale)
        transfer_fail(transfer, TRANSFER_CUT, UNAVAILABLE,
                      "%s closed a connection kept from an earlier request without answering on it", peer);
    else if (transfer->answered)
        transfer_fail(transfer, TRANSFER_CUT, UNAVAILABLE, "%s cut its answer short after %zu bytes of the body: %s",
                      peer, transfer->received, detail);
    else
        transfer_fail(transfer, TRANSFER_CUT, UNAVAILABLE, "%s closed the connection without an answer: %s", peer,
                      detail);
}

void judge_too_large(struct http_slot *slot, bool head)
{
    struct transfer *transfer = slot->transfer;
    if (head)
        transfer_fail(transfer, TRANSFER_TOO_LARGE, RESOURCE_EXHAUSTED, "%s sent more than %u bytes of headers",
                      judge_peer(transfer), TRANSFER_RESPONSE_HEADER_MAX);
    else
        transfer_fail(transfer, TRANSFER_TOO_LARGE, RESOURCE_EXHAUSTED,
                      "the answer of %s is larger than the %zu bytes allowed", judge_peer(transfer),
                      transfer->response_max);
}

void judge_garbled(struct http_slot *slot, const char *detail)
{
    transfer_fail(slot->transfer, TRANSFER_GARBLED, UNAVAILABLE, "what %s sent cannot be understood: %s",
                  judge_peer(slot->transfer), detail);
}

/* The transfer ends when the present callback has returned. */
void judge_no_memory(struct http_slot *slot)
{
    struct transfer *transfer = slot->transfer;
    transfer_fail(transfer, TRANSFER_REFUSED, RESOURCE_EXHAUSTED, "no memory for a request to %s",
                  judge_peer(transfer));
    loop_defer(transfer->client->loop, &transfer->ending);
}
