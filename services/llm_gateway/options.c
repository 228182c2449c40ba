/* The gateway's options. */
#include "gateway_priv.h"

#define HOUR_MS 3600000LL
#define MIB     (1LL << 20)

const struct option llm_gateway_options[] = {
    {.name = "llm_gateway.provider",
     .type = OPTION_CHOICE,
     .fallback = "openai",
     .choices = "openai|azure|anthropic|ollama",
     .help = "What the upstream speaks: OpenAI's Chat Completions (many others do too), Azure OpenAI, Anthropic's "
             "Messages, or Ollama's own API."},
    {.name = "llm_gateway.upstream",
     .type = OPTION_STRING,
     .unit = "URL",
     .help = "Base URL of the API that models are asked through. Unset is https://api.openai.com/v1, "
             "https://api.anthropic.com or http://127.0.0.1:11434, after the provider; Azure's endpoint must be "
             "given. OPENAI_BASE_URL, ANTHROPIC_BASE_URL or AZURE_OPENAI_ENDPOINT is read where this is not set."},
    {.name = "llm_gateway.api_version",
     .type = OPTION_STRING,
     .unit = "DATE",
     .help = "Azure: unset for the v1 API, a date such as 2024-10-21 for the classic one, where the one model names "
             "the deployment. Anthropic: unset is 2023-06-01; from 2026-10-21 on the key goes as a Bearer token."},
    {.name = "llm_gateway.key",
     .type = OPTION_STRING,
     .secret = true,
     .unit = "KEY",
     .help = "Key for the upstream, or where it stands: file:PATH or env:NAME. OPENAI_API_KEY, ANTHROPIC_API_KEY or "
             "AZURE_OPENAI_API_KEY is read where this is not set. Without a key OpenAI and Anthropic are not asked at "
             "all."},
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
    {.name = "llm_gateway.output_tokens",
     .type = OPTION_INTEGER,
     .fallback = "4096",
     .min = 1,
     .max = 1000000,
     .unit = "TOKENS",
     .help = "Longest answer where the caller sets no limit and the API must have one (Anthropic)."},
    {.name = "llm_gateway.context_tokens",
     .type = OPTION_INTEGER,
     .fallback = "16384",
     .min = 0,
     .max = 10000000,
     .unit = "TOKENS",
     .help = "Context that Ollama is told to keep (num_ctx): what is longer it cuts silently. 0 leaves it to Ollama."},
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
    {.name = "llm_gateway.ledger",
     .type = OPTION_STRING,
     .unit = "FILE",
     .help =
         "Where it is kept what calls have used and cost (SQLite; made where there is none). A file of this process "
         "alone, on a disk of its own machine. Unset: in memory, gone with the process."},
    {.name = "llm_gateway.ledger_keep_runs",
     .type = OPTION_INTEGER,
     .fallback = "90",
     .min = 0,
     .max = 36500,
     .unit = "DAYS",
     .help = "How long the accounts tell runs and threads apart; older days are kept by client, tenant, model and "
             "deployment. 0: for good. Accounts in memory tell them apart for a day."},
    {.name = "llm_gateway.http.listen",
     .type = OPTION_STRING,
     .unit = "ADDRESS",
     .help = "Where OpenAI's HTTP interface is served besides gRPC, with the same keys and limits: 0.0.0.0:PORT or "
             "[::]:PORT. Clients take http://HOST:PORT/v1 as their base URL. Unset is nowhere."},
    {.name = NULL},
};
