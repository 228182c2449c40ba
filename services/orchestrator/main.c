#include "orchestrator.h"
#include "peers.h"
#include "proto/descriptor_set.h"

static const struct service *const services[] = {
    &orchestrator_service,
    &helpdesk_service,
    &form_interview_service,
    &deep_research_service,
    &autonomous_research_service,
    &ace_generator_service,
    NULL,
};

int main(int argc, char **argv)
{
    const struct daemon daemon = {
        .name = "renga-orchestrator",
        .summary = "the orchestrator: runs agents as graphs.",
        .listen = "127.0.0.1:15005",
        .http = "127.0.0.1:15105",
        .services = services,
        .peers = peers,
        .peer_options = peer_options,
        .descriptor_set = renga_descriptor_set,
        .descriptor_set_size = renga_descriptor_set_size,
    };
    return daemon_main(&daemon, argc, argv);
}
