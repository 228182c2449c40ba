/* Ollama's embeddings (/api/embed): lists of numbers in the order of the texts. What is longer than the model's context
 * is refused and not cut silently, as a vector of half a text would be found where it does not belong. */
#include "embed/embed_answer.h"
#include "openai_priv.h"

void ollama_write_embed(const struct embed_question *question, struct json_writer *writer)
{
    const Renga__V1__EmbedRequest *request = question->request;
    json_write_object(writer, NULL);
    json_write_string(writer, "model", question->model);
    json_write_array(writer, "input");
    for (size_t i = 0; i < request->n_inputs; i++)
        json_write_string(writer, NULL, request->inputs[i]);
    json_write_end(writer);
    json_write_bool(writer, "truncate", false);
    if (request->dimensions)
        json_write_int(writer, "dimensions", request->dimensions);
    if (question->context_tokens) {
        json_write_object(writer, "options");
        json_write_int(writer, "num_ctx", question->context_tokens);
        json_write_end(writer);
    }
    json_write_end(writer);
}

/* Alone as "embedding" it is of an imitator that knows the older /api/embeddings, of one text. */
static bool read_embedding(struct embed_answer *answer, struct pull *in, size_t position, struct failure *failure)
{
    struct vector vector;
    return embed_answer_pull(answer, in, position, &vector, failure) &&
           embed_answer_vector(answer, (int64_t)position, &vector, failure);
}

static bool read_embeddings(struct embed_answer *answer, struct pull *in, struct failure *failure)
{
    if (!pull_enter(in, '['))
        return fail(&failure->status, DATA_LOSS, "the answer is not as the API has it: embeddings: must be an array");
    for (size_t position = 0; pull_next(in); position++)
        if (!read_embedding(answer, in, position, failure))
            return false;
    return true;
}

static void read_count(struct embed_answer *answer, struct pull *in)
{
    cJSON *count = pull_tree(in);
    if (cJSON_IsNumber(count) && count->valuedouble >= 0 && count->valuedouble < 1e15)
        embed_answer_spend(answer, (int64_t)count->valuedouble);
    cJSON_Delete(count);
}

bool ollama_read_embed(struct embed_answer *answer, const char *body, size_t size, struct failure *failure)
{
    struct pull in;
    bool good = embed_answer_open(&in, body, size, failure), listed = false;
    while (good && pull_next(&in)) {
        struct pull_text key = pull_key(&in);
        if (pull_is(&key, "embeddings")) {
            listed = true;
            good = read_embeddings(answer, &in, failure);
        } else if (pull_is(&key, "embedding")) {
            listed = true;
            good = read_embedding(answer, &in, 0, failure);
        } else if (pull_is(&key, "error")) {
            good = openai_read_embed_error(&in, failure);
        } else if (pull_is(&key, "model")) {
            embed_answer_name(answer, &in);
        } else if (pull_is(&key, "prompt_eval_count")) {
            read_count(answer, &in);
        } else {
            pull_skip(&in);
        }
    }
    return good && (listed || fail(&failure->status, DATA_LOSS, "the answer has no embeddings"));
}
