#include "peers.h"
#include "proto/descriptor_set.h"
#include "tool_runner.h"

static const struct service *const services[] = {
    &tool_runner_service,
    NULL,
};

int main(int argc, char **argv)
{
    const struct daemon daemon = {
        .name = "renga-tool-runner",
        .summary = "the tool-runner: tools, knowledge base and MCP.",
        .listen = "127.0.0.1:15003",
        .http = "127.0.0.1:15103",
        .services = services,
        .peers = peers,
        .peer_options = peer_options,
        .descriptor_set = renga_descriptor_set,
        .descriptor_set_size = renga_descriptor_set_size,
    };
    return daemon_main(&daemon, argc, argv);
}
