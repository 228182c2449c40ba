#include "daemon/options.h"

#include "daemon/keys.h"

#include <assert.h>
#include <string.h>

#define MIB        (1LL << 20)
#define TABLES_MAX 32

/* Options of servers. */
static struct option serving[] = {
    STRING_OPTION("rpc.listen", NULL, "ADDRESS", "Where gRPC is served: 0.0.0.0:PORT, [::]:PORT or unix:PATH."),
    STRING_OPTION(
        "rpc.tls.certificate", NULL, "FILE",
        "Our certificate chain as PEM, leaf first; with it gRPC is served over TLS. Read again when it changes."),
    STRING_OPTION("rpc.tls.key", NULL, "FILE", "The certificate's private key as PEM."),
    STRING_OPTION("rpc.tls.authorities", NULL, "FILE",
                  "Whose client certificates are trusted, as PEM; for rpc.tls.client_certificate."),
    BOOLEAN_OPTION("rpc.tls.client_certificate", "false",
                   "Refuse clients without a certificate of the authorities (mutual TLS)."),
    {.name = "rpc.keys",
     .type = OPTION_JSON,
     .unit = "JSON",
     .check = daemon_keys_check,
     .help =
         "Who may call what: [{\"name\", \"tenant\", \"sha256\" of the key, \"methods\": [\"renga.v1.Planner/*\"]}], "
         "or file:PATH of a file with that list; 'printf %s KEY | sha256sum' prints the sum. The file is read again "
         "within seconds of a change, and on SIGHUP; "
         "a wrong one is logged, and the keys before it stay. \"expires\": \"2027-01-31T00:00:00Z\" ends a key. "
         "Calls under way go on. A key that has methods such as \"renga.v1.Orchestrator/agent.helpdesk\" may use those "
         "agents alone. \"renga.v1.ToolRunner/forward\" lets a service of ours call on behalf of its clients; \"*\" "
         "does so too, but not for a key with a tenant. Unset: anyone may call anything, on behalf of anybody; keep it "
         "to where our own services alone can call."},
    {.name = "rpc.memory_max",
     .type = OPTION_SIZE,
     .fallback = "64MiB",
     .min = 8 * MIB,
     .max = 65536 * MIB,
     .unit = "BYTES",
     .help =
         "What requests may take of memory, over gRPC and HTTP together: bodies until they are answered, at most "
         "three quarters of it, and what gRPC buffers. Beyond it they are refused with RESOURCE_EXHAUSTED or 503, "
         "and a hint when to try again. Answers may take six times as much until their clients have read them, those "
         "above 64 KiB four times, and those of one tenant half of that."},
    INTEGER_OPTION("rpc.streams_max", "1000", 1, 1000000, "CALLS", "Concurrent calls on one connection."),
    DURATION_OPTION("rpc.call_max", "15m", 0, 24LL * 3600 * 1000,
                    "The longest a unary call may take, whatever deadline its client sets; 0 is no limit."),
    DURATION_OPTION(
        "rpc.connection_age", "10s", 0, 24LL * 3600 * 1000,
        "How long a connection is kept before its client is asked to open another. gRPC closes it after its last call: "
        "a client that reads an answer of megabytes too slowly may lose the end of it then (UNAVAILABLE), and on a "
        "busy machine calls that it sends at that moment; it calls again. A drain waits about this long; 0 is for "
        "ever, for clients that look at health, as the ingress does."),
    DURATION_OPTION(
        "drain.limit", "25s", 0, 3600LL * 1000,
        "After SIGTERM: how long calls may still take before they are cut. Below 1.1 times rpc.connection_age and 1 s, "
        "calls that clients send in its second half, on connections whose age is not up, may be refused."),
    STRING_OPTION("http.listen", NULL, "ADDRESS",
                  "Where /metrics, /healthz and /readyz are served; empty or off is nowhere."),
    STRING_OPTION("http.hosts", NULL, "NAMES",
                  "Names that those pages may be asked by (the Host of a request), apart by commas. Unset: any, but on "
                  "a loopback address only localhost, 127.0.0.1, [::1] and http.listen's own."),
    {0},
};

/* Options of clients. */
static const struct option calling[] = {
    {.name = "peers.key",
     .type = OPTION_STRING,
     .unit = "KEY",
     .secret = true,
     .help = "The bearer key we show to other services. Where calls to us need keys, theirs have to let it call on "
             "behalf of our clients: SERVICE/forward."},
    STRING_OPTION("peers.tls.authorities", NULL, "FILE",
                  "Whose certificates we trust in other services, as PEM; with it they are called over TLS."),
    STRING_OPTION("peers.tls.certificate", NULL, "FILE",
                  "Our own certificate chain for other services (mutual TLS), as PEM."),
    STRING_OPTION("peers.tls.key", NULL, "FILE", "That certificate's private key as PEM."),
    STRING_OPTION("peers.tls.name", NULL, "NAME",
                  "The name expected in their certificates; unset is the host of their address."),
    {0},
};

/* Of all. */
static struct option common[] = {
    {.name = "rpc.message_max",
     .type = OPTION_SIZE,
     .fallback = "4MiB",
     .min = 64 << 10,
     .max = 64 * MIB,
     .unit = "BYTES",
     .help = "The largest message, in and out."},
    DURATION_OPTION(
        "peers.keepalive", "1s", 500, 24LL * 3600 * 1000,
        "How often another service that is silent is asked whether it is there. Ours allow it; a service of another "
        "make usually cuts who asks more often than every 5 minutes, and wants 310s here. It is given up when it has "
        "not answered for 1.5 s, or 5 s where it is asked less often than each 5 s, as over a slow network."),
    CHOICE_OPTION("log.level", "info", "debug|info|warn|error", "The least important lines that are logged."),
    CHOICE_OPTION("log.format", "auto", "auto|text|json",
                  "How lines are logged; auto is text on a terminal and JSON otherwise."),
    BOOLEAN_OPTION("core_dumps", "false",
                   "Let a crash leave a core dump, and other processes of our user read our memory (gdb, "
                   "/proc/PID/mem). Keys are not in the dump, but callers' texts are."),
    INTEGER_OPTION("loops", "0", 0, 64, "LOOPS", "Event loops that share the work; 0 is one for each processor."),
    STRING_OPTION("trace.endpoint", NULL, "URL",
                  "Where spans are sent by OTLP/HTTP, \"http://collector:4318\"; unset is nowhere. "
                  "OTEL_EXPORTER_OTLP_ENDPOINT stands in for it."),
    {.name = "trace.headers",
     .type = OPTION_STRING,
     .unit = "HEADERS",
     .secret = true,
     .help = "Headers for the collector, \"name=value,name=value\"."},
    CHOICE_OPTION("trace.protocol", "auto", "auto|json|protobuf",
                  "The encoding of OTLP/HTTP. auto is json, or protobuf where OTEL_EXPORTER_OTLP_PROTOCOL is "
                  "http/protobuf. LangSmith documents protobuf alone."),
    INTEGER_OPTION("trace.samples_per_million", "1000000", 0, 1000000, "TRACES",
                   "How many of a million traces that begin here are recorded; a caller's own decision is followed."),
    CHOICE_OPTION("trace.roots", "calls", "calls|runs",
                  "calls: each call is a span below its caller's, and runs of agents are in the trace of the call that "
                  "has started them. runs, for LangSmith: each period of work of a run is a trace of its own, of the "
                  "run, its nodes, and the requests to models, tools and searches; calls are no spans, and a caller's "
                  "trace from outside becomes a link. Give all services the same value."),
    {0},
};

static void set_fallback(struct option *options, const char *name, const char *fallback)
{
    for (struct option *option = options; option->name; option++)
        if (strcmp(option->name, name) == 0)
            option->fallback = fallback;
}

/* ---- how they are used ------------------------------------------------------------------------------------------- */

static void use(struct config *config, const struct option *table, enum option_use how)
{
    for (const struct option *option = table; option && option->name; option++)
        config_use(config, option->name, how);
}

static bool is_peer(const struct daemon *daemon, const char *name)
{
    for (const struct peer *peer = daemon->peers; peer->option; peer++)
        if (strcmp(peer->option, name) == 0)
            return true;
    return false;
}

static bool is_carried(const struct daemon *daemon, const struct service *service)
{
    for (const struct service *const *own = daemon->services; *own; own++)
        if (*own == service)
            return true;
    return false;
}

static bool set_defaults(const struct daemon *daemon, struct config *config, struct status *st)
{
    for (const struct daemon_default *own = daemon->defaults; own && own->option; own++)
        if (!config_set_default(config, own->option, own->value, st))
            return false;
    return true;
}

struct config *daemon_create_config(const struct daemon *daemon, struct status *st)
{
    const struct option *tables[TABLES_MAX];
    size_t count = 0;
    if (daemon->log_level)
        set_fallback(common, "log.level", daemon->log_level);
    set_fallback(serving, "rpc.listen", daemon->listen);
    set_fallback(serving, "http.listen", daemon->http);
    if (daemon->extra_options)
        tables[count++] = daemon->extra_options;
    for (const struct service *const *service = daemon->services; *service && count < TABLES_MAX; service++)
        if ((*service)->options)
            tables[count++] = (*service)->options;
    size_t others = count;
    for (const struct service *const *other = daemon->others; other && *other && count < TABLES_MAX; other++)
        if ((*other)->options && !is_carried(daemon, *other))
            tables[count++] = (*other)->options;
    size_t others_end = count;
    assert(count + 4 <= TABLES_MAX);
    if (daemon->peer_options)
        tables[count++] = daemon->peer_options;
    tables[count++] = calling;
    tables[count++] = serving;
    tables[count++] = common;
    struct config *config = config_create(tables, count, st);
    if (!config || !set_defaults(daemon, config, st)) {
        config_destroy(config);
        return NULL;
    }
    for (size_t i = others; i < others_end; i++)
        use(config, tables[i], OPTION_IDLE);
    if (daemon->is_command) {
        /* In a command, its own options and those of its direct peers come first; the options of its services come
         * later. */
        use(config, serving, OPTION_IDLE);
        use(config, common, OPTION_FURTHER);
        use(config, calling, daemon->peers->option ? OPTION_SHOWN : OPTION_IDLE);
        for (const struct option *peer = daemon->peer_options; peer && peer->name; peer++)
            config_use(config, peer->name, is_peer(daemon, peer->name) ? OPTION_FURTHER : OPTION_IDLE);
        for (const struct service *const *service = daemon->services; *service; service++)
            use(config, (*service)->options, OPTION_FURTHER);
    }
    return config;
}
