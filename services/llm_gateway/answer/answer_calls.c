/* Tool calls as they come in pieces. Providers differ: some number the calls, some number them all 0, some repeat id
 * and name with each piece, some give no id, and some give one id twice. Here each call has an index and an id of its
 * own.
 */
#include "answer.h"
#include "contract/check_chat.h"

#include "base/random.h"

#include <inttypes.h>
#include <string.h>

static struct answer_call *find_call(const struct answer *answer, const struct answer_call_piece *piece)
{
    if (piece->index >= 0) {
        struct answer_call *found = NULL;
        for (struct answer_call *call = answer->first_call; call; call = call->next) {
            bool other_id = piece->id[0] && call->their_id[0] && strcmp(piece->id, call->their_id) != 0;
            if (call->their_index == piece->index && !other_id)
                found = call; /* the last of those with this number */
        }
        return found;
    }
    if (!piece->id[0])
        return piece->name[0] ? NULL : answer->last_call;
    for (struct answer_call *call = answer->first_call; call; call = call->next)
        if (strcmp(call->their_id, piece->id) == 0)
            return call;
    return NULL;
}

static bool answer_calls_is_taken(const struct answer *answer, const char *id)
{
    for (const struct answer_call *call = answer->first_call; call; call = call->next)
        if (strcmp(call->id, id) == 0)
            return true;
    return false;
}

static struct answer_call *add_call(struct answer *answer, const struct answer_call_piece *piece)
{
    struct answer_call *call = arena_zalloc(answer->arena, sizeof *call);
    char *their_id = arena_strdup(answer->arena, piece->id);
    if (!call || !their_id)
        return NULL;
    call->index = answer->call_count++;
    call->their_index = piece->index;
    call->their_id = their_id;
    call->name = "";
    size_t length = strlen(their_id);
    bool usable = length > 0 && length <= ANSWER_CALL_ID_MAX && !answer_calls_is_taken(answer, their_id);
    call->id = usable ? their_id : arena_printf(answer->arena, "call_%016" PRIx64, random_u64());
    if (answer->last_call)
        answer->last_call->next = call;
    else
        answer->first_call = call;
    answer->last_call = call;
    return call->id ? call : NULL;
}

static bool open_call(struct answer *answer, struct answer_call *call, const char *name, struct failure *failure)
{
    if (!tool_name_is_valid(name)) {
        failure->problem = "/tool_calls: the model calls a tool by a name that no tool can have";
        return fail(&failure->status, DATA_LOSS, "the model's answer calls a tool by a name that no tool can have");
    }
    call->name = arena_strdup(answer->arena, name);
    if (!call->name)
        return fail(&failure->status, RESOURCE_EXHAUSTED, "the answer takes more memory than a call may have");
    return true;
}

static void forward(struct answer *answer, const struct answer_call *call, bool opens, const char *text, size_t size)
{
    if (answer->piece_came && (opens || size))
        answer->piece_came(answer, &(struct answer_piece){.call = call, .opens = opens, .text = text, .size = size});
}

bool answer_call_tool(struct answer *answer, const struct answer_call_piece *piece, struct failure *failure)
{
    answer->had_choice = true;
    struct answer_call *call = find_call(answer, piece);
    if (!call && answer->call_count == ANSWER_CALLS_MAX)
        return fail(&failure->status, DATA_LOSS, "the answer has more than %d tool calls", ANSWER_CALLS_MAX);
    if (!call && !(call = add_call(answer, piece)))
        return fail(&failure->status, RESOURCE_EXHAUSTED, "the answer takes more memory than a call may have");
    bool opens = !call->name[0] && piece->name[0];
    if (opens && !open_call(answer, call, piece->name, failure))
        return false;
    size_t size = strlen(piece->arguments);
    if (size > ANSWER_ARGUMENTS_MAX - call->arguments.seen)
        return fail(&failure->status, DATA_LOSS, "the arguments of a tool call have more than %zu bytes",
                    ANSWER_ARGUMENTS_MAX);
    call->arguments.seen += size;
    if (!answer->keeps_rest)
        token_count_add(&answer->passed, piece->arguments, size);
    bool waits = !call->name[0]; /* the client is to hear the name first */
    if ((answer->keeps_rest || waits || (opens && call->arguments.size)) &&
        !answer_append(answer, &call->arguments, piece->arguments, size, failure))
        return false;
    if (opens && call->arguments.size)
        forward(answer, call, true, call->arguments.bytes, call->arguments.size);
    else if (!waits)
        forward(answer, call, opens, piece->arguments, size);
    return true;
}

bool answer_finish_calls(struct answer *answer, struct failure *failure)
{
    static const char none[] = "{}";
    size_t size = sizeof none - 1;
    for (struct answer_call *call = answer->first_call; call; call = call->next) {
        if (!call->name[0] || call->arguments.seen)
            continue;
        call->arguments.seen = size;
        if (!answer->keeps_rest)
            token_count_add(&answer->passed, none, size);
        else if (!answer_append(answer, &call->arguments, none, size, failure))
            return false;
        forward(answer, call, false, none, size);
    }
    return true;
}
