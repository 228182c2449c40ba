#include "model_task/model_client.h"

#include "base/log.h"
#include "telemetry/metrics.h"

#include "renga/v1/llm_gateway.pb-c.h"

#include <stdio.h>
#include <string.h>

#define NAME_MAX_BYTES 64

static const struct metric tasks = {
    .name = "renga_thoughts_total",
    .help = "Plans and reviews by how they came about: model, rule (none was needed), simple (none could be used), "
            "failed.",
    .labels = {"service", "kind", "way"},
};
static const char *const outcomes[MODEL_TASK_OUTCOMES] = {
    [MODEL_TASK_MODEL] = "model",
    [MODEL_TASK_RULE] = "rule",
    [MODEL_TASK_FALLBACK] = "simple",
    [MODEL_TASK_FAILED] = "failed",
};

void model_client_init(struct model_client *client, const char *service, const struct prompt *prompts,
                       const struct service_context *context)
{
    char model[NAME_MAX_BYTES], timeout[NAME_MAX_BYTES];
    struct status st = {0};
    snprintf(model, sizeof model, "%s.model", service);
    snprintf(timeout, sizeof timeout, "%s.timeout", service);
    *client = (struct model_client){
        .service = service,
        .prompts = prompts,
        .model = config_string(context->config, model),
        .timeout_ms = config_duration_ms(context->config, timeout),
        .metrics = context->metrics,
        .loop = context->loop,
    };
    client->gateway = context->process ? service_peer(context, &renga__v1__llm_gateway__descriptor, &st) : NULL;
    if (!client->gateway && !(context->instances && context->instances[0])) /* once for all loops */
        log_info("model_task.no_gateway", "%s: no model can be asked: %s", service, st.text);
}

void model_client_count(const struct model_client *client, const char *kind, enum model_task_outcome outcome)
{
    struct metric_family *family = metrics_register(client->metrics, &tasks);
    uint32_t series = metrics_series(family, (const char *[]){client->service, kind, outcomes[outcome]});
    metrics_add(client->metrics, loop_index(client->loop), series, 1);
}

const char *model_client_prompt(const struct model_client *client, bool japanese, const char *kind, const char *role)
{
    char name[NAME_MAX_BYTES];
    snprintf(name, sizeof name, "%s/%s.%s", japanese ? "ja" : "en", kind, role);
    for (const struct prompt *prompt = client->prompts; prompt->name; prompt++)
        if (strcmp(prompt->name, name) == 0)
            return prompt->text;
    fatal("model_task.prompt", "the %s has no prompt '%s'", client->service, name);
}
