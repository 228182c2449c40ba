#include "gateway.h"
#include "suite.h"

static const struct service *const services[] = {
    &llm_gateway_service,
    NULL,
};

int main(int argc, char **argv)
{
    struct daemon daemon =
        suite_daemon("renga-llm-gateway", "the LLM gateway: every model behind one interface.", services);
    daemon.listen = "127.0.0.1:15001";
    daemon.http = "127.0.0.1:15101";
    return daemon_main(&daemon, argc, argv);
}
