#include "rpc/service_config.h"

#include "base/buffer.h"
#include "rpc/schema.h"

#define CONFIG_MAX (1u << 20) /* bytes */

char *rpc_service_config(const struct rpc_schema *schema)
{
    struct buffer json;
    buffer_init(&json, CONFIG_MAX);
    buffer_print(&json, "{\"loadBalancingConfig\":[{\"round_robin\":{}}],"
                        "\"healthCheckConfig\":{\"serviceName\":\"\"},"
                        "\"retryThrottling\":{\"maxTokens\":10,\"tokenRatio\":0.1}");
    size_t repeatable = 0;
    for (size_t i = 0; i < rpc_schema_method_count(schema); i++) {
        const struct rpc_method *method = rpc_schema_method(schema, i);
        if (!method->idempotent)
            continue;
        buffer_printf(&json, "%s{\"service\":\"%s\",\"method\":\"%s\"}",
                      repeatable++ == 0 ? ",\"methodConfig\":[{\"name\":[" : ",", method->service, method->name);
    }
    if (repeatable > 0)
        buffer_print(&json, "],\"retryPolicy\":{\"maxAttempts\":4,\"initialBackoff\":\"0.05s\",\"maxBackoff\":\"1s\","
                            "\"backoffMultiplier\":2,\"retryableStatusCodes\":[\"UNAVAILABLE\"]}}]");
    buffer_put(&json, '}');
    char *text = buffer_take(&json, NULL);
    buffer_fini(&json);
    return text;
}
