/* The tool-runner's options. */
#include "tool_runner_priv.h"

const struct option tool_runner_options[] = {
    {.name = NULL},
};
