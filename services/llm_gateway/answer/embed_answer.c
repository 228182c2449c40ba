#include "embed_answer.h"

#include "base/text.h"

#include <inttypes.h>
#include <string.h>

/* JSON values of an answer: the numbers, and the fields around each vector and around the list. */
#define VALUES_MAX (EMBED_NUMBERS_MAX + 32 * EMBED_INPUTS_MAX + 4096)

/* Bytes of UTF-8 to a token: within a fifth for English and Japanese alike. */
#define BYTES_PER_TOKEN 4

#define COUNT_MAX       INT64_C(1000000000000000) /* tokens; more is no count */
#define BYTE_ORDER_MARK "\xEF\xBB\xBF"
#define TEXTS_INLINE    512 /* bytes: the model's name */

bool embed_answer_init(struct embed_answer *answer, struct arena *arena, const Renga__V1__EmbedRequest *request)
{
    *answer = (struct embed_answer){.arena = arena, .request = request};
    renga__v1__usage__init(&answer->usage);
    answer->usage.model_calls = 1;
    answer->embeddings = arena_alloc(arena, request->n_inputs * sizeof *answer->embeddings);
    for (size_t i = 0; answer->embeddings && i < request->n_inputs; i++)
        renga__v1__embedding__init(&answer->embeddings[i]);
    return answer->embeddings != NULL;
}

static void embed_answer_read_root(struct embed_answer *answer, struct json_pull *in, embed_read_field *read,
                                   struct failure *failure)
{
    struct json_scope root;
    for (bool more = json_pull_object(in, &root); more && json_pull_next(in, &root);)
        read(answer, in, failure);
}

/* The final check of the whole text. */
static bool embed_answer_judge(const struct embed_answer *answer, const struct json_pull *in, bool good,
                               struct failure *failure)
{
    const struct status *st = in->st;
    if (st->code == RESOURCE_EXHAUSTED || answer->arena->exhausted)
        return fail(&failure->status, RESOURCE_EXHAUSTED, "the vectors take more memory than a call may have");
    if (in->broken)
        return fail(&failure->status, DATA_LOSS, "the answer's %zu bytes are not JSON: %s",
                    (size_t)(in->end - in->start), st->text);
    if (failure->status.code != OK)
        return false;
    return good || fail(&failure->status, DATA_LOSS, "the answer is not as the API has it: %s", st->text);
}

bool embed_answer_read(struct embed_answer *answer, const char *body, size_t size, embed_read_field *read,
                       struct failure *failure)
{
    char storage[TEXTS_INLINE];
    struct status st = {0};
    const struct json_limits limits = {.bytes = size, .values = VALUES_MAX};
    struct arena texts;
    struct json_pull in;
    if (size >= strlen(BYTE_ORDER_MARK) && memcmp(body, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK)) == 0) {
        body += strlen(BYTE_ORDER_MARK);
        size -= strlen(BYTE_ORDER_MARK);
    }
    arena_init(&texts, storage, sizeof storage, 2 * size + TEXTS_INLINE);
    json_pull_init(&in, body, size, &limits, &texts, &st);
    embed_answer_read_root(answer, &in, read, failure);
    bool good = json_pull_end(&in);
    good = embed_answer_judge(answer, &in, good, failure);
    arena_fini(&texts);
    return good;
}

/* ---- vectors ----------------------------------------------------------------------------------------------------- */

/* If the vectors' length was not known before, only the answer shows that it is too large. */
static bool embed_answer_too_many(const struct embed_answer *answer, struct failure *failure)
{
    return fail_field(&failure->status, "inputs",
                      "have %zu texts whose vectors are of %zu numbers; %d numbers are allowed in all: send %zu texts "
                      "at a time",
                      answer->request->n_inputs, answer->dimensions, EMBED_NUMBERS_MAX,
                      EMBED_NUMBERS_MAX / answer->dimensions);
}

static bool has_length(struct embed_answer *answer, size_t count, int64_t index, struct failure *failure)
{
    int32_t wanted = answer->request->dimensions;
    if (wanted && count != (size_t)wanted)
        return fail(&failure->status, DATA_LOSS,
                    "vector %" PRId64 " has %zu numbers where %d were asked for; this model may have one length alone: "
                    "leave 'dimensions' out",
                    index, count, wanted);
    if (answer->dimensions && count != answer->dimensions)
        return fail(&failure->status, DATA_LOSS, "vector %" PRId64 " has %zu numbers, and others have %zu", index,
                    count, answer->dimensions);
    answer->dimensions = count;
    return answer->request->n_inputs * count <= EMBED_NUMBERS_MAX || embed_answer_too_many(answer, failure);
}

static bool embed_answer_take(struct embed_answer *answer, int64_t index, const struct vector *vector,
                              struct failure *failure)
{
    size_t asked = answer->request->n_inputs;
    if (index < 0 || (uint64_t)index >= asked)
        return fail(&failure->status, DATA_LOSS, "the answer has a vector %" PRId64 ", but %zu texts were sent", index,
                    asked);
    Renga__V1__Embedding *embedding = &answer->embeddings[index];
    if (embedding->values)
        return fail(&failure->status, DATA_LOSS, "the answer has vector %" PRId64 " twice", index);
    if (!has_length(answer, vector->count, index, failure))
        return false;
    embedding->values = vector->values;
    embedding->n_values = vector->count;
    answer->came++;
    return true;
}

void embed_answer_vector(struct embed_answer *answer, int64_t index, const struct vector *vector,
                         struct failure *failure)
{
    if (vector->count > 0 && failure->status.code == OK)
        embed_answer_take(answer, index, vector, failure);
}

bool embed_answer_conclude(struct embed_answer *answer, struct failure *failure)
{
    size_t asked = answer->request->n_inputs;
    for (size_t i = 0; answer->came < asked && i < asked; i++)
        if (!answer->embeddings[i].values)
            return fail(&failure->status, DATA_LOSS,
                        "the answer has %zu vectors for %zu texts; that of text %zu is missing", answer->came, asked,
                        i);
    return true;
}

/* ---- beside them ------------------------------------------------------------------------------------------------- */

void embed_answer_name(struct embed_answer *answer, struct json_pull *in)
{
    const char *name = json_pull_text_if_any(in);
    if (name) {
        size_t size = text_cut(name, strlen(name), EMBED_MODEL_MAX);
        memcpy(answer->model, name, size);
        answer->model[size] = '\0';
    }
}

void embed_answer_count(struct embed_answer *answer, struct json_pull *in)
{
    int64_t tokens;
    if (json_pull_whole(in, &tokens) && tokens > 0 && tokens <= COUNT_MAX) {
        answer->spent = true;
        answer->usage.input_tokens = tokens;
    }
}

const Renga__V1__Usage *embed_answer_usage(struct embed_answer *answer)
{
    size_t bytes = 0;
    if (answer->spent)
        return &answer->usage;
    for (size_t i = 0; i < answer->request->n_inputs; i++)
        bytes += strlen(answer->request->inputs[i]);
    answer->usage.input_tokens = (int64_t)((bytes + BYTES_PER_TOKEN - 1) / BYTES_PER_TOKEN);
    answer->usage.estimated = true;
    return &answer->usage;
}
