#include "turns.h"

#include <string.h>

static const struct role {
    const char *word;
    Renga__V1__ChatRole role;
} roles[] = {
    {"user", RENGA__V1__CHAT_ROLE__CHAT_ROLE_USER},
    {"assistant", RENGA__V1__CHAT_ROLE__CHAT_ROLE_ASSISTANT},
    {"tool", RENGA__V1__CHAT_ROLE__CHAT_ROLE_TOOL},
    {"system", RENGA__V1__CHAT_ROLE__CHAT_ROLE_SYSTEM},
};

static bool turns_no_memory(struct status *st)
{
    return fail(st, RESOURCE_EXHAUSTED, "the conversation takes more memory than an attempt may have");
}

bool turns_init(struct turns *turns, struct arena *arena, size_t room, struct status *st)
{
    *turns = (struct turns){.arena = arena, .room = room};
    turns->list = arena_alloc(arena, room * sizeof(*turns->list));
    return turns->list || turns_no_memory(st);
}

static Renga__V1__ChatMessage *turns_add_message(struct turns *turns, struct status *st)
{
    Renga__V1__ChatMessage *turn = turns->count < turns->room ? arena_alloc(turns->arena, sizeof *turn) : NULL;
    if (!turn) {
        turns_no_memory(st);
        return NULL;
    }
    renga__v1__chat_message__init(turn);
    return turns->list[turns->count++] = turn;
}

bool turns_put(struct turns *turns, Renga__V1__ChatMessage *turn, struct status *st)
{
    if (turns->count == turns->room)
        return turns_no_memory(st);
    turns->list[turns->count++] = turn;
    return true;
}

bool turns_add(struct turns *turns, Renga__V1__ChatRole role, const char *content, struct status *st)
{
    Renga__V1__ChatMessage *turn = turns_add_message(turns, st);
    if (!turn)
        return false;
    turn->role = role;
    turn->content = (char *)(uintptr_t)content;
    return true;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* Leaves it as it is if the key is missing. */
static bool turns_read_text(struct turns *turns, const cJSON *item, const char *key, char **text, struct status *st)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(item, key);
    if (!value || cJSON_IsNull(value))
        return true;
    if (!cJSON_IsString(value))
        return fail(st, INVALID_ARGUMENT, "the \"%s\" of a turn is no string", key);
    *text = arena_strdup(turns->arena, value->valuestring);
    return *text || turns_no_memory(st);
}

static bool turns_read_call(struct turns *turns, const cJSON *item, Renga__V1__ToolCall **at, struct status *st)
{
    Renga__V1__ToolCall *call = *at = arena_alloc(turns->arena, sizeof *call);
    if (!call)
        return turns_no_memory(st);
    renga__v1__tool_call__init(call);
    return turns_read_text(turns, item, "id", &call->id, st) && turns_read_text(turns, item, "name", &call->name, st) &&
           turns_read_text(turns, item, "arguments", &call->arguments_json, st);
}

static bool turns_read_calls(struct turns *turns, const cJSON *list, Renga__V1__ChatMessage *turn, struct status *st)
{
    const cJSON *item;
    turn->tool_calls = arena_alloc(turns->arena, (size_t)cJSON_GetArraySize(list) * sizeof(*turn->tool_calls));
    if (!turn->tool_calls)
        return turns_no_memory(st);
    cJSON_ArrayForEach(item, list)
    {
        if (!turns_read_call(turns, item, &turn->tool_calls[turn->n_tool_calls++], st))
            return false;
    }
    return true;
}

static bool read_role(const cJSON *item, Renga__V1__ChatRole *role, struct status *st)
{
    const char *word = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "role"));
    for (size_t i = 0; word && i < sizeof roles / sizeof *roles; i++)
        if (strcmp(roles[i].word, word) == 0) {
            *role = roles[i].role;
            return true;
        }
    return fail(st, INVALID_ARGUMENT, "a turn has the \"role\" '%.32s'; it must be user, assistant, tool or system",
                word ? word : "");
}

static bool turns_read_turn(struct turns *turns, const cJSON *item, bool plain, struct status *st)
{
    Renga__V1__ChatRole role = RENGA__V1__CHAT_ROLE__CHAT_ROLE_USER;
    const cJSON *calls = cJSON_GetObjectItemCaseSensitive(item, "tool_calls");
    if (!read_role(item, &role, st))
        return false;
    if (plain && (role == RENGA__V1__CHAT_ROLE__CHAT_ROLE_TOOL || cJSON_GetArraySize(calls)))
        return true;
    Renga__V1__ChatMessage *turn = turns_add_message(turns, st);
    if (!turn)
        return false;
    turn->role = role;
    turn->tool_failed = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(item, "tool_failed"));
    turn->tool_found_nothing = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(item, "tool_found_nothing"));
    return turns_read_text(turns, item, "content", &turn->content, st) &&
           turns_read_text(turns, item, "name", &turn->name, st) && turns_read_text(turns, item, "id", &turn->id, st) &&
           turns_read_text(turns, item, "tool_call_id", &turn->tool_call_id, st) &&
           turns_read_text(turns, item, "reasoning", &turn->reasoning, st) &&
           turns_read_text(turns, item, "reasoning_signature", &turn->reasoning_signature, st) &&
           turns_read_calls(turns, calls, turn, st);
}

bool turns_read(struct turns *turns, const cJSON *list, bool plain, struct status *st)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, list)
    {
        if (!turns_read_turn(turns, item, plain, st))
            return false;
    }
    return true;
}

const Renga__V1__ChatMessage *turns_last_caller(const struct turns *turns)
{
    for (size_t i = turns->count; i > 0; i--)
        if (turns->list[i - 1]->n_tool_calls)
            return turns->list[i - 1];
    return NULL;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static void turns_write_text(struct json_writer *out, const char *key, const char *text)
{
    if (*text)
        json_write_string(out, key, text);
}

static void write_calls(struct json_writer *out, const Renga__V1__ChatMessage *turn)
{
    json_write_array(out, "tool_calls");
    for (size_t i = 0; i < turn->n_tool_calls; i++) {
        const Renga__V1__ToolCall *call = turn->tool_calls[i];
        json_write_object(out, NULL);
        json_write_string(out, "id", call->id);
        json_write_string(out, "name", call->name);
        json_write_string(out, "arguments", call->arguments_json);
        json_write_end(out);
    }
    json_write_end(out);
}

void turn_write(struct json_writer *out, const Renga__V1__ChatMessage *turn)
{
    const char *word = roles[0].word;
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (roles[i].role == turn->role)
            word = roles[i].word;
    json_write_object(out, NULL);
    json_write_string(out, "role", word);
    json_write_string(out, "content", turn->content);
    turns_write_text(out, "id", turn->id);
    turns_write_text(out, "name", turn->name);
    turns_write_text(out, "tool_call_id", turn->tool_call_id);
    turns_write_text(out, "reasoning", turn->reasoning);
    turns_write_text(out, "reasoning_signature", turn->reasoning_signature);
    if (turn->tool_failed)
        json_write_bool(out, "tool_failed", true);
    if (turn->tool_found_nothing)
        json_write_bool(out, "tool_found_nothing", true);
    if (turn->n_tool_calls)
        write_calls(out, turn);
    json_write_end(out);
}
