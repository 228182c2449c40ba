/* A body and what comes back for it. The judgement reads top to bottom: HTTP, then the transport, then the answer. */
#include "embed_priv.h"

#include "base/clock.h"
#include "provider/provider.h"
#include "provider/retry_hint.h"
#include "route/deployment.h"
#include "rpc/rpc.h"

#include <string.h>
#include <strings.h>

#define BUSY_RETRY_MS     1000 /* our own queue is full: it moves within a second or not at all */
#define NUMBER_TEXT_MAX   32 /* bytes of a number with what stands between two: "-0.012345678901234567,\n" and indent */
#define VECTOR_AROUND_MAX 256
#define ANSWER_AROUND_MAX ((size_t)64 << 10)

bool embed_write(const Renga__V1__EmbedRequest *request, const struct deployment *deployment, const char *model,
                 struct buffer *body)
{
    const struct embed_question question = {
        .request = request,
        .model = model,
        .base64 = deployment->embeds_base64,
        .context_tokens = deployment->context_tokens,
    };
    struct json_writer writer;
    buffer_init(body, EMBED_BODY_MAX);
    json_writer_init(&writer, body);
    deployment->provider->write_embed(&question, &writer);
    return json_writer_done(&writer);
}

size_t embed_response_max(const Renga__V1__EmbedRequest *request, size_t usual)
{
    size_t dimensions = request->dimensions ? (size_t)request->dimensions : VECTOR_DIMENSIONS_MAX;
    size_t numbers = request->n_inputs * dimensions;
    if (numbers > EMBED_NUMBERS_MAX)
        numbers = EMBED_NUMBERS_MAX;
    size_t most = numbers * NUMBER_TEXT_MAX + request->n_inputs * VECTOR_AROUND_MAX + ANSWER_AROUND_MAX;
    return most > usual ? most : usual;
}

static const char *header_of(const void *transfer, const char *name)
{
    return transfer_header(transfer, name);
}

/* Providers' errors are read as those of chat, where what is too long is the conversation. */
static void name_inputs(struct status *st)
{
    const struct status told = *st;
    if (strcmp(told.field, "messages") == 0)
        fail_field(st, "inputs", "%s", told.text + strlen("messages: "));
}

static bool refused(const struct deployment *deployment, const struct transfer *transfer, struct failure *failure)
{
    struct status *st = &failure->status;
    deployment->provider->read_error(transfer->http_status, transfer->content, transfer->content_size, failure);
    bool may_come_back = st->code == UNAVAILABLE || (st->code == RESOURCE_EXHAUSTED && !failure->reason);
    if (may_come_back)
        st->retry_after_ms = retry_hint_ms(header_of, transfer, clock_wall_ns() / NS_PER_MS);
    name_inputs(st);
    return false;
}

/* The caller's fault only where nobody knew how long the vectors would be. */
static bool too_large(const struct embed_answer *answer, const struct transfer *transfer, struct status *st)
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

static bool broken(const struct embed_answer *answer, const struct transfer *transfer, bool timeout_is_callers,
                   struct status *st)
{
    switch (transfer->end) {
    case TRANSFER_REFUSED:
        fail(st, RESOURCE_EXHAUSTED, "the gateway has too many requests under way; come back later");
        st->retry_after_ms = BUSY_RETRY_MS;
        return false;
    case TRANSFER_INVALID:
        return fail(st, FAILED_PRECONDITION, "%s", transfer->status.text);
    case TRANSFER_LATE:
        return fail(st, timeout_is_callers ? DEADLINE_EXCEEDED : UNAVAILABLE, "%s", transfer->status.text);
    case TRANSFER_TOO_LARGE:
        return too_large(answer, transfer, st);
    case TRANSFER_CUT:
    case TRANSFER_GARBLED:
        return fail(st, transfer->http_status ? DATA_LOSS : UNAVAILABLE, "%s", transfer->status.text);
    default:
        return fail(st, UNAVAILABLE, "%s", transfer->status.text);
    }
}

static bool is_json(const char *content_type)
{
    return !content_type || strcasestr(content_type, "json");
}

bool embed_judge(struct embed_answer *answer, const struct deployment *deployment, const struct transfer *transfer,
                 bool timeout_is_callers, struct failure *failure)
{
    if (transfer->http_status >= 300)
        return refused(deployment, transfer, failure);
    if (transfer->end != TRANSFER_COMPLETE)
        return broken(answer, transfer, timeout_is_callers, &failure->status);
    if (deployment->provider->read_embed(answer, transfer->content, transfer->content_size, failure))
        return embed_answer_conclude(answer, failure);
    const char *content_type = transfer_header(transfer, "content-type");
    if (failure->status.code == DATA_LOSS && !is_json(content_type))
        fail(&failure->status, DATA_LOSS, "the answer is no JSON but %.64s; is the base URL that of the API?",
             content_type);
    name_inputs(&failure->status);
    return false;
}

void embed_reply(struct embed_answer *answer, struct rpc_call *call, Renga__V1__AnsweredBy *by,
                 Renga__V1__Attempt **attempts, size_t attempt_count, Renga__V1__EmbedResponse_Closure reply)
{
    size_t count = answer->request->n_inputs;
    Renga__V1__EmbedResponse response = RENGA__V1__EMBED_RESPONSE__INIT;
    Renga__V1__Usage usage = *embed_answer_usage(answer);
    response.embeddings = arena_alloc(rpc_call_arena(call), count * sizeof(*response.embeddings));
    if (!response.embeddings) {
        rpc_fail_with(call, RESOURCE_EXHAUSTED, "the vectors take more memory than a call may have");
        return;
    }
    for (size_t i = 0; i < count; i++)
        response.embeddings[i] = &answer->embeddings[i];
    response.n_embeddings = count;
    response.usage = &usage;
    response.answered_by = by;
    response.attempts = attempts;
    response.n_attempts = attempt_count;
    reply(&response, call);
}
