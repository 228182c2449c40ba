/* services/llm_gateway: answers of providers, requests and their upstream requests, estimates. */
#include "readers.h"

#include "admission/tokens.h"
#include "answer/answer.h"
#include "answer/embed_answer.h"
#include "cache/cached_response.h"
#include "cache/replay.h"
#include "contract/check_chat.h"
#include "http/sse.h"
#include "openai_http/openai_http_priv.h"
#include "provider/openai_priv.h"
#include "rpc/message_json.h"
#include "upstream/retry_hint.h"
#include "usage/ledger_priv.h"

#include <stdlib.h>
#include <string.h>

/* ---- answers ----------------------------------------------------------------------------------------------------- */

static void gateway_begin_answer(struct input *in, const Renga__V1__ChatRequest *request, struct answer *answer)
{
    answer_init(answer, &in->arena, request);
    answer->keeps_content = answer->keeps_rest = true;
}

static void drop_event(const Renga__V1__ChatStreamEvent *event, void *data)
{
    *(size_t *)data += event != NULL;
}

/* To the caller, and once more from the cache as a stream. */
static void gateway_give_answer(struct input *in, struct answer *answer)
{
    static const struct replay_terms terms = {.use = RENGA__V1__CACHE_USE__CACHE_USE_HIT};
    Renga__V1__ChatFinish finish = RENGA__V1__CHAT_FINISH__INIT;
    Renga__V1__ChatResponse response = RENGA__V1__CHAT_RESPONSE__INIT, *again;
    struct failure failure = {0};
    struct json_writer writer;
    size_t size, events = 0;
    if (!answer_finish(answer, &finish, &failure))
        return;
    response.message = answer_message(answer);
    response.finish = &finish;
    json_writer_init(&writer, &in->out);
    openai_http_write_answer(&writer, &response, 0);
    const uint8_t *packed = replay_pack_chat(&in->arena, &response, &size);
    again = packed ? replay_chat(&in->arena, packed, size, &terms, &in->st) : NULL;
    if (again)
        replay_stream(again, drop_event, &events);
}

static void gateway_read_whole(struct input *in)
{
    const struct provider *provider = in->with;
    Renga__V1__ChatRequest request = RENGA__V1__CHAT_REQUEST__INIT;
    struct failure failure = {0};
    struct answer answer;
    gateway_begin_answer(in, &request, &answer);
    if (provider->read_chat(&answer, in->text, in->length, &failure))
        gateway_give_answer(in, &answer);
    provider->read_error(500, in->text, in->length, &failure);
    capability_refused("", in->text, in->length);
}

/* One event a line. */
static void gateway_read_stream(struct input *in)
{
    const struct provider *provider = in->with;
    Renga__V1__ChatRequest request = RENGA__V1__CHAT_REQUEST__INIT;
    struct failure failure = {0};
    struct answer answer;
    gateway_begin_answer(in, &request, &answer);
    for (const char *at = in->text, *end = in->text + in->length; at < end;) {
        const char *line = memchr(at, '\n', (size_t)(end - at)), *stop = line ? line : end;
        char *data = strndup(at, (size_t)(stop - at));
        struct sse_event event = {.type = "message", .data = data, .size = (size_t)(stop - at), .id = ""};
        bool good = provider->read_event(&answer, &event, &failure);
        free(data);
        if (!good)
            return;
        at = stop + 1;
    }
    gateway_give_answer(in, &answer);
}

static void gateway_check_answer(struct input *in)
{
    Renga__V1__ChatRequest request = RENGA__V1__CHAT_REQUEST__INIT;
    Renga__V1__ResponseFormat format = RENGA__V1__RESPONSE_FORMAT__INIT;
    struct failure failure = {0};
    struct answer answer;
    char *json;
    format.kind = RENGA__V1__RESPONSE_FORMAT_KIND__RESPONSE_FORMAT_KIND_JSON_SCHEMA;
    format.schema_json = (char *)(uintptr_t) "{\"items\":{\"anyOf\":[{\"enum\":[1,\"a\"]},{\"type\":\"object\"}]}}";
    request.response_format = &format;
    gateway_begin_answer(in, &request, &answer);
    if (answer_expect(&answer, &in->st) && answer_add(&answer, ANSWER_TEXT, in->text, &failure) && in->length)
        answer_check_json(&answer, &json, &failure);
}

static void read_vectors(struct input *in)
{
    static char one[] = "pond";
    char *inputs[] = {one};
    Renga__V1__EmbedRequest request = RENGA__V1__EMBED_REQUEST__INIT;
    struct failure failure = {0};
    struct embed_answer answer;
    request.inputs = inputs;
    request.n_inputs = 1;
    if (embed_answer_init(&answer, &in->arena, &request))
        openai_read_embed(&answer, in->text, in->length, &failure);
    if (embed_answer_init(&answer, &in->arena, &request))
        ollama_read_embed(&answer, in->text, in->length, &failure);
}

/* Of a Redis that others write to. */
static void read_kept(struct input *in)
{
    struct response_cache_key key;
    struct cached_response *kept;
    response_cache_key_of_idempotency("tenant", in->text, &key);
    kept = cached_response_decode(&key, (const uint8_t *)in->text, in->length);
    if (kept)
        cached_response_release(kept);
}

/* ---- requests ---------------------------------------------------------------------------------------------------- */

/* As it is sent to each of the providers. */
static void gateway_pass_on(struct input *in, const Renga__V1__ChatRequest *request)
{
    struct response_cache_key key;
    struct json_writer writer;
    const struct chat_question question = {.request = request, .model = "a", .output_tokens = 1};
    for (const struct provider *const *provider = providers; *provider; provider++) {
        buffer_clear(&in->out);
        json_writer_init(&writer, &in->out);
        if ((*provider)->write_chat)
            (*provider)->write_chat(&question, &writer);
    }
    response_cache_key_of_chat("tenant", request, &key);
    tokens_of_chat(request);
}

static void gateway_read_body(struct input *in)
{
    struct openai_http_chat_request question;
    struct openai_http_embed_request texts;
    if (!input_json(in))
        return;
    if (openai_http_read_chat(in->tree, &in->arena, &question, &in->st) &&
        check_chat_request(&question.request, &in->st))
        gateway_pass_on(in, &question.request);
    openai_http_read_embed(in->tree, &in->arena, &texts, &in->st);
}

/* Fields that the door does not have. */
static void gateway_read_request(struct input *in)
{
    ProtobufCMessage *message =
        input_json(in) ? message_read_json(&renga__v1__chat_request__descriptor, in->tree, &in->arena, &in->st) : NULL;
    const Renga__V1__ChatRequest *request = (const Renga__V1__ChatRequest *)message;
    if (request && check_chat_request(request, &in->st))
        gateway_pass_on(in, request);
}

static void count_tokens(struct input *in)
{
    tokens_of_text(in->text, in->length);
}

static const char *gateway_header(const void *from, const char *name)
{
    return from;
}

static void read_hint(struct input *in)
{
    retry_hint_ms(gateway_header, in->text, 0);
    rate_left_of(gateway_header, in->text, 0);
}

static void know_model(struct input *in)
{
    capability_of(in->text);
}

static void read_page_token(struct input *in)
{
    Renga__V1__GetUsageRequest request = RENGA__V1__GET_USAGE_REQUEST__INIT;
    int64_t now_ms, skip;
    request.page_token = (char *)(uintptr_t)in->text;
    page_token_read(&request, &now_ms, &skip, &in->st);
}

#define OPENAI_MESSAGE "{\"choices\":[{\"message\":{\"content\":"

static const struct generator answers[] = {
    {"a long answer", 0, .begin = OPENAI_MESSAGE "\"", .unit = "a", .end = "\"}}]}"},
    {"choices", 0, .begin = "{\"choices\":[{\"message\":{}}", .unit = ",{\"message\":{}}", .end = "]}"},
    {"tool calls", 0, .begin = OPENAI_MESSAGE "null,\"tool_calls\":[{}",
     .unit = ",{\"id\":\"\1\",\"function\":{\"name\":\"a\",\"arguments\":\"{}\"}}", .end = "]}}]}"},
    {"blocks", 0, .begin = "{\"type\":\"message\",\"content\":[{\"type\":\"text\",\"text\":\"\"}",
     .unit = ",{\"type\":\"text\",\"text\":\"a\"}", .end = "]}"},
    {"an error with a long text", 0, .begin = "{\"error\":{\"message\":\"", .unit = "a", .end = "\"}}"},
    {.name = NULL},
};

static const struct generator streams[] = {
    {"pieces of an answer", 0, .unit = "{\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n"},
    {"pieces of arguments", 0,
     .begin = "{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"name\":\"a\"}}]}}]}\n",
     .unit = "{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"a\"}}]}}]}\n"},
    {"calls in a stream", 0,
     .unit = "{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":\1,\"function\":{\"name\":\"a\"}}]}}]}\n"},
    {"pieces of a block", 0,
     .begin = "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n",
     .unit = "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"a\"}}\n"},
    {"pieces of an input", 0,
     .begin = "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"a\","
              "\"name\":\"a\"}}\n",
     .unit = "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":"
             "\"1\"}}\n"},
    {"blocks of a stream", 0,
     .unit = "{\"type\":\"content_block_start\",\"index\":\1,\"content_block\":{\"type\":\"text\",\"text\":\"a\"}}\n"
             "{\"type\":\"content_block_stop\",\"index\":\1}\n"},
    {"lines of Ollama", 0, .unit = "{\"message\":{\"content\":\"a\"},\"done\":false}\n"},
    {.name = NULL},
};

static const struct generator vectors[] = {
    {"numbers of a vector", 0, .begin = "{\"data\":[{\"embedding\":[0", .unit = ",0.25", .end = "]}]}"},
    {"vectors", 0, .begin = "{\"data\":[{\"embedding\":[1]}", .unit = ",{\"embedding\":[1]}", .end = "]}"},
    {"base64", 0, .begin = "{\"data\":[{\"embedding\":\"", .unit = "AACAPw==", .end = "\"}]}"},
    {.name = NULL},
};

#define TOOL_HEAD "{\"type\":\"function\",\"function\":{\"name\":\""

static const struct generator bodies[] = {
    {"turns", 0, .begin = "{\"model\":\"a\",\"messages\":[{\"role\":\"user\",\"content\":\"a\"}",
     .unit = ",{\"role\":\"user\",\"content\":\"a\"}", .end = "]}"},
    {"parts of a turn", 0,
     .begin = "{\"model\":\"a\",\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a\"}",
     .unit = ",{\"type\":\"text\",\"text\":\"a\"}", .end = "]}]}"},
    {"calls of a turn", 0,
     .begin = "{\"model\":\"a\",\"messages\":[{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"a\",\"function\":{"
              "\"name\":\"a\"}}",
     .unit = ",{\"id\":\"a\1\",\"function\":{\"name\":\"a\"}}", .end = "]}]}"},
    {"tools that are allowed", 0, .begin = "{\"model\":\"a\",\"messages\":[],\"tools\":[" TOOL_HEAD "a\"}}",
     .unit = "," TOOL_HEAD "a\1\"}}",
     .middle =
         "],\"tool_choice\":{\"type\":\"allowed_tools\",\"allowed_tools\":{\"mode\":\"auto\",\"tools\":[" TOOL_HEAD
         "a\"}}",
     .close = "," TOOL_HEAD "a\1\"}}", .end = "]}}}"},
    {"tools", 0, .begin = "{\"model\":\"a\",\"messages\":[],\"tools\":[" TOOL_HEAD "a\"}}",
     .unit = "," TOOL_HEAD "a\1\",\"parameters\":{}}}", .end = "]}"},
    {"texts that stop", 0, .begin = "{\"model\":\"a\",\"messages\":[],\"stop\":[\"a\"", .unit = ",\"b\"", .end = "]}"},
    {"texts to embed", 0, .begin = "{\"model\":\"a\",\"input\":[\"a\"", .unit = ",\"b\"", .end = "]}"},
    {.name = NULL},
};

#define TURN  "{\"role\":\"CHAT_ROLE_USER\",\"content\":\"a\"}"
#define CALLS "{\"role\":\"CHAT_ROLE_ASSISTANT\",\"tool_calls\":[{\"id\":\"a\",\"name\":\"a\",\"arguments\":{}}"

/* Calls have their results in any order, or no results. */
static const struct generator requests[] = {
    {"turns with names", 0, .begin = "{\"messages\":[" TURN, .unit = "," TURN, .end = "]}"},
    {"calls and their results", 0, .begin = "{\"messages\":[" TURN "," CALLS,
     .unit = ",{\"id\":\"c\1\",\"name\":\"a\",\"arguments\":{}}",
     .middle = "]},{\"role\":\"CHAT_ROLE_TOOL\",\"tool_call_id\":\"a\",\"content\":\"b\"}",
     .close = ",{\"role\":\"CHAT_ROLE_TOOL\",\"tool_call_id\":\"c\1\",\"content\":\"b\"}", .end = "]}"},
    {"turns of calls", 0, .begin = "{\"messages\":[" TURN,
     .unit = "," CALLS "]},{\"role\":\"CHAT_ROLE_TOOL\",\"tool_call_id\":\"a\",\"content\":\"b\"}", .end = "]}"},
    {"tools of a request", 0, .begin = "{\"messages\":[" TURN "],\"tools\":[{\"name\":\"a\"}",
     .unit = ",{\"name\":\"a\1\",\"parameters\":{}}", .end = "]}"},
    {.name = NULL},
};

const struct reader readers_gateway[] = {
    {"answer of OpenAI", gateway_read_whole, .sets = HOSTILE_JSON, .own = answers, .with = &openai_provider},
    {"answer of Anthropic", gateway_read_whole, .sets = HOSTILE_JSON, .own = answers, .with = &anthropic_provider},
    {"answer of Ollama", gateway_read_whole, .sets = HOSTILE_JSON, .own = answers, .with = &ollama_provider},
    {"stream of OpenAI", gateway_read_stream, .sets = HOSTILE_STREAM, .own = streams, .with = &openai_provider},
    {"stream of Anthropic", gateway_read_stream, .sets = HOSTILE_STREAM, .own = streams, .with = &anthropic_provider},
    {"stream of Ollama", gateway_read_stream, .sets = HOSTILE_STREAM, .own = streams, .with = &ollama_provider},
    {"answer that must fit a schema", gateway_check_answer, .sets = HOSTILE_JSON},
    {"vectors of an answer", read_vectors, .sets = HOSTILE_JSON, .own = vectors},
    {"answer kept in Redis", read_kept, .sets = HOSTILE_BYTES},
    {"body of the door", gateway_read_body, .sets = HOSTILE_JSON, .own = bodies},
    {"request of a chat", gateway_read_request, .own = requests},
    {"estimate of tokens", count_tokens, .sets = HOSTILE_TEXT | HOSTILE_BYTES},
    {"hint of when to retry", read_hint, .sets = HOSTILE_EXPRESSION | HOSTILE_HEAD | HOSTILE_FIELD},
    {"name of a model", know_model, .sets = HOSTILE_FIELD},
    {"token of a page of accounts", read_page_token, .sets = HOSTILE_FIELD},
    {.name = NULL},
};
