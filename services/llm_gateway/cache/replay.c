#include "replay.h"

#include "base/text.h"
#include "rpc/call.h"

#include <string.h>

#define PIECE_MAX ((size_t)64 << 10) /* bytes of text in one event, as the contract says */

bool replay_is_worth_keeping(const Renga__V1__ChatResponse *response)
{
    Renga__V1__FinishReason reason = response->finish ? response->finish->finish_reason : 0;
    for (size_t i = 0; response->finish && i < response->finish->n_degradations; i++)
        if (response->finish->degradations[i]->kind == RENGA__V1__DEGRADATION_KIND__DEGRADATION_KIND_EXTRACTIVE)
            return false; /* a model that has recovered answers better, and calling this one again is free */
    return response->message && (reason == RENGA__V1__FINISH_REASON__FINISH_REASON_STOP ||
                                 reason == RENGA__V1__FINISH_REASON__FINISH_REASON_TOOL_CALLS);
}

/* ---- as bytes ---------------------------------------------------------------------------------------------------- */

static uint8_t *replay_pack(struct arena *arena, const ProtobufCMessage *message, size_t *size)
{
    *size = protobuf_c_message_get_packed_size(message);
    uint8_t *bytes = arena_alloc(arena, *size);
    if (bytes)
        protobuf_c_message_pack(message, bytes);
    return bytes;
}

uint8_t *replay_pack_chat(struct arena *arena, const Renga__V1__ChatResponse *response, size_t *size)
{
    Renga__V1__ChatResponse kept = *response;
    Renga__V1__ChatFinish finish = RENGA__V1__CHAT_FINISH__INIT;
    if (response->finish)
        finish = *response->finish;
    finish.usage = NULL;
    finish.n_attempts = 0;
    finish.cache_use = RENGA__V1__CACHE_USE__CACHE_USE_UNSPECIFIED;
    finish.first_token_ms = finish.duration_ms = 0;
    kept.finish = &finish;
    return replay_pack(arena, &kept.base, size);
}

uint8_t *replay_pack_embed(struct arena *arena, const Renga__V1__EmbedResponse *response, size_t *size)
{
    Renga__V1__EmbedResponse kept = *response;
    kept.usage = NULL;
    kept.n_attempts = 0;
    kept.cache_use = RENGA__V1__CACHE_USE__CACHE_USE_UNSPECIFIED;
    return replay_pack(arena, &kept.base, size);
}

static ProtobufCMessage *replay_unpack(struct arena *arena, const ProtobufCMessageDescriptor *type,
                                       const uint8_t *bytes, size_t size, struct status *st)
{
    struct status why = {0};
    ProtobufCMessage *message = rpc_unpack(type, bytes, size, arena, &why);
    if (!message)
        fail(st, why.code == RESOURCE_EXHAUSTED ? RESOURCE_EXHAUSTED : INTERNAL, "an answer that was kept: %s",
             why.text);
    return message;
}

static Renga__V1__Usage *no_usage(struct arena *arena, struct status *st)
{
    Renga__V1__Usage *usage = arena_alloc(arena, sizeof *usage);
    if (usage)
        renga__v1__usage__init(usage);
    else
        fail(st, RESOURCE_EXHAUSTED, "an answer that was kept takes more memory than a call may have");
    return usage;
}

Renga__V1__ChatResponse *replay_chat(struct arena *arena, const uint8_t *bytes, size_t size,
                                     const struct replay_terms *terms, struct status *st)
{
    Renga__V1__ChatResponse *response =
        (Renga__V1__ChatResponse *)replay_unpack(arena, &renga__v1__chat_response__descriptor, bytes, size, st);
    if (!response)
        return NULL;
    Renga__V1__ChatFinish *finish = response->finish;
    if (!finish || !response->message) {
        fail(st, INTERNAL, "an answer that was kept has no %s", finish ? "message" : "finish");
        return NULL;
    }
    finish->usage = no_usage(arena, st);
    finish->n_attempts = 0;
    finish->cache_use = terms->use;
    finish->first_token_ms = terms->first_token_ms;
    finish->duration_ms = terms->duration_ms;
    return finish->usage ? response : NULL;
}

Renga__V1__EmbedResponse *replay_embed(struct arena *arena, const uint8_t *bytes, size_t size, Renga__V1__CacheUse use,
                                       struct status *st)
{
    Renga__V1__EmbedResponse *response =
        (Renga__V1__EmbedResponse *)replay_unpack(arena, &renga__v1__embed_response__descriptor, bytes, size, st);
    if (!response)
        return NULL;
    response->usage = no_usage(arena, st);
    response->n_attempts = 0;
    response->cache_use = use;
    return response->usage ? response : NULL;
}

/* ---- as a stream ------------------------------------------------------------------------------------------------- */

struct stream {
    Renga__V1__ChatStreamEvent_Closure send;
    void *data;
};

static void replay_send_start(const struct stream *stream, const Renga__V1__ChatResponse *response)
{
    Renga__V1__ChatStart start = RENGA__V1__CHAT_START__INIT;
    Renga__V1__ChatStreamEvent event = RENGA__V1__CHAT_STREAM_EVENT__INIT;
    start.id = response->id;
    start.answered_by = response->finish->answered_by;
    event.event_case = RENGA__V1__CHAT_STREAM_EVENT__EVENT_START;
    event.start = &start;
    stream->send(&event, stream->data);
}

/* Chunks are not copied: the text has a NUL at the end of the chunk during the send. Returns the rest. */
static char *replay_send_piece(const struct stream *stream, Renga__V1__ChatStreamEvent *event, char **member,
                               char *text)
{
    char *end = text + text_cut(text, strlen(text), PIECE_MAX), next = *end;
    if (next) /* an empty text may be protobuf-c's own, which is constant */
        *end = '\0';
    *member = text;
    stream->send(event, stream->data);
    if (next)
        *end = next;
    return end;
}

static void replay_send_text(const struct stream *stream, Renga__V1__ChatStreamEvent__EventCase kind, char *text)
{
    while (*text) {
        Renga__V1__ChatStreamEvent event = RENGA__V1__CHAT_STREAM_EVENT__INIT;
        event.event_case = kind;
        text = replay_send_piece(stream, &event, &event.text, text); /* all texts of the union share one place */
    }
}

/* A call without arguments has a piece too. */
static void send_call(const struct stream *stream, int32_t index, const Renga__V1__ToolCall *call)
{
    Renga__V1__ToolCallDelta delta = RENGA__V1__TOOL_CALL_DELTA__INIT;
    Renga__V1__ChatStreamEvent event = RENGA__V1__CHAT_STREAM_EVENT__INIT;
    char *text = call->arguments_json;
    delta.index = index;
    delta.id = call->id;
    delta.name = call->name;
    event.event_case = RENGA__V1__CHAT_STREAM_EVENT__EVENT_TOOL_CALL;
    event.tool_call = &delta;
    do {
        text = replay_send_piece(stream, &event, &delta.arguments_json, text);
        delta.id = delta.name = (char *)(uintptr_t)protobuf_c_empty_string;
    } while (*text);
}

void replay_stream(Renga__V1__ChatResponse *response, Renga__V1__ChatStreamEvent_Closure send, void *data)
{
    const struct stream stream = {send, data};
    const Renga__V1__ChatMessage *message = response->message;
    Renga__V1__ChatStreamEvent event = RENGA__V1__CHAT_STREAM_EVENT__INIT;
    replay_send_start(&stream, response);
    replay_send_text(&stream, RENGA__V1__CHAT_STREAM_EVENT__EVENT_REASONING, message->reasoning);
    replay_send_text(&stream, RENGA__V1__CHAT_STREAM_EVENT__EVENT_TEXT, message->content);
    replay_send_text(&stream, RENGA__V1__CHAT_STREAM_EVENT__EVENT_REFUSAL, message->refusal);
    for (size_t i = 0; i < message->n_tool_calls; i++)
        send_call(&stream, (int32_t)i, message->tool_calls[i]);
    replay_send_text(&stream, RENGA__V1__CHAT_STREAM_EVENT__EVENT_REASONING_SIGNATURE, message->reasoning_signature);
    event.event_case = RENGA__V1__CHAT_STREAM_EVENT__EVENT_FINISH;
    event.finish = response->finish;
    send(&event, data);
    send(NULL, data);
}
