#include "suite.h"
#include "tool_runner.h"

static const struct service *const services[] = {
    &tool_runner_service,
    NULL,
};

int main(int argc, char **argv)
{
    struct daemon daemon =
        suite_daemon("renga-tool-runner", "the tool-runner: tools, knowledge base and MCP.", services);
    daemon.listen = "127.0.0.1:15003";
    daemon.http = "127.0.0.1:15103";
    return daemon_main(&daemon, argc, argv);
}
