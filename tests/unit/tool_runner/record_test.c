/* The record in a store of its own, in virtual time. */
#include "record/record.h"

#include "base/clock.h"
#include "record/records.h"

#include <stdio.h>

#include "unit.h"

#define KEEP_MS INT64_C(86400000)

struct room {
    struct loop *loop;
    struct store *store;
    struct arena arena;
    struct store_scan scan;
    enum status_code code;
};

static const struct record_name name = {.tenant = "acme", .key = "work", .thread = "t", .run = "r"};

static int enter(void **state)
{
    struct status st = {0};
    struct room *room = calloc(1, sizeof *room);
    room->loop = loop_create(0);
    room->store = store_open("memory:", &st);
    arena_init(&room->arena, NULL, 0, 1 << 20);
    *state = room;
    return 0;
}

static int leave(void **state)
{
    struct room *room = *state;
    store_close(&room->store);
    loop_destroy(&room->loop);
    arena_fini(&room->arena);
    free(room);
    return 0;
}

static void settle(struct room *room)
{
    store_settle(room->store);
    loop_step(room->loop, 0);
}

struct writing {
    struct store_batch batch; /* first */
    struct room *room;
};

static void committed(struct store_batch *batch)
{
    struct writing *writing = (struct writing *)batch;
    writing->room->code = batch->status.code;
    store_batch_fini(batch);
}

static void commit(struct room *room, struct writing *writing)
{
    store_commit(room->store, &writing->batch);
    loop_leave(room->loop);
    settle(room);
}

static void begin(struct room *room, struct writing *writing)
{
    writing->room = room;
    loop_enter(room->loop);
    store_batch_init(&writing->batch, room->loop, committed);
}

static void put(struct room *room, const struct record_name *of, const char *call, const char *text, int64_t due_ms)
{
    struct writing writing;
    uint8_t digest[RECORD_DIGEST];
    Renga__V1__ToolResult result = RENGA__V1__TOOL_RESULT__INIT;
    result.text = (char *)(uintptr_t)text;
    record_digest("tool", "{}", digest);
    begin(room, &writing);
    assert_true(record_put(&writing.batch, of, call, digest, due_ms, text ? &result : NULL));
    commit(room, &writing);
    assert_int_equal(room->code, OK);
}

static void scanned(struct store_scan *scan) {}

static void read_range(struct room *room, struct store_bytes from, struct store_bytes to)
{
    store_scan_init(&room->scan, room->loop, scanned);
    room->scan.from = from;
    room->scan.to = to;
    loop_enter(room->loop);
    store_scan(room->store, &room->scan);
    loop_leave(room->loop);
    settle(room);
    assert_int_equal(room->scan.status.code, OK);
}

static void read_calls(struct room *room, const struct record_name *of)
{
    struct store_bytes from, to;
    record_range(&room->arena, of, &from, &to);
    read_range(room, from, to);
}

static void read_fence(struct room *room)
{
    struct store_bytes from, to;
    record_fence_range(&room->arena, &name, &from, &to);
    read_range(room, from, to);
}

static size_t count_all(struct room *room)
{
    read_range(room, (struct store_bytes){"A", 1}, (struct store_bytes){"Z", 1});
    size_t count = room->scan.count;
    store_scan_fini(&room->scan);
    return count;
}

/* ---- calls and fences -------------------------------------------------------------------------------------------- */

static void a_call_is_found_begun_and_then_ended(void **state)
{
    struct room *room = *state;
    put(room, &name, "c1", NULL, 5);
    read_calls(room, &name);
    struct record_call call = record_find(&room->scan, &name, "c1");
    assert_true(call.known && !call.ended);
    assert_false(record_find(&room->scan, &name, "c").known);
    store_scan_fini(&room->scan);
    put(room, &name, "c1", "what it gave", 5);
    read_calls(room, &name);
    call = record_find(&room->scan, &name, "c1");
    assert_true(call.known && call.ended);
    assert_int_equal(call.due_ms, 5);
    Renga__V1__ToolResult *result = renga__v1__tool_result__unpack(NULL, call.result.size, call.result.bytes);
    assert_string_equal(result->text, "what it gave");
    renga__v1__tool_result__free_unpacked(result, NULL);
    store_scan_fini(&room->scan);
}

static void names_that_begin_alike_are_kept_apart(void **state)
{
    struct room *room = *state;
    struct record_name longer = name, elsewhere = name;
    longer.key = "work1";
    elsewhere.tenant = "acmework"; /* with an empty key the bytes would be the same, were there no end of names */
    elsewhere.key = "";
    put(room, &name, "1c", "a", 5);
    put(room, &longer, "c", "b", 5);
    put(room, &elsewhere, "c", "c", 5);
    read_calls(room, &name);
    assert_int_equal(room->scan.count, 1);
    store_scan_fini(&room->scan);
    read_calls(room, &elsewhere);
    assert_int_equal(room->scan.count, 1);
    store_scan_fini(&room->scan);
}

static void other_arguments_have_another_digest_and_names_do_not_run_into_them(void **state)
{
    uint8_t one[RECORD_DIGEST], two[RECORD_DIGEST];
    record_digest("tool", "{\"a\":1}", one);
    record_digest("tool", "{\"a\":2}", two);
    assert_memory_not_equal(one, two, sizeof one);
    record_digest("too", "l{\"a\":1}", two);
    assert_memory_not_equal(one, two, sizeof one);
}

static void what_is_forgotten_leaves_no_row(void **state)
{
    struct room *room = *state;
    struct writing writing;
    put(room, &name, "c1", NULL, 5);
    assert_int_equal(count_all(room), 3);
    begin(room, &writing);
    record_forget(&writing.batch, &name, "c1", 5);
    commit(room, &writing);
    assert_int_equal(count_all(room), 0);
}

static void a_thread_takes_its_calls_and_fences_with_it(void **state)
{
    struct room *room = *state;
    struct writing writing;
    struct store_bytes from, to;
    struct record_name other = name;
    other.thread = "t2";
    other.key = "other";
    put(room, &name, "c1", "a", 5);
    put(room, &name, "c2", "b", 6);
    put(room, &other, "c1", "c", 5);
    read_fence(room);
    begin(room, &writing);
    record_raise_fence(&writing.batch, &name, &room->scan, 3);
    commit(room, &writing);
    store_scan_fini(&room->scan);
    record_thread_range(&room->arena, "acme", "t", &from, &to);
    read_range(room, from, to);
    assert_int_equal(room->scan.count, 2);
    begin(room, &writing);
    for (size_t i = 0; i < room->scan.count; i++)
        record_delete_thread_call(&writing.batch, &room->scan.rows[i]);
    record_delete_fences(&writing.batch, "acme", "t");
    commit(room, &writing);
    store_scan_fini(&room->scan);
    assert_int_equal(count_all(room), 3 + 1); /* the other's, and when the fence would have been due */
}

static void of_two_owners_who_saw_the_same_fence_one_has_to_look_again(void **state)
{
    struct room *room = *state;
    struct writing slow, quick;
    read_fence(room);
    assert_int_equal(record_fence(&room->scan), 0);
    begin(room, &quick);
    record_raise_fence(&quick.batch, &name, &room->scan, 6);
    commit(room, &quick);
    assert_int_equal(room->code, OK);
    begin(room, &slow);
    record_raise_fence(&slow.batch, &name, &room->scan, 5);
    commit(room, &slow);
    assert_int_equal(room->code, ABORTED);
    store_scan_fini(&room->scan);
    read_fence(room);
    assert_int_equal(record_fence(&room->scan), 6);
    store_scan_fini(&room->scan);
}

static void what_an_overtaken_owner_begins_does_not_count(void **state)
{
    struct room *room = *state;
    struct writing writing;
    for (int64_t token = 6; token <= 7; token++) {
        read_fence(room);
        begin(room, &writing);
        record_raise_fence(&writing.batch, &name, &room->scan, token);
        commit(room, &writing);
        store_scan_fini(&room->scan);
        begin(room, &writing);
        record_expect_fence(&writing.batch, &name, 6);
        commit(room, &writing);
        assert_int_equal(room->code, token == 6 ? OK : ABORTED);
    }
}

/* ---- sweeping ---------------------------------------------------------------------------------------------------- */

static size_t sweep(struct records *records, struct room *room)
{
    for (int i = 0; i < 8; i++) {
        settle(room);
        loop_step(room->loop, i ? 0 : 60000);
    }
    struct store_stats stats;
    uint64_t bytes;
    assert_true(records_stats(records, &stats, &bytes));
    return bytes;
}

static struct records *open_records(struct room *room, uint64_t bytes_max)
{
    struct status st = {0};
    struct records_options options = {.url = "memory:", .keep_ms = KEEP_MS, .bytes_max = bytes_max};
    struct records *records = records_create(&options);
    store_close(&room->store);
    loop_enter(room->loop);
    room->store = records_open(records, room->loop, &st);
    loop_leave(room->loop);
    assert_non_null(room->store);
    return records;
}

static void close_records(struct room *room, struct records *records)
{
    loop_enter(room->loop);
    records_leave(records, room->loop);
    loop_leave(room->loop);
    records_destroy(&records);
    room->store = NULL;
}

static void what_is_due_goes_and_the_rest_stays(void **state)
{
    struct room *room = *state;
    struct records *records = open_records(room, 1 << 30);
    int64_t now_ms = clock_wall_ns() / NS_PER_MS;
    put(room, &name, "old", "a", now_ms - 1);
    put(room, &name, "young", "b", now_ms + KEEP_MS);
    sweep(records, room);
    read_calls(room, &name);
    assert_int_equal(room->scan.count, 1);
    assert_true(record_find(&room->scan, &name, "young").known);
    store_scan_fini(&room->scan);
    assert_int_equal(count_all(room), 3);
    close_records(room, records);
}

static void beyond_the_size_the_oldest_go_first(void **state)
{
    struct room *room = *state;
    static char text[1000];
    struct records *records = open_records(room, 5500);
    int64_t now_ms = clock_wall_ns() / NS_PER_MS;
    memset(text, 'x', sizeof text - 1);
    for (int i = 0; i < 10; i++) {
        char call[8];
        snprintf(call, sizeof call, "c%d", i);
        put(room, &name, call, text, now_ms + KEEP_MS + i);
    }
    sweep(records, room); /* it finds that it is too much */
    size_t bytes = sweep(records, room);
    assert_in_range(bytes, 4000, 5500);
    read_calls(room, &name);
    assert_int_equal(room->scan.count, 5);
    assert_true(record_find(&room->scan, &name, "c9").known);
    assert_false(record_find(&room->scan, &name, "c4").known);
    store_scan_fini(&room->scan);
    close_records(room, records);
}

static void of_two_who_begin_a_call_at_once_one_begins_it(void **state)
{
    struct room *room = *state;
    struct writing writing;
    uint8_t digest[RECORD_DIGEST];
    record_digest("tool", "{}", digest);
    put(room, &name, "c1", NULL, KEEP_MS);
    begin(room, &writing);
    assert_true(record_put(&writing.batch, &name, "c1", digest, KEEP_MS, NULL));
    commit(room, &writing);
    assert_int_equal(room->code, ABORTED);
    put(room, &name, "c1", "done", KEEP_MS); /* whoever has begun it ends it */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_call_is_found_begun_and_then_ended, enter, leave),
        cmocka_unit_test_setup_teardown(names_that_begin_alike_are_kept_apart, enter, leave),
        cmocka_unit_test(other_arguments_have_another_digest_and_names_do_not_run_into_them),
        cmocka_unit_test_setup_teardown(what_is_forgotten_leaves_no_row, enter, leave),
        cmocka_unit_test_setup_teardown(a_thread_takes_its_calls_and_fences_with_it, enter, leave),
        cmocka_unit_test_setup_teardown(what_an_overtaken_owner_begins_does_not_count, enter, leave),
        cmocka_unit_test_setup_teardown(of_two_owners_who_saw_the_same_fence_one_has_to_look_again, enter, leave),
        cmocka_unit_test_setup_teardown(of_two_who_begin_a_call_at_once_one_begins_it, enter, leave),
        cmocka_unit_test_setup_teardown(what_is_due_goes_and_the_rest_stays, enter, leave),
        cmocka_unit_test_setup_teardown(beyond_the_size_the_oldest_go_first, enter, leave),
    };
    clock_stop();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
