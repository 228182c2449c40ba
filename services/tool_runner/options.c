/* The tool-runner's options. */
#include "tool_runner_priv.h"

#define HOUR_MS 3600000LL
#define DAY_MS  (24 * HOUR_MS)
#define MIB     (1LL << 20)

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
    {.name = "tool_runner.shared_collections",
     .type = OPTION_BOOLEAN,
     .fallback = "false",
     .help = "Every tenant may also search the collections that belong to no tenant: those that 'renga index' writes "
             "into the file itself, and those of callers whose key has no tenant. A tenant's own collection of the "
             "same name comes in its place. Nobody can change them who has a tenant."},
    {.name = "tool_runner.embedding_model",
     .type = OPTION_STRING,
     .unit = "MODEL",
     .help = "Route of the gateway that makes vectors of paragraphs and queries, so that they are also found by "
             "meaning. After a change documents get new vectors when they are indexed again. Unset: they are found by "
             "their words alone."},
    {.name = "tool_runner.pages",
     .type = OPTION_LIST,
     .unit = "HOSTS",
     .help =
         "Hosts whose pages the tool fetch_page may read, as long as their addresses are public: example.com, "
         "*.example.com (all below it), or * (any), on ports 80 and 443 or the one given (example.com:8443). Unset: "
         "the tool is not offered, since what a model reads may talk it into telling an address what it knows."},
    {.name = "tool_runner.private_pages",
     .type = OPTION_LIST,
     .unit = "HOSTS",
     .help = "Hosts, by name or address, whose pages fetch_page may read wherever they are, in a private network or on "
             "this machine: wiki.intern, 10.0.0.7:8080, ::1. Link-local addresses and those at which clouds tell "
             "a machine's secrets are refused even so."},
    {.name = "tool_runner.page_file_max",
     .type = OPTION_SIZE,
     .fallback = "16MiB",
     .min = 1024,
     .max = 16 * MIB,
     .unit = "SIZE",
     .help = "Largest file (PDF, DOCX, XLSX, PPTX, EPUB) that fetch_page reads; a page of text has at most 2 MiB."},
    {.name = "tool_runner.pdf_program",
     .type = OPTION_STRING,
     .fallback = "pdftotext",
     .unit = "PROGRAM",
     .help =
         "Reads PDF, for fetch_page and for collections: pdftotext of poppler-utils, by its name in PATH or its path. "
         "It runs in a process without network that can write nowhere and reads /usr and /lib alone."},
    {.name = "tool_runner.pdf_time",
     .type = OPTION_DURATION,
     .fallback = "20s",
     .min = 100,
     .max = HOUR_MS,
     .unit = "DURATION",
     .help = "How long a PDF may take to be read; it is skipped after that."},
    {.name = "tool_runner.robots",
     .type = OPTION_BOOLEAN,
     .fallback = "false",
     .help = "The tool fetch_page asks each host for its robots.txt (RFC 9309) and reads only pages that it allows "
             "programs, or the program named renga, to read. A file is kept for a day. Set it where agents choose "
             "pages by themselves, as in deep research."},
    {.name = "tool_runner.mcp",
     .type = OPTION_STRING,
     .unit = "FILE",
     .help = "Tool servers that speak the Model Context Protocol, as a JSON document with comments: {\"mcpServers\": "
             "{NAME: …}} (services/tool_runner/mcp/README.md). Unset is none. Whoever may write this file decides what "
             "runs as this process's user."},
    {.name = "tool_runner.search",
     .type = OPTION_STRING,
     .unit = "FILE",
     .help = "Search engines outside, as a JSON document with comments: {\"sources\": {NAME: {\"kind\": …}}} "
             "(services/tool_runner/search/README.md): Tavily, Brave, SearXNG, Azure AI Search, OpenSearch and "
             "Elasticsearch. Unset: only the knowledge base is searched."},
    {.name = "tool_runner.record",
     .type = OPTION_STRING,
     .fallback = "sqlite:renga-tools.db",
     .unit = "STORE",
     .help = "Where it is recorded which tools have run with which result, so that none with side effects runs twice "
             "for one idempotency key: sqlite:FILE, which is made where there is none and belongs to this process "
             "alone; a Redis, as orchestrator.store has it; or memory:, gone with the process. The default stands in "
             "the working directory."},
    {.name = "tool_runner.record_keep",
     .type = OPTION_DURATION,
     .fallback = "24h",
     .min = 60000,
     .max = 365 * DAY_MS,
     .unit = "DURATION",
     .help = "How long a call is answered from the record."},
    {.name = "tool_runner.record_max",
     .type = OPTION_SIZE,
     .fallback = "1GiB",
     .min = MIB,
     .max = 1024 * 1024 * MIB,
     .unit = "SIZE",
     .help = "Results kept in the record; past it the oldest go before their time. Looked after once a minute."},
    {.name = "tool_runner.in_flight",
     .type = OPTION_INTEGER,
     .fallback = "256",
     .min = 1,
     .max = 10000,
     .unit = "CALLS",
     .help = "Tools that run at the same time in this process; more wait in the queue."},
    {.name = "tool_runner.tenant_in_flight",
     .type = OPTION_INTEGER,
     .fallback = "128",
     .min = 1,
     .max = 10000,
     .unit = "CALLS",
     .help = "Tools that run at the same time for one tenant, so that it leaves places to others."},
    {.name = "tool_runner.queue",
     .type = OPTION_INTEGER,
     .fallback = "1024",
     .min = 0,
     .max = 100000,
     .unit = "CALLS",
     .help = "Calls that may wait for a place; past it they end in RESOURCE_EXHAUSTED at once."},
    {.name = "tool_runner.queue_wait",
     .type = OPTION_DURATION,
     .fallback = "10s",
     .min = 1,
     .max = HOUR_MS,
     .unit = "DURATION",
     .help = "Longest wait for a place."},
    {.name = "tool_runner.list_wait",
     .type = OPTION_DURATION,
     .fallback = "10s",
     .min = 1,
     .max = HOUR_MS,
     .unit = "DURATION",
     .help = "How long a listing waits for a tool server that is being started or asked; it is then told without."},
    {.name = "tool_runner.trace_content",
     .type = OPTION_BOOLEAN,
     .fallback = "false",
     .help = "Show arguments and results of tools, and queries and hits of searches, in spans, cut short. Words that "
             "look like keys are hidden, other secrets are not."},
    {.name = NULL},
};
