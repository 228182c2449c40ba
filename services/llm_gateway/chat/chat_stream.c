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
#define LINGER_MS          1000               /* for an upstream to end after its last word; then we do */

/* ---- from the upstream ------------------------------------------------------------------------------------------- */

static bool event_came(void *owner, const struct sse_event *event)
{
    struct chat *chat = owner;
    return chat->ask.target->deployment->provider->read_event(&chat->answer, event, &chat->ask.failure) &&
           !chat->answer.ended;
}

static bool line_came(void *owner, const char *line, size_t size)
{
    return event_came(owner, &(struct sse_event){.type = "message", .data = line, .size = size, .id = ""});
}

static void wait_for_reader(struct chat *chat)
{
    transfer_pause(&chat->ask.transfer);
    loop_arm_after(rpc_call_loop(chat->ask.call), &chat->patience, chat->ask.gateway->reader_timeout_ms);
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
        loop_arm_after(rpc_call_loop(chat->ask.call), &chat->patience, LINGER_MS);
        return;
    }
    if (!good) {
        if (chat->ask.failure.status.code == OK)
            fail(&chat->ask.failure.status, DATA_LOSS, "%s", st.text);
        transfer_cancel(transfer);
    } else if (!rpc_call_writable(chat->ask.call)) {
        wait_for_reader(chat);
    }
}

void chat_stream_open(struct chat *chat)
{
    chat->reads_events = true;
    chat->reads_lines = strstr(chat->ask.target->deployment->provider->stream_type, "ndjson") != NULL;
    if (chat->reads_lines)
        ndjson_init(&chat->lines, UPSTREAM_EVENT_MAX, line_came, chat);
    else
        sse_init(&chat->sse, UPSTREAM_EVENT_MAX, event_came, chat);
    chat->ask.transfer.body_received = bytes_came; /* from here on; the transfer looks at it with each piece */
    chat->ask.transfer.response_max = chat->ask.gateway->stream_max;
}

/* An event of SSE counts only with its blank line; the last line of NDJSON needs nothing behind it. */
void chat_stream_close(struct chat *chat)
{
    if (!chat->reads_lines) {
        sse_fini(&chat->sse);
        return;
    }
    if (chat->ask.transfer.end == TRANSFER_COMPLETE && !chat->answer.ended && chat->ask.failure.status.code == OK)
        ndjson_end(&chat->lines);
    ndjson_fini(&chat->lines);
}

void chat_patience_over(struct timer *timer)
{
    struct chat *chat = OWNER_OF(timer, struct chat, patience);
    chat->ask.reader_is_slow = !chat->answer.ended;
    ask_stop(&chat->ask);
}

/* ---- to the client ----------------------------------------------------------------------------------------------- */

void chat_stream_writable(struct rpc_call *call, void *data)
{
    struct chat *chat = data;
    if (chat->answer.ended || chat->ask.state != ASK_ASKING)
        return;
    loop_disarm(rpc_call_loop(call), &chat->patience);
    transfer_resume(&chat->ask.transfer);
}

static void send_start(struct chat *chat)
{
    Renga__V1__AnsweredBy by;
    Renga__V1__ChatStart start = RENGA__V1__CHAT_START__INIT;
    Renga__V1__ChatStreamEvent event = RENGA__V1__CHAT_STREAM_EVENT__INIT;
    if (chat->ask.told)
        return;
    chat->ask.told = true;
    chat->ask.first_ns = clock_now_ns();
    if (!chat->answer.id[0])
        snprintf(chat->answer.id, sizeof chat->answer.id, "chat-%016" PRIx64, random_u64());
    ask_answered_by(&chat->ask, &by);
    start.id = chat->answer.id;
    start.answered_by = &by;
    event.event_case = RENGA__V1__CHAT_STREAM_EVENT__EVENT_START;
    event.start = &start;
    chat->send(&event, chat->ask.call);
}

static void send_piece(struct chat *chat, const struct answer_piece *piece, char *text, bool opens)
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
    chat->send(&event, chat->ask.call);
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
        send_piece(chat, piece, slice, opens);
        sent += size;
    }
}

void chat_stream_piece(struct answer *answer, const struct answer_piece *piece)
{
    struct chat *chat = answer->owner;
    send_start(chat);
    if (piece->size <= PIECE_MAX)
        send_piece(chat, piece, (char *)(uintptr_t)piece->text, piece->opens);
    else
        send_slices(chat, piece);
}

void chat_stream_finish(struct chat *chat)
{
    Renga__V1__ChatStreamEvent event = RENGA__V1__CHAT_STREAM_EVENT__INIT;
    Renga__V1__ChatStreamEvent_Closure send = chat->send;
    struct rpc_call *call = chat->ask.call;
    send_start(chat); /* an answer without a word has a beginning too */
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
    chat->send(&event, chat->ask.call);
}
