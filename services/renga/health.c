/* `renga health`: what a server says of itself by grpc.health.v1; for people and for probes. */
#include "commands.h"
#include "daemon/process.h"
#include "grpc/health/v1/health.pb-c.h"
#include "proto/descriptor_set.h"
#include "rpc/rpc.h"

#include <semaphore.h>
#include <stdio.h>
#include <string.h>

#define TARGET "peers.server"

static const struct option options[] = {
    {.name = TARGET,
     .type = OPTION_STRING,
     .fallback = "127.0.0.1:15000",
     .unit = "TARGET",
     .help = "The server that is asked, \"HOST:PORT\"."},
    {.name = "timeout",
     .type = OPTION_DURATION,
     .fallback = "3s",
     .min = 1,
     .max = 60000,
     .unit = "DURATION",
     .help = "How long to wait for its answer."},
    {0},
};

static const struct peer servers[] = {{TARGET, &grpc__health__v1__health__descriptor}, {0}};

struct health {
    struct work work;
    struct rpc_client_call call;
    ProtobufCService *stub;
    const char *service;
    int answer; /* a ServingStatus */
    sem_t done;
};

static void answered(const Grpc__Health__V1__HealthCheckResponse *response, void *data)
{
    struct health *health = ((struct rpc_client_call *)data)->owner;
    if (response)
        health->answer = (int)response->status;
    sem_post(&health->done);
}

static void begin(struct work *work)
{
    struct health *health = (struct health *)work;
    Grpc__Health__V1__HealthCheckRequest request = GRPC__HEALTH__V1__HEALTH_CHECK_REQUEST__INIT;
    request.service = (char *)(uintptr_t)health->service;
    grpc__health__v1__health__check(health->stub, &request, answered, &health->call);
}

static int check(struct daemon_process *process, const struct config *config, const char *service)
{
    struct status st = {0};
    struct health health = {.work.run = begin, .service = service};
    health.stub = process_stub(process, &grpc__health__v1__health__descriptor, &st);
    if (!health.stub) {
        fprintf(stderr, "renga health: %s\n", st.text);
        return COMMAND_USAGE;
    }
    sem_init(&health.done, 0, 0);
    rpc_client_call_init(&health.call, process_loop(process), NULL);
    health.call.owner = &health;
    health.call.timeout_ms = config_duration_ms(config, "timeout");
    loop_post(process_loop(process), &health.work);
    while (sem_wait(&health.done) != 0)
        continue;
    sem_destroy(&health.done);
    if (health.call.status.code != OK) {
        fprintf(stderr, "renga health: %s: %s: %s\n", config_string(config, TARGET),
                status_code_name((int)health.call.status.code), health.call.status.text);
        return COMMAND_FAILED;
    }
    const ProtobufCEnumValue *value = protobuf_c_enum_descriptor_get_value(
        &grpc__health__v1__health_check_response__serving_status__descriptor, health.answer);
    puts(value ? value->name : "UNKNOWN");
    return health.answer == GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__SERVING_STATUS__SERVING ? COMMAND_OK
                                                                                             : COMMAND_FAILED;
}

static int health(int argc, char **argv)
{
    static const struct service *const none[] = {NULL};
    const struct daemon daemon = {
        .name = "renga health",
        .summary = "asks a server whether it serves, by grpc.health.v1; SERVICE empty or left out means as a whole.",
        .usage = "renga health [OPTIONS] [SERVICE]",
        .log_level = "error",
        .services = none,
        .extra_options = options,
        .peers = servers,
        .descriptor_set = renga_descriptor_set,
        .descriptor_set_size = renga_descriptor_set_size,
    };
    int code;
    struct config *config = daemon_configure(&daemon, argc, argv, &code);
    if (!config)
        return code;
    size_t count;
    const char *const *arguments = config_arguments(config, &count);
    struct status st = {0};
    struct daemon_process *process = count <= 1 ? process_start(&daemon, config, &st) : NULL;
    code = COMMAND_USAGE;
    if (process)
        code = check(process, config, count ? arguments[0] : "");
    else
        fprintf(stderr, "renga health: %s\n", count > 1 ? "name one service at most" : st.text);
    process_stop(&process);
    config_destroy(config);
    return code;
}

const struct command command_health = {
    .name = "health",
    .usage = "[OPTIONS] [SERVICE]",
    .summary = "ask a server whether it serves",
    .run = health,
};
