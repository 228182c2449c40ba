/* The verdict on a finished transfer. It reads top to bottom: the client, the recorded failures, HTTP, the
 * transport, then the answer itself. */
#include "chat_priv.h"

#include "pipeline/pipeline_result.h"

#include <strings.h>

static bool chat_result_is_json(const char *content_type)
{
    return !content_type || strcasestr(content_type, "json");
}

/* An unreadable answer is read once more if it can be sanitized: before that, no part of it was taken in. */
static bool read_sanitized(struct chat *chat)
{
    struct transfer *transfer = &chat->pipeline.transfer;
    struct failure *failure = &chat->pipeline.failure;
    size_t size = transfer->content_size;
    const char *sanitized = failure->status.code == DATA_LOSS && !failure->problem
                                ? answer_sanitize(chat->answer.arena, transfer->content, &size)
                                : NULL;
    if (!sanitized)
        return false;
    *failure = (struct failure){0};
    return chat->pipeline.target->deployment->provider->read_chat(&chat->answer, sanitized, size, failure);
}

static bool read_whole(struct chat *chat)
{
    struct transfer *transfer = &chat->pipeline.transfer;
    struct failure *failure = &chat->pipeline.failure;
    const struct provider *provider = chat->pipeline.target->deployment->provider;
    if (provider->read_chat(&chat->answer, transfer->content, transfer->content_size, failure) || read_sanitized(chat))
        return true;
    const char *content_type = transfer_header(transfer, "content-type");
    if (failure->status.code == DATA_LOSS && !chat_result_is_json(content_type))
        fail(&failure->status, DATA_LOSS, "the answer is no JSON but %.64s; is the base URL that of the API?",
             content_type);
    return false;
}

/* An error of HTTP may be an outcome all the same. */
static bool chat_result_is_outcome(struct chat *chat)
{
    const struct transfer *transfer = &chat->pipeline.transfer;
    const struct provider *provider = chat->pipeline.target->deployment->provider;
    return provider->read_outcome &&
           provider->read_outcome(&chat->answer, transfer->http_status, transfer->content, transfer->content_size);
}

static bool chat_result_read_answer(struct chat *chat)
{
    struct pipeline *pipeline = &chat->pipeline;
    if (pipeline->failure.status.code != OK) /* an event could not be read, or was an error */
        return false;
    if (pipeline->transfer.http_status >= 300)
        return chat_result_is_outcome(chat) || pipeline_fail_http(pipeline);
    if (chat->answer.ended) /* all was said; how the connection went after that is no matter */
        return true;
    if (pipeline->transfer.end != TRANSFER_COMPLETE)
        return pipeline_fail_transport(pipeline);
    /* A stream that ends properly but without its [DONE] has said all if it has given its finish_reason; whether it
     * has, is for answer_finish to say. */
    return chat->reads_events || read_whole(chat);
}

/* The client has received a part: the answer is cut, and a retry is not free. */
static bool chat_result_cut(struct failure *failure)
{
    if (failure->status.code == DEADLINE_EXCEEDED)
        return false;
    failure->status.code = DATA_LOSS;
    failure->status.field[0] = '\0';
    failure->status.retry_after_ms = 0;
    failure->reason = NULL;
    return false;
}

/* Pieces of a whole answer wait for chat_forward: perhaps it is read by a worker thread. */
void chat_closed(struct pipeline *pipeline)
{
    struct chat *chat = (struct chat *)pipeline;
    loop_disarm(rpc_call_loop(pipeline->call), &chat->patience);
    if (chat->reads_events)
        chat_stream_close(chat);
    if (!chat->send || chat->reads_events)
        return;
    chat->answer.piece_came = NULL;
    chat->keeps_content = chat->answer.keeps_content;
    chat->keeps_rest = chat->answer.keeps_rest;
    chat->answer.keeps_content = chat->answer.keeps_rest = true;
}

bool chat_read_result(struct pipeline *pipeline)
{
    struct chat *chat = (struct chat *)pipeline;
    if (chat_result_read_answer(chat) && answer_finish(&chat->answer, &chat->finish, &pipeline->failure))
        return true;
    return pipeline->told && chat_result_cut(&pipeline->failure);
}

void chat_forward(struct pipeline *pipeline)
{
    struct chat *chat = (struct chat *)pipeline;
    if (!chat->send || chat->reads_events)
        return;
    chat->answer.piece_came = chat_stream_piece;
    if (pipeline->failure.status.code == OK) {
        chat_stream_whole(chat);
        return;
    }
    chat->answer.keeps_content = chat->keeps_content; /* it may be asked again */
    chat->answer.keeps_rest = chat->keeps_rest;
}
