#include "deployment.h"

#include "base/log.h"
#include "http/client.h"
#include "provider.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define URL_MAX 2048 /* bytes */

static const char OPENAI_HOST[] = "api.openai.com";

/* ---- where, and with which key ----------------------------------------------------------------------------------- */

/* An option that was not set gives way to the variable that OpenAI's own libraries read. */
static const char *setting(const struct config *config, const char *option, const char *variable)
{
    const char *value = getenv(variable);
    bool is_set = strcmp(config_source(config, option), "default") != 0;
    return !is_set && value && *value ? value : config_string(config, option);
}

static struct http_url *chat_url(const char *base, const char *path, struct status *st)
{
    char text[URL_MAX];
    size_t length = strlen(base);
    while (length && base[length - 1] == '/')
        length--;
    if (length + strlen(path) >= sizeof text) {
        fail(st, INVALID_ARGUMENT, "llm_gateway.upstream: has %zu bytes; a URL this long leads nowhere", length);
        return NULL;
    }
    memcpy(text, base, length);
    strcpy(text + length, path);
    struct status reason = {0};
    struct http_url *url = http_url_parse(text, &reason);
    if (!url)
        fail(st, INVALID_ARGUMENT, "llm_gateway.upstream: %s", reason.text);
    return url;
}

static bool add_headers(struct deployment *deployment, struct status *st)
{
    struct http_headers *headers = deployment->headers;
    if (!http_headers_add(headers, "Content-Type", "application/json", st) ||
        !http_headers_add(headers, "Accept", "application/json, text/event-stream", st))
        return false;
    if (!deployment->key)
        return true;
    size_t size = strlen(deployment->key) + sizeof "Bearer ";
    char *value = malloc(size);
    if (!value)
        return fail(st, RESOURCE_EXHAUSTED, "no memory for a header");
    snprintf(value, size, "Bearer %s", deployment->key);
    struct status ignored = {0};
    bool good = http_headers_add(headers, "Authorization", value, &ignored);
    explicit_bzero(value, size);
    free(value);
    return good || fail(st, INVALID_ARGUMENT, "llm_gateway.key: has characters that no HTTP header can carry");
}

static bool wants_old_token_limit(const struct config *config, const char *host)
{
    const char *choice = config_string(config, "llm_gateway.token_limit");
    if (strcmp(choice, "auto") == 0)
        return strcmp(host, OPENAI_HOST) != 0;
    return strcmp(choice, "max_tokens") == 0;
}

static bool is_far(const char *host)
{
    return strcmp(host, "localhost") != 0 && strncmp(host, "127.", 4) != 0 && strcmp(host, "::1") != 0;
}

static void warn_of_bare_key(const struct deployment *deployment)
{
    const char *origin = http_url_origin(deployment->chat_url);
    if (deployment->key && strncmp(origin, "http:", 5) == 0 && is_far(http_url_host(deployment->chat_url)))
        log_warn("llm_gateway.bare_key", "the key and all prompts travel to %s without TLS", origin);
}

struct deployment *deployment_create(const struct config *config, struct status *st)
{
    const char *base = setting(config, "llm_gateway.upstream", "OPENAI_BASE_URL");
    const char *key = setting(config, "llm_gateway.key", "OPENAI_API_KEY");
    struct deployment *deployment = calloc(1, sizeof *deployment);
    if (!deployment) {
        fail(st, RESOURCE_EXHAUSTED, "no memory for a deployment");
        return NULL;
    }
    deployment->name = "upstream";
    deployment->provider = &openai_provider;
    deployment->key = key && *key ? key : NULL;
    deployment->headers = http_headers_create();
    deployment->chat_url = chat_url(base, deployment->provider->chat_path, st);
    if (!deployment->chat_url || !add_headers(deployment, st)) {
        deployment_destroy(&deployment);
        return NULL;
    }
    const char *host = http_url_host(deployment->chat_url);
    deployment->unset = !deployment->key && strcmp(host, OPENAI_HOST) == 0;
    deployment->old_token_limit = wants_old_token_limit(config, host);
    warn_of_bare_key(deployment);
    return deployment;
}

void deployment_destroy(struct deployment **deployment_pointer)
{
    struct deployment *deployment = *deployment_pointer;
    if (!deployment)
        return;
    *deployment_pointer = NULL;
    http_url_destroy(&deployment->chat_url);
    http_headers_destroy(&deployment->headers);
    free(deployment);
}

/* ---- keeping the key to ourselves -------------------------------------------------------------------------------- */

static const char PUT_IN[] = "[key]";
#define PUT_IN_LENGTH (sizeof PUT_IN - 1)

/* Both at least as long as what is put in: the text only shrinks. */
static char *put_in(char *at, size_t length)
{
    memcpy(at, PUT_IN, PUT_IN_LENGTH);
    memmove(at + PUT_IN_LENGTH, at + length, strlen(at + length) + 1);
    return at + PUT_IN_LENGTH;
}

static size_t key_word(const char *at)
{
    size_t length = 0;
    while (isalnum((unsigned char)at[length]) || (at[length] && strchr("-_*.", at[length])))
        length++;
    return length;
}

static bool looks_like_key(const char *word, size_t length)
{
    bool masked = memmem(word, length, "***", 3) != NULL;
    return length >= 8 && (masked || strncmp(word, "sk-", 3) == 0);
}

void deployment_redact(const struct deployment *deployment, char *text)
{
    size_t key_length = deployment->key ? strlen(deployment->key) : 0;
    if (key_length >= PUT_IN_LENGTH)
        for (char *at = text; (at = strstr(at, deployment->key));)
            at = put_in(at, key_length);
    for (char *at = text; *at;) {
        size_t length = key_word(at);
        if (looks_like_key(at, length))
            at = put_in(at, length);
        else
            at += length ? length : 1;
    }
}
