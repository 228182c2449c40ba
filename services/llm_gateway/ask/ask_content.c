#include "ask_content.h"

#include "ask_priv.h"
#include "base/log.h"
#include "telemetry/spans.h"

#define ESCAPED_MAX 6           /* times as long as before, at worst */
#define AROUND_MAX  (64u << 10) /* bytes: roles, names and brackets of the messages, which are at most 1,024 */

static bool is_wanted(const struct ask *ask)
{
    return ask->gateway->logs_content && ask->kind->tell;
}

/* False where there is nothing to tell. */
static bool write(struct ask *ask, bool answer, size_t budget, struct buffer *out)
{
    struct json_writer writer;
    buffer_init(out, ESCAPED_MAX * budget + AROUND_MAX);
    json_writer_init(&writer, out);
    return ask->kind->tell(ask, answer, budget, &writer) && json_writer_done(&writer);
}

static void describe(struct ask *ask, bool answer, struct span *span)
{
    struct buffer out;
    if (write(ask, answer, CONTENT_SPAN_MAX, &out))
        span_text(span, answer ? "gen_ai.output.messages" : "gen_ai.input.messages", out.data, out.length);
    buffer_fini(&out);
}

void ask_content_describe(struct ask *ask, struct span *span)
{
    if (!is_wanted(ask))
        return;
    describe(ask, false, span);
    describe(ask, true, span);
}

static void log_side(struct ask *ask, bool answer)
{
    struct buffer out;
    if (write(ask, answer, CONTENT_LOG_MAX, &out))
        log_debug(answer ? "llm_gateway.answered" : "llm_gateway.asked", "'%s' at %s: %s", ask->route->name,
                  ask->target->deployment->name, buffer_text(&out));
    buffer_fini(&out);
}

void ask_content_log(struct ask *ask)
{
    if (!log_enabled(LOG_DEBUG) || !is_wanted(ask))
        return;
    log_side(ask, false);
    log_side(ask, true);
}
