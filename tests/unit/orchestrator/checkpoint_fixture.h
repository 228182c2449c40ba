/* Runs and changes that begin at a checkpoint of thread "t", of an agent with the nodes a and b. For tests with
 * migrate_fixture.h. */
#ifndef RENGA_CHECKPOINT_FIXTURE_H
#define RENGA_CHECKPOINT_FIXTURE_H

#include "migrate_fixture.h"

#define STATE                                                                                                          \
    "\"state\": {\"log\": {\"type\": \"string[]\", \"reduce\": \"append\"}, \"n\": {\"type\": \"number\", "            \
    "\"reduce\": "                                                                                                     \
    "\"sum\"}}, "
#define AB                                                                                                             \
    STATE                                                                                                              \
    "\"start\": \"a\", \"nodes\": {\"a\": {\"kind\": \"set\", \"values\": {\"log\": [\"a\"]}, \"on\": {\"done\": "     \
    "\"b\"}}, \"b\": {\"kind\": \"script\"}}"

static inline char *state_of(const char *thread)
{
    static char text[512];
    Renga__V1__GetStateRequest request = RENGA__V1__GET_STATE_REQUEST__INIT;
    request.thread_id = (char *)(uintptr_t)thread;
    struct test_request *sent = ask_runner(&stage, &request);
    Renga__V1__GetStateResponse *response = answer_of(sent);
    snprintf(text, sizeof text, "%s", response ? response->state_json : last_status.text);
    ask_end(sent);
    return text;
}

/* In memory, and as the log has it. */
#define assert_state(wanted)                                                                                           \
    do {                                                                                                               \
        assert_string_equal(state_of("t"), wanted);                                                                    \
        restart();                                                                                                     \
        assert_string_equal(state_of("t"), wanted);                                                                    \
    } while (0)

static inline Renga__V1__StartRunRequest request_at(const char *checkpoint, const char *input,
                                                    Renga__V1__OnBusy on_busy)
{
    Renga__V1__StartRunRequest request = RENGA__V1__START_RUN_REQUEST__INIT;
    request.agent = (char *)(uintptr_t) "a";
    request.thread_id = (char *)(uintptr_t) "t";
    request.input_json = (char *)(uintptr_t)input;
    request.checkpoint_id = (char *)(uintptr_t)checkpoint;
    request.on_busy = on_busy;
    return request;
}

static inline Renga__V1__RunState began(const Renga__V1__StartRunRequest *request)
{
    struct test_request *sent = ask_runner(&stage, request);
    Renga__V1__StartRunResponse *response = answer_of(sent);
    if (!response)
        fail_msg("%s", last_status.text);
    Renga__V1__RunState is = get(&stage, response->run->run_id)->state;
    ask_end(sent);
    return is;
}

static inline void end_b(void)
{
    struct script_call *call = script_find("b", NULL, -1);
    assert_non_null(call);
    INSIDE(&stage, script_write(call, "", ""));
}

/* A run to its end; the checkpoint it made last. */
static inline char *go_through(const char *input)
{
    static char checkpoint[64];
    char *run = start(&stage, "t", input);
    end_b();
    assert_run(&stage, run, SUCCEEDED, "");
    snprintf(checkpoint, sizeof checkpoint, "%s", get(&stage, run)->checkpoint_id);
    return checkpoint;
}

static inline bool update_at(const char *checkpoint, const char *update)
{
    Renga__V1__UpdateStateRequest request = RENGA__V1__UPDATE_STATE_REQUEST__INIT;
    request.thread_id = (char *)(uintptr_t) "t";
    request.checkpoint_id = (char *)(uintptr_t)checkpoint;
    request.update_json = (char *)(uintptr_t)update;
    struct test_request *sent = ask_runner(&stage, &request);
    bool done = answer_of(sent) != NULL;
    ask_end(sent);
    return done;
}

#define ROLLBACK RENGA__V1__ON_BUSY__ON_BUSY_ROLLBACK

#endif
