/* libFuzzer on answers with vectors. The first byte says whose answer it is and how many texts were sent (1 to 8). What
 * is read without a tree must be what stands in one. */
#include "answer/embed_answer.h"
#include "provider/openai_priv.h"

#include "json/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

/* cJSON reads a double, and it is rounded twice: the neighbour will do. */
static void must_be_near(float read, double number)
{
    float other = (float)number;
    must(read == other || nextafterf(other, read) == read);
}

static const cJSON *vector_at(const cJSON *root, bool ollama, int64_t index)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(root, ollama ? "embeddings" : "data"), *element;
    int64_t position = 0;
    if (!list)
        return cJSON_GetObjectItemCaseSensitive(root, "embedding");
    cJSON_ArrayForEach(element, list)
    {
        const cJSON *number = cJSON_GetObjectItemCaseSensitive(element, "index");
        if ((ollama || !number ? position : (int64_t)number->valueint) == index)
            return ollama ? element : cJSON_GetObjectItemCaseSensitive(element, "embedding");
        position++;
    }
    return NULL;
}

static void compare(const struct embed_answer *answer, const cJSON *root, bool ollama)
{
    for (size_t i = 0; i < answer->request->n_inputs; i++) {
        const Renga__V1__Embedding *embedding = &answer->embeddings[i];
        const cJSON *vector = vector_at(root, ollama, (int64_t)i), *number;
        size_t count = 0;
        must(vector && embedding->n_values == answer->dimensions);
        for (size_t k = 0; k < embedding->n_values; k++)
            must(isfinite(embedding->values[k]));
        if (cJSON_IsString(vector)) {
            must(strlen(vector->valuestring) == (embedding->n_values * sizeof(float) + 2) / 3 * 4);
            continue;
        }
        cJSON_ArrayForEach(number, vector)
        {
            must(count < embedding->n_values);
            must_be_near(embedding->values[count++], number->valuedouble);
        }
        must(count == embedding->n_values);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char text[] = "pond";
    char *inputs[] = {text, text, text, text, text, text, text, text};
    Renga__V1__EmbedRequest request = RENGA__V1__EMBED_REQUEST__INIT;
    struct embed_answer answer;
    struct failure failure = {0};
    struct arena arena;
    if (size < 1)
        return 0;
    bool ollama = data[0] & 8;
    char *body = malloc(size); /* the byte behind it is a NUL, as a transfer has it */
    must(body != NULL);
    memcpy(body, data + 1, size - 1);
    body[size - 1] = '\0';
    request.inputs = inputs;
    request.n_inputs = (data[0] & 7) + 1;
    arena_init(&arena, NULL, 0, 1 << 20);
    must(embed_answer_init(&answer, &arena, &request));
    bool good = (ollama ? ollama_read_embed : openai_read_embed)(&answer, body, size - 1, &failure) &&
                embed_answer_conclude(&answer, &failure);
    must(good == (failure.status.code == OK));
    if (good) {
        struct status st = {0};
        size_t mark = size > 3 && memcmp(body, "\xef\xbb\xbf", 3) == 0 ? 3 : 0; /* a byte order mark is passed over */
        cJSON *root = json_parse(body + mark, size - 1 - mark, NULL, &st);
        must(root != NULL && embed_answer_usage(&answer)->input_tokens > 0);
        compare(&answer, root, ollama);
        cJSON_Delete(root);
    }
    arena_fini(&arena);
    free(body);
    return 0;
}
