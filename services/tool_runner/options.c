/* The tool-runner's options. */
#include "tool_runner_priv.h"

const struct option tool_runner_options[] = {
    {.name = "tool_runner.store",
     .type = OPTION_STRING,
     .fallback = "renga-knowledge.db",
     .unit = "FILE",
     .help = "Where the knowledge base is kept (SQLite; made where there is none, when it is first used), on a disk of "
             "this machine; or memory:, gone with the process. The default stands in the working directory; in a "
             "container give a file on a volume, such as /var/lib/renga/knowledge.db."},
    {.name = "tool_runner.roots",
     .type = OPTION_LIST,
     .unit = "FOLDERS",
     .help = "Folders that callers may have indexed, with all below them. Unset is none: only documents that are sent "
             "along can be indexed."},
    {.name = "tool_runner.tenant_quota",
     .type = OPTION_SIZE,
     .fallback = "4GiB",
     .min = 0,
     .max = 1LL << 50,
     .unit = "SIZE",
     .help = "Room that the documents of a tenant may take in the knowledge base. 0 is no limit."},
    {.name = "tool_runner.embedding_model",
     .type = OPTION_STRING,
     .unit = "MODEL",
     .help = "Route of the gateway that makes vectors of paragraphs and queries, so that they are also found by "
             "meaning. After a change documents get new vectors when they are indexed again. Unset: they are found by "
             "their words alone."},
    {.name = NULL},
};
