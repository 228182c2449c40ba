#include "tools.h"

const struct tool *const builtin_tools[] = {
    NULL,
};
