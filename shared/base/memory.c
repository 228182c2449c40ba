#include "base/memory.h"

#include "base/log.h"

void memory_exhausted(void)
{
    fatal("base.memory", "no memory");
}
