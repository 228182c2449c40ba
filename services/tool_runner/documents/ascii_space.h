/* White space of ASCII, as isspace has it in the C locale. */
#ifndef RENGA_TOOL_RUNNER_ASCII_SPACE_H
#define RENGA_TOOL_RUNNER_ASCII_SPACE_H

#include <stdbool.h>

static inline bool ascii_is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

#endif
