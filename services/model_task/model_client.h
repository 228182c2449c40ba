/* The access of a service (planner, reviewer) to models: the connection to the gateway, a default
 * route, a limit of time, its prompts, and how its tasks are counted. One for each instance, used by its loop
 * alone. */
#ifndef RENGA_MODEL_TASK_MODEL_CLIENT_H
#define RENGA_MODEL_TASK_MODEL_CLIENT_H

#include "config/config.h"
#include "daemon/service.h"

/* A file of the service's folder prompts/, as it was built in: "en/subtasks.system". A table ends without a name. */
struct prompt {
    const char *name;
    const char *text;
};

struct model_client {
    const char *service; /* "planner" */
    const struct prompt *prompts;
    ProtobufCService *gateway; /* NULL: no gateway is configured */
    const char *model;         /* the default route */
    int64_t timeout_ms;        /* of one question to the gateway */
    struct metrics *metrics;
    struct loop *loop;
};

/* How a task ended, for the metric renga_thoughts_total. */
enum model_task_outcome {
    MODEL_TASK_MODEL,
    MODEL_TASK_RULE,
    MODEL_TASK_FALLBACK,
    MODEL_TASK_FAILED,
    MODEL_TASK_OUTCOMES
};

/* From the `create` of a service whose options are MODEL_CLIENT_OPTIONS. Borrows its arguments. Without a gateway every
 * task uses its fallback, and the log says so. */
void model_client_init(struct model_client *client, const char *service, const struct prompt *prompts,
                       const struct service_context *context);

/* From inside the loop. `kind` is the task's, "subtasks". */
void model_client_count(const struct model_client *client, const char *kind, enum model_task_outcome outcome);

/* The text of a prompt, in Japanese or English. Asking for one that is not there is our own bug and fatal. */
const char *model_client_prompt(const struct model_client *client, bool japanese, const char *kind, const char *role);

#define MODEL_CLIENT_OPTIONS(service)                                                                                  \
    {.name = service ".model",                                                                                         \
     .type = OPTION_STRING,                                                                                            \
     .fallback = "default",                                                                                            \
     .unit = "ROUTE",                                                                                                  \
     .help = "Route of the gateway that is asked where a request names none."},                                        \
    {                                                                                                                  \
        .name = service ".timeout", .type = OPTION_DURATION, .fallback = "60s", .min = 1, .max = 3600000,              \
        .unit = "DURATION",                                                                                            \
        .help = "Longest wait for a model, where the caller's own deadline is not sooner. After it the fallback "      \
                "without a model is taken, if the request allows it."                                                  \
    }

#endif
