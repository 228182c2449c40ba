/* What to make of a transfer that has ended. It reads top to bottom: the client first, then what was noted on the way,
 * then HTTP, then the transport, then the answer itself. */
#include "chat_priv.h"

#include "base/clock.h"
#include "provider/retry_hint.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define BUSY_RETRY_MS 1000 /* our own queue is full: it moves within a second or not at all */

static const char *header_of(const void *transfer, const char *name)
{
    return transfer_header(transfer, name);
}

/* An HTTP status of its own; true where it is an outcome all the same. */
static bool refused(struct chat *chat)
{
    struct transfer *transfer = &chat->transfer;
    struct status *st = &chat->failure.status;
    const struct provider *provider = chat->deployment->provider;
    if (provider->read_outcome &&
        provider->read_outcome(&chat->answer, transfer->http_status, transfer->content, transfer->content_size))
        return true;
    provider->read_error(transfer->http_status, transfer->content, transfer->content_size, &chat->failure);
    bool may_come_back = st->code == UNAVAILABLE || (st->code == RESOURCE_EXHAUSTED && !chat->failure.reason);
    if (may_come_back)
        st->retry_after_ms = retry_hint_ms(header_of, transfer, clock_wall_ns() / NS_PER_MS);
    return false;
}

/* The transport gave up. Nothing but the caller's own deadline may look like it. */
static bool broken(struct chat *chat)
{
    const struct transfer *transfer = &chat->transfer;
    struct status *st = &chat->failure.status;
    bool began = transfer->http_status != 0;
    switch (transfer->end) {
    case TRANSFER_REFUSED:
        fail(st, RESOURCE_EXHAUSTED, "the gateway has too many requests under way; come back later");
        st->retry_after_ms = BUSY_RETRY_MS;
        return false;
    case TRANSFER_INVALID:
    case TRANSFER_UNRECORDED: /* asking again would not help */
        return fail(st, FAILED_PRECONDITION, "%s", transfer->status.text);
    case TRANSFER_LATE:
        return fail(st, chat->timeout_is_callers ? DEADLINE_EXCEEDED : UNAVAILABLE, "%s", transfer->status.text);
    case TRANSFER_TOO_LARGE:
        return fail(st, DATA_LOSS, "the answer is larger than the gateway takes (%zu bytes)", transfer->response_max);
    case TRANSFER_CUT:
    case TRANSFER_GARBLED:
        return fail(st, began ? DATA_LOSS : UNAVAILABLE, "%s", transfer->status.text);
    default:
        return fail(st, UNAVAILABLE, "%s", transfer->status.text);
    }
}

static bool is_json(const char *content_type)
{
    return !content_type || strcasestr(content_type, "json");
}

static bool read_whole(struct chat *chat)
{
    struct transfer *transfer = &chat->transfer;
    struct failure *failure = &chat->failure;
    if (chat->deployment->provider->read_chat(&chat->answer, transfer->content, transfer->content_size, failure))
        return true;
    const char *content_type = transfer_header(transfer, "content-type");
    if (failure->status.code == DATA_LOSS && !is_json(content_type))
        fail(&failure->status, DATA_LOSS, "the answer is no JSON but %.64s; is the base URL that of the API?",
             content_type);
    return false;
}

static bool read_answer(struct chat *chat)
{
    if (chat->failure.status.code != OK) /* an event could not be read, or was an error */
        return false;
    if (chat->transfer.http_status >= 300)
        return refused(chat);
    if (chat->answer.ended) /* all was said; how the connection went after that is no matter */
        return true;
    if (chat->transfer.end != TRANSFER_COMPLETE)
        return broken(chat);
    /* A stream that ends properly but without its [DONE] has said all if it has given its finish_reason; whether it
     * has, is for answer_conclude to say. */
    return chat->reads_events || read_whole(chat);
}

/* The client has read a part: whatever happened to the rest, its answer is cut, and asking again is not for free. */
static bool cut(struct failure *failure)
{
    if (failure->status.code == DEADLINE_EXCEEDED)
        return false;
    failure->status.code = DATA_LOSS;
    failure->status.field[0] = '\0';
    failure->status.retry_after_ms = 0;
    failure->reason = NULL;
    return false;
}

bool chat_judge(struct chat *chat, Renga__V1__ChatFinish *finish)
{
    struct status *st = &chat->failure.status;
    if (rpc_call_cancelled(chat->call)) {
        bool late = clock_now_ns() >= rpc_call_deadline_ns(chat->call);
        return fail(st, late ? DEADLINE_EXCEEDED : CANCELLED, "the caller has gone; the upstream was told to stop");
    }
    if (chat->reader_is_slow)
        return fail(st, RESOURCE_EXHAUSTED, "the client took nothing of the stream for %lld ms",
                    (long long)chat->gateway->reader_timeout_ms);
    if (read_answer(chat) && answer_conclude(&chat->answer, finish, &chat->failure))
        return true;
    return chat->started && cut(&chat->failure);
}
