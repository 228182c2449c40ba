#include "tool_runner_priv.h"

#include "daemon/service.h"
#include "knowledge/knowledge.h"

#include <stdlib.h>

static bool open_all(struct tool_commons *commons, const struct service_context *context, struct status *st)
{
    commons->metrics = context->metrics;
    commons->knowledge = knowledge_create(context, st);
    return commons->knowledge != NULL;
}

static void destroy(struct tool_commons **commons_pointer)
{
    struct tool_commons *commons = *commons_pointer;
    *commons_pointer = NULL;
    knowledge_destroy(&commons->knowledge);
    free(commons);
}

struct tool_commons *tool_commons_create(const struct service_context *context, struct status *st)
{
    struct tool_commons *commons = calloc(1, sizeof *commons);
    if (!commons) {
        fail(st, RESOURCE_EXHAUSTED, "no memory for the tool-runner");
        return NULL;
    }
    if (!open_all(commons, context, st))
        destroy(&commons);
    return commons;
}

void tool_commons_join(struct tool_commons *commons, struct loop *loop)
{
    commons->members++;
}

void tool_commons_leave(struct tool_commons **commons_pointer, struct loop *loop)
{
    struct tool_commons *commons = *commons_pointer;
    *commons_pointer = NULL;
    if (--commons->members == 0)
        destroy(&commons);
}
