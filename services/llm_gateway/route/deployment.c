#include "deployment.h"

#include "base/log.h"
#include "http/client.h"
#include "provider/provider.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define URL_MAX 2048 /* bytes */

/* ---- where, and with which key ----------------------------------------------------------------------------------- */

/* An option that was not set gives way to the variable that the provider's own libraries read. NULL: neither is. */
static const char *setting(const struct config *config, const char *option, const char *variable)
{
    const char *set = config_string(config, option);
    const char *value = set && *set ? set : variable ? getenv(variable) : NULL;
    return value && *value ? value : NULL;
}

static const struct provider *find_provider(const struct config *config)
{
    const char *name = config_string(config, "llm_gateway.provider");
    for (size_t i = 0; providers[i]; i++)
        if (strcmp(providers[i]->name, name) == 0)
            return providers[i];
    return NULL;
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

static bool add_key(struct deployment *deployment, const struct provider_way *way, struct status *st)
{
    size_t size = strlen(deployment->key) + sizeof "Bearer ";
    char *value = malloc(size);
    if (!value)
        return fail(st, RESOURCE_EXHAUSTED, "no memory for a header");
    snprintf(value, size, "%s%s", way->bearer ? "Bearer " : "", deployment->key);
    struct status ignored = {0};
    bool good = http_headers_add(deployment->headers, way->key_header, value, &ignored);
    explicit_bzero(value, size);
    free(value);
    return good || fail(st, INVALID_ARGUMENT, "llm_gateway.key: has characters that no HTTP header can carry");
}

static bool add_headers(struct deployment *deployment, const struct provider_way *way, struct status *st)
{
    struct http_headers *headers = deployment->headers;
    /* No Accept: what is wanted stands in the body, and each byte of a header costs curl some 100 instructions. */
    return http_headers_add(headers, "Content-Type", "application/json", st) &&
           (!way->version_header || http_headers_add(headers, way->version_header, way->version, st)) &&
           (!deployment->key || add_key(deployment, way, st));
}

static bool wants_old_token_limit(const struct config *config, const char *host)
{
    const char *choice = config_string(config, "llm_gateway.token_limit");
    if (strcmp(choice, "auto") == 0)
        return strcmp(host, openai_provider.keyed_host) != 0;
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

static bool find_way(const struct deployment *deployment, const struct config *config, struct provider_way *way,
                     struct status *st)
{
    size_t count = 0;
    const char *version = config_string(config, "llm_gateway.api_version");
    const char *const *models = config_list(config, "llm_gateway.models", &count);
    const struct provider_terms terms = {.version = version ? version : "", .model = count ? models[0] : ""};
    if (deployment->provider == &azure_provider && terms.version[0] && count > 1)
        return fail(st, INVALID_ARGUMENT,
                    "llm_gateway.models: has %zu names; classic Azure has one model a deployment: name one, or leave "
                    "llm_gateway.api_version unset for the v1 API",
                    count);
    return deployment->provider->find_way(&terms, way, st);
}

static bool set_up(struct deployment *deployment, const struct config *config, struct status *st)
{
    struct provider_way way = {0};
    const struct provider *provider = deployment->provider = find_provider(config);
    assert(provider); /* the option's choices are the table's names */
    const char *base = setting(config, "llm_gateway.upstream", provider->url_variable);
    if (!base && !provider->base_url)
        return fail(st, INVALID_ARGUMENT,
                    "llm_gateway.upstream: is not set; %s needs one, such as "
                    "https://NAME.openai.azure.com",
                    provider->name);
    deployment->key = setting(config, "llm_gateway.key", provider->key_variable);
    deployment->headers = http_headers_create();
    if (!find_way(deployment, config, &way, st))
        return false;
    deployment->chat_url = chat_url(base ? base : provider->base_url, way.path, st);
    return deployment->chat_url && add_headers(deployment, &way, st);
}

struct deployment *deployment_create(const struct config *config, struct status *st)
{
    struct deployment *deployment = calloc(1, sizeof *deployment);
    if (!deployment) {
        fail(st, RESOURCE_EXHAUSTED, "no memory for a deployment");
        return NULL;
    }
    deployment->name = "upstream";
    if (!set_up(deployment, config, st)) {
        deployment_destroy(&deployment);
        return NULL;
    }
    const char *host = http_url_host(deployment->chat_url), *keyed_host = deployment->provider->keyed_host;
    deployment->unset = !deployment->key && keyed_host && strcmp(host, keyed_host) == 0;
    deployment->old_token_limit = wants_old_token_limit(config, host);
    deployment->token_limit_is_set = strcmp(config_string(config, "llm_gateway.token_limit"), "auto") != 0;
    deployment->output_tokens = config_integer(config, "llm_gateway.output_tokens");
    deployment->context_tokens = config_integer(config, "llm_gateway.context_tokens");
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

/* ---- what was refused -------------------------------------------------------------------------------------------- */

uint32_t deployment_left_out(const struct deployment *deployment, const char *model)
{
    for (size_t i = 0; i < deployment->lesson_count; i++)
        if (strcmp(deployment->lessons[i].model, model) == 0)
            return deployment->lessons[i].left_out;
    return 0;
}

void deployment_learn(struct deployment *deployment, const char *model, uint32_t left_out)
{
    size_t i = 0;
    while (i < deployment->lesson_count && strcmp(deployment->lessons[i].model, model) != 0)
        i++;
    if (i == LESSONS_MAX)
        return;
    if (i == deployment->lesson_count)
        deployment->lessons[deployment->lesson_count++] = (struct lesson){.model = model};
    deployment->lessons[i].left_out |= left_out;
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
