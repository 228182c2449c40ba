#include "peers.h"
#include "planner.h"
#include "proto/descriptor_set.h"

static const struct service *const services[] = {
    &planner_service,
    NULL,
};

int main(int argc, char **argv)
{
    const struct daemon daemon = {
        .name = "renga-planner",
        .summary = "the planner: turns a question into a plan.",
        .listen = "127.0.0.1:15002",
        .http = "127.0.0.1:15102",
        .services = services,
        .peers = peers,
        .peer_options = peer_options,
        .descriptor_set = renga_descriptor_set,
        .descriptor_set_size = renga_descriptor_set_size,
    };
    return daemon_main(&daemon, argc, argv);
}
