/* Lines of a terminal that are drawn anew: each time from the first line on, so that new text overwrites the old. */
#ifndef RENGA_LIVE_H
#define RENGA_LIVE_H

#include <stddef.h>
#include <stdint.h>

#define LIVE_LINES_MAX 40
#define LIVE_TAIL      256 /* bytes */

struct live {
    size_t drawn[LIVE_LINES_MAX]; /* columns of the lines above the cursor; `count` 0: drawing begins at the cursor */
    size_t count;
};

/* Moves the cursor back to the first of the lines. Gives the width of the terminal. A narrower terminal than before may
 * have broken lines. */
size_t live_back(struct live *live);
/* Ends a line of so many columns. */
void live_end_line(struct live *live, size_t columns);
/* Erases the lines, so that other text can stand in their place. */
void live_erase(struct live *live);

/* The text as far as it fits, cut with an ellipsis. Gives the columns that it takes. */
size_t live_print(const char *text, size_t columns);
/* "1.2 s", "15 s"; `seconds` is the unit with its space. */
void live_time(char *out, size_t room, const char *seconds, int64_t ns);
/* Adds to a text of which the last whole characters are kept, in a single line. */
void live_keep_tail(char tail[LIVE_TAIL], const char *text);

#endif
