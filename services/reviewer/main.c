#include "peers.h"
#include "proto/descriptor_set.h"
#include "reviewer.h"

static const struct service *const services[] = {
    &reviewer_service,
    NULL,
};

int main(int argc, char **argv)
{
    const struct daemon daemon = {
        .name = "renga-reviewer",
        .summary = "the reviewer: reflection and reviews.",
        .listen = "127.0.0.1:15004",
        .http = "127.0.0.1:15104",
        .services = services,
        .peers = peers,
        .peer_options = peer_options,
        .descriptor_set = renga_descriptor_set,
        .descriptor_set_size = renga_descriptor_set_size,
    };
    return daemon_main(&daemon, argc, argv);
}
