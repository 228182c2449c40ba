/* The cost of a check: a time in proportion to the value, for every schema that can be compiled. */
#include "json/schema.h"

#include "base/clock.h"

#include <time.h>

#include "unit.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OWN_MS_MAX 2000
#else
#define OWN_MS_MAX 200
#endif
#define MEMORY_MAX ((size_t)32 << 20)

/* The status of compiling, else of checking; the problems stay in it. */
static struct status schema_checked_steps(const char *schema_text, const char *value_text)
{
    struct arena arena;
    struct status st = {0};
    cJSON *tree = json_parse(schema_text, strlen(schema_text), NULL, &st);
    arena_init(&arena, NULL, 0, MEMORY_MAX);
    const struct json_schema *schema = tree ? json_schema_compile(&arena, tree, JSON_SCHEMA_PLAIN, &st) : NULL;
    cJSON *value = schema ? json_parse(value_text, strlen(value_text), NULL, &st) : NULL;
    if (value)
        json_schema_check(schema, value, NULL, &st);
    cJSON_Delete(value);
    cJSON_Delete(tree);
    arena_fini(&arena);
    return st;
}

/* ---- the cost of a check --------------------------------------------------------------------------------------------
 */

static int64_t own_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * 1000 + time.tv_nsec / NS_PER_MS;
}

/* By the thread's own time: ten times its usual time, and a quarter of its time when parts were walked needlessly.
 */
static void check_cheaply(const char *schema, const char *value, enum status_code expected)
{
    int64_t began_ms = own_ms();
    struct status st = schema_checked_steps(schema, value);
    int64_t took_ms = own_ms() - began_ms;
    if (st.code != expected)
        fail_msg("%s: %s", status_code_name((int)st.code), st.text);
    if (took_ms > OWN_MS_MAX)
        fail_msg("took %lld ms", (long long)took_ms);
}

/* A list of the form, a number of its own in place of each '#'. */
static void print_list(struct buffer *out, const char *form, int from, int count)
{
    for (int i = from; i < from + count; i++) {
        buffer_put(out, i > from ? ',' : '[');
        for (const char *c = form; *c; c++)
            if (*c == '#')
                buffer_printf(out, "%d", i);
            else
                buffer_put(out, *c);
    }
    buffer_put(out, ']');
}

static void a_long_enum_costs_no_more_than_a_short_one(void **state)
{
    static const char *const forms[] = {"\"v#\"", "#", "{\"a\":#,\"b\":\"v#\"}"};
    struct buffer schema, value;
    buffer_init(&schema, SIZE_MAX);
    buffer_init(&value, SIZE_MAX);
    for (size_t i = 0; i < COUNT(forms); i++) {
        buffer_clear(&schema);
        buffer_clear(&value);
        buffer_print(&schema, "{\"items\":{\"enum\":");
        print_list(&schema, forms[i], 0, 20000);
        buffer_print(&schema, "}}");
        print_list(&value, forms[i], 10000, 10000);
        check_cheaply(buffer_text(&schema), buffer_text(&value), OK);
    }
    buffer_fini(&schema);
    buffer_fini(&value);
}

static void an_enum_knows_values_however_they_are_written(void **state)
{
    const char *schema = "{\"enum\":[0,\"\",[1,2],{},{\"a\":1,\"b\":{\"c\":null,\"d\":[]}},true]}";
    static const char *const good[] = {
        "-0.0", "0e5", "\"\"", "[1,2.0]", "{}", "true", "{\"b\":{\"d\":[],\"c\":null},\"a\":1e0}"};
    static const char *const bad[] = {"1",
                                      "\"0\"",
                                      "[2,1]",
                                      "[]",
                                      "false",
                                      "null",
                                      "[1,2,3]",
                                      "{\"a\":1}",
                                      "{\"b\":{\"d\":[],\"c\":0},\"a\":1}",
                                      "{\"a\":1,\"b\":{\"c\":null,\"d\":{}}}"};
    for (size_t i = 0; i < COUNT(good); i++)
        assert_int_equal(schema_checked_steps(schema, good[i]).code, OK);
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_int_equal(schema_checked_steps(schema, bad[i]).code, INVALID_ARGUMENT);
}

static void a_chain_of_references_is_walked_once_when_it_is_compiled(void **state)
{
    struct buffer schema, value;
    buffer_init(&schema, SIZE_MAX);
    buffer_init(&value, SIZE_MAX);
    buffer_print(&schema, "{\"$defs\":{\"d60\":{\"type\":\"null\"}");
    for (int i = 0; i < 60; i++)
        buffer_printf(&schema, ",\"d%d\":{\"$ref\":\"#/$defs/d%d\"}", i, i + 1);
    buffer_print(&schema, ",\"o\":{\"type\":\"object\",\"properties\":{\"p\":{}");
    for (int i = 1; i < 1000; i++)
        buffer_printf(&schema, ",\"p%d\":{\"$ref\":\"#/$defs/d0\"}", i);
    buffer_print(&schema, "}}},\"items\":{\"anyOf\":[{\"$ref\":\"#/$defs/o\"}");
    for (int i = 1; i < 900; i++)
        buffer_print(&schema, ",{\"$ref\":\"#/$defs/o\"}");
    buffer_print(&schema, "]}}");
    print_list(&value, "{\"p#\":1}", 1, 900); /* wrong: the alternative that was meant is looked for */
    check_cheaply(buffer_text(&schema), buffer_text(&value), INVALID_ARGUMENT);
    buffer_fini(&schema);
    buffer_fini(&value);
}

/* The thread's own time to compile and to check, the least of five. */
static int64_t least_us(const char *schema, const char *value)
{
    int64_t least = INT64_MAX;
    for (int i = 0; i < 5; i++) {
        struct timespec from, to;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
        struct status st = schema_checked_steps(schema, value);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
        int64_t us = (to.tv_sec - from.tv_sec) * 1000000 + (to.tv_nsec - from.tv_nsec) / 1000;
        assert_int_equal(st.code, OK);
        least = us < least ? us : least;
    }
    return least;
}

/* Definitions and as many references, all to the first definition or all to the last. */
static int64_t references_us(bool to_last)
{
    struct buffer schema;
    buffer_init(&schema, SIZE_MAX);
    buffer_print(&schema, "{\"$defs\":{\"d0\":{}");
    for (int i = 1; i < 4500; i++)
        buffer_printf(&schema, ",\"d%d\":{}", i);
    for (int i = 0; i < 4500; i++)
        buffer_printf(&schema, ",\"r%d\":{\"$ref\":\"#/$defs/d%d\"}", i, to_last ? 4499 : 0);
    buffer_print(&schema, "}}");
    int64_t us = least_us(buffer_text(&schema), "1");
    buffer_fini(&schema);
    return us;
}

static void a_reference_to_the_last_definition_costs_what_one_to_the_first_does(void **state)
{
    int64_t first_us = references_us(false), last_us = references_us(true);
    if (last_us > 3 * first_us)
        fail_msg("%lld us to the first, %lld us to the last", (long long)first_us, (long long)last_us);
}

/* Each of many values is held against a definition that so many references lead to. */
static int64_t chain_us(int references)
{
    struct buffer schema, value;
    buffer_init(&schema, SIZE_MAX);
    buffer_init(&value, SIZE_MAX);
    buffer_printf(&schema, "{\"$defs\":{\"d%d\":{\"type\":\"integer\"}", references);
    for (int i = 0; i < references; i++)
        buffer_printf(&schema, ",\"d%d\":{\"$ref\":\"#/$defs/d%d\"}", i, i + 1);
    buffer_print(&schema, "},\"items\":{\"$ref\":\"#/$defs/d0\"}}");
    print_list(&value, "#", 0, 20000);
    int64_t us = least_us(buffer_text(&schema), buffer_text(&value));
    buffer_fini(&schema);
    buffer_fini(&value);
    return us;
}

static void a_value_is_held_against_the_end_of_a_chain_at_once(void **state)
{
    int64_t one_us = chain_us(1), chain_of_60_us = chain_us(60);
    if (chain_of_60_us > 2 * one_us)
        fail_msg("%lld us by one reference, %lld us by 60", (long long)one_us, (long long)chain_of_60_us);
}

static void many_empty_objects_cost_nothing_for_the_properties_they_lack(void **state)
{
    struct buffer schema, value;
    buffer_init(&schema, SIZE_MAX);
    buffer_init(&value, SIZE_MAX);
    buffer_print(&schema, "{\"$defs\":{\"o\":{\"required\":[\"p\"],\"properties\":{\"p\":{}");
    for (int i = 1; i < JSON_SCHEMA_PROPERTIES_MAX; i++)
        buffer_printf(&schema, ",\"p%d\":{}", i);
    buffer_print(&schema, "}}},\"items\":{\"anyOf\":[");
    for (int i = 0; i < 20; i++)
        buffer_print(&schema, "{\"$ref\":\"#/$defs/o\"},");
    buffer_print(&schema, "{}]}}");
    print_list(&value, "{}", 0, 20000);
    check_cheaply(buffer_text(&schema), buffer_text(&value), OK);
    buffer_fini(&schema);
    buffer_fini(&value);
}

/* Each value is held against all of them: the answer's fault is found, and no schema that came through is given up. */
static void alternatives_within_alternatives_are_checked_to_the_end_or_refused_at_once(void **state)
{
    struct buffer schema, value;
    buffer_init(&schema, SIZE_MAX);
    buffer_init(&value, SIZE_MAX);
    for (int alternatives = 100; alternatives <= 2000; alternatives += 1900) {
        buffer_clear(&schema);
        buffer_print(&schema, "{\"$defs\":{\"n\":{\"anyOf\":[{\"type\":\"null\"}");
        for (int i = 0; i < alternatives; i++)
            buffer_printf(&schema, ",{\"items\":{\"$ref\":\"#/$defs/n\"},\"maxItems\":%d,\"type\":\"array\"}", i + 3);
        buffer_print(&schema, "]}},\"$ref\":\"#/$defs/n\"}");
        if (alternatives > 100) {
            struct status st = schema_checked_steps(buffer_text(&schema), "null");
            assert_int_equal(st.code, INVALID_ARGUMENT);
            assert_non_null(strstr(st.text, "one value may have to be held against"));
            break;
        }
        for (int i = 0; i < 50; i++)
            buffer_print(&value, "[[null,null],");
        buffer_print(&value, "1");
        for (int i = 0; i < 50; i++)
            buffer_print(&value, "]");
        check_cheaply(buffer_text(&schema), buffer_text(&value), INVALID_ARGUMENT);
    }
    buffer_fini(&schema);
    buffer_fini(&value);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_long_enum_costs_no_more_than_a_short_one),
        cmocka_unit_test(an_enum_knows_values_however_they_are_written),
        cmocka_unit_test(a_chain_of_references_is_walked_once_when_it_is_compiled),
        cmocka_unit_test(a_reference_to_the_last_definition_costs_what_one_to_the_first_does),
        cmocka_unit_test(a_value_is_held_against_the_end_of_a_chain_at_once),
        cmocka_unit_test(many_empty_objects_cost_nothing_for_the_properties_they_lack),
        cmocka_unit_test(alternatives_within_alternatives_are_checked_to_the_end_or_refused_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
