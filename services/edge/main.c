#include "edge.h"
#include "suite.h"

static const struct service *const services[] = {
    &edge_service,
    NULL,
};

int main(int argc, char **argv)
{
    static const struct daemon_default defaults[] = {{"edge.optional", "false"}, {0}};
    struct daemon daemon = suite_daemon("renga-edge", "the edge: HTTP, JSON, events and the console.", services);
    suite_call_agents(&daemon);
    daemon.defaults = defaults;
    daemon.listen = "127.0.0.1:15006";
    daemon.http = "127.0.0.1:15106";
    return daemon_main(&daemon, argc, argv);
}
