/* Private to log.c: warnings and errors that repeat. A fault that lasts logs its line thousands of times; the log keeps
 * the first ones of a period and one line with the count of the rest. Any thread. */
#ifndef RENGA_BASE_LOG_LIMIT_H
#define RENGA_BASE_LOG_LIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOG_LIMIT_PERIOD_MS 10000
#define LOG_LIMIT_EQUAL     5   /* lines a period with one id and one text */
#define LOG_LIMIT_SITE      100 /* lines a period of one place in the code, with any arguments */

/* Whether the line is written. `format` is that of the place in the code. */
bool log_limit_passes(int level, const char *id, const char *format, const char *text, int64_t now_ns);

/* Lines that were left out in a period that is over. */
struct log_suppressed {
    int level;
    char id[64], text[128]; /* of the first one, cut */
    uint64_t count;
};
/* True until all are taken. Costs one load if no line was suppressed. */
bool log_limit_take(int64_t now_ns, struct log_suppressed *suppressed);

#endif
