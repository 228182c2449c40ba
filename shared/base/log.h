/* Logs: text on a terminal, one JSON object a line otherwise, on standard error.
 *
 * Every line begins with an id of its own ("rpc.listening"), which never changes after a release. During a call its
 * trace and call id are in every line, without being passed as arguments. Repeated warnings and errors are limited: in
 * 10 s the log has the first 5 with the same id and text and the first 100 of one place in the code, then the number of
 * the suppressed lines. Keys are never logged. Prompts and answers are logged only if an option of the service allows
 * it. Any thread may log; a line is written at once and whole. */
#ifndef RENGA_BASE_LOG_H
#define RENGA_BASE_LOG_H

#include "base/trace.h"

#include <stdbool.h>
#include <stdint.h>

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };
enum log_format { LOG_FORMAT_AUTO, LOG_FORMAT_TEXT, LOG_FORMAT_JSON };

/* The thread's present activity, which log lines carry. */
struct log_context {
    const struct trace_context *trace; /* may be NULL */
    uint64_t call_id;                  /* 0: no call */
    const char *subject;               /* the method, "renga.v1.Planner/Plan"; may be NULL */
};

/* Every line has `service`, which is borrowed for ever. AUTO is text on a terminal, JSON otherwise. */
void log_configure(const char *service, enum log_level level, enum log_format format);
bool log_level_parse(const char *name, enum log_level *level);

/* True if lines of this level are written; ask before work that only a log line needs. */
bool log_enabled(enum log_level level);

/* Sets the thread's context and returns the previous one (NULL: none). Borrowed until it is replaced. */
const struct log_context *log_enter(const struct log_context *context);

void log_write(enum log_level level, const char *id, const char *format, ...) __attribute__((format(printf, 3, 4)));

#define log_debug(id, ...) (log_enabled(LOG_DEBUG) ? log_write(LOG_DEBUG, id, __VA_ARGS__) : (void)0)
#define log_info(id, ...)  log_write(LOG_INFO, id, __VA_ARGS__)
#define log_warn(id, ...)  log_write(LOG_WARN, id, __VA_ARGS__)
#define log_error(id, ...) log_write(LOG_ERROR, id, __VA_ARGS__)

/* Logs and ends the process with 1: for impossible states, and for memory that runs out at start. */
_Noreturn void fatal(const char *id, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
