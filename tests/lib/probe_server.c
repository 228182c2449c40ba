/* A server of the probe and interop services, for clients of other languages: `probe-server --listen 127.0.0.1:0`.
 * It prints "listening PORT" on standard output once it serves, drains on SIGTERM, and prints "drained". */
#include "base/log.h"
#include "interop.h"
#include "loop/loop.h"
#include "probe.h"
#include "rpc/auth.h"
#include "rpc/channel.h"
#include "rpc/runtime.h"
#include "rpc/schema.h"
#include "rpc/server.h"
#include "rpc/tls.h"
#include "telemetry/rpc_metrics.h"

#include <getopt.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEYS_MAX 16

static const struct option flags[] = {
    {"listen", required_argument, NULL, 'l'},
    {"loops", required_argument, NULL, 'n'},
    {"certificate", required_argument, NULL, 'c'},
    {"key", required_argument, NULL, 'k'},
    {"authorities", required_argument, NULL, 'a'},
    {"client-certificate", no_argument, NULL, 'm'},
    {"bearer", required_argument, NULL, 'b'},
    {"age-ms", required_argument, NULL, 'g'},
    {"drain-ms", required_argument, NULL, 'd'},
    {"memory-max", required_argument, NULL, 'q'},
    {"call-max-ms", required_argument, NULL, 'x'},
    {"forward", required_argument, NULL, 'f'},
    {"debug", no_argument, NULL, 'v'},
    {"observe", no_argument, NULL, 'o'},
    {NULL, 0, NULL, 0},
};

struct setting {
    struct rpc_server_options options;
    struct rpc_tls tls;
    struct rpc_auth_key keys[KEYS_MAX];
    const char *methods[KEYS_MAX];
    size_t key_count;
    const char *forward;
    int64_t drain_ms;
    bool observe; /* counts its calls, as the daemons do */
};

/* "name,tenant,sha256,methods" */
static void add_key(struct setting *setting, char *text)
{
    struct rpc_auth_key *key = &setting->keys[setting->key_count];
    key->principal.name = strtok(text, ",");
    key->principal.tenant = strtok(NULL, ",");
    key->sha256 = strtok(NULL, ",");
    setting->methods[setting->key_count] = strtok(NULL, ",");
    key->methods = &setting->methods[setting->key_count++];
    key->method_count = 1;
}

static void read_flags(struct setting *setting, int argc, char **argv)
{
    enum log_level level = LOG_INFO;
    for (int flag; (flag = getopt_long(argc, argv, "", flags, NULL)) != -1;) {
        switch (flag) {
        case 'l':
            setting->options.listen = optarg;
            break;
        case 'n':
            setting->options.loop_count = (unsigned)atoi(optarg);
            break;
        case 'c':
            setting->tls.certificate = optarg;
            setting->options.tls = &setting->tls;
            break;
        case 'k':
            setting->tls.key = optarg;
            break;
        case 'a':
            setting->tls.authorities = optarg;
            break;
        case 'm':
            setting->tls.client_certificate = true;
            break;
        case 'b':
            add_key(setting, optarg);
            break;
        case 'g':
            setting->options.connection_age_ms = atoll(optarg);
            break;
        case 'd':
            setting->drain_ms = atoll(optarg);
            break;
        case 'q':
            setting->options.memory_max = (size_t)atoll(optarg);
            break;
        case 'x':
            setting->options.call_max_ms = atoll(optarg);
            break;
        case 'f':
            setting->forward = optarg;
            break;
        case 'o':
            setting->observe = true;
            break;
        case 'v':
            level = LOG_DEBUG;
            break;
        default:
            exit(2);
        }
    }
    log_configure("probe", level, LOG_FORMAT_AUTO);
}

static void drained(void *data)
{
    sem_post(data);
}

/* Waits for SIGTERM or SIGINT, which all threads have blocked. */
static void wait_for_signal(const sigset_t *signals)
{
    int signal_number;
    sigwait(signals, &signal_number);
}

static struct rpc_metrics *observe(struct metrics *metrics, const struct rpc_schema *schema)
{
    size_t count = rpc_schema_method_count(schema);
    struct rpc_metrics_method *methods = calloc(count, sizeof *methods);
    for (size_t i = 0; i < count; i++) {
        const struct rpc_method *method = rpc_schema_method(schema, i);
        methods[i] = (struct rpc_metrics_method){.service = method->service, .method = method->name};
    }
    struct rpc_metrics *rpc = rpc_metrics_create(metrics, NULL, methods, count);
    free(methods);
    rpc_observe(rpc_metrics_observer(rpc));
    return rpc;
}

static void serve(struct setting *setting, const sigset_t *signals)
{
    struct loop *loops[LOOPS_MAX];
    ProtobufCService *probes[LOOPS_MAX], *interop[LOOPS_MAX];
    struct status st = {0};
    struct rpc_schema *schema = probe_schema();
    unsigned count = setting->options.loop_count;
    for (unsigned i = 0; i < count; i++) {
        loops[i] = loop_create(i);
        probes[i] = probe_create(loops[i], NULL);
        interop[i] = interop_service();
        if (!loop_start(loops[i], &st))
            fatal("probe.start", "%s", st.text);
    }
    struct metrics *metrics = metrics_create(count);
    struct rpc_metrics *rpc_metrics = setting->observe ? observe(metrics, schema) : NULL;
    struct rpc_auth *auth = setting->key_count ? rpc_auth_create(setting->keys, setting->key_count, &st) : NULL;
    setting->options.loops = loops;
    setting->options.schema = schema;
    setting->options.auth = auth;
    if ((setting->key_count && !auth) || !rpc_start(loops, count, &st))
        fatal("probe.start", "%s", st.text);
    struct rpc_server *server = rpc_server_create(&setting->options, &st);
    if (!server)
        fatal("probe.start", "%s", st.text);
    struct rpc_channel *channel = NULL;
    ProtobufCService *next = NULL;
    if (setting->forward) {
        struct rpc_channel_options options = {.schema = schema, .target = setting->forward};
        channel = rpc_channel_create(&options, &st);
        next = rpc_channel_stub(channel, probes[0]->descriptor, &st);
        for (unsigned i = 0; i < count; i++)
            probe_set_next(probes[i], next);
    }
    rpc_server_add(server, probes);
    rpc_server_add(server, interop);
    if (!rpc_server_start(server, &st))
        fatal("probe.start", "%s", st.text);
    printf("listening %d\n", rpc_server_port(server));
    fflush(stdout);
    wait_for_signal(signals);
    sem_t done;
    sem_init(&done, 0, 0);
    rpc_server_drain(server, setting->drain_ms, NULL, drained, &done);
    sem_wait(&done);
    printf("drained\n");
    fflush(stdout);
    rpc_server_destroy(&server);
    if (next)
        protobuf_c_service_destroy(next);
    rpc_channel_destroy(&channel);
    rpc_stop();
    for (unsigned i = 0; i < count; i++) {
        loop_stop(loops[i]);
        probe_destroy(probes[i]);
        loop_destroy(&loops[i]);
    }
    rpc_observe(NULL);
    rpc_metrics_destroy(&rpc_metrics);
    metrics_destroy(&metrics);
    rpc_auth_destroy(&auth);
    rpc_schema_destroy(&schema);
}

int main(int argc, char **argv)
{
    struct setting setting = {
        .options = {.listen = "127.0.0.1:0", .loop_count = 2},
        .drain_ms = 10000,
    };
    read_flags(&setting, argc, argv);
    if (setting.options.loop_count < 1 || setting.options.loop_count > LOOPS_MAX)
        return 2;
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    serve(&setting, &signals);
    return 0;
}
