/* The messages, for operators, if enabled (pipeline/pipeline_content.h): [{"role": "user", "parts": [{"type":
 * "text", "content": "…"}]}, …] */
#include "chat_priv.h"

#include "base/text.h"

#include <string.h>

/* The budget that is left for a message. */
struct teller {
    struct json_writer *writer;
    size_t left;
};

static const char *role_word(Renga__V1__ChatRole role)
{
    static const char *const words[] = {
        [RENGA__V1__CHAT_ROLE__CHAT_ROLE_SYSTEM] = "system",
        [RENGA__V1__CHAT_ROLE__CHAT_ROLE_USER] = "user",
        [RENGA__V1__CHAT_ROLE__CHAT_ROLE_ASSISTANT] = "assistant",
        [RENGA__V1__CHAT_ROLE__CHAT_ROLE_TOOL] = "tool",
    };
    return role > 0 && role < sizeof words / sizeof words[0] ? words[role] : "";
}

static size_t chat_content_size_of(const Renga__V1__ChatMessage *message)
{
    size_t size = strlen(message->content) + strlen(message->refusal) + strlen(message->reasoning);
    for (size_t i = 0; i < message->n_tool_calls; i++)
        size += strlen(message->tool_calls[i]->arguments_json);
    return size;
}

static void chat_content_put(struct teller *teller, const char *key, const char *text)
{
    size_t length = strlen(text), size = length > teller->left ? text_cut(text, length, teller->left) : length;
    json_write_text(teller->writer, key, text, size);
    teller->left -= size;
}

static void begin_part(struct teller *teller, const char *type)
{
    json_write_object(teller->writer, NULL);
    json_write_string(teller->writer, "type", type);
}

static void tell_text(struct teller *teller, const char *type, const char *text)
{
    if (!text[0])
        return;
    begin_part(teller, type);
    chat_content_put(teller, "content", text);
    json_write_end(teller->writer);
}

static void tell_result(struct teller *teller, const Renga__V1__ChatMessage *message)
{
    begin_part(teller, "tool_call_response");
    json_write_string(teller->writer, "id", message->tool_call_id);
    chat_content_put(teller, "result", message->content);
    json_write_end(teller->writer);
}

static void tell_message(struct teller *teller, const Renga__V1__ChatMessage *message, const char *finish)
{
    json_write_object(teller->writer, NULL);
    json_write_string(teller->writer, "role", role_word(message->role));
    json_write_array(teller->writer, "parts");
    tell_text(teller, "reasoning", message->reasoning);
    if (message->role == RENGA__V1__CHAT_ROLE__CHAT_ROLE_TOOL)
        tell_result(teller, message);
    else
        tell_text(teller, "text", message->content);
    tell_text(teller, "refusal", message->refusal);
    for (size_t i = 0; i < message->n_tool_calls; i++) {
        const Renga__V1__ToolCall *call = message->tool_calls[i];
        begin_part(teller, "tool_call");
        json_write_string(teller->writer, "id", call->id);
        json_write_string(teller->writer, "name", call->name);
        chat_content_put(teller, "arguments", call->arguments_json);
        json_write_end(teller->writer);
    }
    json_write_end(teller->writer);
    if (finish[0])
        json_write_string(teller->writer, "finish_reason", finish);
    json_write_end(teller->writer);
}

bool chat_write_content(struct pipeline *pipeline, bool answer, size_t budget, struct json_writer *writer)
{
    struct chat *chat = (struct chat *)pipeline;
    if (!answer) {
        /* The newest that fit; the oldest of them may be cut. */
        const Renga__V1__ChatRequest *request = chat->request;
        size_t first = request->n_messages, left = budget, capacity = budget;
        while (first > 0 && left > 0) {
            size_t size = chat_content_size_of(request->messages[--first]);
            capacity = left;
            left -= size < left ? size : left;
        }
        json_write_array(writer, NULL);
        for (size_t i = first; i < request->n_messages; i++, capacity = budget)
            tell_message(&(struct teller){.writer = writer, .left = capacity}, request->messages[i], "");
        json_write_end(writer);
        return true;
    }
    const Renga__V1__ChatMessage *said = chat->answer.had_choice ? answer_message(&chat->answer) : NULL;
    if (!said)
        return false;
    json_write_array(writer, NULL);
    tell_message(&(struct teller){.writer = writer, .left = budget}, said, chat->answer.word);
    json_write_end(writer);
    return true;
}
