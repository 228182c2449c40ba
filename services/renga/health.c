/* `renga health`: what a server says of itself by grpc.health.v1; for people and for probes. */
#include "commands.h"
#include "grpc/health/v1/health.pb-c.h"
#include "suite.h"

#include <stdio.h>

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
    struct command_call call; /* first */
    ProtobufCService *server;
    const char *service;
    int answer; /* a ServingStatus */
};

static void answered(const Grpc__Health__V1__HealthCheckResponse *response, void *data)
{
    struct health *health = ((struct rpc_client_call *)data)->owner;
    if (response)
        health->answer = (int)response->status;
    command_call_ended(&health->call);
}

static void begin(struct command_call *call)
{
    struct health *health = (struct health *)call;
    Grpc__Health__V1__HealthCheckRequest request = GRPC__HEALTH__V1__HEALTH_CHECK_REQUEST__INIT;
    request.service = (char *)(uintptr_t)health->service;
    grpc__health__v1__health__check(health->server, &request, answered, &call->call);
}

static int check(struct daemon_process *process, const struct config *config)
{
    size_t count;
    const char *const *arguments = config_arguments(config, &count);
    struct status st = {0};
    struct health health = {.call.begin = begin, .service = count ? arguments[0] : ""};
    health.server = process_stub(process, &grpc__health__v1__health__descriptor, &st);
    if (count > 1 || !health.server) {
        fprintf(stderr, "renga health: %s\n", count > 1 ? "name one service at most" : st.text);
        return COMMAND_USAGE;
    }
    command_call_prepare(&health.call, process, config_duration_ms(config, "timeout"));
    if (!command_call_run(&health.call, "renga health"))
        return COMMAND_FAILED;
    const ProtobufCEnumValue *value = protobuf_c_enum_descriptor_get_value(
        &grpc__health__v1__health_check_response__serving_status__descriptor, health.answer);
    puts(value ? value->name : "UNKNOWN");
    return health.answer == GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__SERVING_STATUS__SERVING ? COMMAND_OK
                                                                                             : COMMAND_FAILED;
}

static int health(int argc, char **argv)
{
    static const struct service *const none[] = {NULL};
    struct daemon daemon = suite_daemon(
        "renga health", "asks a server whether it serves, by grpc.health.v1; without SERVICE, as a whole.", none);
    daemon.usage = "renga health [OPTIONS] [SERVICE]";
    daemon.log_level = "error";
    daemon.extra_options = options;
    daemon.peers = servers;
    daemon.peer_options = NULL;
    return command_with_process(&daemon, argc, argv, check);
}

const struct command command_health = {
    .name = "health",
    .summary = "ask a server whether it serves",
    .run = health,
};
