/* A line that a person types while no call is under way. */
#ifndef RENGA_PROMPT_LINE_H
#define RENGA_PROMPT_LINE_H

#include "base/buffer.h"

#include <signal.h>
#include <stdbool.h>

enum prompt_line {
    PROMPT_LINE,        /* a line, without its end */
    PROMPT_ENDED,       /* the input has ended */
    PROMPT_INTERRUPTED, /* Ctrl-C */
    PROMPT_REFUSED,     /* the line is longer than `limit` bytes, or not UTF-8: standard error says so */
};

/* Prints the prompt and reads a line from standard input, which is a terminal: it hands over whole lines. */
enum prompt_line prompt_line_read(const char *prompt, struct buffer *line, size_t limit);

/* From begin to end Ctrl-C ends a wait, in place of the process; one watch at a time. False: no pipe can be made, and
 * errno says why. */
bool prompt_watch_begin(struct sigaction *before);
void prompt_watch_end(const struct sigaction *before);
/* Within a watch: false after Ctrl-C. `for_line`: waits until standard input has a line or has ended. */
bool prompt_watch_wait(bool for_line);

#endif
