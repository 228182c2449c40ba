/* The tool-runner's options. */
#include "shared_state.h"

#define HOUR_MS 3600000LL
#define DAY_MS  (24 * HOUR_MS)
#define MIB     (1LL << 20)

const struct option tool_runner_options[] = {
    STRING_OPTION("tool_runner.store", "sqlite:renga-knowledge.db", "STORE",
                  "Where the knowledge base is kept: sqlite:FILE, made where there is none, when it is first used, on "
                  "a disk of this machine; or memory:, gone with the process. The default stands in the working "
                  "directory; in a container give a file on a volume, such as sqlite:/var/lib/renga/knowledge.db. A "
                  "FILE without sqlite: is understood, too."),
    LIST_OPTION("tool_runner.roots", NULL, "FOLDERS",
                "Folders that callers may have indexed, with all below them. Unset is none: only documents that are "
                "sent along can be indexed."),
    SIZE_OPTION("tool_runner.tenant_quota", "4GiB", 0, 1LL << 50,
                "Room that the documents of a tenant may take in the knowledge base. 0 is no limit."),
    BOOLEAN_OPTION("tool_runner.shared_collections", "false",
                   "Every tenant may also search the collections that belong to no tenant: those that 'renga index' "
                   "writes into the file itself, and those of callers whose key has no tenant. A tenant's own "
                   "collection of the same name comes in its place. Nobody can change them who has a tenant."),
    STRING_OPTION("tool_runner.embedding_model", NULL, "MODEL",
                  "Route of the gateway that makes vectors of paragraphs and queries, so that they are also found by "
                  "meaning. After a change documents get new vectors when they are indexed again. Unset: they are "
                  "found by their words alone."),
    LIST_OPTION(
        "tool_runner.pages", NULL, "HOSTS",
        "Hosts whose pages the tool fetch_page may read, as long as their addresses are public: example.com, "
        "*.example.com (all below it), or * (any), on ports 80 and 443 or the one given (example.com:8443). Unset: the "
        "tool is not offered, since what a model reads may talk it into telling an address what it knows."),
    LIST_OPTION("tool_runner.private_pages", NULL, "HOSTS",
                "Hosts, by name or address, whose pages fetch_page may read wherever they are, in a private network or "
                "on this machine: wiki.intern, 10.0.0.7:8080, ::1. Link-local addresses and those at which clouds tell "
                "a machine's secrets are refused even so."),
    SIZE_OPTION("tool_runner.page_file_max", "16MiB", 1024, 16 * MIB,
                "Largest file (PDF, DOCX, XLSX, PPTX, EPUB) that fetch_page reads; a page of text has at most 2 MiB."),
    STRING_OPTION(
        "tool_runner.pdf_program", "pdftotext", "PROGRAM",
        "Reads PDF, for fetch_page and for collections: pdftotext of poppler-utils, by its name in PATH or its path. "
        "It runs in a process without network that can write nowhere and reads /usr and /lib alone."),
    DURATION_OPTION("tool_runner.pdf_time", "20s", 100, HOUR_MS,
                    "How long a PDF may take to be read; it is skipped after that."),
    BOOLEAN_OPTION("tool_runner.robots", "false",
                   "The tool fetch_page asks each host for its robots.txt (RFC 9309) and reads only pages that it "
                   "allows programs, or the program named renga, to read. A file is kept for a day. Set it where "
                   "agents choose pages by themselves, as in deep research."),
    STRING_OPTION("tool_runner.mcp", NULL, "FILE",
                  "Tool servers that speak the Model Context Protocol, as a JSON document with comments: "
                  "{\"mcpServers\": {NAME: …}} (services/tool_runner/mcp/README.md). Unset is none. Whoever may write "
                  "this file decides what runs as this process's user."),
    STRING_OPTION("tool_runner.search", NULL, "FILE",
                  "Search engines outside, as a JSON document with comments: {\"sources\": {NAME: {\"kind\": …}}} "
                  "(services/tool_runner/search/README.md): Tavily, Brave, SearXNG, Azure AI Search, OpenSearch and "
                  "Elasticsearch. Unset: only the knowledge base is searched."),
    STRING_OPTION("tool_runner.record", "sqlite:renga-tools.db", "STORE",
                  "Where it is recorded which tools have run with which result, so that none with side effects runs "
                  "twice for one idempotency key: sqlite:FILE, which is made where there is none and belongs to this "
                  "process alone; a Redis, as orchestrator.store has it; or memory:, gone with the process. The "
                  "default stands in the working directory."),
    DURATION_OPTION("tool_runner.record_keep", "24h", 60000, 365 * DAY_MS,
                    "How long a call is answered from the record."),
    SIZE_OPTION("tool_runner.record_max", "1GiB", MIB, 1024 * 1024 * MIB,
                "Results kept in the record; past it the oldest go before their time. Looked after once a minute."),
    INTEGER_OPTION("tool_runner.playbooks", "1000", 1, 100000, "PLAYBOOKS",
                   "Playbooks that a tenant may have. They are kept in the store of tool_runner.record."),
    SIZE_OPTION("tool_runner.playbook_cache", "256MiB", 0, 1024 * 1024 * MIB,
                "Memory for playbooks and their indexes; past it those that were not used for longest are read from "
                "the store when they are needed again."),
    INTEGER_OPTION("tool_runner.playbook_revisions", "1000", 1000, 1000000, "REVISIONS",
                   "Revisions of a playbook that can be read and restored, and requests with a request_id that are "
                   "known; the oldest go first."),
    SIZE_OPTION("tool_runner.playbook_history", "256MiB", 8 * MIB, 1024 * 1024 * MIB,
                "Room for the changes of a playbook; past it the oldest revisions go, even if there are fewer of them "
                "than tool_runner.playbook_revisions."),
    INTEGER_OPTION("tool_runner.in_flight", "256", 1, 10000, "CALLS",
                   "Tools that run at the same time in this process; more wait in the queue."),
    INTEGER_OPTION("tool_runner.tenant_in_flight", "128", 1, 10000, "CALLS",
                   "Tools that run at the same time for one tenant, so that it leaves places to others."),
    INTEGER_OPTION("tool_runner.queue", "1024", 0, 100000, "CALLS",
                   "Calls that may wait for a slot; past it they end in RESOURCE_EXHAUSTED at once."),
    DURATION_OPTION("tool_runner.queue_wait", "10s", 1, HOUR_MS, "Longest wait for a slot."),
    DURATION_OPTION(
        "tool_runner.list_wait", "10s", 1, HOUR_MS,
        "How long a listing waits for a tool server that is being started or asked; it is then told without."),
    BOOLEAN_OPTION("tool_runner.trace_content", "false",
                   "Show arguments and results of tools, and queries and hits of searches, in spans, cut short. Words "
                   "that look like keys are hidden, other secrets are not."),
    {.name = NULL},
};
