/* A line is composed in a buffer of its own and leaves in one write(2); a pipe keeps writes up to PIPE_BUF whole. The
 * parts after the text (trace, call, subject) are composed first, so that only the text is ever cut. */
#include "base/log.h"

#include "base/clock.h"
#include "base/text.h"
#include "log_limit.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LINE_MAX_BYTES 4096 /* the newline included; PIPE_BUF */
#define TAIL_MAX_BYTES 512  /* of it for trace, call and subject */
#define NAME_MAX_BYTES 128  /* of it for the service, and for the id */
#define CUT_MARK       " …[cut]"

enum style { STYLE_UNDECIDED, STYLE_PLAIN, STYLE_COLOUR, STYLE_JSON };

struct line {
    char *at, *end;
    bool json; /* how text is escaped */
};

static const struct {
    const char *name, *padded, *colour;
} levels[] = {
    [LOG_DEBUG] = {"debug", "DEBUG", "\033[2m"},
    [LOG_INFO] = {"info", "INFO ", "\033[32m"},
    [LOG_WARN] = {"warn", "WARN ", "\033[33m"},
    [LOG_ERROR] = {"error", "ERROR", "\033[31m"},
};

static const char *_Atomic service_name = "renga";
static atomic_int least_level = LOG_INFO;
static atomic_int line_style = STYLE_UNDECIDED;
static _Thread_local const struct log_context *current;

static enum style choose_style(enum log_format format)
{
    if (format == LOG_FORMAT_JSON || (format == LOG_FORMAT_AUTO && !isatty(STDERR_FILENO)))
        return STYLE_JSON;
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    bool plain = (no_color != NULL && *no_color != '\0') || term == NULL || strcmp(term, "dumb") == 0;
    return plain || !isatty(STDERR_FILENO) ? STYLE_PLAIN : STYLE_COLOUR;
}

void log_configure(const char *service, enum log_level level, enum log_format format)
{
    atomic_store(&service_name, service);
    atomic_store(&least_level, (int)level);
    atomic_store(&line_style, (int)choose_style(format));
}

bool log_level_parse(const char *name, enum log_level *level)
{
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        if (strcmp(levels[i].name, name) == 0) {
            *level = (enum log_level)i;
            return true;
        }
    }
    return false;
}

bool log_enabled(enum log_level level)
{
    return (int)level >= atomic_load_explicit(&least_level, memory_order_relaxed);
}

const struct log_context *log_enter(const struct log_context *context)
{
    const struct log_context *before = current;
    current = context;
    return before;
}

/* All of it, or no byte. */
static bool log_put(struct line *line, const char *bytes, size_t length)
{
    if ((size_t)(line->end - line->at) < length)
        return false;
    memcpy(line->at, bytes, length);
    line->at += length;
    return true;
}

__attribute__((format(printf, 2, 3))) static bool put_format(struct line *line, const char *format, ...)
{
    size_t room = (size_t)(line->end - line->at);
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line->at, room, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= room)
        return false;
    line->at += length;
    return true;
}

/* Controls would forge lines, drive the terminal, or show a line in another order than it has. */
static bool is_control(const char *c, size_t size)
{
    static const struct {
        const char *first, *last; /* UTF-8 */
    } ranges[] = {
        {"\x01", "\x1F"},                 /* C0 */
        {"\x7F", "\x7F"},                 /* DEL */
        {"\xC2\x80", "\xC2\x9F"},         /* C1 */
        {"\xD8\x9C", "\xD8\x9C"},         /* the Arabic mark of direction */
        {"\xE2\x80\x8B", "\xE2\x80\x8F"}, /* of no width, and of direction */
        {"\xE2\x80\xA8", "\xE2\x80\xAE"}, /* separators of lines and paragraphs, directions */
        {"\xE2\x81\xA0", "\xE2\x81\xAF"}, /* of no width, and isolated directions */
        {"\xEF\xBB\xBF", "\xEF\xBB\xBF"}, /* the byte order mark */
    };
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
        if (strlen(ranges[i].first) == size && memcmp(c, ranges[i].first, size) >= 0 &&
            memcmp(c, ranges[i].last, size) <= 0)
            return true;
    return size == 1 && *c == '\0';
}

static bool put_escape(struct line *line, const char *c)
{
    static const char names[] = "\nn\rr\tt";
    const char *backslash = line->json ? "\\\\" : "\\";
    if (line->json && (*c == '"' || *c == '\\'))
        return put_format(line, "\\%c", *c);
    for (size_t i = 0; names[i] != '\0'; i += 2) {
        if (*c == names[i])
            return put_format(line, "\\%c", names[i + 1]);
    }
    return put_format(line, "%sx%02x", backslash, (unsigned char)*c);
}

/* Appends `text` escaped. If the line is full it appends as many characters as fit and returns false. */
static bool log_put_text(struct line *line, const char *text, size_t length)
{
    for (size_t at = 0, size; at < length; at += size) {
        const char *c = text + at;
        size = text_character(c, length - at);
        bool escaped = size == 0 || is_control(c, size) || (line->json && (*c == '"' || *c == '\\'));
        if (size == 0)
            size = 1;
        if (!escaped && !log_put(line, c, size))
            return false;
        for (size_t i = 0; escaped && i < size; i++) {
            if (!put_escape(line, c + i))
                return false;
        }
    }
    return true;
}

static void log_put_name(struct line *line, const char *name)
{
    struct line part = *line;
    if (part.end - part.at > NAME_MAX_BYTES)
        part.end = part.at + NAME_MAX_BYTES;
    log_put_text(&part, name, strlen(name));
    line->at = part.at;
}

static void put_head(struct line *line, enum style style, enum log_level level, const char *id)
{
    int64_t now = clock_wall_ns();
    time_t seconds = now / NS_PER_SEC;
    int ms = (int)(now % NS_PER_SEC / NS_PER_MS);
    struct tm tm;
    char time[32];
    if (style == STYLE_JSON) {
        strftime(time, sizeof time, "%Y-%m-%dT%H:%M:%S", gmtime_r(&seconds, &tm));
        put_format(line, "{\"time\":\"%s.%03dZ\",\"level\":\"%s\",\"service\":\"", time, ms, levels[level].name);
        log_put_name(line, atomic_load(&service_name));
        put_format(line, "\",\"id\":\"");
        log_put_name(line, id);
        put_format(line, "\",\"text\":\"");
        return;
    }
    strftime(time, sizeof time, "%H:%M:%S", localtime_r(&seconds, &tm));
    if (style == STYLE_COLOUR)
        put_format(line, "\033[2m%s.%03d\033[0m %s%s\033[0m \033[1m", time, ms, levels[level].colour,
                   levels[level].padded);
    else
        put_format(line, "%s.%03d %s ", time, ms, levels[level].padded);
    log_put_name(line, id);
    put_format(line, style == STYLE_COLOUR ? "\033[0m " : " ");
}

static void put_tail(struct line *line, enum style style, const struct log_context *context)
{
    bool json = style == STYLE_JSON;
    if (style == STYLE_COLOUR)
        put_format(line, "\033[2m");
    if (json)
        put_format(line, "\"");
    if (context != NULL && context->trace != NULL) {
        char trace[33], span[17];
        trace_hex(context->trace->trace_id, sizeof context->trace->trace_id, trace);
        trace_hex(context->trace->span_id, sizeof context->trace->span_id, span);
        put_format(line, json ? ",\"trace_id\":\"%s\",\"span_id\":\"%s\"" : " trace=%s span=%s", trace, span);
    }
    if (context != NULL && context->call_id != 0)
        put_format(line, json ? ",\"call\":%llu" : " call=%llu", (unsigned long long)context->call_id);
    if (context != NULL && context->subject != NULL) {
        put_format(line, json ? ",\"subject\":\"" : " ");
        log_put_name(line, context->subject);
        put_format(line, json ? "\"" : "");
    }
    put_format(line, "%s", json ? "}\n" : style == STYLE_COLOUR ? "\033[0m\n" : "\n");
}

static void write_whole(const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t written = write(STDERR_FILENO, bytes, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return; /* nowhere to complain */
        bytes += written;
        length -= (size_t)written;
    }
}

static void log_write_text(enum log_level level, const char *id, const char *text, size_t length, bool cut);

static void log_report_suppressed(int64_t now_ns)
{
    char text[192];
    struct log_suppressed suppressed;
    while (log_limit_take(now_ns, &suppressed)) {
        int length = snprintf(text, sizeof text, "%llu more such lines in %d s; the first: %s",
                              (unsigned long long)suppressed.count, LOG_LIMIT_PERIOD_MS / 1000, suppressed.text);
        log_write_text((enum log_level)suppressed.level, suppressed.id, text, (size_t)length, false);
    }
}

/* `last`: no later line logs how often. */
static void log_write_line(enum log_level level, bool last, const char *id, const char *format, va_list arguments)
{
    char text[LINE_MAX_BYTES];
    int64_t now_ns = clock_now_ns();
    int printed = vsnprintf(text, sizeof text, format, arguments);
    size_t length = printed < 0 ? 0 : (size_t)printed;
    bool cut = length >= sizeof text;
    if (cut)
        length = text_cut(text, sizeof text - 1, sizeof text - 4);
    log_report_suppressed(now_ns);
    if (level < LOG_WARN || last || log_limit_passes((int)level, id, format, printed < 0 ? "" : text, now_ns))
        log_write_text(level, id, text, length, cut);
}

static void log_write_text(enum log_level level, const char *id, const char *text, size_t length, bool cut)
{
    enum style style = (enum style)atomic_load_explicit(&line_style, memory_order_relaxed);
    if (style == STYLE_UNDECIDED)
        atomic_store(&line_style, (int)(style = choose_style(LOG_FORMAT_AUTO)));
    bool json = style == STYLE_JSON;

    char tail_bytes[TAIL_MAX_BYTES], bytes[LINE_MAX_BYTES];
    struct line tail = {tail_bytes, tail_bytes + sizeof tail_bytes, json};
    put_tail(&tail, style, current);
    size_t tail_length = (size_t)(tail.at - tail_bytes);

    struct line line = {bytes, bytes + sizeof bytes - tail_length - strlen(CUT_MARK), json};
    put_head(&line, style, level, id);
    cut = !log_put_text(&line, text, length) || cut;
    line.end = bytes + sizeof bytes;
    if (cut)
        log_put(&line, CUT_MARK, strlen(CUT_MARK));
    log_put(&line, tail_bytes, tail_length);
    write_whole(bytes, (size_t)(line.at - bytes));
}

void log_write(enum log_level level, const char *id, const char *format, ...)
{
    if (!log_enabled(level))
        return;
    int saved = errno;
    va_list arguments;
    va_start(arguments, format);
    log_write_line(level, false, id, format, arguments);
    va_end(arguments);
    errno = saved;
}

void fatal(const char *id, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    log_write_line(LOG_ERROR, true, id, format, arguments);
    va_end(arguments);
    _exit(EXIT_FAILURE); /* exit handlers would run beside threads that still work */
}
