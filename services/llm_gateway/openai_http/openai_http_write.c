/* Answers in OpenAI's format: chat.completion and chat.completion.chunk.
 *
 * Beside OpenAI's own fields an answer has reasoning_content (the name that DeepSeek, vLLM and others use) and
 * reasoning_signature if the model sends its thinking; both may come back in the next request. */
#include "openai_http_priv.h"
#include "provider/openai_priv.h"

#include <stdio.h>
#include <string.h>

#define DONE "data: [DONE]\n\n"

static const char *finish_word(Renga__V1__FinishReason reason)
{
    switch (reason) {
    case RENGA__V1__FINISH_REASON__FINISH_REASON_LENGTH:
        return "length";
    case RENGA__V1__FINISH_REASON__FINISH_REASON_TOOL_CALLS:
        return "tool_calls";
    case RENGA__V1__FINISH_REASON__FINISH_REASON_CONTENT_FILTER:
        return "content_filter";
    default: /* also a refusal, an empty answer and a missing call: the content tells them apart */
        return "stop";
    }
}

static void write_usage(struct json_writer *writer, const Renga__V1__Usage *usage)
{
    static const Renga__V1__Usage none = RENGA__V1__USAGE__INIT;
    if (!usage)
        usage = &none;
    json_write_object(writer, "usage");
    json_write_int(writer, "prompt_tokens", usage->input_tokens);
    json_write_int(writer, "completion_tokens", usage->output_tokens);
    json_write_int(writer, "total_tokens", usage->input_tokens + usage->output_tokens);
    json_write_object(writer, "prompt_tokens_details");
    json_write_int(writer, "cached_tokens", usage->cached_input_tokens);
    json_write_int(writer, "audio_tokens", 0);
    json_write_end(writer);
    json_write_object(writer, "completion_tokens_details");
    json_write_int(writer, "reasoning_tokens", usage->reasoning_tokens);
    json_write_int(writer, "audio_tokens", 0);
    json_write_int(writer, "accepted_prediction_tokens", 0);
    json_write_int(writer, "rejected_prediction_tokens", 0);
    json_write_end(writer);
    json_write_end(writer);
}

/* ---- whole ------------------------------------------------------------------------------------------------------- */

/* OpenAI's clients read JSON from the content, so the checked JSON is the content. */
static const char *content_of(const Renga__V1__ChatMessage *message, const Renga__V1__ChatFinish *finish)
{
    if (finish->structured_json[0])
        return finish->structured_json;
    return message->content[0] || (!message->n_tool_calls && !message->refusal[0]) ? message->content : NULL;
}

void openai_http_write_answer(struct json_writer *writer, const Renga__V1__ChatResponse *response, int64_t created_s)
{
    const Renga__V1__ChatFinish *finish = response->finish;
    json_write_object(writer, NULL);
    json_write_string(writer, "id", response->id);
    json_write_string(writer, "object", "chat.completion");
    json_write_int(writer, "created", created_s);
    json_write_string(writer, "model", finish->answered_by ? finish->answered_by->model : "");
    json_write_array(writer, "choices");
    json_write_object(writer, NULL);
    json_write_int(writer, "index", 0);
    const Renga__V1__ChatMessage *message = response->message;
    json_write_object(writer, "message");
    json_write_string(writer, "role", "assistant");
    json_write_string(writer, "content", content_of(message, finish));
    json_write_string(writer, "refusal", message->refusal[0] ? message->refusal : NULL);
    json_write_array(writer, "annotations");
    json_write_end(writer);
    if (message->n_tool_calls)
        openai_write_tool_calls(message, writer);
    if (message->reasoning[0])
        json_write_string(writer, "reasoning_content", message->reasoning);
    if (message->reasoning_signature[0])
        json_write_string(writer, "reasoning_signature", message->reasoning_signature);
    json_write_end(writer);
    json_write_null(writer, "logprobs");
    json_write_string(writer, "finish_reason", finish_word(finish->finish_reason));
    json_write_end(writer);
    json_write_end(writer);
    write_usage(writer, finish->usage);
    json_write_end(writer);
}

/* ---- in pieces --------------------------------------------------------------------------------------------------- */

/* A chunk up to its choices, and from there to its end. */
static void chunk_begin(struct json_writer *writer, const struct openai_http_stream *stream, struct buffer *out)
{
    buffer_print(out, "data: ");
    json_writer_init(writer, out);
    json_write_object(writer, NULL);
    json_write_string(writer, "id", stream->id);
    json_write_string(writer, "object", "chat.completion.chunk");
    json_write_int(writer, "created", stream->created_s);
    json_write_string(writer, "model", stream->model);
    json_write_array(writer, "choices");
}

static void chunk_end(struct json_writer *writer, struct buffer *out)
{
    json_write_end(writer);
    buffer_print(out, "\n\n");
}

/* The same with a delta in it. */
static void delta_begin(struct json_writer *writer, const struct openai_http_stream *stream, struct buffer *out)
{
    chunk_begin(writer, stream, out);
    json_write_object(writer, NULL);
    json_write_int(writer, "index", 0);
    json_write_object(writer, "delta");
}

static void delta_end(struct json_writer *writer, const struct openai_http_stream *stream, const char *finish_reason,
                      struct buffer *out)
{
    json_write_end(writer);
    json_write_null(writer, "logprobs");
    json_write_string(writer, "finish_reason", finish_reason);
    json_write_end(writer);
    json_write_end(writer);
    if (stream->include_usage)
        json_write_null(writer, "usage");
    chunk_end(writer, out);
}

static void openai_http_write_text(const struct openai_http_stream *stream, const char *name, const char *text,
                                   struct buffer *out)
{
    struct json_writer writer;
    delta_begin(&writer, stream, out);
    json_write_string(&writer, name, text);
    delta_end(&writer, stream, NULL, out);
}

/* The role comes first. Its content is null unless text follows: SDKs keep that value. */
static void write_role(struct openai_http_stream *stream, bool text_follows, struct buffer *out)
{
    struct json_writer writer;
    if (stream->has_spoken)
        return;
    stream->has_spoken = true;
    delta_begin(&writer, stream, out);
    json_write_string(&writer, "role", "assistant");
    json_write_string(&writer, "content", text_follows ? "" : NULL);
    json_write_null(&writer, "refusal");
    delta_end(&writer, stream, NULL, out);
}

static void openai_http_write_call(const struct openai_http_stream *stream, const Renga__V1__ToolCallDelta *delta,
                                   struct buffer *out)
{
    struct json_writer writer;
    delta_begin(&writer, stream, out);
    json_write_array(&writer, "tool_calls");
    json_write_object(&writer, NULL);
    json_write_int(&writer, "index", delta->index);
    if (delta->id[0]) {
        json_write_string(&writer, "id", delta->id);
        json_write_string(&writer, "type", "function");
    }
    json_write_object(&writer, "function");
    if (delta->name[0])
        json_write_string(&writer, "name", delta->name);
    json_write_string(&writer, "arguments", delta->arguments_json);
    json_write_end(&writer);
    json_write_end(&writer);
    json_write_end(&writer);
    delta_end(&writer, stream, NULL, out);
}

static void note_call(struct openai_http_stream *stream, const Renga__V1__ToolCallDelta *delta)
{
    if (delta->index < 0 || delta->index >= OPENAI_HTTP_CALLS_MAX)
        return;
    uint64_t bit = UINT64_C(1) << delta->index % 64;
    stream->opened[delta->index / 64] |= bit;
    if (delta->arguments_json[0])
        stream->argued[delta->index / 64] |= bit;
}

static void write_stream_usage(const struct openai_http_stream *stream, const Renga__V1__Usage *usage,
                               struct buffer *out)
{
    struct json_writer writer;
    if (!stream->include_usage)
        return;
    chunk_begin(&writer, stream, out);
    json_write_end(&writer);
    write_usage(&writer, usage);
    chunk_end(&writer, out);
}

/* Text that a repair has made void cannot be taken back from a client of OpenAI's: that is an error. */
static void write_finish(struct openai_http_stream *stream, const Renga__V1__ChatFinish *finish, struct buffer *out)
{
    struct json_writer writer;
    write_role(stream, true, out);
    if (finish->repaired) {
        struct status void_text = {0};
        struct openai_http_error error;
        fail(&void_text, DATA_LOSS,
             "the answer broke its JSON Schema and was repaired after it had been streamed; ask without \"stream\"");
        openai_http_error_of(&void_text, &error);
        write_stream_usage(stream, finish->usage, out);
        openai_http_write_stream_error(&error, out);
        return;
    }
    /* No arguments are an empty object, which a client can parse. */
    Renga__V1__ToolCallDelta delta = RENGA__V1__TOOL_CALL_DELTA__INIT;
    delta.arguments_json = UNCONST("{}");
    for (int i = 0; i < OPENAI_HTTP_CALLS_MAX; i++) {
        uint64_t bare = stream->opened[i / 64] & ~stream->argued[i / 64];
        delta.index = i;
        if (bare >> i % 64 & 1)
            openai_http_write_call(stream, &delta, out);
    }
    delta_begin(&writer, stream, out);
    delta_end(&writer, stream, finish_word(finish->finish_reason), out);
    write_stream_usage(stream, finish->usage, out);
    buffer_print(out, DONE);
}

static void write_start(struct openai_http_stream *stream, const Renga__V1__ChatStart *start)
{
    snprintf(stream->id, sizeof stream->id, "%s", start->id);
    snprintf(stream->model, sizeof stream->model, "%s", start->answered_by ? start->answered_by->model : "");
}

void openai_http_write_event(struct openai_http_stream *stream, const Renga__V1__ChatStreamEvent *event,
                             struct buffer *out)
{
    switch (event->event_case) {
    case RENGA__V1__CHAT_STREAM_EVENT__EVENT_START:
        write_start(stream, event->start);
        return;
    case RENGA__V1__CHAT_STREAM_EVENT__EVENT_TEXT:
        write_role(stream, true, out);
        openai_http_write_text(stream, "content", event->text, out);
        return;
    case RENGA__V1__CHAT_STREAM_EVENT__EVENT_REASONING:
        write_role(stream, false, out);
        openai_http_write_text(stream, "reasoning_content", event->reasoning, out);
        return;
    case RENGA__V1__CHAT_STREAM_EVENT__EVENT_REASONING_SIGNATURE:
        write_role(stream, false, out);
        openai_http_write_text(stream, "reasoning_signature", event->reasoning_signature, out);
        return;
    case RENGA__V1__CHAT_STREAM_EVENT__EVENT_REFUSAL:
        write_role(stream, false, out);
        openai_http_write_text(stream, "refusal", event->refusal, out);
        return;
    case RENGA__V1__CHAT_STREAM_EVENT__EVENT_TOOL_CALL:
        write_role(stream, false, out);
        note_call(stream, event->tool_call);
        openai_http_write_call(stream, event->tool_call, out);
        return;
    case RENGA__V1__CHAT_STREAM_EVENT__EVENT_USAGE:
        write_stream_usage(stream, event->usage, out);
        return;
    case RENGA__V1__CHAT_STREAM_EVENT__EVENT_FINISH:
        write_finish(stream, event->finish, out);
        return;
    default:
        return;
    }
}

void openai_http_write_stream_error(const struct openai_http_error *error, struct buffer *out)
{
    struct json_writer writer;
    buffer_print(out, "data: ");
    json_writer_init(&writer, out);
    openai_http_write_error(&writer, error);
    buffer_print(out, "\n\n");
}
