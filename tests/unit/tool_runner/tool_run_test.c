/* A run: its bytes, its time, its end, and arguments before it. */
#include "run/tool_call.h"
#include "run/tool_run.h"

#include "base/clock.h"
#include "base/text.h"
#include "instance/tool_runner_instance.h"

#include <stdio.h>

#include "unit.h"

struct bench {
    struct tool_runner runner;
    struct tool tool;
    struct tool_run *run;
    int ended, cancelled;
};
static struct bench bench;

static void never(struct tool_run *run) {}

static void cancelled(struct tool_run *run)
{
    bench.cancelled++;
}

static void ended(struct tool_run *run)
{
    bench.ended++;
}

static void begin(void (*start)(struct tool_run *run), size_t output_max, int64_t timeout_ms)
{
    static const struct rpc_principal nobody = {.name = "", .tenant = ""};
    static const struct trace_context trace;
    bench = (struct bench){.runner.loop = loop_create(0),
                           .tool = {.name = "tool", .start = start, .cancel = cancelled, .size = 8}};
    struct tool_run_options options = {
        .tool = &bench.tool,
        .runner = &bench.runner,
        .arguments = cJSON_CreateObject(),
        .arguments_json = "{}",
        .principal = &nobody,
        .trace = &trace,
        .timeout_ms = timeout_ms,
        .output_max = output_max,
        .ended = ended,
    };
    bench.run = tool_run_create(&options);
    loop_enter(bench.runner.loop);
    tool_run_start(bench.run);
    loop_leave(bench.runner.loop);
}

static void end(void)
{
    tool_run_release(&bench.run);
    loop_destroy(&bench.runner.loop);
}

static void writes_japanese(struct tool_run *run)
{
    for (int i = 0; i < 10; i++)
        tool_write(run, "日本語", 9);
    tool_finish(run);
}

static void text_is_cut_at_a_character_and_its_whole_size_is_told(void **state)
{
    begin(writes_japanese, 20, 1000);
    assert_int_equal(bench.ended, 1);
    assert_int_equal(bench.run->text.length, 18);
    assert_int_equal(bench.run->full_bytes, 90);
    assert_true(bench.run->truncated && text_is_clean(buffer_text(&bench.run->text), 18));
    end();
}

static void writes_garbage(struct tool_run *run)
{
    tool_write(run,
               "a\xff\xfe"
               "b\0c\xe3\x81",
               8);
    tool_finish(run);
}

static void bytes_that_are_no_text_take_their_place_as_one_character_each(void **state)
{
    begin(writes_garbage, 100, 1000);
    assert_string_equal(buffer_text(&bench.run->text), "a\uFFFD\uFFFDb\uFFFDc\uFFFD\uFFFD");
    assert_false(bench.run->truncated);
    end();
}

static void writes_for_ever(struct tool_run *run)
{
    static char chunk[65536];
    int chunks = 0;
    memset(chunk, 'x', sizeof chunk);
    while (tool_write(run, chunk, sizeof chunk))
        assert_true(++chunks < 1000);
    tool_finish(run);
}

static void a_run_ends_at_16_mib_and_keeps_no_more_than_is_wanted(void **state)
{
    begin(writes_for_ever, 1000, 1000);
    assert_int_equal(bench.ended, 1);
    assert_int_equal(bench.run->status.code, OK);
    assert_true(bench.run->truncated && bench.run->full_bytes > TOOL_OUTPUT_MAX);
    assert_int_equal(bench.run->text.length, 1000);
    assert_true(bench.run->text.capacity < 4096);
    assert_int_equal(bench.cancelled, 0);
    end();
}

static void finds_much(struct tool_run *run)
{
    static char snippet[40000];
    Renga__V1__SearchHit hit = RENGA__V1__SEARCH_HIT__INIT;
    memset(snippet, 's', sizeof snippet - 1);
    hit.snippet = snippet;
    hit.score = 7;
    for (int i = 0; i < 300; i++)
        tool_hit(run, &hit);
    tool_structured(run, "{\"a\":1}", 7);
    tool_structured(run, "{\"a\":2}", 7);
    tool_finish(run);
}

static void hits_are_held_to_their_limits(void **state)
{
    begin(finds_much, 1000, 1000);
    assert_int_equal(bench.run->hit_count, TOOL_HITS_MAX);
    assert_int_equal(strlen(bench.run->hits[99]->snippet), 16384);
    assert_true(bench.run->hits[0]->score == 1 && bench.run->truncated);
    assert_string_equal(bench.run->structured, "{\"a\":1}");
    end();
}

static void gives_too_much_json(struct tool_run *run)
{
    tool_structured(run, "[1,2,3,4,5,6]", 13);
    tool_finish(run);
}

static void json_that_is_too_long_is_left_out_not_cut(void **state)
{
    begin(gives_too_much_json, 12, 1000);
    assert_null(bench.run->structured);
    assert_true(bench.run->truncated);
    assert_int_equal(bench.run->full_bytes, 13);
    end();
}

static void a_late_run_is_over_for_its_owner_at_once_and_freed_when_the_tool_ends(void **state)
{
    begin(never, 100, 500);
    struct tool_run *run = bench.run;
    loop_step(bench.runner.loop, 499);
    assert_int_equal(bench.ended, 0);
    loop_step(bench.runner.loop, 1);
    assert_int_equal(bench.ended, 1);
    assert_int_equal(bench.cancelled, 1);
    assert_int_equal(run->status.code, DEADLINE_EXCEEDED);
    assert_contains(run->status.text, "within 500 ms");
    tool_run_release(&bench.run);
    assert_false(tool_write(run, "too late", 8));
    tool_fail(run, UNKNOWN, "nobody hears this");
    loop_destroy(&bench.runner.loop);
}

static void a_run_that_is_stopped_twice_or_after_its_end_has_one_end(void **state)
{
    begin(never, 100, 500);
    loop_enter(bench.runner.loop);
    tool_run_stop(bench.run, CANCELLED, "first");
    tool_run_stop(bench.run, ABORTED, "second");
    tool_finish(bench.run);
    loop_leave(bench.runner.loop);
    loop_step(bench.runner.loop, 1000);
    assert_int_equal(bench.ended, 1);
    assert_string_equal(bench.run->status.text, "first");
    end();
}

static void is_down(struct tool_run *run)
{
    tool_unavailable(run, "%s is down", "it");
}

static void what_never_began_is_known_as_untouched(void **state)
{
    begin(is_down, 100, 500);
    assert_true(bench.run->untouched);
    assert_int_equal(bench.run->status.code, UNAVAILABLE);
    end();
}

/* ---- arguments --------------------------------------------------------------------------------------------------- */

static void arguments_fit_or_are_told_what_would(void **state)
{
    static const struct {
        const char *json, *part; /* NULL: fits */
    } rows[] = {
        {"{\"n\": 1}", NULL},
        {"", "n: is missing"},
        {"{\"n\": \"1\"}", "n: must be an integer, not a string"},
        {"{\"n\": 1, \"m\": 2}", "m: is no property"},
        {"[1]", "must be a JSON object"},
        {"{\"n\": 1", "are no JSON: 1:8"},
        {"{\"n\": 1, \"n\": 2}", "are no JSON"},
        {"{\"n\": 1}{}", "are no JSON"},
    };
    struct arena arena;
    struct status st = {0};
    static const char text[] =
        "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}},\"required\":[\"n\"],"
        "\"additionalProperties\":false}";
    cJSON *tree = json_parse(text, strlen(text), NULL, &st);
    static const struct tool tool = {.name = "tool"};
    arena_init(&arena, NULL, 0, 1 << 20);
    struct catalog_entry entry = {&tool, json_schema_compile(&arena, tree, JSON_SCHEMA_PLAIN, &st), NULL};
    assert_non_null(entry.schema);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct status why = {0};
        cJSON *arguments = tool_call_read_arguments(&entry, rows[i].json, &why);
        if ((arguments == NULL) != (rows[i].part != NULL) || (rows[i].part && !strstr(why.text, rows[i].part)))
            fail_msg("%s: '%s' instead of '%s'", rows[i].json, why.text, rows[i].part ? rows[i].part : "");
        assert_int_equal(why.code, rows[i].part ? INVALID_ARGUMENT : OK);
        cJSON_Delete(arguments);
    }
    cJSON_Delete(tree);
    arena_fini(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_cut_at_a_character_and_its_whole_size_is_told),
        cmocka_unit_test(bytes_that_are_no_text_take_their_place_as_one_character_each),
        cmocka_unit_test(a_run_ends_at_16_mib_and_keeps_no_more_than_is_wanted),
        cmocka_unit_test(hits_are_held_to_their_limits),
        cmocka_unit_test(json_that_is_too_long_is_left_out_not_cut),
        cmocka_unit_test(a_late_run_is_over_for_its_owner_at_once_and_freed_when_the_tool_ends),
        cmocka_unit_test(a_run_that_is_stopped_twice_or_after_its_end_has_one_end),
        cmocka_unit_test(what_never_began_is_known_as_untouched),
        cmocka_unit_test(arguments_fit_or_are_told_what_would),
    };
    clock_stop();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
