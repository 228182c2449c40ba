#include "deployment.h"

#include "base/log.h"
#include "http/client.h"
#include "provider/provider.h"
#include "upstream/endpoint_health.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define URL_MAX 2048 /* bytes */

/* ---- URL and key ------------------------------------------------------------------------------------------------- */

static struct http_url *url_below(const char *base, const char *path, struct status *st)
{
    char text[URL_MAX];
    size_t length = strlen(base);
    while (length && base[length - 1] == '/')
        length--;
    if (length + strlen(path) >= sizeof text) {
        fail_field(st, "upstream", "has %zu bytes; a URL this long leads nowhere", length);
        return NULL;
    }
    memcpy(text, base, length);
    strcpy(text + length, path);
    struct status reason = {0};
    struct http_url *url = http_url_parse(text, &reason);
    if (!url)
        fail_field(st, "upstream", "%s", reason.text);
    return url;
}

static bool deployment_add_key(struct deployment *deployment, const struct provider_endpoint *way, struct status *st)
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
    return good || fail_field(st, "key", "has characters that no HTTP header can carry");
}

static bool deployment_add_headers(struct deployment *deployment, const struct provider_endpoint *way,
                                   struct status *st)
{
    struct http_headers *headers = deployment->headers;
    if (way->version_header && !http_headers_add(headers, way->version_header, way->version, st))
        return fail_field(st, "api_version", "has characters that no HTTP header can carry");
    /* No Accept: the body states the format. */
    return http_headers_add(headers, "Content-Type", "application/json", st) &&
           (!deployment->key || deployment_add_key(deployment, way, st));
}

static bool wants_old_token_limit(const char *choice, const char *host)
{
    if (strcmp(choice, "auto") == 0)
        return strcmp(host, openai_provider.keyed_host) != 0;
    return strcmp(choice, "max_tokens") == 0;
}

static bool is_far(const char *host)
{
    return strcmp(host, "localhost") != 0 && strncmp(host, "127.", 4) != 0 && strcmp(host, "::1") != 0;
}

static bool deployment_find_endpoint(const struct deployment *deployment, const struct deployment_terms *terms,
                                     struct provider_endpoint *way, struct status *st)
{
    const char *version = terms->api_version ? terms->api_version : "", *named = terms->azure_deployment;
    bool is_classic = deployment->provider == &azure_provider && version[0];
    if (is_classic && !named)
        return fail_field(st, "azure_deployment",
                          "is not set; with an api_version the URL names the deployment: give its name, or leave "
                          "api_version out for the v1 API");
    if (named && !is_classic)
        return fail_field(
            st, "azure_deployment",
            "is set to '%.64s', but only provider azure with an api_version names a deployment in its URL", named);
    return deployment->provider->find_endpoint(
        &(struct provider_terms){.version = version, .model = named ? named : ""}, way, st);
}

static bool find_urls(struct deployment *deployment, const char *base, const struct provider_endpoint *way,
                      struct status *st)
{
    deployment->chat_url = url_below(base, way->path, st);
    if (deployment->chat_url && way->embed_path[0])
        deployment->embed_url = url_below(base, way->embed_path, st);
    return deployment->chat_url && (deployment->embed_url || !way->embed_path[0]);
}

static void deployment_find_key(struct deployment *deployment, const struct deployment_terms *terms)
{
    const struct provider *provider = deployment->provider;
    const char *host = http_url_host(deployment->chat_url);
    bool needs_key = provider->keyed_host && strcmp(host, provider->keyed_host) == 0;
    deployment->key = terms->key && *terms->key ? terms->key : NULL;
    if (!deployment->key && needs_key && provider->key_variable) {
        const char *key = getenv(provider->key_variable);
        deployment->key = key && *key ? key : NULL;
    }
    deployment->unset = needs_key && !deployment->key;
}

static bool needs_no_way(const struct deployment_terms *terms, struct status *st)
{
    if (terms->upstream && *terms->upstream)
        return fail_field(st, "upstream", "is set, but the provider %s answers in this process; leave it out",
                          terms->provider);
    if (terms->key && *terms->key)
        return fail_field(st, "key", "is set, but the provider %s needs none; leave it out", terms->provider);
    return true;
}

static bool set_up(struct deployment *deployment, const struct deployment_terms *terms, struct status *st)
{
    struct provider_endpoint way = {0};
    const struct provider *provider = deployment->provider;
    if (provider->answer_chat)
        return needs_no_way(terms, st);
    const char *base = terms->upstream && *terms->upstream ? terms->upstream : provider->base_url;
    if (!base)
        return fail_field(st, "upstream", "is not set; %s needs one, such as https://NAME.openai.azure.com",
                          provider->name);
    deployment->headers = http_headers_create();
    if (!deployment_find_endpoint(deployment, terms, &way, st) || !find_urls(deployment, base, &way, st))
        return false;
    deployment_find_key(deployment, terms);
    return deployment_add_headers(deployment, &way, st);
}

struct deployment *deployment_create(const struct deployment_terms *terms, struct status *st)
{
    struct deployment *deployment = calloc(1, sizeof *deployment);
    if (!deployment) {
        fail(st, RESOURCE_EXHAUSTED, "no memory for a deployment");
        return NULL;
    }
    deployment->name = terms->name;
    deployment->terms = *terms;
    deployment->provider = provider_named(terms->provider);
    assert(deployment->provider); /* the choices are the table's names */
    if (!set_up(deployment, terms, st)) {
        deployment_destroy(&deployment);
        return NULL;
    }
    const char *host = deployment->chat_url ? http_url_host(deployment->chat_url) : "";
    deployment->old_token_limit = wants_old_token_limit(terms->token_limit, host);
    deployment->embeds_base64 =
        deployment->provider == &azure_provider || strcmp(host, openai_provider.keyed_host) == 0;
    deployment->token_limit_is_set = strcmp(terms->token_limit, "auto") != 0;
    deployment->output_tokens = terms->output_tokens;
    deployment->context_tokens = terms->context_tokens;
    deployment->limits = terms->limits;
    if (deployment->key) {
        const char *origin = http_url_origin(deployment->chat_url);
        if (strncmp(origin, "http:", 5) == 0 && is_far(http_url_host(deployment->chat_url)))
            log_warn("llm_gateway.bare_key", "the key and all prompts travel to %s without TLS", origin);
    }
    return deployment;
}

void deployment_destroy(struct deployment **deployment_pointer)
{
    struct deployment *deployment = *deployment_pointer;
    if (!deployment)
        return;
    *deployment_pointer = NULL;
    http_url_destroy(&deployment->chat_url);
    http_url_destroy(&deployment->embed_url);
    http_headers_destroy(&deployment->headers);
    while (deployment->models) {
        struct deployment_model *model = deployment->models;
        deployment->models = model->next;
        endpoint_health_destroy(&model->health);
        free(model);
    }
    free(deployment);
}

static bool deployment_same(const char *left, const char *right)
{
    return strcmp(left ? left : "", right ? right : "") == 0;
}

bool deployment_is_same(const struct deployment *deployment, const struct deployment *other)
{
    const struct deployment_terms *a = &deployment->terms, *b = &other->terms;
    return deployment->provider == other->provider && deployment_same(deployment->key, other->key) &&
           deployment_same(a->upstream, b->upstream) && deployment_same(a->api_version, b->api_version) &&
           deployment_same(a->azure_deployment, b->azure_deployment);
}

/* ---- how its models stand ---------------------------------------------------------------------------------------- */

static struct endpoint_health *find_health(const struct deployment *deployment, const char *name)
{
    for (const struct deployment_model *model = deployment->models; model; model = model->next)
        if (strcmp(model->name, name) == 0)
            return model->health;
    return NULL;
}

static const struct endpoint_kind endpoint_kind = {.event = "llm_gateway.circuit", .noun = "deployment"};

struct endpoint_health *deployment_health(struct deployment *deployment, const char *name,
                                          const struct deployment *before)
{
    struct endpoint_health *health = find_health(deployment, name);
    if (health)
        return health;
    struct deployment_model *model = calloc(1, sizeof *model);
    struct endpoint_health *old = before ? find_health(before, name) : NULL;
    health = !model ? NULL
             : old  ? endpoint_health_hold(old)
                    : endpoint_health_create(&endpoint_kind, deployment->name, &deployment->limits);
    if (!health) {
        free(model);
        return NULL;
    }
    *model = (struct deployment_model){.next = deployment->models, .name = name, .health = health};
    deployment->models = model;
    return health;
}

void deployment_enforce(const struct deployment *deployment)
{
    for (const struct deployment_model *model = deployment->models; model; model = model->next)
        endpoint_health_limit(model->health, &deployment->limits);
}

/* ---- keeping the key to ourselves -------------------------------------------------------------------------------- */

#define KEY_WORD  "[key]"
#define HOST_WORD "[host]"

/* The new text must not be longer than the old one: the text only shrinks. */
static char *put_in(char *at, size_t length, const char *word)
{
    size_t size = strlen(word);
    memcpy(at, word, size);
    memmove(at + size, at + length, strlen(at + length) + 1);
    return at + size;
}

static size_t idempotency_name(const char *at)
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
    if (key_length >= strlen(KEY_WORD))
        for (char *at = text; (at = strstr(at, deployment->key));)
            at = put_in(at, key_length, KEY_WORD);
    for (char *at = text; *at;) {
        size_t length = idempotency_name(at);
        if (looks_like_key(at, length))
            at = put_in(at, length, KEY_WORD);
        else
            at += length ? length : 1;
    }
}

void deployment_hide_host(const struct deployment *deployment, char *text)
{
    const char *host = deployment->chat_url ? http_url_host(deployment->chat_url) : "";
    size_t length = strlen(host);
    if (length >= strlen(HOST_WORD))
        for (char *at = text; (at = strcasestr(at, host));)
            at = put_in(at, length, HOST_WORD);
}
