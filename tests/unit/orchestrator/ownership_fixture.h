/* Two orchestrators on one store, stepped by hand: who is not stepped is frozen. For tests with runner_fixture.h. */
#ifndef RENGA_OWNERSHIP_FIXTURE_H
#define RENGA_OWNERSHIP_FIXTURE_H

#include "runner_fixture.h"

#include "lifecycle/request_queue.h"
#include "thread/frame.h"
#include "thread/memory.h"
#include "thread/run.h"
#include "thread/shard.h"
#include "thread/thread.h"

#define LEASE_MS 2000
#define S        "\"kind\": \"script\""
#define LOG      "\"state\": {\"log\": {\"type\": \"string[]\", \"reduce\": \"append\"}},"
#define THREE                                                                                                          \
    LOG "\"start\": \"a\", \"nodes\": {\"a\": {" S ", \"on\": {\"done\": \"b\"}}, \"b\": {" S                          \
        ", \"on\": {\"done\": \"c\"}}, \"c\": {" S "}}"
#define SUM                                                                                                            \
    "\"state\": {\"n\": {\"type\": \"integer\", \"reduce\": \"sum\"}}, \"start\": \"a\", "                             \
    "\"nodes\": {\"a\": {\"kind\": \"set\", \"values\": {\"n\": 1}}}"

static struct stage one, two;

static inline void settle(void)
{
    for (int i = 0; i < 20; i++) {
        store_settle(one.store);
        loop_step(one.loop, 0);
        if (two.runner)
            loop_step(two.loop, 0);
    }
}

/* Time goes by for both. */
static inline void pass(int64_t ms)
{
    for (; ms > 0; ms -= 100) {
        loop_step(one.loop, 100);
        settle();
    }
}

/* Time goes by for all but one. */
static inline void pass_for(struct stage *stage, int64_t ms)
{
    for (; ms > 0; ms -= 100)
        stage_settle(stage, 100);
}

static inline void open_both(const char *document)
{
    stage_address = "one:1";
    stage_set(&one, document);
    two = one;
    two.loop = loop_create(1);
    stage_address = "two:2";
    stage_run(&two);
    INSIDE(&one, runner_recover(one.runner));
    INSIDE(&two, runner_recover(two.runner));
    pass(1000);
}

static inline bool nothing_runs(void)
{
    script_end_all();
    settle();
    return script_live == 0;
}

static inline void close_both(void)
{
    forget(&last_get);
    while (!nothing_runs())
        ;
    stage_end(&two);
    loop_destroy(&two.loop);
    stage_clear(&one);
    stage_address = NULL;
}

static inline const char *log_update(const char *word)
{
    static char update[64];
    snprintf(update, sizeof update, "{\"log\":[\"%s\"]}", word);
    return update;
}

/* The newest call of the node that runs there. */
static inline struct script_call *call_at(const struct stage *stage, const char *node)
{
    for (size_t i = script_count; i-- > 0;)
        if (script_calls[i].task && script_calls[i].loop == stage->loop && strcmp(script_calls[i].node, node) == 0)
            return &script_calls[i];
    fail_msg("node %s does not run there", node);
    return NULL;
}

static inline void write_at(struct stage *stage, const char *node, const char *word)
{
    struct script_call *call = call_at(stage, node);
    INSIDE(stage, script_write(call, "done", log_update(word)));
}

static inline const char *owner_of(struct stage *stage, const char *run_id)
{
    static char address[64];
    Renga__V1__GetRunRequest request = RENGA__V1__GET_RUN_REQUEST__INIT;
    request.run_id = (char *)(uintptr_t)run_id;
    struct test_request *sent = ask_runner(stage, &request);
    answer_of(sent);
    snprintf(address, sizeof address, "%s", sent->request.handoff_address ? sent->request.handoff_address : "");
    ask_end(sent);
    return address;
}

/* Asks there and, as the API does, where the thread is. */
static inline struct test_request *ask_wherever(struct stage *stage, const void *request)
{
    struct test_request *sent = ask_runner(stage, request);
    assert_int_equal(sent->answers, 1);
    if (!sent->request.handoff_address)
        return sent;
    assert_string_equal(sent->request.handoff_address, stage == &one ? "two:2" : "one:1");
    uint64_t token = sent->request.thread_token;
    ask_end(sent);
    stage = stage == &one ? &two : &one;
    sent = request_of_test(stage, request);
    sent->request.given = token;
    INSIDE(stage, runner_run(stage->runner, &sent->request));
    settle();
    return sent;
}

static inline uint64_t refused(void)
{
    struct store_stats stats;
    store_stats(one.store, &stats);
    return stats.aborted;
}

#endif
