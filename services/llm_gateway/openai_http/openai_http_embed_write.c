/* Vectors as OpenAI gives them. The list is written by hand into one piece of memory: a million numbers. */
#include "openai_http_priv.h"

#include "json/number.h"

#include <inttypes.h>
#include <math.h>
#include <openssl/evp.h>

#define FLOAT_MAX   17   /* bytes: "-1.17549435e-38" and a comma */
#define AROUND_MAX  64   /* bytes around a vector */
#define OUTSIDE_MAX 2048 /* bytes around the list: a model's name with every byte escaped, the counts */

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "base64 holds floats with their low byte first");

static size_t openai_http_embed_write_most(const Renga__V1__EmbedResponse *response)
{
    size_t numbers = 0;
    for (size_t i = 0; i < response->n_embeddings; i++)
        numbers += response->embeddings[i]->n_values;
    return numbers * FLOAT_MAX + response->n_embeddings * AROUND_MAX + OUTSIDE_MAX;
}

static void openai_http_embed_write_base64(const Renga__V1__Embedding *embedding, struct buffer *out)
{
    size_t size = embedding->n_values * sizeof(float);
    char *at = buffer_reserve(out, (size + 2) / 3 * 4 + 3); /* two quotes, and the NUL behind */
    if (!at)
        return;
    *at = '"';
    int length = EVP_EncodeBlock((unsigned char *)at + 1, (const unsigned char *)embedding->values, (int)size);
    at[1 + length] = '"';
    out->length += (size_t)length + 2;
}

static void write_floats(const Renga__V1__Embedding *embedding, struct buffer *out)
{
    char *at = buffer_reserve(out, embedding->n_values * FLOAT_MAX + 2);
    if (!at)
        return;
    char *begin = at;
    *at++ = '[';
    for (size_t i = 0; i < embedding->n_values; i++) {
        if (i > 0)
            *at++ = ',';
        at += json_format_float(embedding->values[i], at);
    }
    *at++ = ']';
    out->length += (size_t)(at - begin);
}

void openai_http_write_embed(const Renga__V1__EmbedResponse *response, bool base64, struct buffer *out)
{
    static const Renga__V1__Usage none = RENGA__V1__USAGE__INIT;
    const Renga__V1__Usage *usage = response->usage ? response->usage : &none;
    const char *model = response->answered_by ? response->answered_by->model : "";
    buffer_init(out, openai_http_embed_write_most(response));
    buffer_reserve(out, base64 ? OUTSIDE_MAX : out->limit);
    buffer_print(out, "{\"object\":\"list\",\"data\":[");
    for (size_t i = 0; i < response->n_embeddings; i++) {
        buffer_printf(out, "%s{\"object\":\"embedding\",\"index\":%zu,\"embedding\":", i ? "," : "", i);
        (base64 ? openai_http_embed_write_base64 : write_floats)(response->embeddings[i], out);
        buffer_put(out, '}');
    }
    buffer_print(out, "],\"model\":");
    json_append_string(out, model, strlen(model));
    buffer_printf(out, ",\"usage\":{\"prompt_tokens\":%" PRId64 ",\"total_tokens\":%" PRId64 "}}", usage->input_tokens,
                  usage->input_tokens);
}
