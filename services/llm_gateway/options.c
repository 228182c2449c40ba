/* The gateway's options. */
#include "gateway_priv.h"

#define HOUR_MS 3600000LL
#define MIB     (1LL << 20)

const struct option llm_gateway_options[] = {
    {.name = "llm_gateway.upstream",
     .type = OPTION_STRING,
     .fallback = "https://api.openai.com/v1",
     .unit = "URL",
     .help = "Base URL of the API that models are asked through: OpenAI's, or of anything that speaks it (vLLM, "
             "llama.cpp, Ollama, LM Studio). OPENAI_BASE_URL is read where this is not set."},
    {.name = "llm_gateway.key",
     .type = OPTION_STRING,
     .secret = true,
     .unit = "KEY",
     .help = "Key for the upstream, or where it stands: file:PATH or env:NAME. OPENAI_API_KEY is read where this is "
             "not set. Without a key api.openai.com is not asked at all."},
    {.name = "llm_gateway.models",
     .type = OPTION_LIST,
     .fallback = "gpt-4.1-mini",
     .unit = "NAMES",
     .help = "Models that callers may ask for, by the upstream's names. The first one also answers to \"default\"."},
    {.name = "llm_gateway.token_limit",
     .type = OPTION_CHOICE,
     .fallback = "auto",
     .choices = "auto|max_completion_tokens|max_tokens",
     .help =
         "What the upstream calls the longest answer. auto: max_completion_tokens for OpenAI itself, max_tokens for "
         "all others."},
    {.name = "llm_gateway.timeout",
     .type = OPTION_DURATION,
     .fallback = "10m",
     .min = 1,
     .max = 24 * HOUR_MS,
     .unit = "DURATION",
     .help = "Longest time of one request to the upstream, where the caller's own deadline is not sooner."},
    {.name = "llm_gateway.idle_timeout",
     .type = OPTION_DURATION,
     .fallback = "60s",
     .min = 1,
     .max = HOUR_MS,
     .unit = "DURATION",
     .help =
         "Longest silence of the upstream in a stream, before its first byte too. A model that answers in one piece "
         "is silent while it thinks: there llm_gateway.timeout counts alone."},
    {.name = "llm_gateway.reader_timeout",
     .type = OPTION_DURATION,
     .fallback = "60s",
     .min = 1,
     .max = HOUR_MS,
     .unit = "DURATION",
     .help = "How long the client of a stream may take nothing before it is given up."},
    /* At most 12 MiB: a stream may have to hand on a whole answer at once, within what a call may queue. */
    {.name = "llm_gateway.response_max",
     .type = OPTION_SIZE,
     .fallback = "8MiB",
     .min = 64 << 10,
     .max = 12 * MIB,
     .unit = "SIZE",
     .help = "Largest answer of the upstream in one piece, decompressed."},
    {.name = "llm_gateway.stream_max",
     .type = OPTION_SIZE,
     .fallback = "256MiB",
     .min = 64 << 10,
     .max = 4096 * MIB,
     .unit = "SIZE",
     .help = "Largest stream of the upstream over its whole length; a token takes some 300 bytes of it."},
    {.name = NULL},
};
