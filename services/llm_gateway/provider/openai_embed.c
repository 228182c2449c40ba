/* OpenAI's embeddings: https://platform.openai.com/docs/api-reference/embeddings/create
 * A vector comes in base64 or as a list of numbers, whichever was asked for: not every server that is merely compatible
 * knows encoding_format. */
#include "embed/embed_answer.h"
#include "openai_priv.h"

void openai_write_embed(const struct embed_question *question, struct json_writer *writer)
{
    const Renga__V1__EmbedRequest *request = question->request;
    json_write_object(writer, NULL);
    json_write_string(writer, "model", question->model);
    json_write_array(writer, "input");
    for (size_t i = 0; i < request->n_inputs; i++)
        json_write_string(writer, NULL, request->inputs[i]);
    json_write_end(writer);
    if (question->base64)
        json_write_string(writer, "encoding_format", "base64");
    if (request->dimensions)
        json_write_int(writer, "dimensions", request->dimensions);
    json_write_end(writer);
}

/* Where a server counts no index, the order is that of the texts. */
static bool read_index(struct pull *in, int64_t *index)
{
    cJSON *number = pull_tree(in);
    bool good = cJSON_IsNumber(number) && number->valuedouble == (double)number->valueint;
    if (good)
        *index = number->valueint;
    cJSON_Delete(number);
    return good;
}

static bool read_element(struct embed_answer *answer, struct pull *in, size_t position, struct failure *failure)
{
    struct vector vector = {0};
    int64_t index = (int64_t)position;
    if (!pull_enter(in, '{'))
        return fail(&failure->status, DATA_LOSS, "the answer is not as the API has it: data[%zu]: must be an object",
                    position);
    while (pull_next(in)) {
        struct pull_text key = pull_key(in);
        if (pull_is(&key, "embedding")) {
            if (!embed_answer_pull(answer, in, position, &vector, failure))
                return false;
        } else if (!pull_is(&key, "index")) {
            pull_skip(in);
        } else if (!read_index(in, &index)) {
            return fail(&failure->status, DATA_LOSS,
                        "the answer is not as the API has it: data[%zu].index: must be a whole number", position);
        }
    }
    if (!vector.count)
        return fail(&failure->status, DATA_LOSS, "the answer is not as the API has it: data[%zu].embedding: is missing",
                    position);
    return embed_answer_vector(answer, index, &vector, failure);
}

static bool read_data(struct embed_answer *answer, struct pull *in, struct failure *failure)
{
    size_t position = 0;
    if (!pull_enter(in, '['))
        return fail(&failure->status, DATA_LOSS, "the answer is not as the API has it: data: must be an array");
    while (pull_next(in))
        if (!read_element(answer, in, position++, failure))
            return false;
    return true;
}

/* Counts that cannot be read are as good as none. */
static void read_usage(struct embed_answer *answer, struct pull *in)
{
    cJSON *usage = pull_tree(in);
    const cJSON *tokens = cJSON_GetObjectItemCaseSensitive(usage, "prompt_tokens");
    if (cJSON_IsNumber(tokens) && tokens->valuedouble >= 0 && tokens->valuedouble < 1e15)
        embed_answer_spend(answer, (int64_t)tokens->valuedouble);
    cJSON_Delete(usage);
}

bool openai_read_embed_error(struct pull *in, struct failure *failure)
{
    cJSON *error = pull_tree(in);
    bool none = !error || cJSON_IsNull(error) || openai_fail_in_band(error, failure);
    cJSON_Delete(error);
    return none;
}

bool openai_read_embed(struct embed_answer *answer, const char *body, size_t size, struct failure *failure)
{
    struct pull in;
    bool good = embed_answer_open(&in, body, size, failure), listed = false;
    while (good && pull_next(&in)) {
        struct pull_text key = pull_key(&in);
        if (pull_is(&key, "data")) {
            listed = true;
            good = read_data(answer, &in, failure);
        } else if (pull_is(&key, "error")) {
            good = openai_read_embed_error(&in, failure);
        } else if (pull_is(&key, "model")) {
            embed_answer_name(answer, &in);
        } else if (pull_is(&key, "usage")) {
            read_usage(answer, &in);
        } else {
            pull_skip(&in);
        }
    }
    return good && (listed || fail(&failure->status, DATA_LOSS, "the answer has no data"));
}
