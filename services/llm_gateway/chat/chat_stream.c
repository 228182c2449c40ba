/* The streaming side of a call: events of the upstream in, events of the contract out, with back-pressure between. */
#include "chat_priv.h"

#include "base/clock.h"
#include "base/random.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define UPSTREAM_EVENT_MAX ((size_t)1 << 20)  /* bytes of one event of the upstream */
#define PIECE_MAX          ((size_t)64 << 10) /* bytes of text in one of ours */
#define PIECE_LEAST        ((size_t)64)       /* bytes of a whole answer in one piece of ours */
#define PIECES_MAX         64                 /* of a whole answer, if it is longer: some 100 µs */
#define LINGER_MS          1000               /* for an upstream to end after its last word; then we do */

/* ---- from the upstream ------------------------------------------------------------------------------------------- */

/* As chat_read_result.c does for whole answers. */
static bool event_sanitized(struct chat *chat, const struct provider *provider, const struct sse_event *event)
{
    struct failure *failure = &chat->pipeline.failure;
    struct sse_event again = *event;
    again.data = failure->status.code == DATA_LOSS && !failure->problem
                     ? answer_sanitize(chat->answer.arena, event->data, &again.size)
                     : NULL;
    if (!again.data)
        return false;
    *failure = (struct failure){0};
    return provider->read_event(&chat->answer, &again, failure);
}

static bool chat_stream_event_came(void *owner, const struct sse_event *event)
{
    struct chat *chat = owner;
    const struct provider *provider = chat->pipeline.target->deployment->provider;
    return (provider->read_event(&chat->answer, event, &chat->pipeline.failure) ||
            event_sanitized(chat, provider, event)) &&
           !chat->answer.ended;
}

static bool line_came(void *owner, const char *line, size_t size)
{
    return chat_stream_event_came(owner, &(struct sse_event){.type = "message", .data = line, .size = size, .id = ""});
}

static void bytes_came(struct transfer *transfer, const char *bytes, size_t size)
{
    struct chat *chat = transfer->owner;
    struct status st = {0};
    if (chat->answer.ended)
        return;
    bool good =
        chat->reads_lines ? ndjson_feed(&chat->lines, bytes, size, &st) : sse_feed(&chat->sse, bytes, size, &st);
    if (chat->answer.ended) {
        loop_arm_after(rpc_call_loop(chat->pipeline.call), &chat->patience, LINGER_MS);
        return;
    }
    if (!good) {
        if (chat->pipeline.failure.status.code == OK)
            fail(&chat->pipeline.failure.status, DATA_LOSS, "%s", st.text);
        transfer_cancel(transfer);
    } else if (!rpc_call_writable(chat->pipeline.call)) {
        transfer_pause(&chat->pipeline.transfer);
        loop_arm_after(rpc_call_loop(chat->pipeline.call), &chat->patience, chat->pipeline.gateway->reader_timeout_ms);
    }
}

void chat_stream_open(struct chat *chat)
{
    chat->reads_events = true;
    chat->reads_lines = strstr(chat->pipeline.target->deployment->provider->stream_type, "ndjson") != NULL;
    if (chat->reads_lines)
        ndjson_init(&chat->lines, UPSTREAM_EVENT_MAX, line_came, chat);
    else
        sse_init(&chat->sse, UPSTREAM_EVENT_MAX, chat_stream_event_came, chat);
    chat->pipeline.transfer.body_received = bytes_came; /* from here on; the transfer looks at it with each piece */
    chat->pipeline.transfer.response_max = chat->pipeline.gateway->stream_max;
}

/* An SSE event needs its blank line; the last line of NDJSON needs no terminator. */
void chat_stream_close(struct chat *chat)
{
    if (!chat->reads_lines) {
        sse_fini(&chat->sse);
        return;
    }
    if (chat->pipeline.transfer.end == TRANSFER_COMPLETE && !chat->answer.ended &&
        chat->pipeline.failure.status.code == OK)
        ndjson_end(&chat->lines);
    ndjson_fini(&chat->lines);
}

void chat_client_timed_out(struct timer *timer)
{
    struct chat *chat = CONTAINER_OF(timer, struct chat, patience);
    chat->pipeline.client_is_slow = !chat->answer.ended;
    pipeline_stop(&chat->pipeline);
}

/* ---- to the client ----------------------------------------------------------------------------------------------- */

void chat_stream_writable(struct rpc_call *call, void *data)
{
    struct chat *chat = data;
    if (chat->pipeline.reading || chat->answer.ended || chat->pipeline.state != PIPELINE_REQUESTING)
        return;
    loop_disarm(rpc_call_loop(call), &chat->patience);
    transfer_resume(&chat->pipeline.transfer);
}

static void chat_stream_send_start(struct chat *chat)
{
    Renga__V1__AnsweredBy by;
    Renga__V1__ChatStart start = RENGA__V1__CHAT_START__INIT;
    Renga__V1__ChatStreamEvent event = RENGA__V1__CHAT_STREAM_EVENT__INIT;
    if (chat->pipeline.told)
        return;
    chat->pipeline.told = true;
    chat->pipeline.first_ns = clock_now_ns();
    if (!chat->answer.id[0])
        snprintf(chat->answer.id, sizeof chat->answer.id, "chat-%016" PRIx64, random_u64());
    pipeline_answered_by(&chat->pipeline, &by);
    start.id = chat->answer.id;
    start.answered_by = &by;
    event.event_case = RENGA__V1__CHAT_STREAM_EVENT__EVENT_START;
    event.start = &start;
    chat->send(&event, chat->pipeline.call);
}

static void chat_stream_send_piece(struct chat *chat, const struct answer_piece *piece, char *text, bool opens)
{
    Renga__V1__ChatStreamEvent event = RENGA__V1__CHAT_STREAM_EVENT__INIT;
    Renga__V1__ToolCallDelta delta = RENGA__V1__TOOL_CALL_DELTA__INIT;
    if (piece->call) {
        delta.index = piece->call->index;
        delta.arguments_json = text;
        if (opens) {
            delta.id = (char *)(uintptr_t)piece->call->id;
            delta.name = (char *)(uintptr_t)piece->call->name;
        }
        event.event_case = RENGA__V1__CHAT_STREAM_EVENT__EVENT_TOOL_CALL;
        event.tool_call = &delta;
    } else if (piece->part == ANSWER_TEXT) {
        event.event_case = RENGA__V1__CHAT_STREAM_EVENT__EVENT_TEXT;
        event.text = text;
    } else if (piece->part == ANSWER_REASONING) {
        event.event_case = RENGA__V1__CHAT_STREAM_EVENT__EVENT_REASONING;
        event.reasoning = text;
    } else {
        event.event_case = RENGA__V1__CHAT_STREAM_EVENT__EVENT_REFUSAL;
        event.refusal = text;
    }
    chat->send(&event, chat->pipeline.call);
}

/* A piece larger than an event may be, cut between characters. */
static void send_slices(struct chat *chat, const struct answer_piece *piece)
{
    char slice[PIECE_MAX + 1];
    bool opens = piece->opens;
    for (size_t sent = 0; sent < piece->size; opens = false) {
        size_t size = text_cut(piece->text + sent, piece->size - sent, PIECE_MAX);
        memcpy(slice, piece->text + sent, size);
        slice[size] = '\0';
        chat_stream_send_piece(chat, piece, slice, opens);
        sent += size;
    }
}

void chat_stream_piece(struct answer *answer, const struct answer_piece *piece)
{
    struct chat *chat = answer->owner;
    chat_stream_send_start(chat);
    if (piece->size <= PIECE_MAX)
        chat_stream_send_piece(chat, piece, (char *)(uintptr_t)piece->text, piece->opens);
    else
        send_slices(chat, piece);
}

void chat_stream_whole(struct chat *chat)
{
    static const enum answer_part order[] = {ANSWER_REASONING, ANSWER_TEXT, ANSWER_REFUSAL};
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        /* A reader of a stream sees it come, in pieces of a few words; a long answer has no more of them than a short
         * one. */
        enum answer_part part = order[i];
        const struct answer_text *text = &chat->answer.parts[part];
        size_t most = text->size / PIECES_MAX > PIECE_LEAST ? text->size / PIECES_MAX : PIECE_LEAST;
        char piece[PIECE_MAX + 1];
        for (size_t sent = 0; sent < text->size;) {
            size_t size = text_cut(text->bytes + sent, text->size - sent, most);
            size = size ? size : most; /* no UTF-8, which only a caller in this process can give us */
            memcpy(piece, text->bytes + sent, size);
            piece[size] = '\0';
            chat_stream_piece(&chat->answer, &(struct answer_piece){.part = part, .text = piece, .size = size});
            sent += size;
        }
    }
    for (const struct answer_call *call = chat->answer.first_call; call; call = call->next) {
        const char *arguments = call->arguments.bytes ? call->arguments.bytes : "";
        chat_stream_piece(
            &chat->answer,
            &(struct answer_piece){.call = call, .opens = true, .text = arguments, .size = call->arguments.size});
    }
}

void chat_stream_finish(struct chat *chat)
{
    Renga__V1__ChatStreamEvent event = RENGA__V1__CHAT_STREAM_EVENT__INIT;
    Renga__V1__ChatStreamEvent_Closure send = chat->send;
    struct rpc_call *call = chat->pipeline.call;
    chat_stream_send_start(chat); /* an answer without a word has a beginning too */
    if (chat->answer.seal.size) {
        event.event_case = RENGA__V1__CHAT_STREAM_EVENT__EVENT_REASONING_SIGNATURE;
        event.reasoning_signature = chat->answer.seal.bytes;
        send(&event, call);
    }
    event.event_case = RENGA__V1__CHAT_STREAM_EVENT__EVENT_FINISH;
    event.finish = &chat->finish;
    send(&event, call);
    send(NULL, call);
}

void chat_stream_usage(struct chat *chat, const Renga__V1__Usage *usage)
{
    Renga__V1__ChatStreamEvent event = RENGA__V1__CHAT_STREAM_EVENT__INIT;
    event.event_case = RENGA__V1__CHAT_STREAM_EVENT__EVENT_USAGE;
    event.usage = (Renga__V1__Usage *)(uintptr_t)usage;
    chat->send(&event, chat->pipeline.call);
}
