#include "generation_use.h"

#include "base/memory.h"
#include "pipeline_telemetry.h"
#include "routing/config_generation.h"

#include <assert.h>
#include <stdlib.h>

struct generation_use *generation_use_create(struct config_generation *generation)
{
    struct generation_use *use = xcalloc(1, sizeof *use);
    use->generation = config_generation_hold(generation);
    use->series = pipeline_series_create(generation->routes);
    return use;
}

static void generation_use_destroy(struct generation_use *use)
{
    pipeline_series_destroy(&use->series);
    config_generation_release(&use->generation);
    free(use);
}

void generation_use_end(struct generation_use **use_pointer)
{
    struct generation_use *use = *use_pointer;
    *use_pointer = NULL;
    if (!use)
        return;
    use->over = true;
    if (!use->calls)
        generation_use_destroy(use);
}

void generation_use_leave(struct generation_use *use)
{
    assert(use->calls > 0);
    if (--use->calls == 0 && use->over)
        generation_use_destroy(use);
}
