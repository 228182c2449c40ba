/* `renga health`: the health of a server by grpc.health.v1; for people and for probes. */
#include "commands.h"
#include "grpc/health/v1/health.pb-c.h"

#include <stdio.h>

#define NAME   "renga health"
#define TARGET "peers.server"

static const struct option options[] = {
    DURATION_OPTION("timeout", "3s", 1, 60000, "How long to wait for its answer."),
    CONNECT_OPTION("The server that is asked, HOST:PORT. Unset: what peers.server says."),
    STRING_OPTION(TARGET, "127.0.0.1:15000", "TARGET", "The server that is asked, \"HOST:PORT\"."),
    {0},
};

static const struct peer servers[] = {
    {CONNECT, &grpc__health__v1__health__descriptor}, {TARGET, &grpc__health__v1__health__descriptor}, {0}};

struct health {
    struct command_call call; /* first */
    ProtobufCService *server;
    const char *service;
    int answer; /* a ServingStatus */
};

static void health_answered(const Grpc__Health__V1__HealthCheckResponse *response, void *data)
{
    struct health *health = ((struct rpc_client_call *)data)->owner;
    if (response)
        health->answer = (int)response->status;
    command_call_ended(&health->call);
}

static void health_begin(struct command_call *call)
{
    struct health *health = (struct health *)call;
    Grpc__Health__V1__HealthCheckRequest request = GRPC__HEALTH__V1__HEALTH_CHECK_REQUEST__INIT;
    request.service = (char *)(uintptr_t)health->service;
    grpc__health__v1__health__check(health->server, &request, health_answered, &call->call);
}

static int health_command_check(struct daemon_process *process, const struct config *config)
{
    size_t count;
    const char *const *arguments = command_arguments(config, NAME, 0, 1, "name one service at most", &count);
    if (!arguments)
        return COMMAND_USAGE;
    struct status st = {0};
    struct health health = {.call.begin = health_begin, .service = count ? arguments[0] : ""};
    health.server = process_stub(process, &grpc__health__v1__health__descriptor, &st);
    if (!health.server) {
        fprintf(stderr, NAME ": %s\n", st.text);
        return COMMAND_USAGE;
    }
    command_call_prepare(&health.call, process, config_duration_ms(config, "timeout"));
    if (!command_call_wait(&health.call)) {
        struct status *why = &health.call.call.status;
        const char *connect = config_string(config, CONNECT);
        if (health.call.lost)
            fail(why, why->code, "%s; does a server listen at %s?", why->text,
                 connect ? connect : config_string(config, TARGET));
        command_call_report(&health.call, NAME);
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
    struct daemon daemon = command_daemon(NAME,
                                          "asks a server whether it serves, by grpc.health.v1; without SERVICE, as a "
                                          "whole. Exit code 0: SERVING; 1: it is not, or does not answer.",
                                          NULL, argc, argv);
    daemon.usage = NAME " [OPTIONS] [SERVICE]";
    daemon.examples = NAME "\n" NAME " --connect 127.0.0.1:15001 renga.v1.LlmGateway\n";
    daemon.extra_options = options;
    daemon.peers = servers;
    return command_with_process(&daemon, argc, argv, health_command_check);
}

const struct command command_health = {
    .name = "health",
    .summary = "ask a server whether it serves",
    .run = health,
};
