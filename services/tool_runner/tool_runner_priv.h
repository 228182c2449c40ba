/* An instance of the tool-runner, and the state that the instances of a process share. Private to
 * services/tool_runner. */
#ifndef RENGA_TOOL_RUNNER_PRIV_H
#define RENGA_TOOL_RUNNER_PRIV_H

#include "base/status.h"
#include "config/config.h"
#include "loop/loop.h"
#include "renga/v1/tool_runner.pb-c.h"

struct catalog;
struct http_client;
struct knowledge;
struct mcp;
struct metrics;
struct page_hosts;
struct run_slots;
struct playbooks;
struct records;
struct robots;
struct search_sources;
struct service_context;
struct spans;
struct tool_shared;
struct key_locks;

struct tool_runner {
    Renga__V1__ToolRunner_Service base; /* first */
    const struct config *config;
    struct loop *loop;
    struct http_client *http; /* of this loop */
    struct metrics *metrics;
    struct spans *spans;        /* NULL: no traces */
    bool shows_content;         /* spans show arguments, queries and results */
    struct robots *robots;      /* of this loop; NULL: robots.txt is not read */
    struct tool_shared *shared; /* of the process; the first instance creates it */
};

/* One in a process, shared by all loops. */
struct tool_shared {
    struct metrics *metrics;
    struct knowledge *knowledge;
    struct mcp *mcp;
    struct page_hosts *page_hosts; /* hosts that fetch_page may call */
    size_t page_file_max;          /* bytes of a file that fetch_page reads */
    const char *pdf_program;       /* as in documents/document.h */
    int64_t pdf_time_ms;
    struct catalog *catalog;
    struct run_slots *run_slots;
    struct key_locks *key_locks;
    struct records *records;
    struct playbooks *playbooks;
    struct search_sources *sources; /* of web searches */
    int64_t queue_wait_ms, list_wait_ms;
    unsigned members; /* loops that have joined */
};

/* No instance has joined yet. */
struct tool_shared *tool_shared_create(const struct service_context *context, struct status *st);

/* Called in each loop at the beginning and end of its instance. The last leave destroys the shared state. */
void tool_shared_join(struct tool_shared *shared, struct tool_runner *runner);
void tool_shared_leave(struct tool_shared **shared, struct tool_runner *runner);

extern const struct option tool_runner_options[];

#endif
