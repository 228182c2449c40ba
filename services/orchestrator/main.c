#include "orchestrator.h"
#include "suite.h"

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
    struct daemon daemon = suite_daemon("renga-orchestrator", "the orchestrator: runs agents as graphs.", services);
    daemon.listen = "127.0.0.1:15005";
    daemon.http = "127.0.0.1:15105";
    return daemon_main(&daemon, argc, argv);
}
