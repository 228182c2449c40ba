#include "pipeline_content.h"

#include "base/log.h"
#include "pipeline_priv.h"
#include "telemetry/spans.h"

#define ESCAPED_MAX 6           /* times as long as before, at worst */
#define AROUND_MAX  (64u << 10) /* bytes: roles, names and brackets of the messages, which are at most 1,024 */

static bool pipeline_content_is_wanted(const struct pipeline *pipeline)
{
    return pipeline->gateway->logs_content && pipeline->kind->write_content;
}

/* False: no content. */
static bool pipeline_content_write(struct pipeline *pipeline, bool answer, size_t budget, struct buffer *out)
{
    struct json_writer writer;
    buffer_init(out, ESCAPED_MAX * budget + AROUND_MAX);
    json_writer_init(&writer, out);
    return pipeline->kind->write_content(pipeline, answer, budget, &writer) && json_writer_done(&writer);
}

static void pipeline_describe(struct pipeline *pipeline, bool answer, struct span *span)
{
    struct buffer out;
    if (pipeline_content_write(pipeline, answer, CONTENT_SPAN_MAX, &out))
        span_text(span, answer ? "gen_ai.output.messages" : "gen_ai.input.messages", out.data, out.length);
    buffer_fini(&out);
}

void pipeline_content_describe(struct pipeline *pipeline, struct span *span)
{
    if (!pipeline_content_is_wanted(pipeline))
        return;
    pipeline_describe(pipeline, false, span);
    pipeline_describe(pipeline, true, span);
}

static void log_side(struct pipeline *pipeline, bool answer)
{
    struct buffer out;
    if (pipeline_content_write(pipeline, answer, CONTENT_LOG_MAX, &out))
        log_debug(answer ? "llm_gateway.answered" : "llm_gateway.asked", "'%s' at %s: %s", pipeline->route->name,
                  pipeline->target->deployment->name, buffer_text(&out));
    buffer_fini(&out);
}

void pipeline_content_log(struct pipeline *pipeline)
{
    if (!log_enabled(LOG_DEBUG) || !pipeline_content_is_wanted(pipeline))
        return;
    log_side(pipeline, false);
    log_side(pipeline, true);
}
