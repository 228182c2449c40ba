/* Ollama's embeddings (/api/embed): lists of numbers in the order of the texts. A text longer than the model's
 * context is refused and not truncated silently: the vector of half a text would match wrong queries. */
#include "answer/embed_answer.h"
#include "openai_priv.h"

void ollama_write_embed(const struct embed_question *question, struct json_writer *writer)
{
    const Renga__V1__EmbedRequest *request = question->request;
    json_write_object(writer, NULL);
    json_write_string(writer, "model", question->model);
    json_write_strings(writer, "input", request->inputs, request->n_inputs);
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

static void read_embedding(struct embed_answer *answer, struct json_pull *in, int64_t position, struct failure *failure)
{
    struct vector vector;
    if (vector_pull(&vector, in, answer->arena))
        embed_answer_vector(answer, position, &vector, failure);
}

static void read_embeddings(struct embed_answer *answer, struct json_pull *in, struct failure *failure)
{
    struct json_scope list;
    if (json_pull_array(in, &list))
        while (json_pull_next(in, &list))
            if (!in->wrong && failure->status.code == OK)
                read_embedding(answer, in, list.index, failure);
}

/* Alone as "embedding" it is of an imitator that knows the older /api/embeddings, of one text. */
static void ollama_embed_read_field(struct embed_answer *answer, struct json_pull *in, struct failure *failure)
{
    if (json_pull_at(in, "embeddings"))
        read_embeddings(answer, in, failure);
    else if (json_pull_at(in, "embedding"))
        read_embedding(answer, in, 0, failure);
    else if (json_pull_at(in, "error"))
        openai_read_embed_error(in, failure);
    else if (json_pull_at(in, "model"))
        embed_answer_name(answer, in);
    else if (json_pull_at(in, "prompt_eval_count"))
        embed_answer_count(answer, in);
}

bool ollama_read_embed(struct embed_answer *answer, const char *body, size_t size, struct failure *failure)
{
    return embed_answer_read(answer, body, size, ollama_embed_read_field, failure);
}
