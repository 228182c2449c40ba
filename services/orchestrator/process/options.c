/* The orchestrator's options. */
#include "process.h"

#define YEARS_MS (INT64_C(10) * 365 * 24 * 3600 * 1000) /* ten */

const struct option orchestrator_options[] = {
    LIST_OPTION("orchestrator.agents", NULL, "FOLDERS",
                "Folders of agents: each sub-folder that has a graph.json is one. Where two have the same name the "
                "later folder's is taken. Unset: \"agents\" in the working directory, if it is there. SIGHUP reads all "
                "again; a faulty document leaves its agent as it was."),
    STRING_OPTION("orchestrator.prompts", NULL, "FOLDER",
                  "A folder of prompts, AGENT/LANGUAGE/NAME.md, that are added to those of an agent, or take the place "
                  "of one, so that a shipped agent need not be copied. They are part of the agent's version. SIGHUP "
                  "reads all again; a faulty prompt leaves its agent as it was. Unset: none."),
    BOOLEAN_OPTION("orchestrator.shipped_agents", "true",
                   "Have the agents that come with Renga, such as \"helpdesk\". An agent of the same name in a folder "
                   "takes the place of one."),
    LIST_OPTION("orchestrator.shipped_only", NULL, "NAMES",
                "Of the agents that come with Renga, those that are loaded. Unset: all."),
    STRING_OPTION(
        "orchestrator.store", "sqlite:renga.db", "STORE",
        "Where runs and threads are kept: sqlite:FILE, which is made where there is none and belongs to this process "
        "alone, on a disk of its own machine; redis://HOST:6379/0?password_file=PATH or unix:PATH, a Redis with "
        "appendonly yes and appendfsync always (more behind the '?': name, durability, replicas, timeout, and for "
        "rediss:// authorities, certificate and key); or memory:, gone with the process. The default stands in the "
        "working directory; in a container give a file on a volume, such as sqlite:/var/lib/renga/renga.db."),
    STRING_OPTION("orchestrator.address", NULL, "HOST:PORT",
                  "Where the other orchestrators that share a Redis store reach this very one (not a name that stands "
                  "for several), such as the pod's own address. They hand requests on to whoever has the thread, or "
                  "had it last, with peers.key, which needs \"renga.v1.Orchestrator/forward\" among its methods. "
                  "Unset: such requests are refused with UNAVAILABLE until the thread is at rest."),
    DURATION_OPTION(
        "orchestrator.lease", "1200ms", 200, 60000,
        "How long an orchestrator that shares a Redis store may show no life before the others take up its runs. It "
        "shows some eight times as often. One that is started anew at its address takes them up at once."),
    INTEGER_OPTION(
        "orchestrator.crashes_max", "3", 0, 10, "CRASHES",
        "How many orchestrators may die while a run is at work, without a step committed between, before the run has "
        "FAILED and is not taken up by itself any more. Before the last one it is taken up alone among such runs, so "
        "that others do not fail with it. 'renga resume' lets it go on. 0 is no limit."),
    INTEGER_OPTION("orchestrator.snapshot_every", "0", 0, 1000000, "STEPS",
                   "How often the whole state of a thread is written beside what changed. 0 is as its size asks for, "
                   "so that a step costs the same however long the thread is; a number makes opening an old thread "
                   "faster, and each step of one with a large state dearer."),
    CHOICE_OPTION("orchestrator.fan_out", "auto", "auto|off",
                  "auto: where several nodes of a run are due at once, loops with idle slots ask for those that call "
                  "somebody, and run them; off: each runs in the loop of its thread."),
    STRING_OPTION(
        "orchestrator.fan_out_listen", NULL, "HOST:PORT",
        "Where the other orchestrators that share a Redis store give this one attempts of fan-outs, such as "
        "0.0.0.0:15205; it gives them its own. They reach it at that port of the host of orchestrator.address, if this "
        "names none. With rpc.tls.client_certificate over TLS, with the files of rpc.tls.* and, to call, peers.tls.*, "
        "among these the name, where they are reached by number; else plainly, in a network that is closed to others. "
        "tls+tcp:// or tcp:// before it says which. Unset: it shares with none."),
    DURATION_OPTION("orchestrator.thread_ttl", "0ms", 0, YEARS_MS,
                    "How long a thread is kept on which nothing happens, its run's waiting included, where the thread "
                    "itself was not given a time. 0ms is for ever."),
    DURATION_OPTION(
        "orchestrator.history_age", "0ms", 0, YEARS_MS,
        "How long checkpoints and events are kept, the newest checkpoint always. 0ms is as long as their thread."),
    INTEGER_OPTION("orchestrator.history_checkpoints", "0", 0, 1000000, "CHECKPOINTS",
                   "How many checkpoints of a thread are kept, the newest. 0 is all."),
    DURATION_OPTION("orchestrator.sweep_every", "1m", 10, YEARS_MS,
                    "How long to rest between two looks at what need not be kept any longer."),
    CHOICE_OPTION("orchestrator.node_log", "documents", "off|debug|documents|info",
                  "The log line run.node for each node that has ended: node, visit, outcome, duration, and the fields "
                  "that its graph names in \"log\". documents: at level info for graphs with \"log\", at debug for "
                  "others; debug, info: that level for all; off: no lines. Under a heavy load take debug or off."),
    BOOLEAN_OPTION("orchestrator.trace_content", "false",
                   "Show inputs and outputs of runs and nodes in spans, up to 16 KiB each, and whole texts of errors. "
                   "Words that look like keys are hidden, other secrets are not."),
    {.name = "orchestrator.node_key",
     .type = OPTION_STRING,
     .secret = true,
     .unit = "KEY",
     .help = "Bearer key that remote nodes are shown with every call, or where it stands: file:PATH or env:NAME. Unset "
             "is none; the key for peers is never shown to nodes."},
    BOOLEAN_OPTION("orchestrator.node_tls", "false",
                   "Call remote nodes over TLS, with the certificate and authorities of the options peers.tls.*, and "
                   "the name of the node's own address."),
    {.name = NULL},
};
