/* The orchestrator's options. */
#include "process.h"

#define YEARS_MS (INT64_C(10) * 365 * 24 * 3600 * 1000) /* ten */

const struct option orchestrator_options[] = {
    {.name = "orchestrator.agents",
     .type = OPTION_LIST,
     .unit = "FOLDERS",
     .help = "Folders of agents: each sub-folder that has a graph.json is one. Where two have the same name the later "
             "folder's is taken. Unset: \"agents\" in the working directory, if it is there. SIGHUP reads all again; a "
             "faulty document leaves its agent as it was."},
    {.name = "orchestrator.prompts",
     .type = OPTION_STRING,
     .unit = "FOLDER",
     .help = "A folder of prompts, AGENT/LANGUAGE/NAME.md, that are added to those of an agent, or take the place of "
             "one, so that a shipped agent need not be copied. They are part of the agent's version. SIGHUP reads all "
             "again; a faulty prompt leaves its agent as it was. Unset: none."},
    {.name = "orchestrator.shipped_agents",
     .type = OPTION_BOOLEAN,
     .fallback = "true",
     .help =
         "Have the agents that come with Renga, such as \"helpdesk\". An agent of the same name in a folder takes the "
         "place of one."},
    {.name = "orchestrator.shipped_only",
     .type = OPTION_LIST,
     .unit = "NAMES",
     .help = "Of the agents that come with Renga, those that are loaded. Unset: all."},
    {.name = "orchestrator.store",
     .type = OPTION_STRING,
     .fallback = "sqlite:renga.db",
     .unit = "STORE",
     .help =
         "Where runs and threads are kept: sqlite:FILE, which is made where there is none and belongs to this "
         "process alone, on a disk of its own machine; redis://HOST:6379/0?password_file=PATH or unix:PATH, a Redis "
         "with appendonly yes and appendfsync always (more behind the '?': name, durability, replicas, timeout, and "
         "for rediss:// authorities, certificate and key); or memory:, gone with the process. The default stands in "
         "the working directory; in a container give a file on a volume, such as sqlite:/var/lib/renga/renga.db."},
    {.name = "orchestrator.address",
     .type = OPTION_STRING,
     .unit = "HOST:PORT",
     .help = "Where the other orchestrators that share a Redis store reach this very one (not a name that stands for "
             "several), such as the pod's own address. They hand requests on to whoever has the thread, or had it "
             "last, with peers.key, "
             "which needs \"renga.v1.Orchestrator/forward\" among its methods. Unset: such requests are refused with "
             "UNAVAILABLE until the thread is at rest."},
    {.name = "orchestrator.lease",
     .type = OPTION_DURATION,
     .fallback = "1200ms",
     .min = 200,
     .max = 60000,
     .help = "How long an orchestrator that shares a Redis store may show no life before the others take up its runs. "
             "It shows some eight times as often. One that is started anew at its address takes them up at once."},
    {.name = "orchestrator.crashes_max",
     .type = OPTION_INTEGER,
     .fallback = "3",
     .max = 10,
     .unit = "CRASHES",
     .help = "How many orchestrators may die while a run is at work, without a step committed between, before the run "
             "has FAILED and is not taken up by itself any more. Before the last one it is taken up alone among such "
             "runs, so that others do not fail with it. 'renga resume' lets it go on. 0 is no limit."},
    {.name = "orchestrator.snapshot_every",
     .type = OPTION_INTEGER,
     .fallback = "0",
     .max = 1000000,
     .unit = "STEPS",
     .help = "How often the whole state of a thread is written beside what changed. 0 is as its size asks for, so that "
             "a step costs the same however long the thread is; a number makes opening an old thread faster, and each "
             "step of one with a large state dearer."},
    {.name = "orchestrator.fan_out",
     .type = OPTION_CHOICE,
     .fallback = "auto",
     .choices = "auto|off",
     .help = "auto: where several nodes of a run are due at once, loops with idle slots ask for those that call "
             "somebody, and run them; off: each runs in the loop of its thread."},
    {.name = "orchestrator.fan_out_listen",
     .type = OPTION_STRING,
     .unit = "HOST:PORT",
     .help = "Where the other orchestrators that share a Redis store give this one attempts of fan-outs, such as "
             "0.0.0.0:15205; it gives them its own. They reach it at that port of the host of orchestrator.address, if "
             "this names none. With rpc.tls.client_certificate over TLS, with the files of rpc.tls.* and, to call, "
             "peers.tls.*, among these the name, where they are reached by number; else plainly, in a network that is "
             "closed to others. tls+tcp:// or tcp:// before it says "
             "which. Unset: it shares with none."},
    {.name = "orchestrator.thread_ttl",
     .type = OPTION_DURATION,
     .fallback = "0ms",
     .max = YEARS_MS,
     .help = "How long a thread is kept on which nothing happens, its run's waiting included, where the thread itself "
             "was not given a time. 0ms is for ever."},
    {.name = "orchestrator.history_age",
     .type = OPTION_DURATION,
     .fallback = "0ms",
     .max = YEARS_MS,
     .help = "How long checkpoints and events are kept, the newest checkpoint always. 0ms is as long as their thread."},
    {.name = "orchestrator.history_checkpoints",
     .type = OPTION_INTEGER,
     .fallback = "0",
     .max = 1000000,
     .unit = "CHECKPOINTS",
     .help = "How many checkpoints of a thread are kept, the newest. 0 is all."},
    {.name = "orchestrator.sweep_every",
     .type = OPTION_DURATION,
     .fallback = "1m",
     .min = 10,
     .max = YEARS_MS,
     .help = "How long to rest between two looks at what need not be kept any longer."},
    {.name = "orchestrator.node_log",
     .type = OPTION_CHOICE,
     .fallback = "documents",
     .choices = "off|debug|documents|info",
     .help =
         "The log line run.node for each node that has ended: node, visit, outcome, duration, and the fields that "
         "its graph names in \"log\". documents: at level info for graphs with \"log\", at debug for others; debug, "
         "info: that level for all; off: no lines. Under a heavy load take debug or off."},
    {.name = "orchestrator.trace_content",
     .type = OPTION_BOOLEAN,
     .fallback = "false",
     .help = "Show inputs and outputs of runs and nodes in spans, up to 16 KiB each, and whole texts of errors. Words "
             "that look like keys are hidden, other secrets are not."},
    {.name = "orchestrator.node_key",
     .type = OPTION_STRING,
     .secret = true,
     .unit = "KEY",
     .help = "Bearer key that remote nodes are shown with every call, or where it stands: file:PATH or env:NAME. Unset "
             "is none; the key for peers is never shown to nodes."},
    {.name = "orchestrator.node_tls",
     .type = OPTION_BOOLEAN,
     .fallback = "false",
     .help =
         "Call remote nodes over TLS, with the certificate and authorities of the options peers.tls.*, and the name "
         "of the node's own address."},
    {.name = NULL},
};
