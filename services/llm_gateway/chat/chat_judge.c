/* What to make of a transfer that has ended. It reads top to bottom: the client first, then what was noted on the way,
 * then HTTP, then the transport, then the answer itself. */
#include "chat_priv.h"

#include "ask/ask_judge.h"

#include <strings.h>

static bool is_json(const char *content_type)
{
    return !content_type || strcasestr(content_type, "json");
}

/* An unreadable answer is read once more if it can be mended: before that, no part of it was taken in. */
static bool read_mended(struct chat *chat)
{
    struct transfer *transfer = &chat->ask.transfer;
    struct failure *failure = &chat->ask.failure;
    size_t size = transfer->content_size;
    const char *mended = failure->status.code == DATA_LOSS && !failure->problem
                             ? answer_mend(chat->answer.arena, transfer->content, &size)
                             : NULL;
    if (!mended)
        return false;
    *failure = (struct failure){0};
    return chat->ask.target->deployment->provider->read_chat(&chat->answer, mended, size, failure);
}

static bool read_whole(struct chat *chat)
{
    struct transfer *transfer = &chat->ask.transfer;
    struct failure *failure = &chat->ask.failure;
    const struct provider *provider = chat->ask.target->deployment->provider;
    if (provider->read_chat(&chat->answer, transfer->content, transfer->content_size, failure) || read_mended(chat))
        return true;
    const char *content_type = transfer_header(transfer, "content-type");
    if (failure->status.code == DATA_LOSS && !is_json(content_type))
        fail(&failure->status, DATA_LOSS, "the answer is no JSON but %.64s; is the base URL that of the API?",
             content_type);
    return false;
}

/* An error of HTTP may be an outcome all the same. */
static bool is_outcome(struct chat *chat)
{
    const struct transfer *transfer = &chat->ask.transfer;
    const struct provider *provider = chat->ask.target->deployment->provider;
    return provider->read_outcome &&
           provider->read_outcome(&chat->answer, transfer->http_status, transfer->content, transfer->content_size);
}

static bool read_answer(struct chat *chat)
{
    struct ask *ask = &chat->ask;
    if (ask->failure.status.code != OK) /* an event could not be read, or was an error */
        return false;
    if (ask->transfer.http_status >= 300)
        return is_outcome(chat) || ask_judge_error(ask);
    if (chat->answer.ended) /* all was said; how the connection went after that is no matter */
        return true;
    if (ask->transfer.end != TRANSFER_COMPLETE)
        return ask_judge_break(ask);
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

/* Pieces of a whole answer wait for chat_hand_on: perhaps it is read by a worker thread. */
void chat_closed(struct ask *ask)
{
    struct chat *chat = (struct chat *)ask;
    loop_disarm(rpc_call_loop(ask->call), &chat->patience);
    if (chat->reads_events)
        chat_stream_close(chat);
    if (!chat->send || chat->reads_events)
        return;
    chat->answer.piece_came = NULL;
    chat->keeps_content = chat->answer.keeps_content;
    chat->keeps_rest = chat->answer.keeps_rest;
    chat->answer.keeps_content = chat->answer.keeps_rest = true;
}

bool chat_judge(struct ask *ask)
{
    struct chat *chat = (struct chat *)ask;
    if (read_answer(chat) && answer_conclude(&chat->answer, &chat->finish, &ask->failure))
        return true;
    return ask->told && cut(&ask->failure);
}

void chat_hand_on(struct ask *ask)
{
    struct chat *chat = (struct chat *)ask;
    if (!chat->send || chat->reads_events)
        return;
    chat->answer.piece_came = chat_stream_piece;
    if (ask->failure.status.code == OK) {
        chat_stream_whole(chat);
        return;
    }
    chat->answer.keeps_content = chat->keeps_content; /* it may be asked again */
    chat->answer.keeps_rest = chat->keeps_rest;
}
