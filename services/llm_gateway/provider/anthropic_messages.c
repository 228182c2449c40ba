/* A conversation as the Messages API wants it: system turns lifted out, users and assistants in turn (neighbours of one
 * side are joined), results of tools as blocks of the user's turn. The contract has them directly behind their calls,
 * so they come first there, as the API wants too. */
#include "anthropic_priv.h"

#include "json/json.h"

#include <ctype.h>
#include <string.h>

#define ID_MAX 128 /* bytes, as the contract has it */

static void anthropic_messages_write_text(const char *text, struct json_writer *writer)
{
    if (!text[0]) /* an empty block is refused */
        return;
    json_write_object(writer, NULL);
    json_write_string(writer, "type", "text");
    json_write_string(writer, "text", text);
    json_write_end(writer);
}

/* Ids may come from another provider; the API takes letters, digits, '_' and '-'. */
static void write_id(const char *key, const char *id, struct json_writer *writer)
{
    char clean[ID_MAX + 1];
    size_t length = 0;
    for (; id[length] && length < ID_MAX; length++)
        clean[length] = isalnum((unsigned char)id[length]) || id[length] == '-' ? id[length] : '_';
    json_write_text(writer, key, clean, length);
}

/* The API accepts only an object. A model may have written other text; it gets that text back. */
static void anthropic_messages_write_input(const char *arguments, struct json_writer *writer)
{
    struct status ignored = {0};
    size_t size = strlen(arguments);
    if (arguments[strspn(arguments, " \t\r\n")] == '{' && json_check(arguments, size, NULL, &ignored)) {
        json_write_raw(writer, "input", arguments, size);
        return;
    }
    json_write_object(writer, "input");
    if (size)
        json_write_string(writer, "arguments", arguments);
    json_write_end(writer);
}

static void write_assistant(const Renga__V1__ChatMessage *turn, bool thinks, struct json_writer *writer)
{
    if (thinks && turn->reasoning_signature[0]) {
        json_write_object(writer, NULL);
        json_write_string(writer, "type", "thinking");
        json_write_string(writer, "thinking", turn->reasoning);
        json_write_string(writer, "signature", turn->reasoning_signature);
        json_write_end(writer);
    }
    anthropic_messages_write_text(turn->content, writer);
    anthropic_messages_write_text(turn->refusal, writer);
    for (size_t i = 0; i < turn->n_tool_calls; i++) {
        json_write_object(writer, NULL);
        json_write_string(writer, "type", "tool_use");
        write_id("id", turn->tool_calls[i]->id, writer);
        json_write_string(writer, "name", turn->tool_calls[i]->name);
        anthropic_messages_write_input(turn->tool_calls[i]->arguments_json, writer);
        json_write_end(writer);
    }
}

static void write_tool_result(const Renga__V1__ChatMessage *turn, struct json_writer *writer)
{
    json_write_object(writer, NULL);
    json_write_string(writer, "type", "tool_result");
    write_id("tool_use_id", turn->tool_call_id, writer);
    if (turn->content[0])
        json_write_string(writer, "content", turn->content);
    if (turn->tool_failed)
        json_write_bool(writer, "is_error", true);
    json_write_end(writer);
}

static bool is_system(const Renga__V1__ChatMessage *turn)
{
    return turn->role == RENGA__V1__CHAT_ROLE__CHAT_ROLE_SYSTEM;
}

static void write_system(const Renga__V1__ChatRequest *request, struct json_writer *writer)
{
    bool begun = false;
    for (size_t i = 0; i < request->n_messages; i++) {
        if (!is_system(request->messages[i]))
            continue;
        if (!begun)
            json_write_array(writer, "system");
        begun = true;
        anthropic_messages_write_text(request->messages[i]->content, writer);
    }
    if (begun)
        json_write_end(writer);
}

static void end_side(struct json_writer *writer)
{
    json_write_end(writer);
    json_write_end(writer);
}

void anthropic_write_conversation(const Renga__V1__ChatRequest *request, bool thinks, struct json_writer *writer)
{
    const char *side = NULL;
    write_system(request, writer);
    json_write_array(writer, "messages");
    for (size_t i = 0; i < request->n_messages; i++) {
        const Renga__V1__ChatMessage *turn = request->messages[i];
        if (is_system(turn))
            continue;
        const char *speaks = turn->role == RENGA__V1__CHAT_ROLE__CHAT_ROLE_ASSISTANT ? "assistant" : "user";
        if (side && strcmp(side, speaks) != 0)
            end_side(writer);
        if (!side || strcmp(side, speaks) != 0) {
            json_write_object(writer, NULL);
            json_write_string(writer, "role", speaks);
            json_write_array(writer, "content");
        }
        side = speaks;
        if (turn->role == RENGA__V1__CHAT_ROLE__CHAT_ROLE_ASSISTANT)
            write_assistant(turn, thinks, writer);
        else if (turn->role == RENGA__V1__CHAT_ROLE__CHAT_ROLE_TOOL)
            write_tool_result(turn, writer);
        else
            anthropic_messages_write_text(turn->content, writer);
    }
    if (side)
        end_side(writer);
    json_write_end(writer);
}
