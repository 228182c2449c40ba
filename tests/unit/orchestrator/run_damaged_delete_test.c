/* Threads with damaged rows are deleted like others: no row of theirs is left, and other threads keep theirs. */
#include "unit.h"

#include "damaged_rows_fixture.h"

static struct {
    size_t count;  /* of the thread or its runs */
    size_t others; /* rows of the other thread */
    char left[64]; /* kinds */
} still_there;

static void rest_came(struct store_scan *scan)
{
    assert_int_equal(scan->status.code, OK);
    memset(&still_there, 0, sizeof still_there);
    for (size_t i = 0; i < scan->count; i++) {
        char tenant[STORE_KEY_MAX], name[STORE_KEY_MAX], kind = *(const char *)scan->rows[i].key.bytes;
        if (!key_names(scan->rows[i].key, tenant, sizeof tenant, name, sizeof name))
            continue;
        still_there.others += strcmp(name, "u") == 0 || strcmp(name, other_run) == 0;
        if (strchr("VMB", kind) || (strcmp(name, "t") != 0 && strcmp(name, damaged_run) != 0))
            continue;
        if (still_there.count < sizeof still_there.left - 1)
            still_there.left[still_there.count++] = kind;
    }
    store_scan_fini(scan);
}

static void look_what_is_left(void)
{
    static struct store_scan scan;
    loop_enter(stage.loop);
    store_scan_init(&scan, stage.loop, rest_came);
    store_scan(stage.store, &scan);
    loop_leave(stage.loop);
    stage_settle(&stage, 0);
}

static void delete_thread(size_t row, size_t others)
{
    static struct heard heard;
    Renga__V1__DeleteThreadRequest request = RENGA__V1__DELETE_THREAD_REQUEST__INIT;
    request.thread_id = (char *)(uintptr_t) "t";
    request.cancel_runs = true;
    stage_run(&stage);
    stage_settle(&stage, 0);
    row_name(rows[row].key, told_row);
    damaged_ask(&request, &heard);
    if (heard.code != OK)
        fail_msg("%s: %s", told_row, heard.error);
    look_what_is_left();
    if (still_there.count && !(kind_of_row(row) == 'D' && strcmp(still_there.left, "R") == 0))
        fail_msg("%s: rows of the thread are left: %s", told_row, still_there.left);
    assert_int_equal(still_there.others, others);
    ask_one(GET_STATE, "t", damaged_run, &heard);
    assert_int_equal(heard.code, NOT_FOUND);
    ask_one(GET_STATE, "u", other_run, &heard);
    assert_string_equal(heard.text, other_before.text);
    stage_end(&stage);
}

static void delete_damaged(size_t row, struct store_bytes value, size_t others)
{
    write_rows(row, value);
    delete_thread(row, others);
}

static void delete_without_value(size_t row, size_t others)
{
    write_rows(row_count, (struct store_bytes){"", 0});
    lose_value(stage.url, rows[row].key);
    delete_thread(row, others);
}

static void a_thread_with_a_damaged_row_can_be_deleted(void **state)
{
    damaged_set_stage(3);
    damaged_learn_rows();
    look_what_is_left();
    size_t others = still_there.others;
    assert_true(still_there.count > 5 && others > 5);
    for (size_t row = 0; row < row_count; row++) {
        if (damaged_row_is_of(row, "u", other_run) || kind_of_row(row) == 'B')
            continue;
        delete_damaged(row, (struct store_bytes){rows[row].value.bytes, rows[row].value.size / 2}, others);
        delete_damaged(row, (struct store_bytes){"\xff\xff\xff", 3}, others);
        if (store_loses_values())
            delete_without_value(row, others);
    }
    write_rows(row_count, (struct store_bytes){"", 0});
    clear_stage();
}

int main(void)
{
    log_configure("test", LOG_ERROR + 1, LOG_FORMAT_TEXT);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_with_a_damaged_row_can_be_deleted),
    };
    return run_on_each_store(tests, sizeof tests / sizeof *tests);
}
