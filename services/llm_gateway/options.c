/* The gateway's options. */
#include "gateway_shared.h"
#include "routing/deployment.h"
#include "upstream/retry.h"

#define HOUR_MS 3600000LL
#define MIB     (1LL << 20)

const struct option llm_gateway_options[] = {
    STRING_OPTION(
        "llm_gateway.routes", NULL, "FILE",
        "Deployments, models, prices and limits as a JSON document with comments "
        "(services/llm_gateway/routing/README.md). SIGHUP reads it again; a wrong one is refused. Instead of the "
        "options from llm_gateway.provider to llm_gateway.context_tokens, which set up a single deployment."),
    CHOICE_OPTION("llm_gateway.provider", "openai", DEPLOYMENT_PROVIDERS,
                  "What the upstream speaks: OpenAI's Chat Completions (many others do too), Azure OpenAI, Anthropic's "
                  "Messages, or Ollama's own API. extractive is no model: it answers in this process with sentences of "
                  "what tools have found, and is what answers where neither key, upstream nor models are set."),
    STRING_OPTION("llm_gateway.upstream", NULL, "URL",
                  "Base URL of the API that models are asked through. Unset is https://api.openai.com/v1, "
                  "https://api.anthropic.com or http://127.0.0.1:11434, after the provider; Azure's endpoint must be "
                  "given. OPENAI_BASE_URL, ANTHROPIC_BASE_URL or AZURE_OPENAI_ENDPOINT is read where this is not set."),
    STRING_OPTION(
        "llm_gateway.api_version", NULL, "DATE",
        "Azure: unset for the v1 API, a date such as 2024-10-21 for the classic one, where the one model names the "
        "deployment. Anthropic: unset is 2023-06-01; from 2026-10-21 on the key goes as a Bearer token."),
    {.name = "llm_gateway.key",
     .type = OPTION_STRING,
     .secret = true,
     .unit = "KEY",
     .help = "Key for the upstream, or where it stands: file:PATH or env:NAME. OPENAI_API_KEY, ANTHROPIC_API_KEY or "
             "AZURE_OPENAI_API_KEY is read where this is not set. Without a key OpenAI and Anthropic are not asked at "
             "all."},
    LIST_OPTION("llm_gateway.models", "gpt-4.1-mini", "NAMES",
                "Models that callers may ask for, by the upstream's names. The first one also answers to \"default\". "
                "OPENAI_MODEL is read where this is not set and the provider is openai."),
    CHOICE_OPTION("llm_gateway.token_limit", "auto", DEPLOYMENT_TOKEN_LIMITS,
                  "What the upstream calls the longest answer. auto: max_completion_tokens for OpenAI itself, "
                  "max_tokens for all others."),
    INTEGER_OPTION("llm_gateway.output_tokens", "4096", 1, DEPLOYMENT_OUTPUT_TOKENS_MAX, "TOKENS",
                   "Longest answer where the caller sets no limit and the API must have one (Anthropic)."),
    INTEGER_OPTION(
        "llm_gateway.context_tokens", "16384", 0, DEPLOYMENT_CONTEXT_TOKENS_MAX, "TOKENS",
        "Context that Ollama is told to keep (num_ctx): what is longer it cuts silently. 0 leaves it to Ollama."),
    INTEGER_OPTION("llm_gateway.least_confidence", "50", 1, 99, "PERCENT",
                   "Without a model: how sure the answer must be that sentences of the documents make. A lower number "
                   "answers more questions, also more that the documents do not answer; renga eval tells how many of "
                   "your own. A document of routes may say it for a deployment of the provider extractive."),
    INTEGER_OPTION("llm_gateway.attempts", "3", 1, RETRY_ATTEMPTS_MAX, "COUNT",
                   "Requests that a call may take, the first included, where a deployment fails in a way that may "
                   "pass. A document of routes says it for each model."),
    INTEGER_OPTION("llm_gateway.retry_share", "20", 0, 100, "PERCENT",
                   "Retries and fallbacks that all calls together may take, for 100 calls: a sick provider is not "
                   "hammered. A hundred may be saved up."),
    CHOICE_OPTION("llm_gateway.breaker", "on", "on|off",
                  "Whether a deployment that keeps failing, or has asked to be left alone, is left alone for a while."),
    INTEGER_OPTION("llm_gateway.in_flight", "4096", 1, 100000, "CALLS",
                   "Calls under way at the same time in this process; more wait in the queue."),
    INTEGER_OPTION(
        "llm_gateway.queue", "1024", 0, 100000, "CALLS",
        "Calls that may wait for a place; past it they are refused at once with RESOURCE_EXHAUSTED and a hint."),
    DURATION_OPTION("llm_gateway.queue_wait", "10s", 0, HOUR_MS,
                    "Longest wait for a place, and for a deployment that rests or is at its limits."),
    DURATION_OPTION(
        "llm_gateway.timeout", "10m", 1, 24 * HOUR_MS,
        "Longest time of a call, with its waits, retries, fallbacks and repair, where the caller's own deadline is not "
        "sooner; then it is DEADLINE_EXCEEDED, or answered by a provider in this process that stands in."),
    DURATION_OPTION("llm_gateway.idle_timeout", "60s", 1, HOUR_MS,
                    "Longest silence of the upstream in a stream, before its first byte too. A model that answers in "
                    "one piece is silent while it thinks: there llm_gateway.timeout counts alone."),
    DURATION_OPTION("llm_gateway.reader_timeout", "60s", 1, HOUR_MS,
                    "How long the client of a stream may take nothing before it is given up."),
    /* At most 12 MiB: a stream may have to send a whole answer at once, within the bytes that a call may queue. */
    SIZE_OPTION("llm_gateway.response_max", "8MiB", 64 << 10, 12 * MIB,
                "Largest answer of the upstream in one piece, decompressed."),
    SIZE_OPTION("llm_gateway.stream_max", "256MiB", 64 << 10, 4096 * MIB,
                "Largest stream of the upstream over its whole length; a token takes some 300 bytes of it."),
    SIZE_OPTION(
        "llm_gateway.cache_size", "64MiB", 0, 65536 * MIB,
        "Memory for kept answers: those of callers that ask for it, and those under idempotency keys. What was used "
        "least recently goes first. 0 keeps nothing in memory; requests under way are shared all the same."),
    {.name = "llm_gateway.cache_redis",
     .type = OPTION_STRING,
     .secret = true,
     .unit = "URL",
     .help = "Redis that gateways share their kept answers through, behind the memory of each: "
             "redis://[[USER]:PASSWORD@]HOST[:PORT][/DB], or where that stands: file:PATH or env:NAME. One that does "
             "not work is done without. Whoever may write there decides what callers get. Unset is none."},
    DURATION_OPTION("llm_gateway.cache_redis_timeout", "50ms", 1, 10000,
                    "How long a call waits for Redis; then it goes on as if nothing was kept."),
    STRING_OPTION("llm_gateway.ledger", NULL, "FILE",
                  "Where it is kept what calls have used and cost (SQLite; made where there is none). A file of this "
                  "process alone, on a disk of its own machine. Unset: in memory, gone with the process."),
    INTEGER_OPTION("llm_gateway.ledger_keep_runs", "90", 0, 36500, "DAYS",
                   "How long the accounts tell runs and threads apart; older days are kept by client, tenant, model "
                   "and deployment. 0: for good. Accounts in memory tell them apart for a day."),
    BOOLEAN_OPTION("llm_gateway.log_content", "false",
                   "Show what is asked and answered in chats, cut short: as lines of the log at level debug, and as "
                   "gen_ai.input.messages and gen_ai.output.messages in traces. For debugging alone: it is what people "
                   "write. A stream is then kept in memory until its end."),
    STRING_OPTION("llm_gateway.http.listen", NULL, "ADDRESS",
                  "Where OpenAI's HTTP interface is served besides gRPC, with the same keys and limits: 0.0.0.0:PORT "
                  "or [::]:PORT. Clients take http://HOST:PORT/v1 as their base URL. Unset is nowhere."),
    STRING_OPTION("llm_gateway.http.hosts", NULL, "NAMES",
                  "Names that this interface may be asked by (the Host of a request), apart by commas; 403 for others. "
                  "Unset: any; but without rpc.keys on a loopback address only localhost, 127.0.0.1, [::1] and the "
                  "address itself, so that no web page can ask it by a name of its own."),
    INTEGER_OPTION("llm_gateway.http.connections", "4096", 1, 1000000, "CONNECTIONS",
                   "Open connections to this interface; the next ones wait until one is closed."),
    INTEGER_OPTION("llm_gateway.http.connections_per_address", "1024", 0, 1000000, "CONNECTIONS",
                   "Those of one source address (of IPv6, one network of 64 bits); the next ones are closed at once. 0 "
                   "is no bound, for a proxy in front that bounds its own clients."),
    DURATION_OPTION("llm_gateway.http.read_timeout", "10s", 100, HOUR_MS,
                    "The longest for a request's headers, and for a silence within its body; the whole body may take a "
                    "second more for each 16 KiB. 408 beyond."),
    {.name = NULL},
};
