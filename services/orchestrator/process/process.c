#include "process.h"
#include "thread/runner_options.h"

#include "base/log.h"
#include "base/memory.h"
#include "config/config.h"
#include "daemon/service.h"
#include "fanout/fanout.h"
#include "graph/agents.h"
#include "graph/shipped.h"
#include "nodes/addresses.h"
#include "nodes/kept_answer.h"
#include "runtime/runner.h"
#include "store/store.h"
#include "telemetry/metrics.h"
#include "thread/runner_metrics.h"

#include "renga/v1/llm_gateway.pb-c.h"
#include "renga/v1/node.pb-c.h"
#include "renga/v1/orchestrator.pb-c.h"
#include "renga/v1/tool_runner.pb-c.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define AGENTS_DEFAULT "agents"
#define NODE_KEEPALIVE_MS                                                                                              \
    310000 /* gRPC servers of other makes cut clients that ask more often than every 5 minutes                         \
            */

/* ---- metrics ----------------------------------------------------------------------------------------------------- */

static void orchestrator_collect(struct buffer *out, void *data)
{
    static const struct metric transactions = {.name = "renga_store_transactions_total",
                                               .help = "Transactions, each with one fsync where the store has a disk."};
    static const struct metric batches = {.name = "renga_store_batches_total",
                                          .help = "Batches; many share a transaction."};
    static const struct metric bytes = {.name = "renga_store_written_bytes_total", .help = "Keys and values written."};
    static const struct metric failures = {.name = "renga_store_failures_total", .help = "Batches that failed."};
    static const struct metric sync = {
        .name = "renga_store_sync_seconds", .help = "How long the last transaction took.", .kind = METRIC_GAUGE};
    static const struct metric queued = {
        .name = "renga_store_queued", .help = "Batches that wait for the writer.", .kind = METRIC_GAUGE};
    static const struct metric losses = {.name = "renga_store_losses_total",
                                         .help = "How often the connection to Redis was lost."};
    static const struct metric weak = {.name = "renga_store_weak",
                                       .help = "1 where Redis acknowledges before it has written to its disk.",
                                       .kind = METRIC_GAUGE};
    const struct orchestrator *orchestrator = data;
    struct store_stats stats;
    store_stats(orchestrator->store, &stats);
    metrics_show(out, &transactions, NULL, (double)stats.transactions);
    metrics_show(out, &batches, NULL, (double)stats.batches);
    metrics_show(out, &bytes, NULL, (double)stats.bytes);
    metrics_show(out, &failures, NULL, (double)stats.failures);
    metrics_show(out, &sync, NULL, (double)stats.sync_ns / 1e9);
    metrics_show(out, &queued, NULL, stats.queued);
    metrics_show(out, &losses, NULL, (double)stats.losses);
    metrics_show(out, &weak, NULL, stats.weak);
}

/* ---- agents ------------------------------------------------------------------------------------------------------ */

static void count_agent(const struct agent *agent, void *data)
{
    (void)agent;
    ++*(unsigned *)data;
}

static void log_agents(struct agents *agents)
{
    unsigned count = 0;
    agents_each(agents, count_agent, NULL, &count);
    log_info("orchestrator.agents", "%u agents can be run", count);
}

/* The files of the agents that are loaded: to read all of them takes a third of the time of a short command. */
static const struct shipped_file *shipped_agents(struct orchestrator *orchestrator)
{
    size_t count = 0, names, kept = 0;
    const char *const *only = config_list(orchestrator->config, "orchestrator.shipped_only", &names);
    if (!config_boolean(orchestrator->config, "orchestrator.shipped_agents"))
        return NULL;
    while (shipped_files[count].agent)
        count++;
    orchestrator->shipped = names ? calloc(count + 1, sizeof *orchestrator->shipped) : NULL;
    if (!orchestrator->shipped)
        return shipped_files;
    for (size_t i = 0; i < count; i++)
        for (size_t name = 0; name < names; name++)
            if (strcmp(shipped_files[i].agent, only[name]) == 0)
                orchestrator->shipped[kept++] = shipped_files[i];
    return orchestrator->shipped;
}

static bool load_agents(struct orchestrator *orchestrator, struct status *st)
{
    static const char *const fallback[] = {AGENTS_DEFAULT};
    size_t count = 0;
    struct stat there;
    const char *const *folders = config_list(orchestrator->config, "orchestrator.agents", &count);
    if (!count && stat(AGENTS_DEFAULT, &there) == 0 && S_ISDIR(there.st_mode)) {
        folders = fallback;
        count = 1;
    }
    orchestrator->agents = agents_create(shipped_agents(orchestrator), folders, count,
                                         config_string(orchestrator->config, "orchestrator.prompts"), st);
    if (orchestrator->agents)
        log_agents(orchestrator->agents);
    return orchestrator->agents != NULL;
}

void orchestrator_reload(struct orchestrator *orchestrator)
{
    agents_reload(orchestrator->agents);
    log_agents(orchestrator->agents);
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

static void make_addresses(struct orchestrator *orchestrator, const struct service_context *context)
{
    const struct config *config = context->config;
    bool tls = config_boolean(config, "orchestrator.node_tls");
    orchestrator->node_tls = (struct rpc_tls){
        .certificate = config_string(config, "peers.tls.certificate"),
        .key = config_string(config, "peers.tls.key"),
        .authorities = config_string(config, "peers.tls.authorities"),
    };
    struct addresses_options options = {
        .service = &renga__v1__node_service__descriptor,
        .schema = context->schema,
        .tls = tls ? &orchestrator->node_tls : NULL,
        .key = config_string(config, "orchestrator.node_key"),
        .message_max = (size_t)config_size(config, "rpc.message_max"),
        .keepalive_ms = NODE_KEEPALIVE_MS,
        .foreign = true,
    };
    orchestrator->services.addresses = addresses_create(&options);
}

/* As peers are called. */
static void make_orchestrators(struct orchestrator *orchestrator, const struct service_context *context)
{
    const struct config *config = context->config;
    orchestrator->orchestrators_tls = (struct rpc_tls){
        .certificate = config_string(config, "peers.tls.certificate"),
        .key = config_string(config, "peers.tls.key"),
        .authorities = config_string(config, "peers.tls.authorities"),
    };
    struct addresses_options options = {
        .service = &renga__v1__orchestrator__descriptor,
        .schema = context->schema,
        .tls = orchestrator->orchestrators_tls.authorities ? &orchestrator->orchestrators_tls : NULL,
        .authority = config_string(config, "peers.tls.name"),
        .key = config_string(config, "peers.key"),
        .message_max = (size_t)config_size(config, "rpc.message_max"),
    };
    orchestrator->orchestrators = addresses_create(&options);
}

/* Only some nodes need them; such a node fails if its service has no address. */
static void find_peers(struct orchestrator *orchestrator, const struct service_context *context)
{
    for (size_t i = 0; context->process && i < PEER_COUNT; i++) {
        struct status st = {0};
        orchestrator->services.peers[i] = service_peer(context, peer_words[i].descriptor, &st);
        if (!orchestrator->services.peers[i])
            log_info("orchestrator.no_peer", "no node can call the %s: %s", peer_words[i].name, st.text);
    }
}

/* For operators: the host, which in Kubernetes is the pod, and the process. */
static void name_owner(struct orchestrator *orchestrator)
{
    char host[65] = "localhost";
    gethostname(host, sizeof host - 1);
    snprintf(orchestrator->owner, sizeof orchestrator->owner, "%s/%d", host, (int)getpid());
}

static void orchestrator_destroy(struct orchestrator **orchestrator_pointer)
{
    struct orchestrator *orchestrator = *orchestrator_pointer;
    *orchestrator_pointer = NULL;
    if (orchestrator->store)
        metrics_uncollect(orchestrator->metrics, orchestrator);
    fanout_stop_sharing(orchestrator->fanout);
    runner_destroy(&orchestrator->runner);
    fanout_destroy(&orchestrator->fanout);
    runner_metrics_destroy(&orchestrator->runner_metrics);
    store_close(&orchestrator->store);
    agents_destroy(&orchestrator->agents);
    free(orchestrator->shipped);
    addresses_destroy(&orchestrator->services.addresses);
    addresses_destroy(&orchestrator->orchestrators);
    kept_answer_destroy(&orchestrator->services.tools);
    kept_answer_destroy(&orchestrator->services.models);
    pthread_mutex_destroy(&orchestrator->lock);
    free(orchestrator);
}

struct orchestrator *orchestrator_create(const struct service_context *context, struct status *st)
{
    struct orchestrator *orchestrator = xcalloc(1, sizeof *orchestrator);
    orchestrator->config = context->config;
    orchestrator->metrics = context->metrics;
    orchestrator->spans = context->spans;
    orchestrator->answers = context->answers;
    orchestrator->services.keyed = context->auth != NULL;
    orchestrator->runner_metrics = runner_metrics_create(context->metrics);
    pthread_mutex_init(&orchestrator->lock, NULL);
    orchestrator->services.tools = kept_answer_create(&renga__v1__list_tools_response__descriptor);
    orchestrator->services.models = kept_answer_create(&renga__v1__list_models_response__descriptor);
    name_owner(orchestrator);
    make_addresses(orchestrator, context);
    make_orchestrators(orchestrator, context);
    find_peers(orchestrator, context);
    if (!load_agents(orchestrator, st))
        orchestrator_destroy(&orchestrator);
    return orchestrator;
}

struct orchestrator *orchestrator_join(struct orchestrator *orchestrator, struct loop *loop)
{
    orchestrator->loops[orchestrator->membership++] = loop;
    return orchestrator;
}

void orchestrator_leave(struct orchestrator **orchestrator_pointer)
{
    struct orchestrator *orchestrator = *orchestrator_pointer;
    *orchestrator_pointer = NULL;
    if (--orchestrator->membership)
        return;
    struct loop *loop = loop_current();
    loop_leave(loop); /* the runner goes through all loops */
    orchestrator_destroy(&orchestrator);
    loop_enter(loop);
}

/* ---- the store and the runner ------------------------------------------------------------------------------------ */

/* If the address has no scheme, it is that of gRPC: over mutual TLS, or plain. */
static bool name_listen(const struct orchestrator *orchestrator, char *listen, size_t room, struct status *st)
{
    const char *given = config_string(orchestrator->config, "orchestrator.fan_out_listen"), *scheme = "";
    if (!strstr(given, "://"))
        scheme = config_boolean(orchestrator->config, "rpc.tls.client_certificate") ? "tls+tcp://" : "tcp://";
    if (strcmp(scheme, "tcp://") == 0 && config_string(orchestrator->config, "rpc.tls.certificate"))
        return fail(st, INVALID_ARGUMENT,
                    "orchestrator.fan_out_listen=%.64s without rpc.tls.client_certificate: the others would not have "
                    "to show who they are; set that, or say tcp:// where the network is closed",
                    given);
    if ((size_t)snprintf(listen, room, "%s%s", scheme, given) >= room)
        return fail(st, INVALID_ARGUMENT, "orchestrator.fan_out_listen has %zu bytes; at most %zu are allowed",
                    strlen(given), room - 16);
    bool known = strncmp(listen, "tcp://", 6) == 0 || strncmp(listen, "tls+tcp://", 10) == 0;
    if (!known)
        return fail(st, INVALID_ARGUMENT, "orchestrator.fan_out_listen=%.64s: it is tcp://… or tls+tcp://…", given);
    return store_is_shared(orchestrator->store) ||
           fail(st, INVALID_ARGUMENT,
                "orchestrator.fan_out_listen is for orchestrators that share a store, and '%.16s…' is this one's own",
                config_string(orchestrator->config, "orchestrator.store"));
}

static void find_mail_tls(struct orchestrator *orchestrator)
{
    const struct config *config = orchestrator->config;
    orchestrator->mail_server = (struct mail_tls){
        .certificate = config_string(config, "rpc.tls.certificate"),
        .key = config_string(config, "rpc.tls.key"),
        .authorities = config_string(config, "rpc.tls.authorities"),
    };
    orchestrator->mail_client = (struct mail_tls){
        .certificate = config_string(config, "peers.tls.certificate"),
        .key = config_string(config, "peers.tls.key"),
        .authorities = config_string(config, "peers.tls.authorities"),
        .name = config_string(config, "peers.tls.name"),
    };
}

/* The host of orchestrator.address. */
static void orchestrator_name_host(const struct orchestrator *orchestrator, char *host, size_t room)
{
    const char *address = config_string(orchestrator->config, "orchestrator.address");
    const char *colon = address ? strrchr(address, ':') : NULL;
    snprintf(host, room, "%.*s", colon ? (int)(colon - address) : 0, address ? address : "");
}

static bool open_fanout(struct orchestrator *orchestrator, struct status *st)
{
    char listen[MAIL_ADDRESS_MAX], host[MAIL_ADDRESS_MAX];
    const char *given = config_string(orchestrator->config, "orchestrator.fan_out_listen");
    bool listens = given && *given;
    if (orchestrator->fanout || (orchestrator->membership < 2 && !listens) ||
        strcmp(config_string(orchestrator->config, "orchestrator.fan_out"), "off") == 0)
        return true;
    if (listens && !name_listen(orchestrator, listen, sizeof listen, st))
        return false;
    find_mail_tls(orchestrator);
    orchestrator_name_host(orchestrator, host, sizeof host);
    struct fanout_options options = {
        .loops = orchestrator->loops,
        .loop_count = orchestrator->membership,
        .agents = orchestrator->agents,
        .services = &orchestrator->services,
        .runner_metrics = orchestrator->runner_metrics,
        .message_max = (size_t)config_size(orchestrator->config, "rpc.message_max"),
        .listen = listens ? listen : NULL,
        .host = host,
        .server = &orchestrator->mail_server,
        .client = &orchestrator->mail_client,
        .store = orchestrator->store,
    };
    orchestrator->fanout = fanout_create(&options, st);
    return orchestrator->fanout != NULL;
}

bool orchestrator_share(struct orchestrator *orchestrator, struct loop *loop, struct status *st)
{
    if (!orchestrator->fanout)
        return true;
    if (!fanout_join(orchestrator->fanout, loop, st))
        return false;
    fanout_start_sharing(orchestrator->fanout, loop, runner_membership(orchestrator->runner));
    return true;
}

static enum node_log node_log_of(const struct config *config)
{
    static const char *const words[] = {[NODE_LOG_OFF] = "off",
                                        [NODE_LOG_DEBUG] = "debug",
                                        [NODE_LOG_DOCUMENTS] = "documents",
                                        [NODE_LOG_INFO] = "info"};
    const char *word = config_string(config, "orchestrator.node_log");
    enum node_log which = NODE_LOG_OFF;
    while (which < NODE_LOG_INFO && strcmp(words[which], word) != 0)
        which++;
    return which;
}

static bool open_runner(struct orchestrator *orchestrator, struct status *st)
{
    orchestrator->lease_ms = config_duration_ms(orchestrator->config, "orchestrator.lease");
    struct runner_options options = {
        .loops = orchestrator->loops,
        .loop_count = orchestrator->membership,
        .store = orchestrator->store,
        .agents = orchestrator->agents,
        .answers = orchestrator->answers,
        .services = &orchestrator->services,
        .fanout = orchestrator->fanout,
        .spans = orchestrator->spans,
        .node_log = node_log_of(orchestrator->config),
        .trace_content = config_boolean(orchestrator->config, "orchestrator.trace_content"),
        .runner_metrics = orchestrator->runner_metrics,
        .owner = orchestrator->owner,
        .shared = store_is_shared(orchestrator->store),
        .address = config_string(orchestrator->config, "orchestrator.address"),
        .lease_ms = orchestrator->lease_ms,
        .crashes_max = (unsigned)config_integer(orchestrator->config, "orchestrator.crashes_max"),
        .snapshot_every = (unsigned)config_integer(orchestrator->config, "orchestrator.snapshot_every"),
        .thread_ttl_ms = config_duration_ms(orchestrator->config, "orchestrator.thread_ttl"),
        .history_age_ms = config_duration_ms(orchestrator->config, "orchestrator.history_age"),
        .checkpoints_max = (int32_t)config_integer(orchestrator->config, "orchestrator.history_checkpoints"),
        .sweep_every_ms = config_duration_ms(orchestrator->config, "orchestrator.sweep_every"),
    };
    orchestrator->runner = runner_create(&options, st);
    return orchestrator->runner != NULL;
}

static bool orchestrator_open_locked(struct orchestrator *orchestrator, struct status *st)
{
    const char *url = config_string(orchestrator->config, "orchestrator.store");
    if (orchestrator->runner)
        return true;
    if (!orchestrator->store) {
        orchestrator->store = store_open(url, st);
        if (!orchestrator->store)
            return false;
        metrics_collect(orchestrator->metrics, orchestrator_collect, NULL, orchestrator);
    }
    return open_fanout(orchestrator, st) && open_runner(orchestrator, st);
}

bool orchestrator_open(struct orchestrator *orchestrator, struct status *st)
{
    pthread_mutex_lock(&orchestrator->lock);
    bool open = orchestrator_open_locked(orchestrator, st);
    pthread_mutex_unlock(&orchestrator->lock);
    return open;
}
