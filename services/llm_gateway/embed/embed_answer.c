#include "embed_answer.h"

#include "base/json.h"
#include "base/text.h"

#include <inttypes.h>
#include <string.h>

/* Of an answer as JSON: the numbers, and what stands around each vector and around them all. */
#define VALUES_MAX (EMBED_NUMBERS_MAX + 32 * EMBED_INPUTS_MAX + 4096)

/* Bytes of UTF-8 to a token: within a fifth for English and Japanese alike. */
#define BYTES_PER_TOKEN 4

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

bool embed_answer_open(struct pull *in, const char *body, size_t size, struct failure *failure)
{
    struct status st = {0};
    const struct json_limits limits = {.bytes = size, .values = VALUES_MAX};
    if (!json_check(body, size, &limits, &st))
        return fail(&failure->status, DATA_LOSS, "the answer's %zu bytes are not JSON: %s", size, st.text);
    *in = (struct pull){.at = body};
    return pull_enter(in, '{') || fail(&failure->status, DATA_LOSS, "the answer is JSON, but no object");
}

/* ---- vectors ----------------------------------------------------------------------------------------------------- */

bool embed_answer_pull(struct embed_answer *answer, struct pull *in, size_t position, struct vector *vector,
                       struct failure *failure)
{
    struct status st = {0};
    if (vector_pull(vector, in, answer->arena, &st))
        return true;
    return fail(&failure->status, st.code, "vector %zu of the answer: %s", position, st.text);
}

/* Where the length was not known before, only the answer shows that it was too much to ask. */
static bool too_many(const struct embed_answer *answer, struct failure *failure)
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
    return answer->request->n_inputs * count <= EMBED_NUMBERS_MAX || too_many(answer, failure);
}

bool embed_answer_vector(struct embed_answer *answer, int64_t index, const struct vector *vector,
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

void embed_answer_name(struct embed_answer *answer, struct pull *in)
{
    cJSON *tree = pull_tree(in);
    const char *name = cJSON_GetStringValue(tree);
    if (name) {
        size_t size = text_cut(name, strlen(name), EMBED_MODEL_MAX);
        memcpy(answer->model, name, size);
        answer->model[size] = '\0';
    }
    cJSON_Delete(tree);
}

void embed_answer_spend(struct embed_answer *answer, int64_t input_tokens)
{
    answer->spent = input_tokens > 0;
    answer->usage.input_tokens = input_tokens;
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
