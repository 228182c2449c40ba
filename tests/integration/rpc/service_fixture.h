/* Calls to the probe service, on the in-process twin and over gRPC. Include it instead of cmocka.h, and after all else
 * of ours. */
#ifndef RENGA_TESTS_RPC_SERVICE_FIXTURE_H
#define RENGA_TESTS_RPC_SERVICE_FIXTURE_H

#include "base/budget.h"
#include "base/clock.h"
#include "loop/loop.h"
#include "probe.h"
#include "probe.pb-c.h"
#include "rpc/channel.h"
#include "rpc/rpc.h"
#include "rpc/runtime.h"
#include "rpc/schema.h"
#include "rpc/server.h"

#include <errno.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define LOOPS    2
#define WAIT_SEC 20
#define ANSWERS  ((size_t)64 << 20) /* bytes that answers may hold; large ones half of them */

static struct loop *loops[LOOPS];
static ProtobufCService *probes[LOOPS];
static struct rpc_schema *schema;
static struct rpc_server *server;
static struct rpc_channel *channel;
static ProtobufCService *stub;
static struct budget answers;

/* ---- a call as a test makes it ---------------------------------------------------------------------------------- */

struct ask {
    struct work work, later; /* starts it; cancels or resumes it */
    struct rpc_client_call call;
    void (*start)(struct ask *ask);
    void (*came)(struct ask *ask, const Renga__Test__CountResponse *message);
    const void *request;
    sem_t done;
    bool answered, inside, ran_inside;
    /* what was answered */
    char text[512], traceparent[64], initial[64];
    uint8_t trailing[16];
    size_t trailing_size, payload_size;
    int64_t messages, last_index, deadline_left_ms;
    bool in_order, began, cancelled;
    int64_t after_us;
};

static inline void ended(struct ask *ask)
{
    ask->ran_inside |= ask->inside;
    sem_post(&ask->done);
}

static inline void echoed(const Renga__Test__EchoResponse *response, void *data)
{
    struct ask *ask = ((struct rpc_client_call *)data)->owner;
    if (response) {
        ask->answered = true;
        snprintf(ask->text, sizeof ask->text, "%s", response->text);
        snprintf(ask->traceparent, sizeof ask->traceparent, "%s", response->traceparent);
        ask->payload_size = response->payload.len;
        ask->deadline_left_ms = response->deadline_left_ms;
        size_t size;
        const void *initial = rpc_client_call_metadata(&ask->call, "probe-initial", &size);
        if (initial)
            memcpy(ask->initial, initial, size);
        const void *trailing = rpc_client_call_metadata(&ask->call, "probe-trailing-bin", &size);
        if (trailing)
            memcpy(ask->trailing, trailing, ask->trailing_size = size);
    }
    ended(ask);
}

static inline void slept(const Renga__Test__SleepResponse *response, void *data)
{
    struct ask *ask = ((struct rpc_client_call *)data)->owner;
    ask->answered = response != NULL;
    ended(ask);
}

static inline void was_noticed(const Renga__Test__NoticedResponse *response, void *data)
{
    struct ask *ask = ((struct rpc_client_call *)data)->owner;
    if (response) {
        ask->answered = true;
        ask->began = response->began;
        ask->cancelled = response->cancelled;
        ask->after_us = response->after_us;
    }
    ended(ask);
}

static inline void counted(const Renga__Test__CountResponse *message, void *data)
{
    struct ask *ask = ((struct rpc_client_call *)data)->owner;
    if (!message) {
        ended(ask);
        return;
    }
    ask->ran_inside |= ask->inside;
    ask->in_order &= message->index == ask->messages;
    ask->messages++;
    if (ask->came)
        ask->came(ask, message);
}

#define STARTS(method, answered)                                                                                       \
    static inline void start_##method(struct ask *ask)                                                                 \
    {                                                                                                                  \
        renga__test__probe__##method(stub, ask->request, answered, &ask->call);                                        \
    }
STARTS(echo, echoed)
STARTS(fail, echoed)
STARTS(sleep, slept)
STARTS(forward, slept)
STARTS(stick, slept)
STARTS(release, slept)
STARTS(noticed, was_noticed)
STARTS(count, counted)

static inline void begin(struct work *work)
{
    struct ask *ask = (struct ask *)work;
    ask->inside = true;
    ask->start(ask);
    ask->inside = false;
}

static inline void prepare(struct ask *ask, void (*start)(struct ask *ask), const void *request)
{
    memset(ask, 0, sizeof *ask);
    ask->work.run = begin;
    ask->start = start;
    ask->request = request;
    ask->in_order = true;
    rpc_client_call_init(&ask->call, loops[0], NULL);
    ask->call.owner = ask;
    sem_init(&ask->done, 0, 0);
}

static inline void wait_for(struct ask *ask)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += WAIT_SEC;
    int result;
    while ((result = sem_timedwait(&ask->done, &until)) != 0 && errno == EINTR)
        continue;
    assert_int_equal(result, 0);
    assert_false(ask->ran_inside);
}

static inline void run_prepared(struct ask *ask)
{
    loop_post(loops[0], &ask->work);
    wait_for(ask);
}

static inline void run(struct ask *ask, void (*start)(struct ask *ask), const void *request)
{
    prepare(ask, start, request);
    run_prepared(ask);
}

static inline void cancel(struct work *work)
{
    struct ask *ask = CONTAINER_OF(work, struct ask, later);
    ask->inside = true;
    rpc_client_call_cancel(&ask->call);
    ask->inside = false;
}

static inline void cancel_soon(struct ask *ask, unsigned after_ms)
{
    usleep(after_ms * 1000);
    ask->later.run = cancel;
    loop_post(loops[0], &ask->later);
}

/* Asks until the handler has noticed its cancellation, or 2 s are over. */
static inline void notice(struct ask *ask, const char *key)
{
    Renga__Test__NoticedRequest request = RENGA__TEST__NOTICED_REQUEST__INIT;
    request.key = (char *)(uintptr_t)key;
    for (int tries = 0; tries < 200; tries++) {
        run(ask, start_noticed, &request);
        if (ask->cancelled)
            return;
        usleep(10000);
    }
}

/* A key that no other test has used. */
static inline char *fresh_key(void)
{
    static char key[32];
    static int keys;
    snprintf(key, sizeof key, "key %d", ++keys);
    return key;
}

/* ---- the two ways ----------------------------------------------------------------------------------------------- */

static inline int start_loops(void **state)
{
    struct status st = {0};
    schema = probe_schema();
    budget_init(&answers, ANSWERS);
    for (unsigned i = 0; i < LOOPS; i++) {
        loops[i] = loop_create(i);
        probes[i] = probe_create(loops[i], NULL);
        if (!loop_start(loops[i], &st))
            return -1;
    }
    return 0;
}

static inline void hand_stub_to_probes(void)
{
    for (unsigned i = 0; i < LOOPS; i++)
        probe_set_next(probes[i], stub);
}

static inline int set_up_local(void **state)
{
    if (start_loops(state) != 0)
        return -1;
    stub = rpc_local_stub(schema, probes, 0, &answers);
    hand_stub_to_probes();
    return 0;
}

static inline int set_up_remote(void **state)
{
    struct status st = {0};
    if (start_loops(state) != 0 || !rpc_start(loops, LOOPS, &st))
        return -1;
    struct rpc_server_options options = {
        .loops = loops, .loop_count = LOOPS, .schema = schema, .listen = "127.0.0.1:0", .answers = &answers};
    server = rpc_server_create(&options, &st);
    rpc_server_add(server, probes);
    if (!rpc_server_start(server, &st))
        return -1;
    char target[64];
    snprintf(target, sizeof target, "ipv4:127.0.0.1:%d", rpc_server_port(server));
    channel = rpc_channel_create(&(struct rpc_channel_options){.schema = schema, .target = target}, &st);
    stub = rpc_channel_stub(channel, probes[0]->descriptor, &st);
    hand_stub_to_probes();
    return 0;
}

static inline int tear_down(void **state)
{
    bool remote = server != NULL;
    rpc_server_destroy(&server);
    protobuf_c_service_destroy(stub);
    rpc_channel_destroy(&channel);
    if (remote)
        rpc_stop();
    for (unsigned i = 0; i < LOOPS; i++) {
        loop_stop(loops[i]);
        probe_destroy(probes[i]);
        loop_destroy(&loops[i]);
    }
    rpc_schema_destroy(&schema);
    budget_fini(&answers);
    return 0;
}

/* Stands behind all tests of a list: of calls that were answered, refused, cancelled and cut. */
static inline void no_answer_holds_memory_afterwards(void **state)
{
    for (int tries = 0; budget_used(&answers) && tries < WAIT_SEC * 100; tries++)
        usleep(10000);
    assert_int_equal(budget_used(&answers), 0);
}

/* Every test twice. */
#define RUN_BOTH_WAYS(tests)                                                                                           \
    (cmocka_run_group_tests_name("in this process", tests, set_up_local, tear_down) +                                  \
     cmocka_run_group_tests_name("over gRPC", tests, set_up_remote, tear_down))

#endif
