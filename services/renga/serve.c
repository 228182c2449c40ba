#include "commands.h"
#include "gateway.h"
#include "orchestrator.h"
#include "peers.h"
#include "planner.h"
#include "proto/descriptor_set.h"
#include "reviewer.h"
#include "tool_runner.h"

const struct service *const all_services[] = {
    &llm_gateway_service,
    &planner_service,
    &tool_runner_service,
    &reviewer_service,
    &orchestrator_service,
    &helpdesk_service,
    &form_interview_service,
    &deep_research_service,
    &autonomous_research_service,
    &ace_generator_service,
    NULL,
};

static int serve(int argc, char **argv)
{
    const struct daemon daemon = {
        .name = "renga",
        .summary = "all services of the suite in one process.",
        .usage = "renga serve [OPTIONS]",
        .listen = "127.0.0.1:15000",
        .http = "127.0.0.1:15100",
        .services = all_services,
        .peers = peers,
        .peer_options = peer_options,
        .descriptor_set = renga_descriptor_set,
        .descriptor_set_size = renga_descriptor_set_size,
    };
    return daemon_main(&daemon, argc, argv);
}

const struct command command_serve = {
    .name = "serve",
    .usage = "[OPTIONS]",
    .summary = "serve the whole suite from one process",
    .run = serve,
};
