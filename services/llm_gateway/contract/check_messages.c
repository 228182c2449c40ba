/* The conversation: the roles' permitted fields, and an answer for each tool call. */
#include "check_priv.h"

#include <string.h>

#define CALLS_MAX 128

/* The tool calls of the last assistant's turn that wait for their answers. */
struct open_calls {
    const Renga__V1__ChatMessage *turn;
    size_t turn_index;
    size_t count;
    bool answered[CALLS_MAX];
};

static bool check_messages_call(const Renga__V1__ChatMessage *turn, size_t index, size_t k, struct status *st)
{
    const struct place place = {.list = "messages", .index = index, .sub_list = "tool_calls", .sub_index = k};
    const Renga__V1__ToolCall *call = turn->tool_calls[k];
    if (!tool_name_is_valid(call->name))
        return wrong(st, &place, "name", "must be 1 to 64 of A-Z, a-z, 0-9, '_' and '-'");
    for (size_t other = 0; other < k; other++)
        if (strcmp(turn->tool_calls[other]->id, call->id) == 0)
            return wrong(st, &place, "id", "is that of tool_calls[%zu] too; ids must differ", other);
    return true; /* arguments are not checked to be JSON: a model may write any text, and must get that text back */
}

/* Fields that only an assistant may have. */
static bool check_assistant(const Renga__V1__ChatMessage *turn, const struct place *place, struct status *st)
{
    if (turn->n_tool_calls > CALLS_MAX) /* room of open_calls; the contract allows as many */
        return wrong(st, place, "tool_calls", "has %zu calls; at most %d are allowed", turn->n_tool_calls, CALLS_MAX);
    for (size_t k = 0; k < turn->n_tool_calls; k++)
        if (!check_messages_call(turn, place->index, k, st))
            return false;
    return turn->content[0] || turn->n_tool_calls || turn->refusal[0] ||
           wrong(st, place, "content", "is empty; an assistant's turn says something, calls a tool or refuses");
}

static bool check_no_assistant(const Renga__V1__ChatMessage *turn, const struct place *place, struct status *st)
{
    static const char only[] = "belongs to an assistant's turn (CHAT_ROLE_ASSISTANT); leave it empty here";
    if (turn->n_tool_calls)
        return wrong(st, place, "tool_calls", "%s", only);
    if (turn->refusal[0])
        return wrong(st, place, "refusal", "%s", only);
    if (turn->reasoning[0])
        return wrong(st, place, "reasoning", "%s", only);
    if (turn->reasoning_signature[0])
        return wrong(st, place, "reasoning_signature", "%s", only);
    /* The result of a tool may be empty. */
    if (!turn->content[0] && turn->role != RENGA__V1__CHAT_ROLE__CHAT_ROLE_TOOL)
        return wrong(st, place, "content", "is empty; say something or leave the turn out");
    return true;
}

static bool check_tool_fields(const Renga__V1__ChatMessage *turn, const struct place *place, struct status *st)
{
    if (turn->role == RENGA__V1__CHAT_ROLE__CHAT_ROLE_TOOL)
        return turn->tool_call_id[0] ||
               wrong(st, place, "tool_call_id", "is empty; a tool's turn names the call it answers");
    if (turn->tool_call_id[0])
        return wrong(st, place, "tool_call_id", "belongs to a tool's turn (CHAT_ROLE_TOOL); leave it empty here");
    if (turn->tool_found_nothing)
        return wrong(st, place, "tool_found_nothing", "belongs to a tool's turn (CHAT_ROLE_TOOL); leave it out here");
    if (turn->tool_failed)
        return wrong(st, place, "tool_failed", "belongs to a tool's turn (CHAT_ROLE_TOOL); leave it out here");
    return true;
}

static bool check_turn(const Renga__V1__ChatMessage *turn, size_t index, struct status *st)
{
    const struct place place = {.list = "messages", .index = index};
    bool assistant = turn->role == RENGA__V1__CHAT_ROLE__CHAT_ROLE_ASSISTANT;
    return (assistant ? check_assistant(turn, &place, st) : check_no_assistant(turn, &place, st)) &&
           check_tool_fields(turn, &place, st);
}

/* ---- calls and their answers ------------------------------------------------------------------------------------- */

static bool all_answered(const struct open_calls *open, struct status *st)
{
    for (size_t k = 0; k < open->count; k++) {
        if (open->answered[k])
            continue;
        const struct place place = {
            .list = "messages", .index = open->turn_index, .sub_list = "tool_calls", .sub_index = k};
        return wrong(st, &place, "id",
                     "is answered by no turn behind; each call needs a CHAT_ROLE_TOOL turn of its id");
    }
    return true;
}

static bool answer_call(struct open_calls *open, const Renga__V1__ChatMessage *turn, size_t index, struct status *st)
{
    const struct place place = {.list = "messages", .index = index};
    for (size_t k = 0; k < open->count; k++) {
        if (strcmp(open->turn->tool_calls[k]->id, turn->tool_call_id) != 0)
            continue;
        if (open->answered[k])
            return wrong(st, &place, "tool_call_id", "names a call that has been answered already");
        open->answered[k] = true;
        return true;
    }
    return wrong(st, &place, "tool_call_id", "names no tool call of the assistant's turn before");
}

static bool check_messages_follow(struct open_calls *open, const Renga__V1__ChatMessage *turn, size_t index,
                                  struct status *st)
{
    if (turn->role == RENGA__V1__CHAT_ROLE__CHAT_ROLE_TOOL)
        return answer_call(open, turn, index, st);
    if (!all_answered(open, st))
        return false;
    open->turn = turn;
    open->turn_index = index;
    open->count = turn->n_tool_calls;
    memset(open->answered, 0, open->count);
    return true;
}

bool check_messages(const Renga__V1__ChatRequest *request, struct status *st)
{
    struct open_calls open;
    open.count = 0;
    for (size_t i = 0; i < request->n_messages; i++)
        if (!check_turn(request->messages[i], i, st) || !check_messages_follow(&open, request->messages[i], i, st))
            return false;
    return all_answered(&open, st);
}
