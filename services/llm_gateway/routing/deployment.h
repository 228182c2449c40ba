/* A deployment: one place where models are asked, with its endpoint and its key. */
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

/* As a deployment is configured. All texts are borrowed for as long as it lives; NULL is what was not said. */
struct deployment_terms {
    const char *name;
    const char *provider;    /* one of DEPLOYMENT_PROVIDERS */
    const char *upstream;    /* NULL: the provider's own base URL */
    const char *key;         /* NULL: that of the provider's variable, where it is asked at its keyed host; else none */
    const char *api_version; /* NULL: the provider's own choice */
    const char *azure_deployment;
    const char *token_limit; /* one of DEPLOYMENT_TOKEN_LIMITS */
    int64_t output_tokens, context_tokens;
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
    const char *key;              /* NULL: none. Borrowed from the configuration or the environment */
    bool old_token_limit;         /* "max_tokens" rather than "max_completion_tokens" */
    bool token_limit_is_set;      /* by the operator, who knows better than a table */
    bool embeds_base64;           /* it is known to give vectors in base64 */
    int64_t output_tokens, context_tokens;
    struct limits limits; /* what each of its models may be asked at most */
    struct deployment_model *models;
    bool unset; /* nobody has said where to ask: nothing may leave this machine */
};

/* INVALID_ARGUMENT names the field of the terms, also in `st->field`. */
struct deployment *deployment_create(const struct deployment_terms *terms, struct status *st);
void deployment_destroy(struct deployment **deployment);

/* Whether it is the same place, asked with the same key: provider, upstream and how it is addressed there. Limits do
 * not count. */
bool deployment_is_same(const struct deployment *deployment, const struct deployment *other);

/* How a model stands there: as at `before` (NULL: nowhere), where it was asked there too; else made anew, with the
 * limits of the deployment. All are asked for while the routes are read. `model` is borrowed for as long as the
 * deployment lives. NULL: out of memory. */
struct endpoint_health *deployment_health(struct deployment *deployment, const char *model,
                                          const struct deployment *before);

/* The limits of the deployment count from now on, also where it stands as before. */
void deployment_enforce(const struct deployment *deployment);

/* Takes the key out of a text that came from the provider, and what looks like a part of it: "sk-pr****Q9aA". */
void deployment_redact(const struct deployment *deployment, char *text);

#endif
