/* The failures of a transfer, as statuses with texts for its owner. */
#include "base/log.h"
#include "http/client_priv.h"

#include <stdlib.h>

bool curl_failed_to_connect(CURLcode result)
{
    switch (result) {
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_OPERATION_TIMEDOUT:
    case RESOLVER_REFUSED:
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

const char *transfer_peer_name(const struct transfer *transfer)
{
    return transfer->alias ? transfer->alias : transfer->url->origin;
}

const char *transfer_public_detail(const struct transfer *transfer, const char *detail, const char *without_address)
{
    if (!transfer->alias)
        return detail;
    log_warn("http.peer", "%s is at %s: %s", transfer->alias, transfer->url->origin, detail);
    return without_address;
}

void transfer_fail_unconnected(struct http_slot *slot, CURLcode result, const char *detail)
{
    struct transfer *transfer = slot->transfer;
    const char *peer = transfer_peer_name(transfer);
    if (slot->forbidden)
        transfer_fail(transfer, TRANSFER_FORBIDDEN, PERMISSION_DENIED,
                      "%s was not connected to: its address, or that of a redirect, is not allowed", peer);
    else if (result == CURLE_COULDNT_RESOLVE_HOST || result == CURLE_COULDNT_RESOLVE_PROXY)
        transfer_fail(transfer, TRANSFER_UNCONNECTED, UNAVAILABLE, "the name of %s cannot be resolved", peer);
    else if (result == RESOLVER_REFUSED)
        transfer_fail(transfer, TRANSFER_UNCONNECTED, UNAVAILABLE,
                      "the name of %s was not looked up: %u lookups hang already; see that the name server answers",
                      peer, RESOLVER_HUNG_MAX);
    else if (result == CURLE_OPERATION_TIMEDOUT)
        transfer_fail(transfer, TRANSFER_UNCONNECTED, UNAVAILABLE, "no connection to %s within %lld ms", peer,
                      (long long)transfer->connect_timeout_ms);
    else
        transfer_fail(transfer, TRANSFER_UNCONNECTED, UNAVAILABLE, "no connection to %s: %s", peer, detail);
}

void transfer_fail_cut(struct http_slot *slot, bool stale, const char *detail)
{
    struct transfer *transfer = slot->transfer;
    const char *peer = transfer_peer_name(transfer);
    transfer->stale = stale;
    if (!stale)
        transfer_public_detail(transfer, detail, detail);
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

void transfer_fail_too_large(struct http_slot *slot, bool head)
{
    struct transfer *transfer = slot->transfer;
    if (head)
        transfer_fail(transfer, TRANSFER_TOO_LARGE, RESOURCE_EXHAUSTED, "%s sent more than %u bytes of headers",
                      transfer_peer_name(transfer), TRANSFER_RESPONSE_HEADER_MAX);
    else
        transfer_fail(transfer, TRANSFER_TOO_LARGE, RESOURCE_EXHAUSTED,
                      "the answer of %s is larger than the %zu bytes allowed", transfer_peer_name(transfer),
                      transfer->response_max);
}

void transfer_fail_malformed(struct http_slot *slot, const char *detail)
{
    transfer_fail(slot->transfer, TRANSFER_MALFORMED, UNAVAILABLE, "what %s sent cannot be understood: %s",
                  transfer_peer_name(slot->transfer), detail);
}

/* The transfer ends when the present callback has returned. */
void transfer_fail_no_memory(struct http_slot *slot)
{
    struct transfer *transfer = slot->transfer;
    transfer_fail(transfer, TRANSFER_REFUSED, RESOURCE_EXHAUSTED, "no memory for a request to %s",
                  transfer_peer_name(transfer));
    loop_defer(transfer->client->loop, &transfer->ending);
}
