/* The repair round: a model that did not write the requested JSON gets its text and the errors, and is called once more
 * at once: the same deployment, within the caller's remaining time.
 *
 *      judged: repairable -- called again --- judged: answered, `repaired`
 *                                          |
 *                                          '- failed: DATA_LOSS with the last text of the model
 *
 * The stream continues meanwhile: its pieces are the text of both rounds, and are void if the answer is `repaired`. */
#include "chat_priv.h"

#include <string.h>

#define UNCONST(text) ((char *)(uintptr_t)(text))

static const char ADVICE[] = "Your answer cannot be used:\n%s\nAnswer again with the whole JSON, corrected, and "
                             "nothing else: no explanation and "
                             "no code fence.";

/* The conversation with two turns more. */
static Renga__V1__ChatRequest *corrected(const struct chat *chat)
{
    struct arena *arena = rpc_call_arena(chat->pipeline.call);
    const Renga__V1__ChatRequest *asked = chat->request;
    size_t count = asked->n_messages;
    Renga__V1__ChatRequest *request = arena_copy(arena, asked, sizeof *asked);
    Renga__V1__ChatMessage **list = arena_alloc(arena, (count + 2) * sizeof(*list));
    Renga__V1__ChatMessage *turns = arena_alloc(arena, 2 * sizeof *turns);
    char *advice = arena_printf(arena, ADVICE, chat->pipeline.failure.problem);
    if (!request || !list || !turns || !advice)
        return NULL;
    memcpy(list, asked->messages, count * sizeof(*list));
    for (size_t i = 0; i < 2; i++) {
        renga__v1__chat_message__init(&turns[i]);
        list[count + i] = &turns[i];
    }
    turns[0].role = RENGA__V1__CHAT_ROLE__CHAT_ROLE_ASSISTANT;
    turns[0].content = UNCONST(chat->pipeline.failure.raw_text);
    turns[1].role = RENGA__V1__CHAT_ROLE__CHAT_ROLE_USER;
    turns[1].content = advice;
    request->messages = list;
    request->n_messages = count + 2;
    return request;
}

bool chat_repair(struct chat *chat)
{
    if (!chat->pipeline.failure.mendable || chat->broken)
        return false;
    const Renga__V1__ChatRequest *request = corrected(chat);
    struct failure *broken = arena_copy(rpc_call_arena(chat->pipeline.call), &chat->pipeline.failure, sizeof *broken);
    if (!request || !broken)
        return false;
    chat->broken = broken;
    chat->request = request;
    return true;
}

/* If the second round brought no answer at all, the errors of the first one are reported. */
void chat_repair_failed(struct chat *chat)
{
    struct failure *failure = &chat->pipeline.failure;
    bool is_clients = failure->status.code == DEADLINE_EXCEEDED || failure->status.code == CANCELLED;
    if (failure->problem || is_clients || chat->pipeline.client_is_slow)
        return;
    struct status why = failure->status;
    *failure = *chat->broken;
    fail(&failure->status, DATA_LOSS, "%s; asking once more failed: %s", chat->broken->status.text, why.text);
}
