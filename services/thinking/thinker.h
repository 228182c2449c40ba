/* What a service that thinks (planner, reviewer) is made of, beside its methods: the way to the gateway, a default
 * route, a limit of time, its prompts, and how its thoughts are counted. One for each instance, used by its loop
 * alone. */
#ifndef RENGA_THINKING_THINKER_H
#define RENGA_THINKING_THINKER_H

#include "base/config.h"
#include "daemon/service.h"

/* A file of the service's folder prompts/, as it was built in: "en/subtasks.system". A table ends without a name. */
struct prompt {
    const char *name;
    const char *text;
};

struct thinker {
    const char *service; /* "planner" */
    const struct prompt *prompts;
    ProtobufCService *gateway; /* NULL: nobody has said where it is */
    const char *model;         /* the default route */
    int64_t timeout_ms;        /* of one question to the gateway */
    struct metrics *metrics;
    struct loop *loop;
};

/* How a thought ended, for the metric renga_thoughts_total. */
enum thought_way { THOUGHT_MODEL, THOUGHT_RULE, THOUGHT_SIMPLE, THOUGHT_FAILED, THOUGHT_WAYS };

/* From the `create` of a service whose options are THINKER_OPTIONS. All is borrowed. Without a gateway every thought
 * takes its simple way; a line in the log says so. */
void thinker_init(struct thinker *thinker, const char *service, const struct prompt *prompts,
                  const struct service_context *context);

/* From inside the loop. `kind` is the thought's, "subtasks". */
void thinker_count(const struct thinker *thinker, const char *kind, enum thought_way way);

/* The text of a prompt, in Japanese or English. Asking for one that is not there is our own bug and fatal. */
const char *thinker_prompt(const struct thinker *thinker, bool japanese, const char *kind, const char *role);

#define THINKER_OPTIONS(service)                                                                                       \
    {.name = service ".model",                                                                                         \
     .type = OPTION_STRING,                                                                                            \
     .fallback = "default",                                                                                            \
     .unit = "ROUTE",                                                                                                  \
     .help = "Route of the gateway that is asked where a request names none."},                                        \
    {                                                                                                                  \
        .name = service ".timeout", .type = OPTION_DURATION, .fallback = "60s", .min = 1, .max = 3600000,              \
        .unit = "DURATION",                                                                                            \
        .help = "Longest wait for a model, where the caller's own deadline is not sooner. After it the simple way "    \
                "without a model is taken, if the request allows it."                                                  \
    }

#endif
