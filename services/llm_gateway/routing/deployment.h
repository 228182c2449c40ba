/* A deployment: one upstream for models, with its endpoint and its key. */
#ifndef RENGA_LLM_GATEWAY_DEPLOYMENT_H
#define RENGA_LLM_GATEWAY_DEPLOYMENT_H

#include "base/status.h"
#include "upstream/limits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http_headers;
struct http_url;
struct provider;
struct endpoint_health;

/* The choices there are, for options and for the document alike. */
#define DEPLOYMENT_PROVIDERS          "openai|azure|anthropic|ollama|extractive"
#define DEPLOYMENT_TOKEN_LIMITS       "auto|max_completion_tokens|max_tokens"
#define DEPLOYMENT_OUTPUT_TOKENS_MAX  1000000
#define DEPLOYMENT_CONTEXT_TOKENS_MAX 10000000

/* The configuration of a deployment. All texts are borrowed for its lifetime; NULL is an unset field. */
struct deployment_terms {
    const char *name;
    const char *provider; /* one of DEPLOYMENT_PROVIDERS */
    const char *upstream; /* NULL: the provider's own base URL */
    const char
        *key; /* NULL: the provider's environment variable, if the host is the provider's keyed host; else no key */
    const char *api_version; /* NULL: the provider's own choice */
    const char *azure_deployment;
    const char *token_limit; /* one of DEPLOYMENT_TOKEN_LIMITS */
    int64_t output_tokens, context_tokens;
    int64_t least_confidence; /* percent, for a provider that knows how sure it is of an answer */
    struct limits limits;
};

/* How each model that is asked there stands. */
struct deployment_model {
    struct deployment_model *next;
    const char *name;
    struct endpoint_health *health;
};

/* Shared by the loops: it is constant, and endpoint health has a lock of its own. */
struct deployment {
    const char *name;
    struct deployment_terms terms;
    const struct provider *provider;
    struct http_url *chat_url;    /* NULL: the provider answers in this process */
    struct http_url *embed_url;   /* NULL: the provider has no embeddings */
    struct http_headers *headers; /* the key is in them; NULL as the URL */
    const char *key;              /* may be NULL. Borrowed from the configuration or the environment */
    bool old_token_limit;         /* "max_tokens" rather than "max_completion_tokens" */
    bool token_limit_is_set;      /* set by the operator; overrides the table */
    bool embeds_base64;           /* it is known to give vectors in base64 */
    int64_t output_tokens, context_tokens;
    struct limits limits; /* limits of each of its models */
    struct deployment_model *models;
    bool unset; /* no deployment is configured: requests must not leave this machine */
};

/* INVALID_ARGUMENT names the field of the terms, also in `st->field`. */
struct deployment *deployment_create(const struct deployment_terms *terms, struct status *st);
void deployment_destroy(struct deployment **deployment);

/* Whether it is the same place, asked with the same key: provider, upstream and how it is addressed there. Limits do
 * not count. */
bool deployment_is_same(const struct deployment *deployment, const struct deployment *other);

/* The state of a model there: taken over from `before` (may be NULL) if it existed there, else created with the
 * limits of the deployment. All states are created while the routes are read. `model` is borrowed for the lifetime
 * of the deployment. NULL: out of memory. */
struct endpoint_health *deployment_health(struct deployment *deployment, const char *model,
                                          const struct deployment *before);

/* Puts the limits of the deployment into force, also for states taken over. */
void deployment_enforce(const struct deployment *deployment);

/* Removes the key from a text of the provider, and text that looks like a part of it: "sk-pr****Q9aA". */
void deployment_redact(const struct deployment *deployment, char *text);
/* Removes the host of the deployment, which some servers quote in their errors. */
void deployment_hide_host(const struct deployment *deployment, char *text);

#endif
