/* A runner with a store of two threads, and each of its rows in a copy. A test damages rows of "t" and asks about both
 * threads. For tests that include unit.h first. */
#ifndef RENGA_TESTS_DAMAGED_ROWS_FIXTURE_H
#define RENGA_TESTS_DAMAGED_ROWS_FIXTURE_H

#include "damaged_store_fixture.h"

#include "base/log.h"
#include "log/rows.h"
#include "renga/v1/log.pb-c.h"

static struct stage stage;

#define GRAPH                                                                                                          \
    "\"state\": {\"log\": {\"type\": \"string[]\", \"reduce\": \"append\"}, \"x\": {\"type\": \"any\"}, \"items\": "   \
    "{\"type\": \"string[]\"}, \"out\": {\"type\": \"object[]\", \"reduce\": \"append\"}}, \"start\": \"a\", "         \
    "\"nodes\": {\"a\": {\"kind\": \"set\", \"values\": {\"log\": [\"a\"]}, \"on\": {\"done\": \"w\"}}, "              \
    "\"w\": {\"kind\": \"each\", \"of\": \"items\", \"as\": \"item\", \"graph\": \"sub\", \"into\": \"out\", "         \
    "\"on\": {\"done\": [\"s\", \"q\"]}}, \"s\": {\"kind\": \"script\", \"on\": {\"done\": \"z\"}}, "                  \
    "\"q\": {\"kind\": \"ask\", \"question\": \"?\", \"into\": \"x\", \"on\": {\"answered\": \"z\"}}, "                \
    "\"z\": {\"kind\": \"noop\"}}, "                                                                                   \
    "\"graphs\": {\"sub\": {\"memory\": \"thread\", \"state\": {\"item\": {\"type\": \"string\"}, \"r\": "             \
    "{\"type\": \"string\"}}, \"input\": [\"item\"], \"output\": [\"r\"], \"start\": \"n\", \"nodes\": {\"n\": "       \
    "{\"kind\": \"set\", \"values\": {\"r\": \"seen\"}, \"on\": {\"done\": \"m\"}}, \"m\": {\"kind\": \"noop\"}}}}"
#define INPUT "{\"items\":[\"i\",\"j\"]}"

/* ---- rows -------------------------------------------------------------------------------------------------------- */

#define ROWS_MAX 400

static struct store_row rows[ROWS_MAX]; /* as they were before anything was damaged */
static size_t row_count;

static struct store_bytes heap_copy(struct store_bytes bytes)
{
    char *copy = malloc(bytes.size + 1);
    memcpy(copy, bytes.bytes, bytes.size);
    return (struct store_bytes){copy, bytes.size};
}

static void damaged_rows_read(struct store_scan *scan)
{
    assert_int_equal(scan->status.code, OK);
    assert_true(scan->count <= ROWS_MAX && !scan->more);
    for (row_count = 0; row_count < scan->count; row_count++)
        rows[row_count] =
            (struct store_row){heap_copy(scan->rows[row_count].key), heap_copy(scan->rows[row_count].value), false};
    store_scan_fini(scan);
}

static void damaged_take_rows(void)
{
    static struct store_scan scan;
    loop_enter(stage.loop);
    store_scan_init(&scan, stage.loop, damaged_rows_read);
    store_scan(stage.store, &scan);
    loop_leave(stage.loop);
    stage_settle(&stage, 0);
}

static void rows_written(struct store_batch *batch)
{
    assert_int_equal(batch->status.code, OK);
    store_batch_fini(batch);
}

/* All rows as they were, but for one. */
static void write_rows(size_t damaged, struct store_bytes value)
{
    static struct store_batch batch;
    loop_enter(stage.loop);
    store_batch_init(&batch, stage.loop, rows_written);
    store_delete_range(&batch, (struct store_bytes){"", 0}, (struct store_bytes){"", 0});
    for (size_t i = 0; i < row_count; i++)
        store_put(&batch, rows[i].key, i == damaged ? value : rows[i].value);
    store_commit(stage.store, &batch);
    loop_leave(stage.loop);
    stage_settle(&stage, 0);
}

static char kind_of_row(size_t row)
{
    return *(const char *)rows[row].key.bytes;
}

/* Whether it is of the thread, of its runs or of its requests. */
static bool damaged_row_is_of(size_t row, const char *thread, const char *run)
{
    char tenant[STORE_KEY_MAX], name[STORE_KEY_MAX];
    return key_names(rows[row].key, tenant, sizeof tenant, name, sizeof name) &&
           (strcmp(name, thread) == 0 || strcmp(name, run) == 0);
}

/* ---- two threads ------------------------------------------------------------------------------------------------- */

static char damaged_run[64], other_run[64], first_run[64];

static void end_s(void)
{
    struct script_call *call = script_find("s", NULL, -1);
    assert_non_null(call);
    INSIDE(&stage, script_write(call, "", "{\"log\":[\"s\"]}"));
}

static void update_as(const char *thread)
{
    Renga__V1__UpdateStateRequest request = RENGA__V1__UPDATE_STATE_REQUEST__INIT;
    request.thread_id = (char *)(uintptr_t)thread;
    request.update_json = (char *)(uintptr_t) "{\"x\":1}";
    request.as_node = (char *)(uintptr_t) "a";
    struct test_request *sent = ask_runner(&stage, &request);
    if (!answer_of(sent))
        fail_msg("%s", last_status.text);
    ask_end(sent);
}

static void damaged_live(const char *thread, char first[64], char last[64])
{
    snprintf(first, 64, "%s", start(&stage, thread, INPUT));
    end_s();
    assert_run(&stage, first, WAITING, "");
    assert_non_null(resume(&stage, first, "\"yes\""));
    assert_run(&stage, first, SUCCEEDED, "");
    update_as(thread);
    snprintf(last, 64, "%s", start(&stage, thread, INPUT));
    end_s();
    assert_run(&stage, last, WAITING, "");
}

static void damaged_set_stage(unsigned snapshot_every)
{
    char unused[64];
    stage_snapshot_every = snapshot_every;
    stage_set(&stage, GRAPH);
    damaged_live("t", first_run, damaged_run);
    damaged_live("u", unused, other_run);
    forget(&last_get);
    stage_end(&stage);
    damaged_take_rows();
}

static void clear_stage(void)
{
    for (size_t i = 0; i < row_count; i++) {
        free((void *)(uintptr_t)rows[i].key.bytes);
        free((void *)(uintptr_t)rows[i].value.bytes);
    }
    stage_run(&stage);
    stage_clear(&stage);
    if (stage_redis.pid)
        server_say(&stage_redis, "FLUSHALL");
    stage_snapshot_every = 0;
}

/* ---- requests ---------------------------------------------------------------------------------------------------- */

#define ANSWER_MAX 16384

struct heard {
    enum status_code code;
    char text[ANSWER_MAX]; /* the message, packed, as hexadecimal; or the error */
    char error[STATUS_TEXT_MAX];
};

static char told_row[ROW_NAME_MAX]; /* the row that is damaged, and how */
static const char *told_how = "";

static void damaged_ask(const void *request, struct heard *heard)
{
    struct test_request *sent = ask_runner(&stage, request);
    if (sent->answers != 1)
        fail_msg("%s %s: %s has %d answers", told_row, told_how, ((const ProtobufCMessage *)request)->descriptor->name,
                 sent->answers);
    const ProtobufCMessage *response = answer_of(sent);
    *heard = (struct heard){.code = last_status.code};
    snprintf(heard->error, sizeof heard->error, "%s", last_status.text);
    size_t size = response ? protobuf_c_message_get_packed_size(response) : 0;
    uint8_t *bytes = malloc(size + 1);
    if (response)
        protobuf_c_message_pack(response, bytes);
    for (size_t i = 0; i < size && 2 * i + 3 < ANSWER_MAX; i++)
        snprintf(heard->text + 2 * i, 3, "%02x", bytes[i]);
    free(bytes);
    ask_end(sent);
}

enum { GET_RUN, GET_FIRST_RUN, GET_STATE, CHECKPOINTS, LIST_RUNS, LIST_THREADS, QUESTIONS };

static void ask_one(int which, const char *thread, const char *run, struct heard *heard)
{
    Renga__V1__GetRunRequest get_run = RENGA__V1__GET_RUN_REQUEST__INIT;
    Renga__V1__GetStateRequest get_state = RENGA__V1__GET_STATE_REQUEST__INIT;
    Renga__V1__ListCheckpointsRequest checkpoints = RENGA__V1__LIST_CHECKPOINTS_REQUEST__INIT;
    Renga__V1__ListRunsRequest list_runs = RENGA__V1__LIST_RUNS_REQUEST__INIT;
    Renga__V1__ListThreadsRequest list_threads = RENGA__V1__LIST_THREADS_REQUEST__INIT;
    const void *requests[] = {&get_run, &get_run, &get_state, &checkpoints, &list_runs, &list_threads};
    get_run.run_id = which == GET_FIRST_RUN ? first_run : (char *)(uintptr_t)run;
    get_state.thread_id = checkpoints.thread_id = (char *)(uintptr_t)thread;
    damaged_ask(requests[which], heard);
}

static struct heard before[QUESTIONS], other_before;

static void damaged_learn_rows(void)
{
    stage_run(&stage);
    stage_settle(&stage, 0);
    for (int which = 0; which < QUESTIONS; which++) {
        ask_one(which, "t", damaged_run, &before[which]);
        assert_int_equal(before[which].code, OK);
    }
    ask_one(GET_STATE, "u", other_run, &other_before);
    stage_end(&stage);
}

#endif
