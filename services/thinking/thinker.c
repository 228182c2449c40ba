#include "thinking/thinker.h"

#include "base/log.h"
#include "telemetry/metrics.h"

#include "renga/v1/llm_gateway.pb-c.h"

#include <stdio.h>
#include <string.h>

#define NAME_MAX_BYTES 64

static const struct metric thoughts = {
    .name = "renga_thoughts_total",
    .help = "Plans and reviews by how they came about: model, rule (none was needed), simple (none could be used), "
            "failed.",
    .labels = {"service", "kind", "way"},
};
static const char *const ways[THOUGHT_WAYS] = {
    [THOUGHT_MODEL] = "model",
    [THOUGHT_RULE] = "rule",
    [THOUGHT_SIMPLE] = "simple",
    [THOUGHT_FAILED] = "failed",
};

void thinker_init(struct thinker *thinker, const char *service, const struct prompt *prompts,
                  const struct service_context *context)
{
    char model[NAME_MAX_BYTES], timeout[NAME_MAX_BYTES];
    struct status st = {0};
    snprintf(model, sizeof model, "%s.model", service);
    snprintf(timeout, sizeof timeout, "%s.timeout", service);
    *thinker = (struct thinker){
        .service = service,
        .prompts = prompts,
        .model = config_string(context->config, model),
        .timeout_ms = config_duration_ms(context->config, timeout),
        .metrics = context->metrics,
        .loop = context->loop,
    };
    thinker->gateway = context->process ? service_peer(context, &renga__v1__llm_gateway__descriptor, &st) : NULL;
    if (!thinker->gateway && !(context->instances && context->instances[0])) /* once for all loops */
        log_info("thinking.no_gateway", "%s: no model can be asked: %s", service, st.text);
}

void thinker_count(const struct thinker *thinker, const char *kind, enum thought_way way)
{
    struct metric_family *family = metrics_register(thinker->metrics, &thoughts);
    uint32_t series = metrics_series(family, (const char *[]){thinker->service, kind, ways[way]});
    metrics_add(thinker->metrics, loop_index(thinker->loop), series, 1);
}

const char *thinker_prompt(const struct thinker *thinker, bool japanese, const char *kind, const char *role)
{
    char name[NAME_MAX_BYTES];
    snprintf(name, sizeof name, "%s/%s.%s", japanese ? "ja" : "en", kind, role);
    for (const struct prompt *prompt = thinker->prompts; prompt->name; prompt++)
        if (strcmp(prompt->name, name) == 0)
            return prompt->text;
    fatal("thinking.prompt", "the %s has no prompt '%s'", thinker->service, name);
}
