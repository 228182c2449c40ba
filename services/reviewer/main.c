#include "reviewer.h"
#include "suite.h"

static const struct service *const services[] = {
    &reviewer_service,
    NULL,
};

int main(int argc, char **argv)
{
    struct daemon daemon = suite_daemon("renga-reviewer", "the reviewer: reflection and reviews.", services);
    daemon.listen = "127.0.0.1:15004";
    daemon.http = "127.0.0.1:15104";
    return daemon_main(&daemon, argc, argv);
}
