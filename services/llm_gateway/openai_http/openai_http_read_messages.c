/* The conversation. Only text is supported: text parts are joined; images, audio and files are refused. Fields of
 * our own answers (reasoning, its signature) are read when a client sends them back; fields that SDKs add (parsed,
 * annotations) are ignored. */
#include "openai_http_priv.h"
#include "words/no_results.h"

#include <string.h>

static const char *text_of_part(struct openai_http_reader *reader, const cJSON *part)
{
    const char *type = cJSON_IsObject(part) ? json_string(&reader->in, part, "type") : "";
    if (!cJSON_IsObject(part))
        json_reader_fail(&reader->in, part, "must be an object");
    else if (strcmp(type, "text") == 0 || strcmp(type, "refusal") == 0)
        return json_string(&reader->in, part, type);
    else
        openai_http_read_refuse(reader, part, "unsupported_value",
                                "is of type '%.32s'; this gateway carries text alone", type);
    return "";
}

/* The text of all parts of one type, joined. */
static char *join_parts(struct openai_http_reader *reader, const cJSON *parts, const char *type)
{
    size_t size = 0;
    for (const cJSON *part = parts->child; part && !reader->in.failed; part = part->next)
        size += strlen(text_of_part(reader, part));
    char *text = reader->in.failed ? NULL : arena_alloc(reader->arena, size + 1), *end = text;
    for (const cJSON *part = parts->child; part && text; part = part->next) {
        const char *piece = text_of_part(reader, part);
        if (strcmp(json_string(&reader->in, part, "type"), type) == 0)
            end = stpcpy(end, piece);
    }
    if (!text)
        return UNCONST("");
    *end = '\0';
    return text;
}

static void openai_http_read_messages_read_call(struct openai_http_reader *reader, const cJSON *item,
                                                Renga__V1__ToolCall *call)
{
    static const char *const types[] = {"function"};
    const cJSON *type = cJSON_GetObjectItemCaseSensitive(item, "type");
    renga__v1__tool_call__init(call);
    if (!cJSON_IsObject(item)) {
        json_reader_fail(&reader->in, item, "must be an object");
        return;
    }
    if (openai_http_is_given(type))
        openai_http_read_enum(reader, type, types, 1);
    const cJSON *function = json_object(&reader->in, item, "function");
    call->id = UNCONST(json_string(&reader->in, item, "id"));
    call->name = UNCONST(json_string(&reader->in, function, "name"));
    call->arguments_json = UNCONST(json_string_or(&reader->in, function, "arguments", ""));
}

static void openai_http_read_messages_read_calls(struct openai_http_reader *reader, const cJSON *item,
                                                 Renga__V1__ChatMessage *turn)
{
    const cJSON *list = json_array_or_null(&reader->in, item, "tool_calls");
    if (!list || !list->child)
        return;
    size_t count = (size_t)cJSON_GetArraySize(list);
    Renga__V1__ToolCall *calls = arena_alloc(reader->arena, count * sizeof *calls);
    turn->tool_calls = arena_alloc(reader->arena, count * sizeof(*turn->tool_calls));
    if (!calls || !turn->tool_calls)
        return;
    for (const cJSON *call = list->child; call && !reader->in.failed; call = call->next) {
        openai_http_read_messages_read_call(reader, call, &calls[turn->n_tool_calls]);
        turn->tool_calls[turn->n_tool_calls] = &calls[turn->n_tool_calls];
        turn->n_tool_calls++;
    }
}

static void read_assistant(struct openai_http_reader *reader, const cJSON *item, Renga__V1__ChatMessage *turn)
{
    static const char *const refused[] = {"audio", "function_call"};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        const cJSON *value = cJSON_GetObjectItemCaseSensitive(item, refused[i]);
        if (openai_http_is_given(value))
            openai_http_read_refuse(reader, value, "unsupported_parameter",
                                    "is not supported by this gateway; leave it out");
    }
    const char *refusal = json_string_or(&reader->in, item, "refusal", "");
    if (refusal[0])
        turn->refusal = UNCONST(refusal);
    turn->reasoning = UNCONST(json_string_or(&reader->in, item, "reasoning_content", ""));
    turn->reasoning_signature = UNCONST(json_string_or(&reader->in, item, "reasoning_signature", ""));
    openai_http_read_messages_read_calls(reader, item, turn);
}

static void openai_http_read_messages_read_turn(struct openai_http_reader *reader, const cJSON *item,
                                                Renga__V1__ChatMessage *turn)
{
    enum { SYSTEM, DEVELOPER, USER, ASSISTANT, TOOL, ROLES };
    static const char *const names[] = {"system", "developer", "user", "assistant", "tool"};
    static const Renga__V1__ChatRole roles[ROLES] = {
        [SYSTEM] = RENGA__V1__CHAT_ROLE__CHAT_ROLE_SYSTEM, [DEVELOPER] = RENGA__V1__CHAT_ROLE__CHAT_ROLE_SYSTEM,
        [USER] = RENGA__V1__CHAT_ROLE__CHAT_ROLE_USER,     [ASSISTANT] = RENGA__V1__CHAT_ROLE__CHAT_ROLE_ASSISTANT,
        [TOOL] = RENGA__V1__CHAT_ROLE__CHAT_ROLE_TOOL,
    };
    json_string(&reader->in, item, "role"); /* reports it if it is missing */
    int role = reader->in.failed
                   ? -1
                   : openai_http_read_enum(reader, cJSON_GetObjectItemCaseSensitive(item, "role"), names, ROLES);
    if (role < 0)
        return;
    turn->role = roles[role];
    turn->name = UNCONST(json_string_or(&reader->in, item, "name", ""));
    const cJSON *content = cJSON_GetObjectItemCaseSensitive(item, "content");
    bool assistant = turn->role == RENGA__V1__CHAT_ROLE__CHAT_ROLE_ASSISTANT;
    if (cJSON_IsArray(content)) {
        turn->content = join_parts(reader, content, "text");
        if (assistant)
            turn->refusal = join_parts(reader, content, "refusal");
    } else if (assistant) {
        turn->content = UNCONST(json_string_or(&reader->in, item, "content", ""));
    } else {
        turn->content = UNCONST(json_string(&reader->in, item, "content"));
    }
    if (role == TOOL) {
        turn->tool_call_id = UNCONST(json_string(&reader->in, item, "tool_call_id"));
        turn->tool_found_nothing = words_say_no_results(turn->content, strlen(turn->content)); /* it has no field */
    }
    if (role == ASSISTANT)
        read_assistant(reader, item, turn);
}

void openai_http_read_messages(struct openai_http_reader *reader)
{
    Renga__V1__ChatRequest *request = &reader->question->request;
    const cJSON *list = json_array(&reader->in, reader->in.root, "messages");
    size_t count = list ? (size_t)cJSON_GetArraySize(list) : 0;
    Renga__V1__ChatMessage *turns = arena_alloc(reader->arena, count * sizeof *turns);
    request->messages = arena_alloc(reader->arena, count * sizeof(*request->messages));
    if (!list || !turns || !request->messages)
        return;
    for (const cJSON *item = list->child; item && !reader->in.failed; item = item->next) {
        Renga__V1__ChatMessage *turn = &turns[request->n_messages];
        renga__v1__chat_message__init(turn);
        request->messages[request->n_messages++] = turn;
        if (cJSON_IsObject(item))
            openai_http_read_messages_read_turn(reader, item, turn);
        else
            json_reader_fail(&reader->in, item, "must be an object");
    }
}
