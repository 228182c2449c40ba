/* A volume that becomes full while a run is at work: a waiting client does not hear that the run had no effect, and
 * with room the run goes on. The volume is ours: calls that would make files larger are refused. */
#include "unit.h"

#include "runner_fixture.h"

#include "base/log.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static atomic_bool full;

ssize_t pwrite64(int fd, const void *bytes, size_t size, off_t at)
{
    struct stat about;
    if (full && fstat(fd, &about) == 0 && at + (off_t)size > about.st_size) {
        errno = ENOSPC;
        return -1;
    }
    return syscall(SYS_pwrite64, fd, bytes, size, at);
}

static struct stage stage;

#define GRAPH                                                                                                          \
    "\"state\": {\"log\": {\"type\": \"string[]\", \"reduce\": \"append\"}}, \"start\": \"s\", "                       \
    "\"nodes\": {\"s\": {\"kind\": \"script\"}}"

static void set_stage_on_disk(void)
{
    char url[128];
    stage_set(&stage, GRAPH);
    stage_close(&stage);
    snprintf(url, sizeof url, "sqlite:%s/store.db", stage.house.root);
    stage_open(&stage, url);
}

static void end_with_much(struct script_call *call)
{
    static char update[1500000]; /* more than a log is written ahead */
    size_t size = (size_t)sprintf(update, "{\"log\":[\"");
    memset(update + size, 'x', sizeof update - size - 8);
    strcpy(update + sizeof update - 8, "\"]}");
    INSIDE(&stage, script_write(call, "", update));
}

static void a_run_whose_step_finds_no_room_was_not_left_undone(void **state)
{
    Renga__V1__StartRunRequest request = RENGA__V1__START_RUN_REQUEST__INIT;
    request.agent = (char *)(uintptr_t) "a";
    request.thread_id = (char *)(uintptr_t) "t";
    request.request_id = (char *)(uintptr_t) "once";
    request.wait = true;
    set_stage_on_disk();
    struct test_request *waits = ask_runner(&stage, &request);
    assert_int_equal(waits->answers, 0);
    full = true;
    end_with_much(script_find("s", NULL, -1));
    assert_null(answer_of(waits));
    assert_int_equal(last_status.code, UNAVAILABLE);
    assert_non_null(strstr(last_status.text, "may have been done: repeat it under its request_id"));
    ask_end(waits);
    full = false;
    struct test_request *again = ask_runner(&stage, &request);
    INSIDE(&stage, script_write(script_find("s", NULL, -1), "", "{\"log\":[\"b\"]}"));
    Renga__V1__StartRunResponse *response = answer_of(again);
    if (!response)
        fail_msg("%s", last_status.text);
    assert_true(response->repeated_request);
    assert_int_equal(response->run->state, SUCCEEDED);
    assert_string_equal(response->run->output_json, "{\"log\":[\"b\"]}");
    ask_end(again);
    stage_clear(&stage);
}

int main(void)
{
    log_configure("test", LOG_ERROR + 1, LOG_FORMAT_TEXT);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_whose_step_finds_no_room_was_not_left_undone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
