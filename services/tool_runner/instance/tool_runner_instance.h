/* An instance of the tool-runner, one in each loop, and the state that the instances of a process share. Each room
 * reads its own part; shared_state.h creates and destroys them. Private to services/tool_runner. */
#ifndef RENGA_TOOL_RUNNER_INSTANCE_H
#define RENGA_TOOL_RUNNER_INSTANCE_H

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

#endif
