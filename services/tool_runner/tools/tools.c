#include "tools.h"

const struct tool *const builtin_tools[] = {
    &tool_calculate,
    &tool_clock,
    NULL,
};
