/* The same tests of the tool-runner twice: called in this process, and over gRPC. */
#include "base/clock.h"
#include "base/log.h"
#include "http/client.h"
#include "proto/descriptor_set.h"
#include "rpc/channel.h"
#include "rpc/rpc.h"
#include "rpc/runtime.h"
#include "rpc/schema.h"
#include "rpc/server.h"
#include "telemetry/metrics.h"
#include "tool_runner.h"

#include "renga/v1/tool_runner.pb-c.h"

#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "unit.h"

#define WAIT_S 60
#define LOOPS  2

/* ---- the house --------------------------------------------------------------------------------------------------- */

static struct {
    struct loop *loops[LOOPS];
    struct http_client *http[LOOPS];
    ProtobufCService *instances[LOOPS];
    struct metrics *metrics;
    struct config *config;
    struct rpc_schema *schema;
    struct rpc_server *server;
    struct rpc_channel *channel;
    ProtobufCService *local, *remote, *stub; /* stub: the way that is being tested */
    char document[64];
} house;

static void write_document(void)
{
    strcpy(house.document, "/tmp/renga-mcp-XXXXXX");
    int fd = mkstemp(house.document);
    FILE *file = fdopen(fd, "w");
    fprintf(file, "{\"mcpServers\": {\"odd\": {\"command\": \"%s\", \"args\": [\"%s\"]}}}", PYTHON, ODD);
    fclose(file);
}

static void configure(void)
{
    struct status st = {0};
    char mcp[128];
    const struct option *tables[] = {tool_runner_service.options};
    snprintf(mcp, sizeof mcp, "--tool_runner.mcp=%s", house.document);
    char record[] = "--tool_runner.record=memory:", name[] = "test", *arguments[] = {name, mcp, record, NULL};
    house.config = config_create(tables, 1, &st);
    if (!house.config || !config_read(house.config, 3, arguments, &st))
        fatal("test.config", "%s", st.text);
}

static void create_instance(unsigned i)
{
    struct status st = {0};
    struct http_client_options options = {0};
    loop_enter(house.loops[i]);
    house.http[i] = http_client_create(house.loops[i], &options);
    struct service_context context = {.config = house.config,
                                      .loop = house.loops[i],
                                      .schema = house.schema,
                                      .instances = house.instances,
                                      .http = house.http[i],
                                      .metrics = house.metrics};
    house.instances[i] = tool_runner_service.create(&context, &st);
    loop_leave(house.loops[i]);
    if (!house.instances[i])
        fatal("test.create", "%s", st.text);
}

static void serve(void)
{
    struct status st = {0};
    char target[64];
    struct rpc_server_options options = {
        .loops = house.loops, .loop_count = LOOPS, .schema = house.schema, .listen = "127.0.0.1:0"};
    if (!rpc_start(house.loops, LOOPS, &st) || !(house.server = rpc_server_create(&options, &st)))
        fatal("test.serve", "%s", st.text);
    rpc_server_add(house.server, house.instances);
    if (!rpc_server_start(house.server, &st))
        fatal("test.serve", "%s", st.text);
    snprintf(target, sizeof target, "ipv4:127.0.0.1:%d", rpc_server_port(house.server));
    struct rpc_channel_options channel = {.schema = house.schema, .target = target};
    house.channel = rpc_channel_create(&channel, &st);
    house.remote = rpc_channel_stub(house.channel, house.instances[0]->descriptor, &st);
    house.local = rpc_local_stub(house.schema, house.instances, 0, NULL);
}

static void move_in(void)
{
    struct status st = {0};
    signal(SIGPIPE, SIG_IGN);
    log_configure("test", LOG_ERROR, LOG_FORMAT_TEXT);
    write_document();
    configure();
    house.metrics = metrics_create(LOOPS);
    house.schema = rpc_schema_load(renga_descriptor_set, renga_descriptor_set_size, &st);
    for (unsigned i = 0; i < LOOPS; i++) {
        house.loops[i] = loop_create(i);
        assert_true(loop_start(house.loops[i], &st));
    }
    for (unsigned i = 0; i < LOOPS; i++)
        create_instance(i);
    serve();
}

static void move_out(void)
{
    protobuf_c_service_destroy(house.local);
    protobuf_c_service_destroy(house.remote);
    rpc_channel_destroy(&house.channel);
    rpc_server_destroy(&house.server);
    for (unsigned i = 0; i < LOOPS; i++) {
        loop_enter(house.loops[i]);
        tool_runner_service.destroy(house.instances[i]);
        loop_leave(house.loops[i]);
    }
    for (unsigned i = 0; i < LOOPS; i++) {
        loop_enter(house.loops[i]);
        http_client_destroy(&house.http[i]);
        loop_leave(house.loops[i]);
    }
    rpc_stop();
    for (unsigned i = 0; i < LOOPS; i++) {
        loop_stop(house.loops[i]);
        loop_destroy(&house.loops[i]);
    }
    metrics_destroy(&house.metrics);
    rpc_schema_destroy(&house.schema);
    config_destroy(house.config);
    unlink(house.document);
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

struct answer {
    struct rpc_client_call call;
    sem_t done;
    struct status status;
    ProtobufCMessage *message; /* NULL: it failed */
};

static void answered(const ProtobufCMessage *message, void *data)
{
    struct answer *answer = ((struct rpc_client_call *)data)->owner;
    if (message) {
        size_t size = protobuf_c_message_get_packed_size(message);
        uint8_t *bytes = malloc(size + 1);
        protobuf_c_message_pack(message, bytes);
        answer->message = protobuf_c_message_unpack(message->descriptor, NULL, size, bytes);
        free(bytes);
    }
    answer->status = answer->call.status;
    sem_post(&answer->done);
}

static void begin(struct answer *answer, const char *method, const ProtobufCMessage *request)
{
    const ProtobufCServiceDescriptor *descriptor = house.stub->descriptor;
    unsigned index = 0;
    while (strcmp(descriptor->methods[index].name, method) != 0)
        index++;
    *answer = (struct answer){0};
    sem_init(&answer->done, 0, 0);
    loop_enter(house.loops[0]);
    rpc_client_call_init(&answer->call, house.loops[0], NULL);
    answer->call.timeout_ms = WAIT_S * 1000;
    answer->call.owner = answer;
    house.stub->invoke(house.stub, index, request, answered, &answer->call);
    loop_leave(house.loops[0]);
}

static void await(struct answer *answer)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += WAIT_S;
    assert_int_equal(sem_timedwait(&answer->done, &until), 0);
    sem_destroy(&answer->done);
}

static void answer_free(struct answer *answer)
{
    if (answer->message)
        protobuf_c_message_free_unpacked(answer->message, NULL);
}

#define CALLS_MAX 8

struct request {
    Renga__V1__RunToolsRequest asked;
    Renga__V1__ToolInvocation invocations[CALLS_MAX], *list[CALLS_MAX];
    Renga__V1__ToolCall calls[CALLS_MAX];
    Renga__V1__CallOrigin origin;
    char ids[CALLS_MAX][8];
};

static void request_init(struct request *request, const char *key)
{
    renga__v1__run_tools_request__init(&request->asked);
    renga__v1__call_origin__init(&request->origin);
    request->origin.thread_id = (char *)(uintptr_t) "thread";
    request->origin.run_id = (char *)(uintptr_t) "run";
    request->asked.origin = &request->origin;
    request->asked.calls = request->list;
    request->asked.idempotency_key = (char *)(uintptr_t)key;
}

static void add(struct request *request, const char *name, const char *arguments)
{
    size_t i = request->asked.n_calls++;
    renga__v1__tool_invocation__init(&request->invocations[i]);
    renga__v1__tool_call__init(&request->calls[i]);
    snprintf(request->ids[i], sizeof request->ids[i], "c%zu", i);
    request->calls[i].id = request->ids[i];
    request->calls[i].name = (char *)(uintptr_t)name;
    request->calls[i].arguments_json = (char *)(uintptr_t)arguments;
    request->invocations[i].call = &request->calls[i];
    request->list[i] = &request->invocations[i];
}

/* A key that no test has had before, in either way. */
static const char *new_key(void)
{
    static char key[32];
    static int count;
    snprintf(key, sizeof key, "key %d", count++);
    return key;
}

static const Renga__V1__RunToolsResponse *run(struct answer *answer, const struct request *request)
{
    begin(answer, "RunTools", &request->asked.base);
    await(answer);
    return (const Renga__V1__RunToolsResponse *)answer->message;
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static void tools_of_ours_and_of_servers_are_listed_by_name(void **state)
{
    struct answer answer;
    Renga__V1__ListToolsRequest request = RENGA__V1__LIST_TOOLS_REQUEST__INIT;
    begin(&answer, "ListTools", &request.base);
    await(&answer);
    const Renga__V1__ListToolsResponse *list = (const Renga__V1__ListToolsResponse *)answer.message;
    assert_non_null(list);
    assert_int_equal(list->n_degradations, 0);
    assert_true(list->n_tools > 10);
    for (size_t i = 1; i < list->n_tools; i++)
        assert_true(strcmp(list->tools[i - 1]->definition->name, list->tools[i]->definition->name) < 0);
    answer_free(&answer);
}

static void calls_end_each_for_itself_and_again_from_the_record(void **state)
{
    struct answer first, second;
    struct request request = {0};
    request_init(&request, new_key());
    add(&request, "calculate", "{\"expression\": \"1 + 1\"}");
    add(&request, "odd__parts", "{}");
    add(&request, "clock", "{\"time_zone\": \"Mars/Olympus\"}");
    add(&request, "cloc", "{}");
    const Renga__V1__RunToolsResponse *response = run(&first, &request);
    assert_non_null(response);
    assert_int_equal(response->n_results, 4);
    assert_string_equal(response->results[0]->text, "2");
    assert_string_equal(response->results[0]->structured_json, "{\"result\":2}");
    assert_contains(response->results[1]->text, "inside");
    assert_int_equal(response->results[2]->status_code, INVALID_ARGUMENT);
    assert_contains(response->results[2]->message, "Mars/Olympus");
    assert_int_equal(response->results[3]->status_code, NOT_FOUND);
    response = run(&second, &request);
    assert_non_null(response);
    for (size_t i = 0; i < 3; i++)
        assert_true(response->results[i]->recorded);
    assert_contains(response->results[1]->text, "inside");
    assert_false(response->results[3]->recorded);
    answer_free(&first);
    answer_free(&second);
}

static void a_wrong_request_names_its_field(void **state)
{
    struct answer answer;
    struct request request = {0};
    request_init(&request, "");
    add(&request, "clock", "{}");
    assert_null(run(&answer, &request));
    assert_int_equal(answer.status.code, INVALID_ARGUMENT);
    assert_contains(answer.status.text, "idempotency_key");
}

static void who_leaves_stops_what_runs_and_may_come_back(void **state)
{
    struct answer answer;
    struct request request = {0};
    request_init(&request, new_key());
    add(&request, "odd__slow", "{\"ms\": 30000}");
    begin(&answer, "RunTools", &request.asked.base);
    usleep(50000);
    loop_enter(house.loops[0]);
    rpc_client_call_cancel(&answer.call);
    loop_leave(house.loops[0]);
    await(&answer);
    assert_int_equal(answer.status.code, CANCELLED);
    request.calls[0].arguments_json = (char *)(uintptr_t) "{\"ms\": 1}";
    const Renga__V1__RunToolsResponse *response = run(&answer, &request);
    assert_non_null(response);
    assert_int_equal(response->results[0]->status_code, OK);
    assert_false(response->results[0]->recorded);
    answer_free(&answer);
}

static void many_at_once_with_few_keys_each_run_once(void **state)
{
    enum { CALLERS = 64, KEYS = 4 };
    static struct answer answers[CALLERS];
    static char keys[KEYS][32];
    struct request request = {0};
    size_t recorded = 0;
    for (int i = 0; i < KEYS; i++)
        snprintf(keys[i], sizeof keys[i], "%s", new_key());
    for (int i = 0; i < CALLERS; i++) {
        request = (struct request){0};
        request_init(&request, keys[i % KEYS]);
        add(&request, "odd__slow", "{\"ms\": 20}");
        add(&request, "calculate", "{\"expression\": \"6 * 7\"}");
        begin(&answers[i], "RunTools", &request.asked.base);
    }
    for (int i = 0; i < CALLERS; i++) {
        await(&answers[i]);
        const Renga__V1__RunToolsResponse *response = (const Renga__V1__RunToolsResponse *)answers[i].message;
        assert_non_null(response);
        assert_string_equal(response->results[0]->text, "done");
        assert_string_equal(response->results[1]->text, "42");
        recorded += response->results[0]->recorded;
        answer_free(&answers[i]);
    }
    assert_int_equal(recorded, CALLERS - KEYS);
}

static void a_forgotten_thread_is_run_anew(void **state)
{
    struct answer answer;
    struct request request = {0};
    Renga__V1__ForgetThreadRequest forget = RENGA__V1__FORGET_THREAD_REQUEST__INIT;
    char key[32];
    snprintf(key, sizeof key, "%s", new_key());
    request_init(&request, key);
    request.origin.thread_id = key;
    add(&request, "clock", "{}");
    assert_non_null(run(&answer, &request));
    answer_free(&answer);
    forget.thread_id = key;
    begin(&answer, "ForgetThread", &forget.base);
    await(&answer);
    assert_non_null(answer.message);
    assert_int_equal(((const Renga__V1__ForgetThreadResponse *)answer.message)->tool_results, 1);
    answer_free(&answer);
    const Renga__V1__RunToolsResponse *response = run(&answer, &request);
    assert_non_null(response);
    assert_false(response->results[0]->recorded);
    answer_free(&answer);
}

/* The channel connects on its own time, and a call before that fails at once. */
static void wait_until_served(void)
{
    for (int attempt = 0; attempt < 100; attempt++) {
        struct answer answer;
        Renga__V1__ForgetThreadRequest forget = RENGA__V1__FORGET_THREAD_REQUEST__INIT;
        forget.thread_id = (char *)(uintptr_t) "nobody's";
        begin(&answer, "ForgetThread", &forget.base);
        await(&answer);
        bool served = answer.message != NULL;
        answer_free(&answer);
        if (served)
            return;
        usleep(100000);
    }
    fatal("test.serve", "the port does not answer");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tools_of_ours_and_of_servers_are_listed_by_name),
        cmocka_unit_test(calls_end_each_for_itself_and_again_from_the_record),
        cmocka_unit_test(a_wrong_request_names_its_field),
        cmocka_unit_test(who_leaves_stops_what_runs_and_may_come_back),
        cmocka_unit_test(many_at_once_with_few_keys_each_run_once),
        cmocka_unit_test(a_forgotten_thread_is_run_anew),
    };
    move_in();
    house.stub = house.local;
    int failures = cmocka_run_group_tests_name("in process", tests, NULL, NULL);
    house.stub = house.remote;
    wait_until_served();
    failures += cmocka_run_group_tests_name("over gRPC", tests, NULL, NULL);
    move_out();
    return failures;
}
