#include "gateway_fixture.h"

#include "base/clock.h"
#include "base/log.h"
#include "config/config.h"
#include "gateway.h"
#include "http/client.h"
#include "proto/descriptor_set.h"
#include "rpc/channel.h"
#include "rpc/runtime.h"
#include "rpc/schema.h"
#include "rpc/server.h"
#include "telemetry/metrics.h"

#include <arpa/inet.h>
#include <cjson/cJSON.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define MODELS_TEXT_MAX 4096
#define LEAVING_MAX_NS  (60 * NS_PER_SEC)

struct house {
    struct fixture fixture; /* first */
    pid_t upstream;
    int upstream_stdin;
    char models[MODELS_TEXT_MAX];
    const char *document;   /* of routes; NULL: none */
    char document_path[32]; /* "": there is none */
    struct metrics *metrics;
    struct config *config;
    struct rpc_schema *schema;
    struct rpc_server *server;
    struct rpc_channel *channel;
    ProtobufCService *local, *remote;
};

static struct house house;

/* ---- the upstream ------------------------------------------------------------------------------------------------ */

static void start_upstream(void)
{
    int in[2], out[2];
    char *const arguments[] = {(char *)(uintptr_t)PYTHON, (char *)(uintptr_t)UPSTREAM, NULL};
    extern char **environ;
    posix_spawn_file_actions_t actions;
    assert_int_equal(pipe2(in, O_CLOEXEC) | pipe2(out, O_CLOEXEC), 0);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    assert_int_equal(posix_spawnp(&house.upstream, PYTHON, &actions, NULL, arguments, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    house.upstream_stdin = in[1];
    FILE *lines = fdopen(out[0], "r");
    assert_int_equal(fscanf(lines, "listening %d %4000s", &house.fixture.upstream_port, house.models), 2);
    fclose(lines);
}

static void stop_upstream(void)
{
    close(house.upstream_stdin);
    waitpid(house.upstream, NULL, 0);
}

static cJSON *seen(struct fixture *fixture, const char *model)
{
    char text[65536];
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)fixture->upstream_port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    int length = snprintf(text, sizeof text, "GET /seen/%s HTTP/1.0\r\n\r\n", model);
    assert_int_equal(write(fd, text, (size_t)length), length);
    size_t size = 0;
    for (ssize_t got; (got = read(fd, text + size, sizeof text - 1 - size)) > 0;)
        size += (size_t)got;
    close(fd);
    text[size] = '\0';
    const char *body = strstr(text, "\r\n\r\n");
    assert_non_null(body);
    cJSON *json = cJSON_Parse(body + 4);
    assert_non_null(json);
    return json;
}

int64_t seen_number(struct fixture *fixture, const char *model, const char *name)
{
    cJSON *json = seen(fixture, model);
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, name);
    int64_t number = cJSON_IsNumber(item) ? (int64_t)item->valuedouble : 0;
    cJSON_Delete(json);
    return number;
}

char *seen_text(struct fixture *fixture, const char *model, const char *name)
{
    cJSON *json = seen(fixture, model);
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, name);
    char *text = strdup(cJSON_IsString(item) ? item->valuestring : "");
    cJSON_Delete(json);
    return text;
}

int64_t left_after_ns(struct fixture *fixture, const char *model, int64_t since_ns)
{
    int64_t until_ns = clock_now_ns() + LEAVING_MAX_NS;
    while (clock_now_ns() < until_ns) {
        int64_t left_ns = seen_number(fixture, model, "left_ns");
        if (left_ns > since_ns)
            return left_ns - since_ns;
        usleep(1000);
    }
    return INT64_MAX;
}

/* ---- the gateway ------------------------------------------------------------------------------------------------- */

/* The document with the upstream's port, in a file of its own. */
static void write_document(void)
{
    strcpy(house.document_path, "/tmp/renga-routes-XXXXXX");
    FILE *file = fdopen(mkstemp(house.document_path), "w");
    const char *rest = house.document;
    for (const char *at; (at = strstr(rest, "PORT")); rest = at + 4) {
        fwrite(rest, 1, (size_t)(at - rest), file);
        fprintf(file, "%d", house.fixture.upstream_port);
    }
    fputs(rest, file);
    fclose(file);
}

static void configure(void)
{
    static const struct option none[] = {{.name = NULL}};
    const struct option *tables[] = {llm_gateway_service.options, none};
    struct status st = {0};
    char upstream[128], models[MODELS_TEXT_MAX + 64], routes[128];
    snprintf(upstream, sizeof upstream, "--llm_gateway.upstream=http://127.0.0.1:%d/v1/", house.fixture.upstream_port);
    snprintf(models, sizeof models, "--llm_gateway.models=%s", house.models);
    char *arguments[9] = {(char *)(uintptr_t) "test", (char *)(uintptr_t) "--llm_gateway.idle_timeout=1s",
                          (char *)(uintptr_t) "--llm_gateway.reader_timeout=1500ms"};
    int count = 3;
    if (house.document) {
        write_document();
        snprintf(routes, sizeof routes, "--llm_gateway.routes=%s", house.document_path);
        arguments[count++] = routes;
    } else {
        arguments[count++] = upstream;
        arguments[count++] = models;
        arguments[count++] = (char *)(uintptr_t) "--llm_gateway.key=" KEY;
        arguments[count++] = (char *)(uintptr_t) "--llm_gateway.attempts=1"; /* each failure as it is */
        arguments[count++] = (char *)(uintptr_t) "--llm_gateway.breaker=off";
    }
    house.config = config_create(tables, 2, &st);
    assert_non_null(house.config);
    if (!config_read(house.config, count, arguments, &st))
        fatal("test.config", "%s", st.text);
}

static void create_instance(void)
{
    struct status st = {0};
    struct http_client_options options = {0};
    loop_enter(house.fixture.loop);
    house.fixture.http = http_client_create(house.fixture.loop, &options);
    house.metrics = metrics_create(1);
    struct service_context context = {
        .config = house.config, .loop = house.fixture.loop, .http = house.fixture.http, .metrics = house.metrics};
    house.fixture.instance = llm_gateway_service.create(&context, &st);
    loop_leave(house.fixture.loop);
    if (!house.fixture.instance)
        fatal("test.create", "%s", st.text);
}

static void serve(void)
{
    struct status st = {0};
    struct rpc_server_options options = {
        .loops = &house.fixture.loop, .loop_count = 1, .schema = house.schema, .listen = "127.0.0.1:0"};
    if (!rpc_start(&house.fixture.loop, 1, &st) || !(house.server = rpc_server_create(&options, &st)))
        fatal("test.serve", "%s", st.text);
    rpc_server_add(house.server, &house.fixture.instance);
    if (!rpc_server_start(house.server, &st))
        fatal("test.serve", "%s", st.text);
    char target[64];
    snprintf(target, sizeof target, "ipv4:127.0.0.1:%d", rpc_server_port(house.server));
    struct rpc_channel_options channel = {.schema = house.schema, .target = target};
    house.channel = rpc_channel_create(&channel, &st);
    house.remote = rpc_channel_stub(house.channel, house.fixture.instance->descriptor, &st);
    house.local = rpc_local_stub(house.schema, &house.fixture.instance, 0, NULL);
}

static void move_in(void)
{
    struct status st = {0};
    log_configure("gateway-test", LOG_ERROR, LOG_FORMAT_TEXT);
    start_upstream();
    configure();
    house.schema = rpc_schema_load(renga_descriptor_set, renga_descriptor_set_size, &st);
    house.fixture.loop = loop_create(0);
    if (!house.schema || !loop_start(house.fixture.loop, &st))
        fatal("test.start", "%s", st.text);
    create_instance();
    serve();
}

static void move_out(void)
{
    protobuf_c_service_destroy(house.local);
    protobuf_c_service_destroy(house.remote);
    rpc_channel_destroy(&house.channel);
    rpc_server_destroy(&house.server);
    rpc_stop();
    loop_enter(house.fixture.loop);
    llm_gateway_service.destroy(house.fixture.instance);
    http_client_destroy(&house.fixture.http);
    loop_leave(house.fixture.loop);
    metrics_destroy(&house.metrics);
    loop_stop(house.fixture.loop);
    loop_destroy(&house.fixture.loop);
    rpc_schema_destroy(&house.schema);
    config_destroy(house.config);
    if (*house.document_path)
        unlink(house.document_path);
    *house.document_path = '\0';
    stop_upstream();
}

static int take_local(void **state)
{
    house.fixture.stub = house.local;
    *state = &house.fixture;
    return 0;
}

static int take_remote(void **state)
{
    house.fixture.stub = house.remote;
    *state = &house.fixture;
    return 0;
}

/* The channel connects on its own time, and a call before that fails at once. */
static void wait_until_served(void)
{
    house.fixture.stub = house.remote;
    for (int attempt = 0; attempt < 100; attempt++) {
        struct reply *reply = ask_model(&house.fixture, "default");
        bool served = reply->status.code == OK;
        reply_free(reply);
        if (served)
            return;
        usleep(100000);
    }
    fatal("test.serve", "the gateway's port does not answer");
}

int run_both_ways_over(const char *document, const char *name, const struct CMUnitTest *tests, size_t count)
{
    house.document = document;
    return run_both_ways(name, tests, count);
}

int run_both_ways(const char *name, const struct CMUnitTest *tests, size_t count)
{
    char group[128];
    move_in();
    snprintf(group, sizeof group, "%s, in process", name);
    int failures = _cmocka_run_group_tests(group, tests, count, take_local, NULL);
    snprintf(group, sizeof group, "%s, over gRPC", name);
    wait_until_served();
    failures += _cmocka_run_group_tests(group, tests, count, take_remote, NULL);
    move_out();
    return failures;
}
