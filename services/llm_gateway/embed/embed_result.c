/* The verdict on a transfer. It reads top to bottom: HTTP, then the transport, then the answer. */
#include "embed_priv.h"

#include "pipeline/pipeline_result.h"
#include "provider/provider.h"
#include "routing/deployment.h"
#include "routing/route.h"

#include <string.h>
#include <strings.h>

#define NUMBER_TEXT_MAX   32 /* bytes of a number with its separator: "-0.012345678901234567,\n" and indent */
#define VECTOR_AROUND_MAX 256
#define ANSWER_AROUND_MAX ((size_t)64 << 10)

size_t embed_response_max(const Renga__V1__EmbedRequest *request, size_t usual)
{
    size_t dimensions = request->dimensions ? (size_t)request->dimensions : VECTOR_DIMENSIONS_MAX;
    size_t numbers = request->n_inputs * dimensions;
    if (numbers > EMBED_NUMBERS_MAX)
        numbers = EMBED_NUMBERS_MAX;
    size_t most = numbers * NUMBER_TEXT_MAX + request->n_inputs * VECTOR_AROUND_MAX + ANSWER_AROUND_MAX;
    return most > usual ? most : usual;
}

/* The caller's fault only if the length of the vectors was unknown. */
static bool embed_result_too_large(const struct embed_answer *answer, const struct transfer *transfer,
                                   struct status *st)
{
    const Renga__V1__EmbedRequest *request = answer->request;
    if (!request->dimensions && request->n_inputs > EMBED_NUMBERS_MAX / VECTOR_DIMENSIONS_MAX)
        return fail_field(
            st, "inputs",
            "has %zu texts, whose vectors are more than the %d numbers that an answer holds; send fewer at "
            "a time",
            request->n_inputs, EMBED_NUMBERS_MAX);
    return fail(st, DATA_LOSS, "the answer is larger than %zu texts can make it (%zu bytes)", request->n_inputs,
                transfer->response_max);
}

static bool embed_result_is_json(const char *content_type)
{
    return !content_type || strcasestr(content_type, "json");
}

static bool embed_result_read_end(struct embed *embed)
{
    struct pipeline *pipeline = &embed->pipeline;
    if (pipeline->transfer.http_status >= 300)
        return pipeline_fail_http(pipeline);
    if (pipeline->transfer.end == TRANSFER_TOO_LARGE)
        return embed_result_too_large(&embed->answer, &pipeline->transfer, &pipeline->failure.status);
    if (pipeline->transfer.end != TRANSFER_COMPLETE)
        return pipeline_fail_transport(pipeline);
    const struct transfer *transfer = &embed->pipeline.transfer;
    struct failure *failure = &embed->pipeline.failure;
    const struct provider *provider = embed->pipeline.target->deployment->provider;
    if (provider->read_embed(&embed->answer, transfer->content, transfer->content_size, failure))
        return embed_answer_conclude(&embed->answer, failure);
    const char *content_type = transfer_header(transfer, "content-type");
    if (failure->status.code == DATA_LOSS && !embed_result_is_json(content_type))
        fail(&failure->status, DATA_LOSS, "the answer is no JSON but %.64s; is the base URL that of the API?",
             content_type);
    return false;
}

bool embed_read_result(struct pipeline *pipeline)
{
    if (embed_result_read_end((struct embed *)pipeline))
        return true;
    /* Errors are read as those of chat, in which the conversation is too long; here it is the inputs. */
    struct status *st = &pipeline->failure.status;
    const struct status told = *st;
    if (strcmp(told.field, "messages") == 0)
        fail_field(st, "inputs", "%s", told.text + strlen("messages: "));
    return false;
}
