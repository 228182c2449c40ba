/* A trajectory as JSON: properties 1 and 2 of the specification, and the form that it has. */
#include "unit.h"

#include "graph/dataset.h"
#include "nodes/trajectory_json.h"
#include "random_text.h"
#include "json/json.h"

#include <stdlib.h>

#define CASES       2000
#define LARGE_EVERY 250 /* a case with texts as long as they may be */
#define MEMORY_MAX  ((size_t)64 << 20)
#define JSON_MAX    ((size_t)32 << 20)

static char *made_text(struct random_text *random, struct arena *arena, char *room, size_t most)
{
    return arena_strdup(arena, most && random_text_number(random) % 8 ? random_text_next(random, room, most) : "");
}

static char **made_list(struct random_text *random, struct arena *arena, char *room, size_t items, size_t most,
                        size_t *count)
{
    *count = random_text_number(random) % (items + 1);
    char **list = arena_alloc(arena, (*count + 1) * sizeof *list);
    for (size_t i = 0; i < *count; i++)
        list[i] = made_text(random, arena, room, most);
    return list;
}

/* One with each field at random; `large`: with texts up to their bounds. */
static Renga__V1__Trajectory *made_trajectory(struct random_text *random, struct arena *arena, char *room, bool large)
{
    Renga__V1__Trajectory *made = arena_alloc(arena, sizeof *made);
    renga__v1__trajectory__init(made);
    made->query = made_text(random, arena, room, large ? TRAJECTORY_QUERY_MAX - 4 : 300);
    made->dataset = made_text(random, arena, room, TRAJECTORY_DATASET_MAX - 4);
    made->generated_answer = made_text(random, arena, room, large ? TRAJECTORY_ANSWER_MAX : 300);
    made->reasoning_steps = made_list(random, arena, room, large ? TRAJECTORY_STEPS_MAX : 5,
                                      large ? TRAJECTORY_STEP_MAX - 4 : 60, &made->n_reasoning_steps);
    made->used_bullet_ids =
        made_list(random, arena, room, large ? TRAJECTORY_IDS_MAX : 5, TRAJECTORY_ID_MAX - 4, &made->n_used_bullet_ids);
    made->status = random_text_number(random) % 2 ? RENGA__V1__TRAJECTORY_STATUS__TRAJECTORY_STATUS_SUCCESS
                                                  : RENGA__V1__TRAJECTORY_STATUS__TRAJECTORY_STATUS_FAILURE;
    if (random_text_number(random) % 2) {
        made->maybe_error_message_case = RENGA__V1__TRAJECTORY__MAYBE_ERROR_MESSAGE_ERROR_MESSAGE;
        made->error_message = made_text(random, arena, room, TRAJECTORY_ERROR_MAX - 4);
    }
    made->created_ms = (int64_t)(random_text_number(random) % (uint64_t)(TRAJECTORY_TIME_MAX + 1));
    return made;
}

static void assert_same(const Renga__V1__Trajectory *one, const Renga__V1__Trajectory *other)
{
    size_t size = renga__v1__trajectory__get_packed_size(one);
    assert_int_equal(size, renga__v1__trajectory__get_packed_size(other));
    uint8_t *first = malloc(size + 1), *second = malloc(size + 1);
    renga__v1__trajectory__pack(one, first);
    renga__v1__trajectory__pack(other, second);
    assert_memory_equal(first, second, size);
    free(first);
    free(second);
}

static void write_it(const Renga__V1__Trajectory *made, struct buffer *text)
{
    struct json_writer out;
    buffer_init(text, JSON_MAX);
    json_writer_init(&out, text);
    trajectory_write_json(&out, NULL, made);
    assert_true(json_writer_done(&out));
}

static void property_1_what_is_written_is_read_back_as_it_was(void **state)
{
    struct random_text random = {.seed = 1};
    char *room = malloc(RANDOM_TEXT_MAX);
    for (size_t i = 0; i < CASES; i++) {
        struct arena arena;
        struct buffer text;
        struct status st = {0};
        arena_init(&arena, NULL, 0, MEMORY_MAX);
        Renga__V1__Trajectory *made = made_trajectory(&random, &arena, room, i % LARGE_EVERY == 0);
        write_it(made, &text);
        Renga__V1__Trajectory *read = trajectory_parse_json(buffer_text(&text), text.length, &arena, &st);
        if (!read)
            fail_msg("case %zu: %s", i, st.text);
        assert_same(made, read);
        buffer_fini(&text);
        arena_fini(&arena);
    }
    free(room);
}

static void it_has_the_form_of_the_specification(void **state)
{
    static const char sample[] =
        "{\"query\":\"APIのレート制限を実装する方法\",\"dataset\":\"appworld\",\"generated_answer\":\"…\","
        "\"reasoning_steps\":[\"Playbookから関連知識を検索\"],\"used_bullet_ids\":[\"shr-00001\",\"aup-00003\"],"
        "\"status\":\"success\",\"error_message\":null,\"created_at\":\"2025-01-15T10:30:00\"}";
    struct arena arena;
    struct buffer text;
    struct status st = {0};
    arena_init(&arena, NULL, 0, MEMORY_MAX);
    Renga__V1__Trajectory *read = trajectory_parse_json(sample, strlen(sample), &arena, &st);
    if (!read) {
        fail_msg("%s", st.text);
        return;
    }
    assert_true(read->created_ms == INT64_C(1736937000000));
    assert_int_equal(read->maybe_error_message_case, RENGA__V1__TRAJECTORY__MAYBE_ERROR_MESSAGE__NOT_SET);
    write_it(read, &text);
    size_t head = strlen(sample) - 2; /* the same, but for the zone */
    assert_memory_equal(buffer_text(&text), sample, head);
    assert_string_equal(buffer_text(&text) + head, "Z\"}");
    buffer_fini(&text);
    arena_fini(&arena);
}

/* ---- property 2 -------------------------------------------------------------------------------------------------- */

static const char *const members[] = {"query",           "dataset", "generated_answer", "reasoning_steps",
                                      "used_bullet_ids", "status",  "error_message",    "created_at"};

/* A value that the member may not have. */
static cJSON *wrong_value(struct random_text *random, const char *member, char *room)
{
    bool list = strcmp(member, "reasoning_steps") == 0 || strcmp(member, "used_bullet_ids") == 0;
    bool any = !list && strcmp(member, "status") != 0 && strcmp(member, "created_at") != 0;
    cJSON *items = cJSON_CreateArray();
    switch (random_text_number(random) % 7) {
    case 0:
        cJSON_AddItemToArray(items, cJSON_CreateNumber(5));
        return items;
    case 1:
        cJSON_Delete(items);
        return cJSON_CreateNumber((double)(int64_t)(random_text_number(random) >> 12));
    case 2:
        cJSON_Delete(items);
        return cJSON_CreateBool(random_text_number(random) % 2);
    case 3:
        cJSON_Delete(items);
        return strcmp(member, "error_message") == 0 ? cJSON_CreateTrue() : cJSON_CreateNull();
    case 4:
        cJSON_Delete(items);
        return cJSON_CreateObject();
    case 5:
        cJSON_AddItemToArray(items, cJSON_CreateNull());
        return items;
    default:
        cJSON_Delete(items);
        return any ? cJSON_CreateObject() : cJSON_CreateString(random_text_next(random, room, 200));
    }
}

static void property_2_a_value_of_a_wrong_type_is_refused_by_name(void **state)
{
    struct random_text random = {.seed = 2};
    char *room = malloc(RANDOM_TEXT_MAX);
    for (size_t i = 0; i < CASES; i++) {
        struct arena arena;
        struct buffer text;
        struct status st = {0};
        const char *member = members[i % COUNT(members)];
        arena_init(&arena, NULL, 0, MEMORY_MAX);
        write_it(made_trajectory(&random, &arena, room, false), &text);
        cJSON *tree = json_parse(buffer_text(&text), text.length, NULL, &st),
              *wrong = wrong_value(&random, member, room);
        char *shown = cJSON_PrintUnformatted(wrong);
        cJSON_ReplaceItemInObjectCaseSensitive(tree, member, wrong);
        if (trajectory_read_json(tree, &arena, &st))
            fail_msg("%s was taken with %.80s", member, shown);
        assert_int_equal(st.code, INVALID_ARGUMENT);
        assert_memory_equal(st.field, member, strlen(member));
        assert_contains(st.text, "it must be");
        free(shown);
        cJSON_Delete(tree);
        buffer_fini(&text);
        arena_fini(&arena);
    }
    free(room);
}

static void an_error_names_the_member_its_value_and_what_would_be_right(void **state)
{
    static const struct {
        const char *member, *value, *text;
    } rows[] = {
        {"query", "5", "query: is 5, a number; it must be a string"},
        {"query", "null", "query: is null; it must be a string"},
        {"dataset", "[\"a\"]", "dataset: is a list; it must be a string"},
        {"generated_answer", "{}", "generated_answer: is an object; it must be a string"},
        {"reasoning_steps", "\"one\"", "reasoning_steps: is 'one', a string; it must be a list of strings"},
        {"reasoning_steps", "[\"one\",true]", "reasoning_steps[1]: is true, a boolean; it must be a string"},
        {"used_bullet_ids", "[null]", "used_bullet_ids[0]: is null; it must be a string"},
        {"status", "\"done\"", "status: is 'done', a string; it must be \"success\" or \"failure\""},
        {"status", "\"SUCCESS\"", "status: is 'SUCCESS', a string; it must be \"success\" or \"failure\""},
        {"error_message", "7.5", "error_message: is 7.5, a number; it must be a string or null"},
        {"created_at", "1736937000", "created_at: is 1736937000, a number; it must be a date with a time"},
        {"created_at", "\"2025-02-30T10:30:00\"", "created_at: is '2025-02-30T10:30:00', a string; it must be"},
        {"created_at", "\"2025-01-15\"", "created_at: is '2025-01-15', a string"},
        {"created_at", "\"1969-12-31T23:59:59Z\"", "since 1970"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena arena;
        struct status st = {0};
        char text[512] = "{\"query\":\"q\",\"dataset\":\"d\",\"generated_answer\":\"\",\"reasoning_steps\":[],"
                         "\"used_bullet_ids\":[],\"status\":\"success\"}";
        arena_init(&arena, NULL, 0, MEMORY_MAX);
        cJSON *tree = json_parse(text, strlen(text), NULL, &st);
        assert_non_null(trajectory_read_json(tree, &arena, &st));
        cJSON_DeleteItemFromObjectCaseSensitive(tree, rows[i].member);
        cJSON_AddItemToObject(tree, rows[i].member, json_parse(rows[i].value, strlen(rows[i].value), NULL, &st));
        assert_null(trajectory_read_json(tree, &arena, &st));
        assert_contains(st.text, rows[i].text);
        cJSON_Delete(tree);
        arena_fini(&arena);
    }
}

static void a_member_that_is_missing_or_too_long_is_refused_by_name(void **state)
{
    static const struct {
        const char *member;
        size_t most;
    } bounds[] = {{"query", TRAJECTORY_QUERY_MAX},
                  {"dataset", TRAJECTORY_DATASET_MAX},
                  {"generated_answer", TRAJECTORY_ANSWER_MAX},
                  {"error_message", TRAJECTORY_ERROR_MAX}};
    struct arena arena;
    struct status st = {0};
    struct buffer text;
    struct random_text random = {.seed = 3};
    char *room = malloc(RANDOM_TEXT_MAX);
    arena_init(&arena, NULL, 0, MEMORY_MAX);
    for (size_t i = 0; i < 6; i++) { /* the two others may be missing */
        write_it(made_trajectory(&random, &arena, room, false), &text);
        cJSON *tree = json_parse(buffer_text(&text), text.length, NULL, &st);
        cJSON_DeleteItemFromObjectCaseSensitive(tree, members[i]);
        assert_null(trajectory_read_json(tree, &arena, &st));
        assert_string_equal(st.field, members[i]);
        assert_contains(st.text, "is missing; it must be");
        cJSON_Delete(tree);
        buffer_fini(&text);
    }
    for (size_t i = 0; i < COUNT(bounds); i++)
        for (size_t more = 0; more < 2; more++) {
            write_it(made_trajectory(&random, &arena, room, false), &text);
            cJSON *tree = json_parse(buffer_text(&text), text.length, NULL, &st);
            memset(room, 'x', bounds[i].most + more);
            room[bounds[i].most + more] = '\0';
            cJSON_ReplaceItemInObjectCaseSensitive(tree, bounds[i].member, cJSON_CreateString(room));
            assert_int_equal(trajectory_read_json(tree, &arena, &st) != NULL, more == 0);
            cJSON_Delete(tree);
            buffer_fini(&text);
        }
    arena_fini(&arena);
    free(room);
}

static void text_that_is_no_json_is_refused(void **state)
{
    static const char *const texts[] = {"", "{", "[]", "5", "null", "{\"query\":\"\\u0000\"}", "{\"query\":\"\xff\"}"};
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct arena arena;
        struct status st = {0};
        arena_init(&arena, NULL, 0, MEMORY_MAX);
        assert_null(trajectory_parse_json(texts[i], strlen(texts[i]), &arena, &st));
        assert_int_equal(st.code, INVALID_ARGUMENT);
        arena_fini(&arena);
    }
}

/* ---- data sets --------------------------------------------------------------------------------------------------- */

/* No name that is taken is a path. */
static void the_name_of_a_data_set_is_never_a_path(void **state)
{
    static const char *const good[] = {"appworld", "a", "A-b_c.9", "0", "a..b"};
    static const char *const wrong[] = {"",     ".",       "..",  "../x", "a/b", "/a",
                                        "a\\b", ".hidden", "a b", "日本", "a\n", "%2e"};
    struct random_text random = {.seed = 5};
    char *room = malloc(RANDOM_TEXT_MAX), name[DATASET_NAME_MAX + 2];
    struct status st;
    for (size_t i = 0; i < COUNT(good); i++)
        assert_true(dataset_check("dataset", good[i], &st));
    for (size_t i = 0; i < COUNT(wrong); i++) {
        assert_false(dataset_check("dataset", wrong[i], &st));
        assert_string_equal(st.field, "dataset");
    }
    memset(name, 'a', sizeof name);
    name[DATASET_NAME_MAX + 1] = '\0';
    assert_false(dataset_check("dataset", name, &st));
    name[DATASET_NAME_MAX] = '\0';
    assert_true(dataset_check("dataset", name, &st));
    for (size_t i = 0; i < CASES; i++) {
        const char *text = random_text_next(&random, room, 6);
        if (dataset_check("dataset", text, &st))
            assert_true(!strpbrk(text, "/\\ \n{}") && *text != '.' && *text);
    }
    free(room);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(property_1_what_is_written_is_read_back_as_it_was),
        cmocka_unit_test(it_has_the_form_of_the_specification),
        cmocka_unit_test(property_2_a_value_of_a_wrong_type_is_refused_by_name),
        cmocka_unit_test(an_error_names_the_member_its_value_and_what_would_be_right),
        cmocka_unit_test(a_member_that_is_missing_or_too_long_is_refused_by_name),
        cmocka_unit_test(text_that_is_no_json_is_refused),
        cmocka_unit_test(the_name_of_a_data_set_is_never_a_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
