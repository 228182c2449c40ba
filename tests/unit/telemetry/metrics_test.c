#include "telemetry/metrics.h"
#include "telemetry/process.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct metric requests = {
    .name = "test_requests_total", .help = "Requests\nby \\ path.", .labels = {"path", "code"}};
static const struct metric depth = {.name = "test_depth", .help = "Depth.", .kind = METRIC_GAUGE};
static const int64_t bounds[] = {10, 20, 50};
static const struct metric sizes = {.name = "test_size_seconds",
                                    .help = "Sizes.",
                                    .kind = METRIC_HISTOGRAM,
                                    .labels = {"kind"},
                                    .bounds = bounds,
                                    .bound_count = 3,
                                    .scale = 0.001};
static const struct metric narrow = {
    .name = "test_narrow_total", .help = "Few.", .labels = {"client"}, .series_max = 3};
static const struct metric cost = {.name = "test_cost_dollars_total", .help = "Money.", .scale = 1e-9};

static char *text_of(struct metrics *metrics)
{
    struct buffer out;
    buffer_init(&out, 1 << 20);
    metrics_write(metrics, &out);
    return buffer_take(&out, NULL);
}

static void assert_line(struct metrics *metrics, const char *line)
{
    char *text = text_of(metrics), wanted[256];
    snprintf(wanted, sizeof wanted, "\n%s\n", line);
    if (!strstr(text, wanted))
        fail_msg("no line '%s' in:\n%s", line, text);
    free(text);
}

static void assert_no(struct metrics *metrics, const char *part)
{
    char *text = text_of(metrics);
    if (strstr(text, part))
        fail_msg("'%s' should not be in:\n%s", part, text);
    free(text);
}

static void a_counter_adds_up_over_the_loops(void **state)
{
    struct metrics *metrics = metrics_create(3);
    struct metric_family *family = metrics_register(metrics, &requests);
    uint32_t series = metrics_series(family, (const char *[]){"/a", "200"});
    for (unsigned loop = 0; loop < 3; loop++)
        metrics_add(metrics, loop, series, loop + 1);
    assert_line(metrics, "test_requests_total{path=\"/a\",code=\"200\"} 6");
    assert_line(metrics, "# TYPE test_requests_total counter");
    assert_int_equal(metrics_value(metrics, series), 6);
    metrics_destroy(&metrics);
}

static void the_same_labels_are_the_same_series(void **state)
{
    struct metrics *metrics = metrics_create(1);
    struct metric_family *family = metrics_register(metrics, &requests);
    assert_ptr_equal(family, metrics_register(metrics, &requests));
    uint32_t first = metrics_series(family, (const char *[]){"/a", "200"});
    uint32_t other = metrics_series(family, (const char *[]){"/a2", "00"});
    assert_int_equal(first, metrics_series(family, (const char *[]){"/a", "200"}));
    assert_int_not_equal(first, other);
    assert_int_not_equal(first, metrics_series(family, (const char *[]){"/a", NULL}));
    metrics_destroy(&metrics);
}

static void what_labels_and_help_contain_is_escaped(void **state)
{
    struct metrics *metrics = metrics_create(1);
    struct metric_family *family = metrics_register(metrics, &requests);
    metrics_add(metrics, 0, metrics_series(family, (const char *[]){"a\"b\\c\nd", "x"}), 1);
    assert_line(metrics, "test_requests_total{path=\"a\\\"b\\\\c\\nd\",code=\"x\"} 1");
    char *text = text_of(metrics);
    assert_non_null(strstr(text, "# HELP test_requests_total Requests\\nby \\\\ path.\n"));
    free(text);
    metrics_destroy(&metrics);
}

static void a_gauge_goes_up_and_down(void **state)
{
    struct metrics *metrics = metrics_create(2);
    uint32_t series = metrics_series(metrics_register(metrics, &depth), NULL);
    metrics_add(metrics, 0, series, 5);
    metrics_add(metrics, 1, series, -2);
    assert_line(metrics, "test_depth 3");
    metrics_set(metrics, 0, series, 1);
    assert_line(metrics, "test_depth -1");
    metrics_destroy(&metrics);
}

static void a_histogram_counts_up_to_and_including_its_bounds(void **state)
{
    struct metrics *metrics = metrics_create(2);
    uint32_t series = metrics_series(metrics_register(metrics, &sizes), (const char *[]){"k"});
    static const int64_t values[] = {0, 10, 11, 20, 21, 50, 51, 1000};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        metrics_observe(metrics, i % 2, &sizes, series, values[i]);
    assert_line(metrics, "test_size_seconds_bucket{kind=\"k\",le=\"0.01\"} 2");
    assert_line(metrics, "test_size_seconds_bucket{kind=\"k\",le=\"0.02\"} 4");
    assert_line(metrics, "test_size_seconds_bucket{kind=\"k\",le=\"0.05\"} 6");
    assert_line(metrics, "test_size_seconds_bucket{kind=\"k\",le=\"+Inf\"} 8");
    assert_line(metrics, "test_size_seconds_sum{kind=\"k\"} 1.163");
    assert_line(metrics, "test_size_seconds_count{kind=\"k\"} 8");
    metrics_destroy(&metrics);
}

static void money_is_counted_exactly(void **state)
{
    struct metrics *metrics = metrics_create(1);
    uint32_t series = metrics_series(metrics_register(metrics, &cost), NULL);
    for (int i = 0; i < 1000000; i++)
        metrics_add(metrics, 0, series, 150); /* $0.00000015 a token */
    assert_line(metrics, "test_cost_dollars_total 0.15");
    metrics_destroy(&metrics);
}

static void too_many_series_end_in_other(void **state)
{
    struct metrics *metrics = metrics_create(1);
    struct metric_family *family = metrics_register(metrics, &narrow);
    assert_no(metrics, "other");
    for (int i = 0; i < 100; i++) {
        char client[16];
        snprintf(client, sizeof client, "client%d", i);
        metrics_add(metrics, 0, metrics_series(family, (const char *[]){client}), 1);
    }
    assert_line(metrics, "test_narrow_total{client=\"client2\"} 1");
    assert_line(metrics, "test_narrow_total{client=\"other\"} 97");
    assert_no(metrics, "client3\"");
    metrics_destroy(&metrics);
}

static void a_long_label_value_is_cut(void **state)
{
    struct metrics *metrics = metrics_create(1);
    static char value[100000];
    memset(value, 'x', sizeof value - 1);
    uint32_t series = metrics_series(metrics_register(metrics, &narrow), (const char *[]){value});
    metrics_add(metrics, 0, series, 1);
    char *text = text_of(metrics);
    assert_true(strlen(text) < 400);
    free(text);
    metrics_destroy(&metrics);
}

static void thousands_of_series_keep_their_cells(void **state)
{
    struct metrics *metrics = metrics_create(2);
    static const struct metric wide = {.name = "test_wide_total", .help = "Many.", .labels = {"n"}, .series_max = 5000};
    struct metric_family *family = metrics_register(metrics, &wide);
    static uint32_t series[5000];
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 5000; i++) {
            char n[16];
            snprintf(n, sizeof n, "%d", i);
            uint32_t cell = metrics_series(family, (const char *[]){n});
            if (round)
                assert_int_equal(series[i], cell);
            series[i] = cell;
            metrics_add(metrics, (unsigned)round, cell, i);
        }
    for (int i = 0; i < 5000; i++)
        assert_int_equal(metrics_value(metrics, series[i]), 2 * i);
    metrics_destroy(&metrics);
}

static void histograms_do_not_share_cells(void **state)
{
    struct metrics *metrics = metrics_create(1);
    struct metric_family *family = metrics_register(metrics, &sizes);
    uint32_t series[400];
    for (int i = 0; i < 400; i++) {
        char kind[16];
        snprintf(kind, sizeof kind, "%d", i);
        series[i] = metrics_series(family, (const char *[]){kind});
        for (int64_t value = 5; value <= 95; value += 30)
            metrics_observe(metrics, 0, &sizes, series[i], value);
    }
    for (int i = 0; i < 400; i++)
        assert_int_equal(metrics_value(metrics, series[i] + 4), 5 + 35 + 65 + 95);
    metrics_destroy(&metrics);
}

/* Every line is a comment or name{labels} value, and each name has its HELP and TYPE before it. */
static void the_text_reads_back_line_by_line(void **state)
{
    struct metrics *metrics = metrics_create(2);
    process_metrics_add(metrics, "renga-test");
    struct metric_family *family = metrics_register(metrics, &requests);
    metrics_add(metrics, 0, metrics_series(family, (const char *[]){"/ü \"x\"", "200"}), 1);
    metrics_observe(metrics, 0, &sizes, metrics_series(metrics_register(metrics, &sizes), (const char *[]){"k"}), 7);
    char *text = text_of(metrics), *rest = text, declared[128] = "";
    assert_int_equal(text[strlen(text) - 1], '\n');
    int samples = 0;
    for (char *line; (line = strsep(&rest, "\n")) && *line;) {
        if (strncmp(line, "# HELP ", 7) == 0) {
            sscanf(line + 7, "%127s", declared);
            continue;
        }
        if (strncmp(line, "# TYPE ", 7) == 0) {
            assert_int_equal(strncmp(line + 7, declared, strlen(declared)), 0);
            continue;
        }
        assert_int_equal(strncmp(line, declared, strlen(declared)), 0);
        char *value = strrchr(line, ' '), *end;
        assert_non_null(value);
        strtod(value + 1, &end);
        assert_int_equal(*end, '\0');
        char *brace = strchr(line, '{');
        if (brace)
            assert_int_equal(value[-1], '}');
        samples++;
    }
    assert_true(samples >= 14);
    free(text);
    assert_line(metrics, "renga_build_info{service=\"renga-test\",version=\"" RENGA_VERSION "\"} 1");
    metrics_destroy(&metrics);
}

struct writer {
    struct metrics *metrics;
    unsigned loop;
};

static void *write_much(void *data)
{
    const struct writer *writer = data;
    struct metric_family *family = metrics_register(writer->metrics, &requests);
    for (int i = 0; i < 20000; i++) {
        char path[16];
        snprintf(path, sizeof path, "/%d", i % 700);
        metrics_add(writer->metrics, writer->loop, metrics_series(family, (const char *[]){path, "200"}), 1);
    }
    return NULL;
}

static void loops_count_and_a_scrape_reads_at_the_same_time(void **state)
{
    struct metrics *metrics = metrics_create(4);
    struct writer writers[4];
    pthread_t threads[4];
    for (unsigned i = 0; i < 4; i++) {
        writers[i] = (struct writer){metrics, i};
        pthread_create(&threads[i], NULL, write_much, &writers[i]);
    }
    for (int i = 0; i < 20; i++)
        free(text_of(metrics));
    for (unsigned i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    int64_t sum = 0;
    struct metric_family *family = metrics_register(metrics, &requests);
    for (int i = 0; i < 700; i++) {
        char path[16];
        snprintf(path, sizeof path, "/%d", i);
        sum += metrics_value(metrics, metrics_series(family, (const char *[]){path, "200"}));
    }
    assert_int_equal(sum, 80000);
    metrics_destroy(&metrics);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_counter_adds_up_over_the_loops),
        cmocka_unit_test(the_same_labels_are_the_same_series),
        cmocka_unit_test(what_labels_and_help_contain_is_escaped),
        cmocka_unit_test(a_gauge_goes_up_and_down),
        cmocka_unit_test(a_histogram_counts_up_to_and_including_its_bounds),
        cmocka_unit_test(money_is_counted_exactly),
        cmocka_unit_test(too_many_series_end_in_other),
        cmocka_unit_test(a_long_label_value_is_cut),
        cmocka_unit_test(thousands_of_series_keep_their_cells),
        cmocka_unit_test(histograms_do_not_share_cells),
        cmocka_unit_test(the_text_reads_back_line_by_line),
        cmocka_unit_test(loops_count_and_a_scrape_reads_at_the_same_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
