/* A deployment: one place where models are asked, with the way to it and the key for it. */
#ifndef RENGA_LLM_GATEWAY_DEPLOYMENT_H
#define RENGA_LLM_GATEWAY_DEPLOYMENT_H

#include "base/config.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http_headers;
struct http_url;
struct provider;

/* What a model has refused to take, so that it is not sent again. */
#define LESSONS_MAX 64
struct lesson {
    const char *model; /* borrowed from the configuration */
    uint32_t left_out; /* PARAMETER_BITs (capability.h) */
};

struct deployment {
    const char *name;
    const struct provider *provider;
    struct http_url *chat_url, *embed_url; /* embed_url: NULL where the provider has no embeddings */
    struct http_headers *headers;          /* the key is in them */
    const char *key;                       /* NULL: none. Borrowed from the configuration or the environment */
    bool old_token_limit;                  /* "max_tokens" rather than "max_completion_tokens" */
    bool token_limit_is_set;               /* by the operator, who knows better than a table */
    bool embeds_base64;                    /* vectors may be asked for in base64 (embed/embed_answer.h) */
    int64_t output_tokens, context_tokens;
    struct lesson lessons[LESSONS_MAX];
    size_t lesson_count;
    bool unset; /* nobody has said where to ask: nothing may leave this machine */
};

/* The one of the options llm_gateway.provider, .upstream, .key and those beside them. */
struct deployment *deployment_create(const struct config *config, struct status *st);
void deployment_destroy(struct deployment **deployment);

/* What a model of this deployment does not take, and that it has just refused one more. `model` is borrowed for good.
 * Past LESSONS_MAX models nothing more is learned: they are asked with everything, and refuse, each time. */
uint32_t deployment_left_out(const struct deployment *deployment, const char *model);
void deployment_learn(struct deployment *deployment, const char *model, uint32_t left_out);

/* Takes the key out of a text that came from the provider, and what looks like a part of it: "sk-pr****Q9aA". */
void deployment_redact(const struct deployment *deployment, char *text);

#endif
