/* The repair round: a model that was asked for JSON and wrote something else is shown what it wrote and what is wrong
 * with it, and asked once more, there and then: the same deployment, what is left of the caller's time.
 *
 *      judged: mendable ---- asked again ---- judged: answered, `repaired`
 *                                          |
 *                                          '- failed: DATA_LOSS with what the model wrote last
 *
 * A stream goes on meanwhile: its pieces are the text of both rounds, and void when the answer is `repaired`. */
#include "chat_priv.h"

#include <stdio.h>
#include <string.h>

#define UNCONST(text) ((char *)(uintptr_t)(text))

static const char ADVICE[] = "Your answer cannot be used:\n%s\nAnswer again with the whole JSON, corrected, and "
                             "nothing else: no explanation and "
                             "no code fence.";

/* The conversation with two turns more. */
static Renga__V1__ChatRequest *corrected(const struct chat *chat)
{
    struct arena *arena = rpc_call_arena(chat->call);
    const Renga__V1__ChatRequest *asked = chat->answer.request;
    size_t count = asked->n_messages;
    Renga__V1__ChatRequest *request = arena_copy(arena, asked, sizeof *asked);
    Renga__V1__ChatMessage **list = arena_alloc(arena, (count + 2) * sizeof(*list));
    Renga__V1__ChatMessage *turns = arena_alloc(arena, 2 * sizeof *turns);
    char *advice = arena_printf(arena, ADVICE, chat->failure.problem);
    if (!request || !list || !turns || !advice)
        return NULL;
    memcpy(list, asked->messages, count * sizeof(*list));
    for (size_t i = 0; i < 2; i++) {
        renga__v1__chat_message__init(&turns[i]);
        list[count + i] = &turns[i];
    }
    turns[0].role = RENGA__V1__CHAT_ROLE__CHAT_ROLE_ASSISTANT;
    turns[0].content = UNCONST(chat->failure.raw_text);
    turns[1].role = RENGA__V1__CHAT_ROLE__CHAT_ROLE_USER;
    turns[1].content = advice;
    request->messages = list;
    request->n_messages = count + 2;
    return request;
}

/* The answer starts anew, but for its name, which a stream has told already. */
static void start_over(struct chat *chat, const Renga__V1__ChatRequest *request)
{
    struct answer old = chat->answer, *answer = &chat->answer;
    answer_init(answer, old.arena, request);
    memcpy(answer->id, old.id, sizeof answer->id);
    memcpy(answer->model, old.model, sizeof answer->model);
    answer->keeps_content = old.keeps_content;
    answer->keeps_rest = old.keeps_rest;
    answer->piece_came = old.piece_came;
    answer->owner = old.owner;
    answer->schema = old.schema;
}

static void note(struct chat *chat)
{
    struct attempt *attempt = &chat->broken;
    char *model = arena_strdup(rpc_call_arena(chat->call), chat->answer.model);
    chat_attempt(chat, attempt);
    if (model && model[0])
        attempt->asked.model = model; /* the next answer writes over the other */
    else
        attempt->asked.model = UNCONST(chat->model);
    snprintf(attempt->error, sizeof attempt->error, "%s", chat->failure.status.text);
    attempt->told.status_code = (int32_t)chat->failure.status.code;
    attempt->told.error = attempt->error;
}

bool chat_repair(struct chat *chat)
{
    if (!chat->failure.mendable || chat->repairs)
        return false;
    const Renga__V1__ChatRequest *request = corrected(chat);
    if (!request)
        return false;
    note(chat);
    chat->repairs = true;
    chat->broken_usage = *answer_usage(&chat->answer);
    chat->broken_failure = chat->failure;
    chat->failure = (struct failure){0};
    chat->reads_events = false;
    start_over(chat, request);
    chat_ask(chat);
    return true;
}

static void add(Renga__V1__Usage *sum, const Renga__V1__Usage *usage)
{
    sum->input_tokens += usage->input_tokens;
    sum->output_tokens += usage->output_tokens;
    sum->cached_input_tokens += usage->cached_input_tokens;
    sum->cache_write_tokens += usage->cache_write_tokens;
    sum->reasoning_tokens += usage->reasoning_tokens;
    sum->model_calls += usage->model_calls;
    sum->cost_micros += usage->cost_micros;
    sum->estimated |= usage->estimated;
}

/* Both rounds are paid for. Where the second brought no answer at all, what is wrong is still the first one. */
void chat_repair_end(struct chat *chat, bool good)
{
    struct failure *failure = &chat->failure;
    if (chat->answer.spent || chat->answer.had_choice)
        answer_usage(&chat->answer);
    add(&chat->answer.usage, &chat->broken_usage);
    chat->answer.spent = true;
    bool is_clients = failure->status.code == DEADLINE_EXCEEDED || failure->status.code == CANCELLED;
    if (good || failure->problem || is_clients || chat->reader_is_slow)
        return;
    struct status why = failure->status;
    *failure = chat->broken_failure;
    fail(&failure->status, DATA_LOSS, "%s; asking once more failed: %s", chat->broken_failure.status.text, why.text);
}
