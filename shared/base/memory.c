#include "base/memory.h"

#include "base/log.h"
#include "base/status.h"

void memory_exhausted(void)
{
    fatal("base.memory", "no memory");
}

bool fail_memory(struct status *st, const char *purpose)
{
    return fail(st, RESOURCE_EXHAUSTED, "no memory for %s", purpose);
}
