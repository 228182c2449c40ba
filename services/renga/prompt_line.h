/* A line that a person types while no call is under way. */
#ifndef RENGA_PROMPT_LINE_H
#define RENGA_PROMPT_LINE_H

#include "base/buffer.h"

enum prompt_line {
    PROMPT_LINE,        /* a line, without its end */
    PROMPT_ENDED,       /* the input has ended */
    PROMPT_INTERRUPTED, /* Ctrl-C */
    PROMPT_REFUSED,     /* the line is longer than `limit` bytes, or not UTF-8: standard error says so */
};

/* Prints the prompt and reads a line from standard input, which is a terminal: it hands over whole lines. */
enum prompt_line prompt_line_read(const char *prompt, struct buffer *line, size_t limit);

#endif
