#include "commands.h"
#include "edge.h"
#include "gateway.h"
#include "orchestrator.h"
#include "planner.h"
#include "reviewer.h"
#include "suite.h"
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

/* The edge is last: the services that it calls are drained before it. */
const struct service *const served_services[] = {
    &llm_gateway_service,         &planner_service,       &tool_runner_service,    &reviewer_service,
    &orchestrator_service,        &helpdesk_service,      &form_interview_service, &deep_research_service,
    &autonomous_research_service, &ace_generator_service, &edge_service,           NULL,
};

static int serve(int argc, char **argv)
{
    struct daemon daemon =
        suite_daemon("renga",
                     "all services of the suite in one process, and the console for a browser. Runs, "
                     "documents and playbooks are files of the working directory.",
                     served_services);
    daemon.usage = "renga serve [OPTIONS]";
    daemon.examples = "renga index ~/handbook; renga serve                  # then http://127.0.0.1:8080\n"
                      "renga serve --tool_runner.roots=/srv/handbook         # clients may have it indexed\n"
                      "renga serve --orchestrator.agents=my_agents --rpc.keys=file:keys.json\n";
    daemon.listen = "127.0.0.1:15000";
    daemon.http = "127.0.0.1:15100";
    return daemon_main(&daemon, argc, argv);
}

const struct command command_serve = {
    .name = "serve",
    .summary = "serve the whole suite from one process",
    .run = serve,
};
