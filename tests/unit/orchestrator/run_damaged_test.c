/* Rows of the store that are damaged: each row in turn, in many ways, and then all that reads it. The process goes on,
 * another thread is as it was, and each answer about the damaged one is right or DATA_LOSS. RENGA_ROUNDS: one of so
 * many changes within messages is made (1: all are). If RENGA_TURN is a number, half of the bits are flipped and half
 * of those changes are made, the others with the next number. */
#include "unit.h"

#include "damage_fixture.h"
#include "damaged_rows_fixture.h"

#define TURNS 2

/* Where a walk with `*step` begins in a row: one of TURNS walks, which together are the one without RENGA_TURN. */
static size_t first_of_walk(size_t row, size_t *step)
{
    const char *turn = getenv("RENGA_TURN");
    size_t first = row % *step;
    if (!turn)
        return first;
    first += *step * ((row + strtoul(turn, NULL, 10)) % TURNS);
    *step *= TURNS;
    return first;
}

static bool is_sealed(size_t row)
{
    return strchr("LSTRQC", kind_of_row(row)) != NULL;
}

/* Requests with changes: their effect on a damaged thread is free, as long as all goes on. */
static void ask_for_changes(void)
{
    static struct heard heard;
    Renga__V1__ForkThreadRequest fork = RENGA__V1__FORK_THREAD_REQUEST__INIT;
    Renga__V1__CopyThreadRequest copy = RENGA__V1__COPY_THREAD_REQUEST__INIT;
    Renga__V1__UpdateStateRequest update = RENGA__V1__UPDATE_STATE_REQUEST__INIT;
    Renga__V1__ResumeRunRequest resumed = RENGA__V1__RESUME_RUN_REQUEST__INIT;
    Renga__V1__CancelRunRequest cancelled = RENGA__V1__CANCEL_RUN_REQUEST__INIT;
    fork.thread_id = copy.thread_id = update.thread_id = (char *)(uintptr_t) "t";
    fork.new_thread_id = (char *)(uintptr_t) "forked";
    copy.new_thread_id = (char *)(uintptr_t) "copied";
    update.update_json = (char *)(uintptr_t) "{\"x\":2}";
    resumed.run_id = cancelled.run_id = damaged_run;
    resumed.maybe_answer_json_case = RENGA__V1__RESUME_RUN_REQUEST__MAYBE_ANSWER_JSON_ANSWER_JSON;
    resumed.answer_json = (char *)(uintptr_t) "\"yes\"";
    const void *requests[] = {&copy, &resumed, &fork, &update, &cancelled};
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
        damaged_ask(requests[i], &heard);
}

static size_t losses, left_out;

/* `believed`: a change in a row without a checksum; then only the others have to be right. */
static void damaged_read_all(size_t row, bool believed, const char *how)
{
    static struct heard heard;
    const char *name = row_name(rows[row].key, told_row);
    told_how = how;
    for (int which = 0; which < QUESTIONS; which++) {
        ask_one(which, "t", damaged_run, &heard);
        bool lists = which == LIST_RUNS || which == LIST_THREADS;
        if (heard.code == INTERNAL || heard.code == INVALID_ARGUMENT || (lists && heard.code != OK))
            fail_msg("%s %s, question %d: %s: %s", name, how, which, status_code_name((int)heard.code), heard.error);
        if (heard.code == DATA_LOSS && !strchr(heard.error, '\''))
            fail_msg("%s %s, question %d: an error without a name: %s", name, how, which, heard.error);
        losses += heard.code == DATA_LOSS;
        left_out += lists && strcmp(heard.text, before[which].text) != 0;
        if (!believed && !lists && heard.code != DATA_LOSS && strcmp(heard.text, before[which].text) != 0)
            fail_msg("%s %s, question %d: it is served as if it were right: %s", name, how, which, heard.error);
    }
    ask_for_changes();
    ask_one(GET_STATE, "u", other_run, &heard);
    if (!damaged_row_is_of(row, "u", other_run) && strcmp(heard.text, other_before.text) != 0)
        fail_msg("%s %s: another thread is not as it was: %s", name, how, heard.error);
    script_end_all();
    stage_settle(&stage, 0);
    script_count = 0;
}

static void damaged_read_again(size_t row, bool believed, const char *how)
{
    stage_run(&stage);
    stage_settle(&stage, 0);
    damaged_read_all(row, believed, how);
    stage_end(&stage);
}

static void damaged_change_row(size_t row, struct store_bytes value, bool believed, const char *how)
{
    write_rows(row, value);
    damaged_read_again(row, believed, how);
}

/* ---- bytes ------------------------------------------------------------------------------------------------------- */

static void flip_bytes(size_t row)
{
    size_t size = rows[row].value.size, step = size / 12 + 1;
    for (size_t at = first_of_walk(row, &step); at < size; at += step) {
        struct store_bytes changed = heap_copy(rows[row].value);
        ((char *)(uintptr_t)changed.bytes)[at] ^= (char)(1 << (at + row) % 8);
        damaged_change_row(row, changed, !is_sealed(row) && kind_of_row(row) != 'D', "with a flipped bit");
        free((void *)(uintptr_t)changed.bytes);
    }
}

static void cut_short(size_t row)
{
    size_t size = rows[row].value.size;
    size_t sizes[] = {0, 1, 5, size / 2, size - 1};
    for (size_t i = 0; size > 5 && i < sizeof sizes / sizeof *sizes; i++)
        damaged_change_row(row, (struct store_bytes){rows[row].value.bytes, sizes[i]}, !is_sealed(row), "cut short");
}

static void put_another_in_its_place(size_t row)
{
    for (size_t i = 1; i <= 2; i++) /* mostly of the same kind */
        damaged_change_row(row, rows[(row + i) % row_count].value, !is_sealed(row) || !is_sealed((row + i) % row_count),
                           "with another row's value");
}

static void rows_whose_bytes_are_damaged_end_nothing_and_are_told(void **state)
{
    damaged_set_stage(3);
    damaged_learn_rows();
    losses = left_out = 0;
    for (size_t row = 0; row < row_count; row++) {
        if (damaged_row_is_of(row, "u", other_run))
            continue;
        flip_bytes(row);
        cut_short(row);
        put_another_in_its_place(row);
    }
    assert_true(losses > 100);
    assert_true(left_out > 10);
    write_rows(row_count, (struct store_bytes){"", 0});
    clear_stage();
}

static void a_row_whose_value_is_gone_costs_no_other(void **state)
{
    if (!store_loses_values())
        skip();
    damaged_set_stage(3);
    damaged_learn_rows();
    losses = 0;
    for (size_t row = 0; row < row_count; row++) {
        if (damaged_row_is_of(row, "u", other_run))
            continue;
        write_rows(row_count, (struct store_bytes){"", 0});
        lose_value(stage.url, rows[row].key);
        damaged_read_again(row, !is_sealed(row) && kind_of_row(row) != 'D', "without its value");
    }
    assert_true(losses > 10);
    write_rows(row_count, (struct store_bytes){"", 0});
    clear_stage();
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

static const ProtobufCMessageDescriptor *type_of_row(size_t row)
{
    switch (kind_of_row(row)) {
    case 'L':
        return &renga__v1__log_record__descriptor;
    case 'S':
        return &renga__v1__thread_snapshot__descriptor;
    case 'R':
        return &renga__v1__run_row__descriptor;
    case 'T':
        return &renga__v1__thread__descriptor;
    default:
        return NULL;
    }
}

/* False if the message does not have this change. The row has no checksum, as older releases wrote them. */
static bool damage_message(size_t row, long change)
{
    struct arena arena;
    struct status st = {0};
    arena_init(&arena, NULL, 0, (size_t)64 << 20);
    ProtobufCMessage *message = row_read(&arena, type_of_row(row), &rows[row], &st);
    if (!message)
        fail_msg("%s", st.text);
    change_left = change;
    bool changed = message && change_message(message);
    if (changed) {
        size_t size = protobuf_c_message_get_packed_size(message);
        uint8_t *bytes = malloc(size + 1);
        char how[64];
        snprintf(how, sizeof how, "with change %ld", change);
        protobuf_c_message_pack(message, bytes);
        damaged_change_row(row, (struct store_bytes){bytes, size}, true, how);
        free(bytes);
    }
    arena_fini(&arena);
    return changed;
}

static void damage_messages(unsigned snapshot_every)
{
    const char *rounds = getenv("RENGA_ROUNDS");
    damaged_set_stage(snapshot_every);
    damaged_learn_rows();
    for (size_t row = 0; row < row_count; row++) {
        size_t step = rounds ? strtoul(rounds, NULL, 10) : 11;
        if (!damaged_row_is_of(row, "u", other_run) && type_of_row(row))
            for (size_t change = first_of_walk(row, &step); damage_message(row, (long)change);)
                change += step;
    }
    write_rows(row_count, (struct store_bytes){"", 0});
    clear_stage();
}

static void messages_that_make_no_sense_end_nothing(void **state)
{
    damage_messages(3);
}

static void nor_do_they_where_all_records_are_read(void **state)
{
    damage_messages(1000);
}

/* ---- one value --------------------------------------------------------------------------------------------------- */

/* Runs are queued once, when they are made. */
static bool queue_again(Renga__V1__LogRecord *record)
{
    if (record->changed)
        record->changed->state = RENGA__V1__RUN_STATE__RUN_STATE_QUEUED;
    return record->changed;
}

static bool stop_for_an_unknown_reason(Renga__V1__LogRecord *record)
{
    if (record->changed)
        record->changed->stop_reason = (Renga__V1__StopReason)999;
    return record->changed;
}

static bool lose_the_request_of_a_run(Renga__V1__LogRecord *record)
{
    if (record->begun)
        record->begun->request = NULL;
    return record->begun;
}

static bool lose_the_request_of_an_update(Renga__V1__LogRecord *record)
{
    if (record->update)
        record->update->request = NULL;
    return record->update;
}

static bool update_as_no_node(Renga__V1__LogRecord *record)
{
    if (record->update)
        record->update->as_node = 999;
    return record->update;
}

/* True if the record has the value. It has no checksum, and the state is read from all records. */
static bool read_with_one_value_changed(size_t row, bool (*change)(Renga__V1__LogRecord *record), struct heard *heard)
{
    struct arena arena;
    struct status st = {0};
    arena_init(&arena, NULL, 0, (size_t)64 << 20);
    Renga__V1__LogRecord *record = row_read(&arena, type_of_row(row), &rows[row], &st);
    bool changes = record && change(record);
    if (changes) {
        size_t size = renga__v1__log_record__get_packed_size(record);
        uint8_t *bytes = malloc(size);
        renga__v1__log_record__pack(record, bytes);
        write_rows(row, (struct store_bytes){bytes, size});
        stage_run(&stage);
        stage_settle(&stage, 0);
        ask_one(GET_STATE, "t", damaged_run, heard);
        stage_end(&stage);
        free(bytes);
    }
    arena_fini(&arena);
    return changes;
}

static void a_value_that_readers_rely_on_is_checked_and_its_record_named(void **state)
{
    static const struct {
        bool (*change)(Renga__V1__LogRecord *record);
        const char *told;
        size_t least; /* records that have the value */
    } wrong[] = {
        {queue_again, "moves run", 3},
        {stop_for_an_unknown_reason, "stop_reason has a value that this release does not know", 3},
        {lose_the_request_of_a_run, "request is missing", 2},
        {lose_the_request_of_an_update, "request is missing", 1},
        {update_as_no_node, "is made as node 999, but 'a' has 5", 1},
    };
    static struct heard heard;
    char name[ROW_NAME_MAX];
    damaged_set_stage(1000);
    damaged_learn_rows();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        size_t changed = 0;
        for (size_t row = 0; row < row_count; row++) {
            if (damaged_row_is_of(row, "u", other_run) || kind_of_row(row) != 'L' ||
                !read_with_one_value_changed(row, wrong[i].change, &heard))
                continue;
            snprintf(name, sizeof name, "record %llu", (unsigned long long)key_number(rows[row].key));
            assert_int_equal(heard.code, DATA_LOSS);
            assert_contains(heard.error, wrong[i].told);
            assert_contains(heard.error, name);
            assert_contains(heard.error, "thread 't'");
            changed++;
        }
        assert_true(changed >= wrong[i].least);
    }
    write_rows(row_count, (struct store_bytes){"", 0});
    clear_stage();
}

/* ---- older releases ---------------------------------------------------------------------------------------------- */

static void rows_without_checksums_are_read(void **state)
{
    static struct heard heard;
    damaged_set_stage(3);
    damaged_learn_rows();
    for (size_t row = 0; row < row_count; row++) {
        struct store_bytes *value = &rows[row].value;
        size_t names = kind_of_row(row) == 'D' ? value->size - 4 : 0; /* two names, each with its NUL */
        if (is_sealed(row)) {
            assert_int_equal(store_checksum_read(rows[row].key, *value, 0), STORE_CHECKSUM_VALID);
            memmove((char *)(uintptr_t)value->bytes, (const char *)value->bytes + STORE_CHECKSUM_BYTES,
                    value->size -= STORE_CHECKSUM_BYTES);
        }
        value->size = names ? names : value->size;
    }
    write_rows(row_count, (struct store_bytes){"", 0});
    stage_run(&stage);
    stage_settle(&stage, 0);
    for (int which = 0; which < QUESTIONS; which++) {
        ask_one(which, "t", damaged_run, &heard);
        assert_int_equal(heard.code, OK);
        if (which != CHECKPOINTS) /* which says how many bytes each takes */
            assert_string_equal(heard.text, before[which].text);
    }
    stage_end(&stage);
    clear_stage();
}

int main(void)
{
    log_configure("test", LOG_ERROR + 1, LOG_FORMAT_TEXT);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_whose_bytes_are_damaged_end_nothing_and_are_told),
        cmocka_unit_test(a_row_whose_value_is_gone_costs_no_other),
        cmocka_unit_test(messages_that_make_no_sense_end_nothing),
        cmocka_unit_test(nor_do_they_where_all_records_are_read),
        cmocka_unit_test(a_value_that_readers_rely_on_is_checked_and_its_record_named),
        cmocka_unit_test(rows_without_checksums_are_read),
    };
    return run_on_each_store(tests, sizeof tests / sizeof *tests);
}
