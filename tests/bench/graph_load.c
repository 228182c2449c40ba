/* Runs of an agent, as many at a time as asked for, and the remote nodes they call, which do nothing:
 *
 *      graph-load serve                                          prints "listening PORT", serves NodeService until its
 *                                                                input ends
 *      graph-load run|start|trips|named ADDRESS AGENT RUNS AT_ONCE INPUT [THREAD]
 *                                                                prints runs/s and times in microseconds: of runs that
 *                                                                are waited for, of the acceptance of others, of
 *                                                                answers to a run that asks again each time, or of
 *                                                                runs on threads that it names. INPUT may be @FILE;
 *                                                                runs on one THREAD wait for each other. The bearer
 *                                                                key is RENGA_BENCH_KEY
 *      graph-load cancel ADDRESS AGENT RUNS PORT BRANCHES        serves the nodes of the agent's branches too, which
 * wait to be cancelled: times from CancelRun to the last */
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
#define CANCEL_REST_MS 20
#define INPUT_MAX      ((size_t)4 << 20)

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

static unsigned held, branches; /* nodes that wait to be cancelled, and how many there shall be */
static void all_held(void);
static void none_held(void);

static void let_go(struct rpc_call *call, void *data)
{
    rpc_fail_with(call, CANCELLED, "as it was told");
    if (--held == 0)
        none_held();
}

static void run_node(Renga__V1__NodeService_Service *self, const Renga__V1__RunNodeRequest *request,
                     Renga__V1__RunNodeResponse_Closure reply, void *data)
{
    if (branches) {
        rpc_call_on_cancel(data, let_go, NULL);
        if (++held == branches)
            all_held();
        return;
    }
    Renga__V1__RunNodeResponse response = RENGA__V1__RUN_NODE_RESPONSE__INIT;
    reply(&response, data);
}

static Renga__V1__NodeService_Service nodes = {
    .base = {.descriptor = &renga__v1__node_service__descriptor, .invoke = rpc_service_invoke},
    .run = run_node,
};

static struct rpc_server *serve_nodes(const char *port)
{
    struct status st = {0};
    char listen[32];
    static ProtobufCService *instance = &nodes.base;
    snprintf(listen, sizeof listen, "127.0.0.1:%s", port);
    struct rpc_server_options options = {.loops = &loop, .loop_count = 1, .schema = schema, .listen = listen};
    struct rpc_server *server = rpc_server_create(&options, &st);
    if (!server)
        fatal("bench.serve", "%s", st.text);
    rpc_server_add(server, &instance);
    if (!rpc_server_start(server, &st))
        fatal("bench.serve", "%s", st.text);
    return server;
}

static int serve(void)
{
    struct rpc_server *server = serve_nodes("0");
    printf("listening %d\n", rpc_server_port(server));
    fflush(stdout);
    while (getchar() != EOF)
        ;
    rpc_server_destroy(&server);
    return 0;
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

struct running {
    struct rpc_client_call call; /* first */
    int64_t began_ns;
    char run_id[64]; /* of one that asks, or the thread of one that is named */
};

static ProtobufCService *orchestrator;
static Renga__V1__StartRunRequest request = RENGA__V1__START_RUN_REQUEST__INIT;
static Renga__V1__RunState wanted_state;
static int64_t *times_us;
static unsigned wanted, begun, ended, failed;
static bool trips, named;
static sem_t done;

static void begin(struct running *running);

static void call_ended(struct running *running, const Renga__V1__Run *run)
{
    if (!run || (wanted_state && run->state != wanted_state)) {
        if (failed++ == 0)
            fprintf(stderr, "a run failed: %s\n", run ? run->stop_text : running->call.status.text);
    }
    times_us[ended++] = (clock_now_ns() - running->began_ns) / 1000;
    if (begun < wanted)
        begin(running);
    else if (ended == wanted)
        sem_post(&done);
}

static void run_ended(const Renga__V1__StartRunResponse *response, void *data)
{
    struct running *running = data;
    if (trips && response) { /* its first question */
        snprintf(running->run_id, sizeof running->run_id, "%s", response->run->run_id);
        begin(running);
        return;
    }
    call_ended(running, response ? response->run : NULL);
}

static void trip_ended(const Renga__V1__ResumeRunResponse *response, void *data)
{
    call_ended(data, response ? response->run : NULL);
}

static void begin(struct running *running)
{
    running->began_ns = clock_now_ns();
    rpc_client_call_init(&running->call, loop, NULL);
    running->call.timeout_ms = RUN_TIMEOUT_MS;
    if (!trips || !*running->run_id) {
        begun += !trips;
        if (named) {
            snprintf(running->run_id, sizeof running->run_id, "named-%lld-%u", (long long)running->began_ns, begun);
            request.thread_id = running->run_id;
        }
        renga__v1__orchestrator__start_run(orchestrator, &request, run_ended, &running->call);
        return;
    }
    Renga__V1__ResumeRunRequest resume = RENGA__V1__RESUME_RUN_REQUEST__INIT;
    resume.run_id = running->run_id;
    resume.wait = 1;
    resume.maybe_answer_json_case = RENGA__V1__RESUME_RUN_REQUEST__MAYBE_ANSWER_JSON_ANSWER_JSON;
    resume.answer_json = (char *)(uintptr_t) "1";
    begun++;
    renga__v1__orchestrator__resume_run(orchestrator, &resume, trip_ended, &running->call);
}

static int by_time(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return a < b ? -1 : a > b;
}

static char *input_of(char *given)
{
    if (*given != '@')
        return given;
    FILE *file = fopen(given + 1, "r");
    char *text = calloc(1, INPUT_MAX);
    if (!file || !text)
        fatal("bench.input", "%s cannot be read", given + 1);
    text[fread(text, 1, INPUT_MAX - 1, file)] = '\0';
    fclose(file);
    return text;
}

static void connect_to(const char *address)
{
    struct status st = {0};
    struct rpc_channel_options options = {.schema = schema, .target = address, .key = getenv("RENGA_BENCH_KEY")};
    struct rpc_channel *channel = rpc_channel_create(&options, &st);
    if (!channel)
        fatal("bench.channel", "%s", st.text);
    orchestrator = rpc_channel_stub(channel, &renga__v1__orchestrator__descriptor, &st);
    if (!orchestrator)
        fatal("bench.channel", "%s", st.text);
}

static int report(int64_t began_ns)
{
    double seconds = (double)(clock_now_ns() - began_ns) / 1e9;
    qsort(times_us, wanted, sizeof *times_us, by_time);
    printf("runs %u failed %u seconds %.3f p50 %lld p99 %lld\n", wanted, failed, seconds,
           (long long)times_us[wanted / 2], (long long)times_us[wanted * 99 / 100]);
    return failed != 0;
}

static int run(int argc, char **argv)
{
    connect_to(argv[2]);
    wanted = (unsigned)atoi(argv[4]);
    unsigned at_once = (unsigned)atoi(argv[5]);
    static struct running *running; /* to the end of the process */
    running = calloc(at_once, sizeof *running);
    times_us = calloc(wanted, sizeof *times_us);
    if (!running || !times_us)
        fatal("bench.memory", "no memory for %u runs", wanted);
    trips = strcmp(argv[1], "trips") == 0;
    named = strcmp(argv[1], "named") == 0;
    request.agent = argv[3];
    request.input_json = input_of(argv[6]);
    request.thread_id = argc > 7 ? argv[7] : request.thread_id;
    request.on_busy = argc > 7 ? RENGA__V1__ON_BUSY__ON_BUSY_ENQUEUE : request.on_busy;
    request.wait = strcmp(argv[1], "start") != 0;
    wanted_state = trips          ? RENGA__V1__RUN_STATE__RUN_STATE_WAITING
                   : request.wait ? RENGA__V1__RUN_STATE__RUN_STATE_SUCCEEDED
                                  : RENGA__V1__RUN_STATE__RUN_STATE_UNSPECIFIED;
    sem_init(&done, 0, 0);
    int64_t began_ns = clock_now_ns();
    loop_enter(loop);
    for (unsigned i = 0; i < at_once && begun < wanted; i++)
        begin(&running[i]);
    loop_leave(loop);
    sem_wait(&done);
    return report(began_ns);
}

/* ---- cancelled runs ---------------------------------------------------------------------------------------------- */

static struct running starting, cancelling;

static void run_cancelled(const Renga__V1__CancelRunResponse *response, void *data)
{
    if (!response)
        fatal("bench.cancel", "%s", cancelling.call.status.text);
}

static void run_accepted(const Renga__V1__StartRunResponse *response, void *data)
{
    if (!response)
        fatal("bench.start", "%s", starting.call.status.text);
    snprintf(starting.run_id, sizeof starting.run_id, "%s", response->run->run_id);
    if (held == branches)
        all_held();
}

static void all_held(void)
{
    if (!*starting.run_id) /* its acceptance is still under way */
        return;
    Renga__V1__CancelRunRequest cancel = RENGA__V1__CANCEL_RUN_REQUEST__INIT;
    cancel.run_id = starting.run_id;
    cancelling.began_ns = clock_now_ns();
    rpc_client_call_init(&cancelling.call, loop, NULL);
    renga__v1__orchestrator__cancel_run(orchestrator, &cancel, run_cancelled, &cancelling.call);
}

static void start_next(struct timer *timer)
{
    *starting.run_id = '\0';
    rpc_client_call_init(&starting.call, loop, NULL);
    renga__v1__orchestrator__start_run(orchestrator, &request, run_accepted, &starting.call);
}

static void none_held(void)
{
    static struct timer next = {.expired = start_next};
    times_us[ended++] = (clock_now_ns() - cancelling.began_ns) / 1000;
    if (ended == wanted)
        sem_post(&done);
    else
        loop_arm_after(loop, &next, CANCEL_REST_MS);
}

static int cancel(char **argv)
{
    connect_to(argv[2]);
    wanted = (unsigned)atoi(argv[4]);
    branches = (unsigned)atoi(argv[6]);
    times_us = calloc(wanted, sizeof *times_us);
    request.agent = argv[3];
    sem_init(&done, 0, 0);
    serve_nodes(argv[5]);
    int64_t began_ns = clock_now_ns();
    loop_enter(loop);
    start_next(NULL);
    loop_leave(loop);
    sem_wait(&done);
    return report(began_ns);
}

int main(int argc, char **argv)
{
    set_up();
    if (argc == 2 && strcmp(argv[1], "serve") == 0)
        return serve();
    if (argc == 7 && strcmp(argv[1], "cancel") == 0)
        return cancel(argv);
    bool runs = argc >= 7 && (strcmp(argv[1], "run") == 0 || strcmp(argv[1], "start") == 0);
    if (runs || (argc >= 7 && (strcmp(argv[1], "trips") == 0 || strcmp(argv[1], "named") == 0)))
        return run(argc, argv);
    fprintf(stderr,
            "graph-load serve | run|start|trips|named ADDRESS AGENT RUNS AT_ONCE INPUT [THREAD] | cancel ADDRESS AGENT "
            "RUNS PORT BRANCHES\n");
    return 2;
}
