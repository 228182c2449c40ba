#include "answer.h"

#include "base/text.h"

#include <string.h>

void answer_init(struct answer *answer, struct arena *arena, const Renga__V1__ChatRequest *request)
{
    memset(answer, 0, sizeof *answer);
    answer->arena = arena;
    answer->request = request;
    renga__v1__usage__init(&answer->usage);
    answer->usage.model_calls = 1;
}

static void answer_copy_cut(char *to, size_t capacity, const char *text)
{
    size_t size = text_cut(text, strlen(text), capacity - 1);
    memcpy(to, text, size);
    to[size] = '\0';
}

void answer_name(struct answer *answer, const char *id, const char *model)
{
    if (!answer->id[0] && strlen(id) <= ANSWER_ID_MAX)
        answer_copy_cut(answer->id, sizeof answer->id, id);
    if (model[0])
        answer_copy_cut(answer->model, sizeof answer->model, model);
}

void answer_stop(struct answer *answer, const struct answer_word *words, const char *word)
{
    if (!word[0])
        return;
    while (words->word && strcmp(words->word, word) != 0)
        words++;
    answer->stopped = words->reason; /* of the last row, which is no word: UNSPECIFIED */
    answer_copy_cut(answer->word, sizeof answer->word, word);
}

/* ---- pieces ----------------------------------------------------------------------------------------------------- */

static bool answer_no_memory(struct failure *failure)
{
    return fail(&failure->status, RESOURCE_EXHAUSTED, "the answer takes more memory than a call may have");
}

static bool too_long(struct failure *failure, const char *what, size_t max)
{
    failure->too_large = true;
    return fail(&failure->status, DATA_LOSS, "%s of the answer has more than %zu bytes; ask for a shorter one", what,
                max);
}

bool answer_append(struct answer *answer, struct answer_text *text, const char *bytes, size_t size,
                   struct failure *failure)
{
    size_t need = text->size + size + 1;
    if (need > text->capacity) {
        size_t capacity = 2 * text->capacity > need ? 2 * text->capacity : need;
        char *grown = arena_alloc(answer->arena, capacity);
        if (!grown)
            return answer_no_memory(failure);
        if (text->size)
            memcpy(grown, text->bytes, text->size);
        text->bytes = grown;
        text->capacity = capacity;
    }
    memcpy(text->bytes + text->size, bytes, size);
    text->size += size;
    text->bytes[text->size] = '\0';
    return true;
}

bool answer_add(struct answer *answer, enum answer_part part, const char *text, struct failure *failure)
{
    static const size_t most[] = {
        [ANSWER_TEXT] = ANSWER_CONTENT_MAX,
        [ANSWER_REASONING] = ANSWER_REASONING_MAX,
        [ANSWER_REFUSAL] = ANSWER_REFUSAL_MAX,
    };
    struct answer_text *so_far = &answer->parts[part];
    size_t size = strlen(text), capacity = most[part] - so_far->seen;
    answer->had_choice = true;
    if (size > capacity) {
        if (part == ANSWER_TEXT)
            return too_long(failure, "the text", most[part]);
        size = text_cut(text, size, capacity); /* a part beside the answer may be truncated */
        text = arena_strndup(answer->arena, text, size);
        if (!text)
            return answer_no_memory(failure);
    }
    if (size == 0)
        return true;
    so_far->seen += size;
    bool keeps = part == ANSWER_TEXT ? answer->keeps_content : answer->keeps_rest;
    if (!keeps)
        token_count_add(&answer->passed, text, size);
    else if (!answer_append(answer, so_far, text, size, failure))
        return false;
    if (answer->piece_came)
        answer->piece_came(answer, &(struct answer_piece){.part = part, .text = text, .size = size});
    return true;
}

void answer_seal(struct answer *answer, const char *text)
{
    struct failure ignored = {0};
    size_t size = strlen(text);
    answer->seal_broken = answer->seal_broken || size > ANSWER_SEAL_MAX - answer->seal.size ||
                          !answer_append(answer, &answer->seal, text, size, &ignored);
    if (answer->seal_broken)
        answer->seal = (struct answer_text){0};
}

/* ---- usage ------------------------------------------------------------------------------------------------------- */

void answer_set_usage(struct answer *answer, int64_t input, int64_t output, int64_t cached_input, int64_t reasoning)
{
    answer->spent = true;
    answer->usage.input_tokens = input;
    answer->usage.output_tokens = output;
    answer->usage.cached_input_tokens = cached_input;
    answer->usage.reasoning_tokens = reasoning;
}

void answer_read(struct answer *answer, int64_t input, int64_t cached_input)
{
    answer->read = true;
    answer->usage.input_tokens = input;
    answer->usage.cached_input_tokens = cached_input;
}

const Renga__V1__Usage *answer_usage(struct answer *answer)
{
    size_t bytes = 0;
    for (int part = 0; part < ANSWER_PARTS; part++)
        bytes += answer->parts[part].seen;
    for (const struct answer_call *call = answer->first_call; call; call = call->next)
        bytes += call->arguments.seen;
    size_t said = bytes;
    if (answer->spent || answer->estimated_at == said + 1)
        return &answer->usage;
    answer->estimated_at = said + 1;
    if (!answer->read)
        answer->usage.input_tokens = tokens_of_chat(answer->request);
    /* Counting takes longer than reading. Stored text is counted here, and only if the provider sent no usage. */
    struct token_count count = answer->passed;
    for (int part = 0; part < ANSWER_PARTS; part++)
        if (answer->parts[part].size)
            token_count_add(&count, answer->parts[part].bytes, answer->parts[part].size);
    for (const struct answer_call *call = answer->first_call; call && answer->keeps_rest; call = call->next)
        if (call->arguments.size)
            token_count_add(&count, call->arguments.bytes, call->arguments.size);
    answer->usage.output_tokens = token_count_whole(&count);
    answer->usage.estimated = true;
    return &answer->usage;
}

/* ---- the whole turn --------------------------------------------------------------------------------------------- */

static char *kept(const struct answer_text *text)
{
    return text->bytes ? text->bytes : (char *)(uintptr_t)protobuf_c_empty_string;
}

Renga__V1__ChatMessage *answer_message(struct answer *answer)
{
    size_t count = (size_t)answer->call_count;
    Renga__V1__ChatMessage *message = arena_alloc(answer->arena, sizeof *message);
    Renga__V1__ToolCall *calls = arena_alloc(answer->arena, count * sizeof *calls);
    Renga__V1__ToolCall **list = arena_alloc(answer->arena, count * sizeof(*list));
    if (!message || !calls || !list)
        return NULL;
    renga__v1__chat_message__init(message);
    message->role = RENGA__V1__CHAT_ROLE__CHAT_ROLE_ASSISTANT;
    message->content = kept(&answer->parts[ANSWER_TEXT]);
    message->reasoning = kept(&answer->parts[ANSWER_REASONING]);
    message->reasoning_signature = kept(&answer->seal);
    message->refusal = kept(&answer->parts[ANSWER_REFUSAL]);
    message->tool_calls = list;
    message->n_tool_calls = count;
    for (const struct answer_call *call = answer->first_call; call; call = call->next) {
        list[call->index] = &calls[call->index];
        renga__v1__tool_call__init(list[call->index]);
        list[call->index]->id = (char *)(uintptr_t)call->id;
        list[call->index]->name = (char *)(uintptr_t)call->name;
        list[call->index]->arguments_json = kept(&call->arguments);
    }
    return message;
}
