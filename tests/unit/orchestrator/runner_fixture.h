/* A runner on loops that are stepped by hand, a store in memory or in a file, one agent from a document, and requests
 * to it. Include it after unit.h, once in a program. */
#ifndef RENGA_RUNNER_FIXTURE_H
#define RENGA_RUNNER_FIXTURE_H

#include "cluster/membership.h"
#include "script_fixture.h"

#include "base/clock.h"
#include "fanout/fanout_priv.h"
#include "log/keys.h"
#include "runtime/runner.h"
#include "thread/request.h"
#include "thread/runner_options.h"
#include "watch/watch.h"

#include <stdio.h>
#include <unistd.h>

/* ---- the stage --------------------------------------------------------------------------------------------------- */

struct stage {
    struct house house;
    struct loop *loop;   /* of all threads */
    struct loop *worker; /* that takes attempts; NULL: none */
    bool frozen;         /* it does not go round */
    struct fanout *fanout;
    struct store *store;
    struct runner *runner;
    char url[256];
};

static unsigned stage_snapshot_every;
static int64_t stage_thread_ttl_ms;
static unsigned stage_crashes_max;
static const char *stage_tenant = "tenant";
static bool stage_shares;                 /* with a worker */
static const char *stage_url = "memory:"; /* of the store; "sqlite:" is completed with a file among the agents */
static const char *stage_prompt;          /* the English text of the prompt "text"; NULL: no prompt */
static const char *stage_address;         /* of the store that orchestrators share; NULL: it is alone */
static size_t stage_message_max = (size_t)4 << 20;

static inline void stage_hire(struct stage *stage)
{
    struct status st = {0};
    stage->worker = loop_create(1);
    struct loop *loops[] = {stage->loop, stage->worker};
    struct fanout_options options = {
        .loops = loops, .loop_count = 2, .agents = stage->house.agents, .message_max = stage_message_max};
    stage->fanout = fanout_create(&options, &st);
    if (!stage->fanout)
        fail_msg("%s", st.text);
    for (int i = 0; i < 2; i++) {
        loop_enter(loops[i]);
        assert_true(fanout_join(stage->fanout, loops[i], &st));
        loop_leave(loops[i]);
    }
}

static inline void stage_run(struct stage *stage)
{
    struct status st = {0};
    struct runner_options options = {.loops = &stage->loop,
                                     .loop_count = 1,
                                     .fanout = stage->fanout,
                                     .store = stage->store,
                                     .agents = stage->house.agents,
                                     .owner = stage_address ? stage_address : "test",
                                     .shared = stage_address != NULL,
                                     .address = stage_address,
                                     .crashes_max = stage_crashes_max,
                                     .lease_ms = 2000,
                                     .snapshot_every = stage_snapshot_every,
                                     .thread_ttl_ms = stage_thread_ttl_ms,
                                     .sweep_every_ms = 60000};
    stage->runner = runner_create(&options, &st);
    assert_non_null(stage->runner);
}

static inline void stage_open(struct stage *stage, const char *url)
{
    struct status st = {0};
    snprintf(stage->url, sizeof stage->url, "%s", url);
    stage->loop = loop_create(0);
    stage->store = store_open(url, &st);
    if (!stage->store)
        fail_msg("%s", st.text);
    if (stage_shares)
        stage_hire(stage);
    stage_run(stage);
}

static inline void stage_settle(struct stage *stage, int64_t ms)
{
    loop_step(stage->loop, ms);
    for (int i = 0; i < 20; i++) {
        store_settle(stage->store);
        loop_step(stage->loop, 0);
        if (stage->worker && !stage->frozen)
            loop_step(stage->worker, 0);
    }
}

/* Mail between loops goes by threads that no step can push: until `condition` holds. */
#define STAGE_AWAIT(stage, condition)                                                                                  \
    do {                                                                                                               \
        bool met_ = condition;                                                                                         \
        for (int tries_ = 0; tries_ < 50000 && !met_; tries_++) {                                                      \
            usleep(100);                                                                                               \
            stage_settle(stage, 0);                                                                                    \
            met_ = condition;                                                                                          \
        }                                                                                                              \
        if (!met_)                                                                                                     \
            fail_msg("waited in vain for %s", #condition);                                                             \
    } while (0)

/* The same while time passes: a beat of the fan-out at each try. */
#define STAGE_AWAIT_BEATS(stage, condition)                                                                            \
    do {                                                                                                               \
        for (int beats_ = 0; beats_ < 10000 && !(condition); beats_++) {                                               \
            stage_settle(stage, FANOUT_HEARTBEAT_MS);                                                                  \
            usleep(100);                                                                                               \
        }                                                                                                              \
        if (!(condition))                                                                                              \
            fail_msg("waited in vain for %s", #condition);                                                             \
    } while (0)

/* The worker as the loop of all threads sees it. */
static inline struct peer *stage_peer(struct stage *stage)
{
    return &stage->fanout->endpoints[0].peers[1];
}

/* Both loops have asked the other for work. */
static inline void stage_await_hands(struct stage *stage)
{
    const struct fanout_endpoint *endpoints = stage->fanout->endpoints;
    STAGE_AWAIT(stage, endpoints[0].peers[1].asked && endpoints[1].peers[0].asked);
}

static inline void stage_end(struct stage *stage)
{
    runner_destroy(&stage->runner);
    fanout_destroy(&stage->fanout);
    for (int i = 0; i < 3; i++) {
        store_settle(stage->store);
        loop_step(stage->loop, 0);
    }
}

static inline void stage_close(struct stage *stage)
{
    stage_end(stage);
    store_close(&stage->store);
    loop_step(stage->loop, 0);
    loop_destroy(&stage->loop);
    loop_destroy(&stage->worker);
}

/* One agent, "a", of this document without its name. */
static inline void stage_set(struct stage *stage, const char *document)
{
    char *whole = malloc(strlen(document) + 32);
    sprintf(whole, "{\"agent\": \"a\", %s}", document);
    memset(stage, 0, sizeof *stage);
    stage->house = house_open();
    house_write(&stage->house, "a/graph.json", whole);
    if (stage_prompt)
        house_write(&stage->house, "a/prompts/en/text.md", stage_prompt);
    house_load(&stage->house);
    free(whole);
    struct status st = {0};
    struct agent *agent = agents_find(stage->house.agents, "a", NULL, &st);
    if (!agent)
        fail_msg("%s", st.text);
    agent_release(stage->house.agents, agent);
    script_count = script_live = script_peak = 0;
    script_begins = NULL;
    script_lingers = false;
    char url[256];
    bool is_file = strcmp(stage_url, "sqlite:") == 0;
    snprintf(url, sizeof url, "%s%s%s", stage_url, is_file ? stage->house.root : "", is_file ? "/store.db" : "");
    stage_open(stage, url);
}

/* Ends what is at work; also what arrives elsewhere while the first are ended. */
static inline bool stage_ends(struct stage *stage)
{
    script_end_all();
    stage_settle(stage, 0);
    return script_live == 0 && fanout_dispatched(stage->fanout) == 0;
}

static inline void stage_clear(struct stage *stage)
{
    stage->frozen = false;
    STAGE_AWAIT(stage, stage_ends(stage));
    stage_close(stage);
    house_close(&stage->house);
}

/* From inside the loop. */
#define INSIDE(stage, statement)                                                                                       \
    do {                                                                                                               \
        loop_enter((stage)->loop);                                                                                     \
        statement;                                                                                                     \
        loop_leave((stage)->loop);                                                                                     \
        stage_settle(stage, 0);                                                                                        \
    } while (0)

/* ---- requests ---------------------------------------------------------------------------------------------------- */

struct test_request {
    struct request request;
    struct arena arena;
    int answers;
};

static inline void asked_back(struct request *request)
{
    ((struct test_request *)request->owner)->answers++;
}

/* For runner_run. */
static inline struct test_request *request_of_test(struct stage *stage, const void *request)
{
    struct test_request *sent = calloc(1, sizeof *sent);
    arena_init(&sent->arena, NULL, 0, (size_t)64 << 20);
    sent->request = (struct request){.loop = stage->loop,
                                     .tenant = stage_tenant,
                                     .message = request,
                                     .arena = &sent->arena,
                                     .answered = asked_back,
                                     .owner = sent};
    return sent;
}

/* On its way; nothing of it has been read or written. `drawn`: as if its thread's name had been drawn just now. */
static inline struct test_request *send_to_runner(struct stage *stage, const void *request, bool drawn)
{
    struct test_request *sent = request_of_test(stage, request);
    loop_enter(stage->loop);
    runner_run(stage->runner, &sent->request);
    sent->request.drawn |= drawn;
    loop_leave(stage->loop);
    return sent;
}

static inline struct test_request *ask_runner(struct stage *stage, const void *request)
{
    struct test_request *sent = send_to_runner(stage, request, false);
    stage_settle(stage, 0);
    return sent;
}

static inline void ask_end(struct test_request *sent)
{
    assert_int_equal(sent->answers, 1);
    arena_fini(&sent->arena);
    free(sent);
}

/* The answer's run, copied to the heap for good; the status where it failed. */
static struct status last_status;
static char last_reason[64];
static inline void *answer_of(struct test_request *sent)
{
    if (sent->answers != 1)
        fail_msg("answered %d times", sent->answers);
    last_status = sent->request.status;
    snprintf(last_reason, sizeof last_reason, "%s", sent->request.reason ? sent->request.reason : "");
    return sent->request.response;
}

/* What is answered lives until the next request of the same kind. */
static inline void forget(struct test_request **last)
{
    if (*last)
        ask_end(*last);
    *last = NULL;
}

static inline void *ask_last(struct test_request **last, struct stage *stage, const void *request)
{
    forget(last);
    *last = ask_runner(stage, request);
    return answer_of(*last);
}

static inline struct test_request *start_with(struct stage *stage, Renga__V1__StartRunRequest *request,
                                              const char *thread, const char *input)
{
    request->agent = (char *)(uintptr_t) "a";
    request->thread_id = (char *)(uintptr_t)thread;
    request->input_json = (char *)(uintptr_t)input;
    return ask_runner(stage, request);
}

/* Starts in the background; the run's id, on the heap (a leak of the test's). */
static inline char *start(struct stage *stage, const char *thread, const char *input)
{
    Renga__V1__StartRunRequest request = RENGA__V1__START_RUN_REQUEST__INIT;
    struct test_request *sent = start_with(stage, &request, thread, input);
    Renga__V1__StartRunResponse *response = answer_of(sent);
    if (!response)
        fail_msg("%s: %s", status_code_name((int)last_status.code), last_status.text);
    static char ids[64][64];
    static unsigned next;
    char *id = ids[next++ % 64];
    snprintf(id, 64, "%s", response ? response->run->run_id : "");
    ask_end(sent);
    return id;
}

/* The run as it is; the message lives until the next call. */
static struct test_request *last_get;
static inline Renga__V1__Run *get(struct stage *stage, const char *run_id)
{
    Renga__V1__GetRunRequest request = RENGA__V1__GET_RUN_REQUEST__INIT;
    request.run_id = (char *)(uintptr_t)run_id;
    Renga__V1__GetRunResponse *response = ask_last(&last_get, stage, &request);
    return response ? response->run : NULL;
}

static inline Renga__V1__Run *resume(struct stage *stage, const char *run_id, const char *answer)
{
    Renga__V1__ResumeRunRequest request = RENGA__V1__RESUME_RUN_REQUEST__INIT;
    request.run_id = (char *)(uintptr_t)run_id;
    if (answer) {
        request.maybe_answer_json_case = RENGA__V1__RESUME_RUN_REQUEST__MAYBE_ANSWER_JSON_ANSWER_JSON;
        request.answer_json = (char *)(uintptr_t)answer;
    }
    Renga__V1__ResumeRunResponse *response = ask_last(&last_get, stage, &request);
    return response ? response->run : NULL;
}

static inline Renga__V1__Run *resume_by_id(struct stage *stage, const char *run_id, const char *interrupt,
                                           const char *answer)
{
    Renga__V1__ResumeRunRequest request = RENGA__V1__RESUME_RUN_REQUEST__INIT;
    Renga__V1__InterruptAnswer one = RENGA__V1__INTERRUPT_ANSWER__INIT, *list[] = {&one};
    request.run_id = (char *)(uintptr_t)run_id;
    one.interrupt_id = (char *)(uintptr_t)interrupt;
    one.answer_json = (char *)(uintptr_t)answer;
    request.answers = list;
    request.n_answers = 1;
    Renga__V1__ResumeRunResponse *response = ask_last(&last_get, stage, &request);
    return response ? response->run : NULL;
}

/* The state at a checkpoint ("": the newest), in a static buffer; where there is none, the status' text. */
static inline char *get_state(struct stage *stage, const char *thread, const char *checkpoint)
{
    static char text[512];
    Renga__V1__GetStateRequest request = RENGA__V1__GET_STATE_REQUEST__INIT;
    request.thread_id = (char *)(uintptr_t)thread;
    request.checkpoint_id = (char *)(uintptr_t)checkpoint;
    struct test_request *sent = ask_runner(stage, &request);
    Renga__V1__GetStateResponse *response = answer_of(sent);
    snprintf(text, sizeof text, "%s", response ? response->state_json : last_status.text);
    ask_end(sent);
    return text;
}

static inline void cancel(struct stage *stage, const char *run_id)
{
    Renga__V1__CancelRunRequest request = RENGA__V1__CANCEL_RUN_REQUEST__INIT;
    request.run_id = (char *)(uintptr_t)run_id;
    ask_end(ask_runner(stage, &request));
}

#define SUCCEEDED RENGA__V1__RUN_STATE__RUN_STATE_SUCCEEDED
#define FAILED    RENGA__V1__RUN_STATE__RUN_STATE_FAILED
#define RUNNING   RENGA__V1__RUN_STATE__RUN_STATE_RUNNING
#define WAITING   RENGA__V1__RUN_STATE__RUN_STATE_WAITING
#define STOPPED   RENGA__V1__RUN_STATE__RUN_STATE_CANCELLED
#define QUEUED    RENGA__V1__RUN_STATE__RUN_STATE_QUEUED

#define assert_run(stage, id, wanted, output)                                                                          \
    do {                                                                                                               \
        Renga__V1__Run *run_ = get(stage, id);                                                                         \
        assert_non_null(run_);                                                                                         \
        if (run_->state != (wanted))                                                                                   \
            fail_msg("state %d, wanted %d: %s", (int)run_->state, (int)(wanted), run_->stop_text);                     \
        if (*(output))                                                                                                 \
            assert_string_equal(run_->output_json, output);                                                            \
    } while (0)

/* ---- rows of the store ------------------------------------------------------------------------------------------- */

struct stage_counting {
    struct store_scan scan;
    size_t count;
    bool came;
};

static inline void stage_counted(struct store_scan *scan)
{
    struct stage_counting *counting = (struct stage_counting *)scan;
    counting->came = true;
    counting->count = scan->count;
    store_scan_fini(scan);
}

static inline size_t stage_rows(struct stage *stage, enum key_kind kind)
{
    struct stage_counting counting = {0};
    struct key from = {.size = 1, .bytes = {(char)kind}}, to = {.size = 1, .bytes = {(char)(kind + 1)}};
    loop_enter(stage->loop);
    store_scan_init(&counting.scan, stage->loop, stage_counted);
    counting.scan.from = key_bytes(&from);
    counting.scan.to = key_bytes(&to);
    store_scan(stage->store, &counting.scan);
    loop_leave(stage->loop);
    stage_settle(stage, 0);
    assert_true(counting.came);
    return counting.count;
}

#endif
