/* Operations that a model wrote, checked against what it saw and against the playbook as it is. */
#include "unit.h"

#include "nodes/curation.h"

#include "json/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BULLETS 3

struct desk {
    struct arena arena;
    struct curation curation;
    Renga__V1__Bullet seen[BULLETS], now[BULLETS], *seen_list[BULLETS], *now_list[BULLETS];
    cJSON *written, *tags;
    struct status st;
};

static void desk_bullet(Renga__V1__Bullet *bullet, const char *id, int helpful, int harmful)
{
    renga__v1__bullet__init(bullet);
    bullet->id = (char *)(uintptr_t)id;
    bullet->section = (char *)(uintptr_t) "code";
    bullet->content = (char *)(uintptr_t) "Sort first.";
    bullet->helpful = helpful;
    bullet->harmful = harmful;
}

/* The playbook has a-1 (good), a-2 (bad) and a-3 (new); the model saw all of them. */
static void desk_open(struct desk *desk, const char *written, const char *tags)
{
    static const char *const ids[BULLETS] = {"a-1", "a-2", "a-3"};
    *desk = (struct desk){0};
    arena_init(&desk->arena, NULL, 0, (size_t)16 << 20);
    for (size_t i = 0; i < BULLETS; i++) {
        desk_bullet(&desk->seen[i], ids[i], i == 0 ? 5 : 0, i == 1 ? 2 : 0);
        desk->now[i] = desk->seen[i];
        desk->seen_list[i] = &desk->seen[i];
        desk->now_list[i] = &desk->now[i];
    }
    desk->written = json_parse(written, strlen(written), NULL, &desk->st);
    desk->tags = json_parse(tags, strlen(tags), NULL, &desk->st);
    assert_non_null(desk->written);
    assert_non_null(desk->tags);
    desk->curation = (struct curation){.written = desk->written,
                                       .tags = desk->tags,
                                       .seen = desk->seen_list,
                                       .now = desk->now_list,
                                       .seen_count = BULLETS,
                                       .now_count = BULLETS};
}

static enum curation_verdict desk_make(struct desk *desk)
{
    return curation_make(&desk->curation, &desk->arena, &desk->st);
}

static void desk_close(struct desk *desk)
{
    cJSON_Delete(desk->written);
    cJSON_Delete(desk->tags);
    arena_fini(&desk->arena);
}

#define TAG(id, effect) "{\"id\":\"" id "\",\"effect\":\"BULLET_EFFECT_" effect "\"}"
#define ADD             "{\"kind\":\"ADD\",\"section\":\"code\",\"content\":\"Check the end.\"}"
#define DELETE(id)      "{\"kind\":\"DELETE\",\"ids\":[\"" id "\"]}"

static void counts_come_first_and_then_the_operations_of_the_model(void **state)
{
    struct desk desk;
    desk_open(
        &desk,
        "[" ADD
        ",{\"kind\":\"UPDATE\",\"ids\":[\"a-1\"],\"content\":\"Sort by name.\",\"reason\":\"clear\\u0007er\"}," DELETE(
            "a-2") "]",
        "[" TAG("a-1", "HELPFUL") "," TAG("a-2", "HARMFUL") "," TAG("a-1", "HELPFUL") "," TAG("a-3", "NEUTRAL") "," TAG(
            "gone", "HELPFUL") "]");
    assert_int_equal(desk_make(&desk), CURATION_CHECKED);
    assert_int_equal(desk.curation.count, 5);
    assert_string_equal(desk.curation.list[0]->ids[0], "a-1");
    assert_int_equal(desk.curation.list[0]->helpful, 2);
    assert_int_equal(desk.curation.list[1]->harmful, 1);
    assert_int_equal(desk.curation.list[2]->kind, RENGA__V1__PLAYBOOK_OPERATION_KIND__PLAYBOOK_OPERATION_KIND_ADD);
    assert_string_equal(desk.curation.list[3]->reason, "clear er");
    assert_int_equal(desk.curation.list[4]->kind, RENGA__V1__PLAYBOOK_OPERATION_KIND__PLAYBOOK_OPERATION_KIND_DELETE);
    desk_close(&desk);
}

static void there_may_be_nothing_to_change(void **state)
{
    struct desk desk;
    desk_open(&desk, "[]", "[" TAG("a-3", "NEUTRAL") "," TAG("gone", "HARMFUL") ",{},3,{\"id\":7}]");
    assert_int_equal(desk_make(&desk), CURATION_NOTHING);
    desk_close(&desk);
}

static void a_wrong_operation_is_refused_with_its_number(void **state)
{
    static const struct {
        const char *written, *part;
    } rows[] = {
        {"[" ADD ",{\"kind\":\"DROP\"}]", "operation 2 (?): the kind is 'DROP'"},
        {"[7]", "operation 1 (?): the kind is ''"},
        {"[{\"kind\":\"COUNT\",\"ids\":[\"a-1\"]}]", "the kind is 'COUNT'"},
        {"[{\"kind\":\"ADD\",\"section\":\"s\",\"content\":\" \"}]", "operation 1 (ADD): the content is blank"},
        {"[{\"kind\":\"ADD\",\"content\":\"c\"}]", "the section is blank"},
        {"[{\"kind\":\"ADD\",\"section\":\"a\\nb\",\"content\":\"c\"}]", "must be one line"},
        {"[{\"kind\":\"ADD\",\"ids\":[\"a-1\"],\"section\":\"s\",\"content\":\"c\"}]", "has 1 ids; 0 to 0"},
        {"[{\"kind\":\"UPDATE\",\"ids\":[],\"content\":\"c\"}]", "has 0 ids; 1 to 1"},
        {"[{\"kind\":\"MERGE\",\"ids\":[\"a-1\"],\"content\":\"c\"}]", "has 1 ids; 2 to 16"},
        {"[{\"kind\":\"UPDATE\",\"ids\":[7],\"content\":\"c\"}]", "an id must be a string"},
        {"[{\"kind\":\"UPDATE\",\"ids\":[\"a-9\"],\"content\":\"c\"}]", "there is no bullet 'a-9' among those shown"},
        {"[" DELETE("a-2") "," DELETE("a-2") "]", "'a-2' stands in operation 1, too"},
        {"[{\"kind\":\"MERGE\",\"ids\":[\"a-1\",\"a-1\"],\"content\":\"c\"}]", "'a-1' stands in operation 1, too"},
        {"[" DELETE("a-1") "]", "helped 5 times and harmed 0 times; only one that harmed more often is removed"},
        {"[" DELETE("a-3") "]", "helped 0 times and harmed 0 times"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct desk desk;
        desk_open(&desk, rows[i].written, "[]");
        assert_int_equal(desk_make(&desk), CURATION_REFUSED);
        assert_int_equal(desk.st.code, INVALID_ARGUMENT);
        assert_contains(desk.st.text, rows[i].part);
        desk_close(&desk);
    }
}

static void a_tag_of_this_request_lets_a_bullet_be_deleted(void **state)
{
    struct desk desk;
    desk_open(&desk, "[" DELETE("a-3") "]", "[" TAG("a-3", "HARMFUL") "]");
    assert_int_equal(desk_make(&desk), CURATION_CHECKED);
    assert_int_equal(desk.curation.count, 2);
    desk_close(&desk);
}

static void ten_thousand_operations_are_refused(void **state)
{
    size_t count = 10000, size = count * sizeof ADD + 3;
    char *written = malloc(size);
    size_t length = 1;
    struct desk desk;
    assert_non_null(written);
    written[0] = '[';
    for (size_t i = 0; i < count; i++)
        length += (size_t)snprintf(written + length, size - length, "%s" ADD, i ? "," : "");
    snprintf(written + length, size - length, "]");
    desk_open(&desk, written, "[]");
    assert_int_equal(desk_make(&desk), CURATION_REFUSED);
    assert_contains(desk.st.text, "there are 10000 operations; at most 32");
    desk_close(&desk);
    free(written);
}

static void a_bullet_that_another_writer_changed_makes_it_outdated(void **state)
{
    struct desk desk;
    desk_open(&desk, "[" DELETE("a-2") "," ADD "]", "[]");
    desk.now[1].content = (char *)(uintptr_t) "Sort last.";
    assert_int_equal(desk_make(&desk), CURATION_OUTDATED);
    assert_contains(desk.st.text, "'a-2' was changed by another writer");
    desk_close(&desk);
    desk_open(&desk, "[" DELETE("a-2") "," ADD "]", "[]");
    desk.curation.now_count = 1;
    assert_int_equal(desk_make(&desk), CURATION_OUTDATED);
    desk_close(&desk);
}

static void a_change_of_other_bullets_is_none_of_its_business(void **state)
{
    struct desk desk;
    desk_open(&desk, "[" DELETE("a-2") "," ADD "]", "[]");
    desk.now[0].content = (char *)(uintptr_t) "Sort last.";
    desk.now[1].harmful = 9;
    assert_int_equal(desk_make(&desk), CURATION_CHECKED);
    desk_close(&desk);
}

static void more_tags_than_are_counted_at_once_are_left_out(void **state)
{
    char tags[16384] = "[";
    size_t length = 1;
    struct desk desk;
    for (int i = 0; i < 200; i++)
        length += (size_t)snprintf(tags + length, sizeof tags - length,
                                   "{\"id\":\"x-%d\",\"effect\":\"BULLET_EFFECT_HELPFUL\"},", i);
    snprintf(tags + length, sizeof tags - length, "%s]", TAG("a-1", "HELPFUL"));
    desk_open(&desk, "[{\"kind\":\"UPDATE\",\"ids\":[\"a-1\"],\"content\":\"c\"}]", tags);
    assert_int_equal(desk_make(&desk), CURATION_CHECKED);
    assert_int_equal(desk.curation.count, 1);
    desk_close(&desk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_come_first_and_then_the_operations_of_the_model),
        cmocka_unit_test(there_may_be_nothing_to_change),
        cmocka_unit_test(a_wrong_operation_is_refused_with_its_number),
        cmocka_unit_test(a_tag_of_this_request_lets_a_bullet_be_deleted),
        cmocka_unit_test(ten_thousand_operations_are_refused),
        cmocka_unit_test(a_bullet_that_another_writer_changed_makes_it_outdated),
        cmocka_unit_test(a_change_of_other_bullets_is_none_of_its_business),
        cmocka_unit_test(more_tags_than_are_counted_at_once_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
