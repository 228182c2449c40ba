#include "gateway.h"
#include "peers.h"
#include "proto/descriptor_set.h"

static const struct service *const services[] = {
    &llm_gateway_service,
    NULL,
};

int main(int argc, char **argv)
{
    const struct daemon daemon = {
        .name = "renga-llm-gateway",
        .summary = "the LLM gateway: every model behind one door.",
        .listen = "127.0.0.1:15001",
        .http = "127.0.0.1:15101",
        .services = services,
        .peers = peers,
        .peer_options = peer_options,
        .descriptor_set = renga_descriptor_set,
        .descriptor_set_size = renga_descriptor_set_size,
    };
    return daemon_main(&daemon, argc, argv);
}
