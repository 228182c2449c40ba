#include "base/clock.h"
#include "base/log.h"
#include "base/log_limit.h"
#include "json/json.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <pty.h>
#include <stdio.h>
#include <sys/mman.h>

#include "unit.h"

#define LINE_MAX_BYTES 4096

static int kept_stderr, captured;

/* From here on standard error goes to memory. */
static void capture(void)
{
    fflush(stderr);
    kept_stderr = dup(STDERR_FILENO);
    captured = memfd_create("log", MFD_CLOEXEC);
    fcntl(captured, F_SETFL, O_APPEND); /* files of memory do not order writes otherwise */
    dup2(captured, STDERR_FILENO);
}

/* What was written meanwhile, to be freed. */
static char *release(void)
{
    off_t size = lseek(captured, 0, SEEK_END);
    char *text = calloc(1, (size_t)size + 1);
    assert_int_equal(pread(captured, text, (size_t)size, 0), size);
    dup2(kept_stderr, STDERR_FILENO);
    close(kept_stderr);
    close(captured);
    return text;
}

static cJSON *parse_line(const char *line, size_t length)
{
    struct status st;
    assert_true(length > 0 && length <= LINE_MAX_BYTES && line[length - 1] == '\n');
    cJSON *tree = json_parse(line, length - 1, NULL, &st);
    if (tree == NULL)
        fail_msg("%s in %.*s", st.text, (int)length, line);
    return tree;
}

static cJSON *log_one(const char *text)
{
    capture();
    log_info("test.line", "%s", text);
    char *line = release();
    cJSON *tree = parse_line(line, strlen(line));
    free(line);
    return tree;
}

static const char *field(const cJSON *line, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(line, name));
    return text != NULL ? text : "(missing)";
}

static void expect_text(const char *logged, const char *expected)
{
    cJSON *line = log_one(logged);
    assert_string_equal(field(line, "text"), expected);
    cJSON_Delete(line);
}

static int configure(void **state)
{
    log_configure("planner", LOG_INFO, LOG_FORMAT_JSON);
    return 0;
}

static void a_json_line_has_time_level_service_id_and_text(void **state)
{
    cJSON *line = log_one("listening on 127.0.0.1:15001");
    const char *time = field(line, "time");
    assert_int_equal(strlen(time), strlen("2026-01-01T00:00:00.000Z"));
    assert_int_equal(time[10], 'T');
    assert_int_equal(time[23], 'Z');
    assert_string_equal(field(line, "level"), "info");
    assert_string_equal(field(line, "service"), "planner");
    assert_string_equal(field(line, "id"), "test.line");
    assert_string_equal(field(line, "text"), "listening on 127.0.0.1:15001");
    assert_int_equal(cJSON_GetArraySize(line), 5);
    cJSON_Delete(line);
}

static void the_context_of_the_thread_stands_in_every_line(void **state)
{
    struct trace_context trace;
    trace_continue(&trace, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", 55);
    char span[17];
    trace_hex(trace.span_id, 8, span);
    struct log_context context = {.trace = &trace, .call_id = 12, .subject = "renga.v1.Planner/Plan"};
    assert_null(log_enter(&context));
    cJSON *line = log_one("x");
    assert_string_equal(field(line, "trace_id"), "0af7651916cd43dd8448eb211c80319c");
    assert_string_equal(field(line, "span_id"), span);
    assert_int_equal(cJSON_GetObjectItem(line, "call")->valueint, 12);
    assert_string_equal(field(line, "subject"), "renga.v1.Planner/Plan");
    cJSON_Delete(line);
    assert_ptr_equal(log_enter(NULL), &context);
    line = log_one("x");
    assert_string_equal(field(line, "trace_id"), "(missing)");
    cJSON_Delete(line);
}

static void what_could_forge_a_line_is_escaped(void **state)
{
    expect_text("a\nb\tc\rd", "a\nb\tc\rd"); /* JSON's own escapes */
    expect_text("\x1b[31mred", "\\x1b[31mred");
    expect_text("\x7f", "\\x7f");
    expect_text("\xC2\x9B", "\\xc2\\x9b"); /* the control sequence introducer of C1 */
    expect_text("\"quoted\" \\ back", "\"quoted\" \\ back");
    expect_text("語 😀", "語 😀");
    static const char *const shown_otherwise[] = {"\u061C", "\u200B", "\u200F", "\u2028", "\u202A",
                                                  "\u202E", "\u2060", "\u2066", "\u2069", "\uFEFF"};
    for (size_t i = 0; i < COUNT(shown_otherwise); i++) {
        char wanted[16] = "", *at = wanted;
        for (const char *byte = shown_otherwise[i]; *byte; byte++)
            at += sprintf(at, "\\x%02x", (unsigned)(unsigned char)*byte);
        expect_text(shown_otherwise[i], wanted);
    }
    expect_text("\u2010 \u2027 \u202F \u205F \u2070", "\u2010 \u2027 \u202F \u205F \u2070");
}

static void what_is_not_utf8_is_escaped(void **state)
{
    expect_text("\xFF", "\\xff");
    expect_text("a\xE8\xAA", "a\\xe8\\xaa");
    expect_text("\xC0\x80z", "\\xc0\\x80z");
}

static void a_long_line_is_cut_at_a_character_and_marked(void **state)
{
    static const char *const fills[] = {"x", "語", "\xFF", "\"", "😀"};
    for (size_t i = 0; i < COUNT(fills); i++) {
        for (size_t lead = 0; lead < 4; lead++) {
            char text[20000] = "";
            size_t length = lead, size = strlen(fills[i]);
            memset(text, 'a', lead);
            for (; length + size < sizeof text; length += size)
                memcpy(text + length, fills[i], size);
            cJSON *line = log_one(text);
            const char *logged = field(line, "text");
            assert_string_equal(logged + strlen(logged) - strlen(" …[cut]"), " …[cut]");
            cJSON_Delete(line);
        }
    }
}

static void a_line_just_short_enough_is_not_marked(void **state)
{
    char text[3500];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    expect_text(text, text);
}

static void lines_below_the_level_are_not_written(void **state)
{
    capture();
    log_debug("test.debug", "no");
    log_write(LOG_DEBUG, "test.debug", "no");
    char *lines = release();
    assert_string_equal(lines, "");
    free(lines);
    assert_false(log_enabled(LOG_DEBUG));
    assert_true(log_enabled(LOG_WARN));

    log_configure("planner", LOG_DEBUG, LOG_FORMAT_JSON);
    capture();
    log_debug("test.debug", "yes");
    lines = release();
    assert_contains(lines, "\"level\":\"debug\"");
    free(lines);
}

static void levels_are_read_by_name(void **state)
{
    enum log_level level = LOG_INFO;
    assert_true(log_level_parse("error", &level));
    assert_int_equal(level, LOG_ERROR);
    assert_false(log_level_parse("loud", &level));
    assert_int_equal(level, LOG_ERROR);
}

static void logging_leaves_errno_alone(void **state)
{
    errno = ENOENT;
    capture();
    errno = ENOENT;
    log_info("test.errno", "%m");
    int after = errno;
    char *line = release();
    assert_int_equal(after, ENOENT);
    assert_contains(line, "No such file");
    free(line);
}

/* What a line is on a terminal. */
static char *log_on_terminal(const char *text)
{
    static char read_back[8192];
    int terminal, side;
    assert_int_equal(openpty(&terminal, &side, NULL, NULL, NULL), 0);
    int kept = dup(STDERR_FILENO);
    dup2(side, STDERR_FILENO);
    log_configure("planner", LOG_INFO, LOG_FORMAT_AUTO);
    log_warn("test.line", "%s", text);
    dup2(kept, STDERR_FILENO);
    ssize_t length = read(terminal, read_back, sizeof read_back - 1);
    assert_true(length > 0);
    read_back[length] = '\0';
    close(kept);
    close(side);
    close(terminal);
    return read_back;
}

static void a_terminal_gets_text_with_colours(void **state)
{
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    const char *line = log_on_terminal("be\x1b[2Jware\nof \"this\"");
    assert_contains(line, "\x1b[33mWARN \x1b[0m");
    assert_contains(line, "test.line");
    assert_contains(line, "be\\x1b[2Jware\\nof \"this\"");
}

static void no_color_is_respected(void **state)
{
    setenv("TERM", "xterm", 1);
    setenv("NO_COLOR", "1", 1);
    const char *line = log_on_terminal("plain");
    assert_lacks(line, "\x1b");
    assert_contains(line, "WARN  test.line plain");
    unsetenv("NO_COLOR");
}

static void no_terminal_gets_json(void **state)
{
    capture();
    log_configure("planner", LOG_INFO, LOG_FORMAT_AUTO);
    log_info("test.line", "x");
    char *line = release();
    cJSON_Delete(parse_line(line, strlen(line)));
    free(line);
}

#define THREADS 8
#define LINES   300

static void *log_many(void *argument)
{
    char fill[600];
    int number = *(int *)argument;
    memset(fill, 'a' + number, sizeof fill);
    struct log_context context = {.call_id = (uint64_t)number + 1};
    log_enter(&context);
    for (int i = 0; i < LINES; i++)
        log_info("test.many", "%d %.*s", i, (int)sizeof fill, fill);
    return NULL;
}

static void lines_of_many_threads_stay_whole(void **state)
{
    pthread_t threads[THREADS];
    int numbers[THREADS], next[THREADS] = {0}, lines = 0;
    capture();
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, log_many, &numbers[i]), 0);
    }
    log_configure("planner", LOG_INFO, LOG_FORMAT_JSON);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    char *text = release();
    for (const char *line = text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1, lines++) {
        cJSON *tree = parse_line(line, (size_t)(end - line) + 1);
        int thread = cJSON_GetObjectItem(tree, "call")->valueint - 1, number;
        char fill;
        assert_int_equal(sscanf(field(tree, "text"), "%d %c", &number, &fill), 2);
        assert_int_equal(number, next[thread]++);
        assert_int_equal(fill, 'a' + thread);
        cJSON_Delete(tree);
    }
    assert_int_equal(lines, THREADS * LINES);
    free(text);
}

static void end_fatally(void)
{
    fatal("test.fatal", "it is over");
}

static void fatal_ends_the_process_with_1(void **state)
{
    int ended = run_in_child(end_fatally);
    assert_true(WIFEXITED(ended) && WEXITSTATUS(ended) == 1);
}

/* ---- lines that repeat ------------------------------------------------------------------------------------------- */

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    while ((text = strstr(text, part)) != NULL && text++)
        count++;
    return count;
}

static void of_equal_errors_the_log_has_the_first_and_their_count(void **state)
{
    clock_stop();
    capture();
    for (int i = 0; i < 340; i++)
        log_error("test.equal", "the disk is full");
    log_error("test.equal", "another text");
    clock_step(LOG_LIMIT_PERIOD_MS * NS_PER_MS);
    log_info("test.other", "time goes on");
    log_error("test.equal", "the disk is full");
    char *lines = release();
    assert_int_equal(count_of(lines, "\"text\":\"the disk is full"), LOG_LIMIT_EQUAL + 1);
    assert_int_equal(count_of(lines, "335 more such lines in 10 s; the first: the disk is full"), 1);
    assert_int_equal(count_of(lines, "more such lines"), 1);
    assert_int_equal(count_of(lines, "another text"), 1);
    free(lines);
}

static void of_one_place_in_the_code_too_whatever_its_arguments(void **state)
{
    clock_step(LOG_LIMIT_PERIOD_MS * NS_PER_MS);
    capture();
    for (int i = 0; i < 1000; i++)
        log_warn("test.site", "thread %d", i);
    clock_step(LOG_LIMIT_PERIOD_MS * NS_PER_MS);
    log_info("test.other", "time goes on");
    char *lines = release();
    assert_int_equal(count_of(lines, "\"text\":\"thread "), LOG_LIMIT_SITE);
    assert_int_equal(count_of(lines, "900 more such lines"), 1);
    free(lines);
}

static void lines_of_progress_are_not_limited(void **state)
{
    capture();
    for (int i = 0; i < 1000; i++)
        log_info("test.info", "a step");
    char *lines = release();
    assert_int_equal(count_of(lines, "a step"), 1000);
    free(lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_json_line_has_time_level_service_id_and_text, configure),
        cmocka_unit_test_setup(the_context_of_the_thread_stands_in_every_line, configure),
        cmocka_unit_test_setup(what_could_forge_a_line_is_escaped, configure),
        cmocka_unit_test_setup(what_is_not_utf8_is_escaped, configure),
        cmocka_unit_test_setup(a_long_line_is_cut_at_a_character_and_marked, configure),
        cmocka_unit_test_setup(a_line_just_short_enough_is_not_marked, configure),
        cmocka_unit_test_setup(lines_below_the_level_are_not_written, configure),
        cmocka_unit_test_setup(levels_are_read_by_name, configure),
        cmocka_unit_test_setup(logging_leaves_errno_alone, configure),
        cmocka_unit_test_setup(a_terminal_gets_text_with_colours, configure),
        cmocka_unit_test_setup(no_color_is_respected, configure),
        cmocka_unit_test_setup(no_terminal_gets_json, configure),
        cmocka_unit_test_setup(lines_of_many_threads_stay_whole, configure),
        cmocka_unit_test_setup(of_equal_errors_the_log_has_the_first_and_their_count, configure),
        cmocka_unit_test_setup(of_one_place_in_the_code_too_whatever_its_arguments, configure),
        cmocka_unit_test_setup(lines_of_progress_are_not_limited, configure),
        cmocka_unit_test_setup(fatal_ends_the_process_with_1, configure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
