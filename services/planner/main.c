#include "planner.h"
#include "suite.h"

static const struct service *const services[] = {
    &planner_service,
    NULL,
};

int main(int argc, char **argv)
{
    struct daemon daemon = suite_daemon("renga-planner", "the planner: turns a question into a plan.", services);
    daemon.listen = "127.0.0.1:15002";
    daemon.http = "127.0.0.1:15102";
    return daemon_main(&daemon, argc, argv);
}
