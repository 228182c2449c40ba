/* OpenAI's embeddings: https://platform.openai.com/docs/api-reference/embeddings/create A vector is accepted in
 * base64 and as a list of numbers: some compatible servers do not know encoding_format. */
#include "answer/embed_answer.h"
#include "openai_priv.h"

void openai_write_embed(const struct embed_question *question, struct json_writer *writer)
{
    const Renga__V1__EmbedRequest *request = question->request;
    json_write_object(writer, NULL);
    json_write_string(writer, "model", question->model);
    json_write_strings(writer, "input", request->inputs, request->n_inputs);
    if (question->base64)
        json_write_string(writer, "encoding_format", "base64");
    if (request->dimensions)
        json_write_int(writer, "dimensions", request->dimensions);
    json_write_end(writer);
}

/* Without an index, the order is that of the texts. */
static void read_element(struct embed_answer *answer, struct json_pull *in, struct failure *failure)
{
    struct vector vector = {0};
    int64_t index = in->scope->index;
    struct json_scope element;
    if (!json_pull_object(in, &element))
        return;
    while (json_pull_next(in, &element)) {
        if (json_pull_at(in, "embedding"))
            vector_pull(&vector, in, answer->arena);
        else if (json_pull_at(in, "index") && !json_pull_whole(in, &index))
            json_pull_wrong(in, NULL, "must be a whole number");
    }
    if (!vector.count)
        json_pull_wrong(in, "embedding", "is missing");
    embed_answer_vector(answer, index, &vector, failure);
}

static void read_data(struct embed_answer *answer, struct json_pull *in, struct failure *failure)
{
    struct json_scope data;
    if (json_pull_array(in, &data))
        while (json_pull_next(in, &data))
            if (!in->wrong && failure->status.code == OK)
                read_element(answer, in, failure);
}

static void openai_embed_read_usage(struct embed_answer *answer, struct json_pull *in)
{
    struct json_scope usage;
    if (json_pull_kind(in) == JSON_OBJECT && json_pull_object(in, &usage))
        while (json_pull_next(in, &usage))
            if (json_pull_at(in, "prompt_tokens"))
                embed_answer_count(answer, in);
}

/* Errors are rare, and have many shapes: of them a tree is built. */
void openai_read_embed_error(struct json_pull *in, struct failure *failure)
{
    if (json_pull_null(in))
        return;
    json_pull_kind(in);
    const char *begin = in->at;
    json_pull_skip(in);
    if (in->broken || failure->status.code != OK)
        return;
    cJSON *error = cJSON_ParseWithLength(begin, (size_t)(in->at - begin));
    openai_fail_in_band(error, failure);
    cJSON_Delete(error);
}

static void openai_embed_read_field(struct embed_answer *answer, struct json_pull *in, struct failure *failure)
{
    if (json_pull_at(in, "data"))
        read_data(answer, in, failure);
    else if (json_pull_at(in, "error"))
        openai_read_embed_error(in, failure);
    else if (json_pull_at(in, "model"))
        embed_answer_name(answer, in);
    else if (json_pull_at(in, "usage"))
        openai_embed_read_usage(answer, in);
}

bool openai_read_embed(struct embed_answer *answer, const char *body, size_t size, struct failure *failure)
{
    return embed_answer_read(answer, body, size, openai_embed_read_field, failure);
}
