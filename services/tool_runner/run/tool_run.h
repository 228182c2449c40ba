/* A single run of a tool, as its owner sees it; tools see tool.h.
 *
 *      tool_run_create    tool_run_start       ended (OK, or a failure of its own)
 *            |                  |    RUNNING ------------------------------------- ENDED
 *            '---- READY -------'        \  deadline, tool_run_stop, 16 MiB         /
 *                                         '------------- STOPPED ------------------'
 *                                            ended            the tool has ended, too
 *
 * A run is released by its owner after `ended`, and freed once the tool is through with it as well. */
#ifndef RENGA_TOOL_RUN_H
#define RENGA_TOOL_RUN_H

#include "base/buffer.h"
#include "base/trace.h"
#include "rpc/rpc.h"
#include "tools/tool.h"

enum tool_run_state { TOOL_RUN_READY, TOOL_RUN_RUNNING, TOOL_RUN_STOPPED, TOOL_RUN_ENDED };

struct tool_run {
    const struct tool *tool;
    struct tool_runner *runner;
    void (*release_tool)(const struct tool *tool); /* NULL: the tool is there for ever */
    unsigned state;
    bool owned, told;

    cJSON *arguments;
    char *arguments_json;
    char *principal_name, *principal_tenant;
    struct rpc_principal principal;
    const char *key, *thread_id, *run_id;      /* in the arena */
    struct trace_context trace;                /* its own span */
    int64_t timeout_ms, began_ns, deadline_ns; /* 0: not begun */
    size_t output_max;
    struct timer deadline;

    struct status status;
    bool untouched; /* the tool had no effect: not to be recorded */
    struct buffer text;
    size_t full_bytes;
    char *structured;
    Renga__V1__SearchHit **hits; /* in the arena */
    size_t hit_count;
    bool truncated, found_nothing;

    void (*ended)(struct tool_run *run); /* once, deferred */
    void *owner;
    struct work over;
    struct arena arena;
    void *data;
};

struct tool_run_options {
    const struct tool *tool;
    struct tool_runner *runner;
    void (*release_tool)(const struct tool *tool);
    cJSON *arguments; /* taken, also if it fails */
    const char *arguments_json;
    const struct rpc_principal *principal;
    const char *key, *thread_id, *run_id; /* as tool_run_key has them; NULL: not given */
    const struct trace_context *trace;    /* of the caller */
    int64_t timeout_ms;                   /* from tool_run_start */
    size_t output_max;
    void (*ended)(struct tool_run *run);
    void *owner;
};

/* NULL: memory is out. `release_tool` runs in any case, now or later. */
struct tool_run *tool_run_create(const struct tool_run_options *options);
void tool_run_start(struct tool_run *run);
/* Ends it for its owner with `code`; no effect if it has ended. */
void tool_run_stop(struct tool_run *run, enum status_code code, const char *text);
/* After `ended`, or in place of tool_run_start. */
void tool_run_release(struct tool_run **run);

#endif
