/* Runs of an agent, as many at a time as asked for, and the remote nodes they call, which do nothing:
 *
 *      graph-load serve                                  prints "listening PORT", serves NodeService until its input
 * ends graph-load run ADDRESS AGENT RUNS AT_ONCE INPUT   prints runs/s and the times of a run in microseconds */
#include "base/clock.h"
#include "base/log.h"
#include "proto/descriptor_set.h"
#include "rpc/channel.h"
#include "rpc/rpc.h"
#include "rpc/runtime.h"
#include "rpc/schema.h"
#include "rpc/server.h"

#include "renga/v1/node.pb-c.h"
#include "renga/v1/orchestrator.pb-c.h"

#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUN_TIMEOUT_MS 120000

static struct loop *loop;
static struct rpc_schema *schema;

static void set_up(void)
{
    struct status st = {0};
    log_configure("graph-load", LOG_ERROR, LOG_FORMAT_TEXT);
    schema = rpc_schema_load(renga_descriptor_set, renga_descriptor_set_size, &st);
    loop = loop_create(0);
    if (!schema || !loop_start(loop, &st) || !rpc_start(&loop, 1, &st))
        fatal("bench.start", "%s", st.text);
}

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

static void run_node(Renga__V1__NodeService_Service *self, const Renga__V1__RunNodeRequest *request,
                     Renga__V1__RunNodeResponse_Closure reply, void *data)
{
    Renga__V1__RunNodeResponse response = RENGA__V1__RUN_NODE_RESPONSE__INIT;
    reply(&response, data);
}

static Renga__V1__NodeService_Service nodes = {
    .base = {.descriptor = &renga__v1__node_service__descriptor, .invoke = rpc_service_invoke},
    .run = run_node,
};

static int serve(void)
{
    struct status st = {0};
    ProtobufCService *instance = &nodes.base;
    struct rpc_server_options options = {.loops = &loop, .loop_count = 1, .schema = schema, .listen = "127.0.0.1:0"};
    struct rpc_server *server = rpc_server_create(&options, &st);
    if (!server)
        fatal("bench.serve", "%s", st.text);
    rpc_server_add(server, &instance);
    if (!rpc_server_start(server, &st))
        fatal("bench.serve", "%s", st.text);
    printf("listening %d\n", rpc_server_port(server));
    fflush(stdout);
    while (getchar() != EOF)
        ;
    rpc_server_destroy(&server);
    return 0;
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

struct running {
    struct rpc_client_call call;
    int64_t began_ns;
};

static ProtobufCService *orchestrator;
static Renga__V1__StartRunRequest request = RENGA__V1__START_RUN_REQUEST__INIT;
static int64_t *times_us;
static unsigned wanted, begun, ended, failed;
static sem_t done;

static void begin(struct running *running);

static void run_ended(const Renga__V1__StartRunResponse *response, void *data)
{
    struct running *running = (struct running *)data; /* the call is first */
    if (!response || response->run->state != RENGA__V1__RUN_STATE__RUN_STATE_SUCCEEDED) {
        if (failed++ == 0)
            fprintf(stderr, "a run failed: %s\n", response ? response->run->stop_text : running->call.status.text);
    }
    times_us[ended++] = (clock_now_ns() - running->began_ns) / 1000;
    if (begun < wanted)
        begin(running);
    else if (ended == wanted)
        sem_post(&done);
}

static void begin(struct running *running)
{
    begun++;
    running->began_ns = clock_now_ns();
    rpc_client_call_init(&running->call, loop, NULL);
    running->call.timeout_ms = RUN_TIMEOUT_MS;
    renga__v1__orchestrator__start_run(orchestrator, &request, run_ended, &running->call);
}

static int by_time(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return a < b ? -1 : a > b;
}

static int run(char **argv)
{
    struct status st = {0};
    struct rpc_channel_options options = {.schema = schema, .target = argv[2]};
    struct rpc_channel *channel = rpc_channel_create(&options, &st);
    if (!channel)
        fatal("bench.channel", "%s", st.text);
    orchestrator = rpc_channel_stub(channel, &renga__v1__orchestrator__descriptor, &st);
    wanted = (unsigned)atoi(argv[4]);
    unsigned at_once = (unsigned)atoi(argv[5]);
    struct running *running = calloc(at_once, sizeof *running);
    times_us = calloc(wanted, sizeof *times_us);
    if (!orchestrator || !running || !times_us)
        fatal("bench.memory", "%s", st.text);
    request.agent = argv[3];
    request.input_json = argv[6];
    request.wait = 1;
    sem_init(&done, 0, 0);
    int64_t began_ns = clock_now_ns();
    loop_enter(loop);
    for (unsigned i = 0; i < at_once && begun < wanted; i++)
        begin(&running[i]);
    loop_leave(loop);
    sem_wait(&done);
    double seconds = (double)(clock_now_ns() - began_ns) / 1e9;
    qsort(times_us, wanted, sizeof *times_us, by_time);
    printf("runs %u failed %u seconds %.3f p50 %lld p99 %lld\n", wanted, failed, seconds,
           (long long)times_us[wanted / 2], (long long)times_us[wanted * 99 / 100]);
    return failed != 0;
}

int main(int argc, char **argv)
{
    set_up();
    if (argc == 2 && strcmp(argv[1], "serve") == 0)
        return serve();
    if (argc == 7 && strcmp(argv[1], "run") == 0)
        return run(argv);
    fprintf(stderr, "graph-load serve | run ADDRESS AGENT RUNS AT_ONCE INPUT\n");
    return 2;
}
