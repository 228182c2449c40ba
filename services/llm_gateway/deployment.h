/* A deployment: one place where models are asked, with the way to it and the key for it. */
#ifndef RENGA_LLM_GATEWAY_DEPLOYMENT_H
#define RENGA_LLM_GATEWAY_DEPLOYMENT_H

#include "base/config.h"
#include "base/status.h"

#include <stdbool.h>

struct http_headers;
struct http_url;
struct provider;

struct deployment {
    const char *name;
    const struct provider *provider;
    struct http_url *chat_url;
    struct http_headers *headers; /* the key is in them */
    const char *key;              /* NULL: none. Borrowed from the configuration or the environment */
    bool old_token_limit;         /* "max_tokens" rather than "max_completion_tokens" */
    bool unset;                   /* nobody has said where to ask: nothing may leave this machine */
};

/* The one of the options llm_gateway.upstream and llm_gateway.key. */
struct deployment *deployment_create(const struct config *config, struct status *st);
void deployment_destroy(struct deployment **deployment);

/* Takes the key out of a text that came from the provider, and what looks like a part of it: "sk-pr****Q9aA". */
void deployment_redact(const struct deployment *deployment, char *text);

#endif
