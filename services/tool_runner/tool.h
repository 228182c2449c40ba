/* A tool: what a model may call by name. Each is one file in tools/ with a const entry, and a row in tools/tools.c; the
 * tools of MCP servers are entries of the same form, made while the process runs (mcp/).
 *
 *      RunTools ---> arguments fit the schema ---> tool->start ---> work, in the run's loop ---> tool_finish or
 * tool_fail
 *                                                        '--- tool_write, tool_hit, on the way
 *
 * A run is one call of one tool. It ends exactly once, within `start` or later. It has a deadline of its own and a
 * bound on what it writes. Where time is up or the caller leaves, `cancel` is called; what the tool then still does
 * counts no more, but it must still end, soon. Nobody waits for that end: the caller has its answer already. All
 * functions are called from inside the run's loop. Slow work (files, long computing) belongs on another thread, which
 * posts back to the loop.
 *
 * Arguments were written by a model. They are an object that fits `parameters`, and no more is known of them. */
#ifndef RENGA_TOOL_RUNNER_TOOL_H
#define RENGA_TOOL_RUNNER_TOOL_H

#include "base/arena.h"
#include "base/status.h"
#include "loop/loop.h"
#include "json/json.h"

#include "renga/v1/tool_runner.pb-c.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rpc_principal;
struct tool_shared;
struct tool_run;
struct tool_runner;
struct trace_context;

#define TOOL_NAME_MAX        64          /* bytes */
#define TOOL_DESCRIPTION_MAX 8192        /* bytes */
#define TOOL_PARAMETERS_MAX  65536       /* bytes */
#define TOOL_OUTPUT_MAX      (16u << 20) /* bytes written by one run; there it is stopped */
#define TOOL_HITS_MAX        100         /* of one run; what is more is left out */
#define TOOL_ARENA_MAX       (4u << 20)  /* bytes of one run's arena */

struct tool {
    const char *name;        /* A-Z, a-z, 0-9, "_", "-" */
    const char *description; /* for the model: what it does, and when to call it */
    const char *parameters;  /* JSON Schema of an object, in the words that json/schema.h knows */
    bool side_effects;       /* changes something outside: never run twice for one idempotency key */
    bool idempotent;         /* twice with the same arguments is as good as once */
    bool self_contained; /* its result follows from its arguments and the time alone: it does not look up data, so that
                            it needs no filter of what may be looked up */
    int64_t timeout_ms;  /* unless the call says otherwise */
    size_t size;         /* of a run's other data: tool_run_data, zeroed */

    /* NULL: it is always there. False: this configuration has no use for it, and it is as if there were none. */
    bool (*is_offered)(const struct tool_shared *shared);

    void (*start)(struct tool_run *run);
    void (*cancel)(struct tool_run *run); /* NULL where it ends within start */

    /* Of a tool that is no row of the table. */
    const char *server; /* its MCP server; NULL: a part of Renga */
    const void *owner;
};

/* ---- what a run has; all of it until it ends --------------------------------------------------------------------- */

const struct tool *tool_run_tool(const struct tool_run *run);
/* The instance of this loop, with all that tools may use (tool_runner_priv.h). */
struct tool_runner *tool_run_runner(const struct tool_run *run);
struct loop *tool_run_loop(const struct tool_run *run);
/* Of TOOL_ARENA_MAX; NULL from it means that the run has to fail with RESOURCE_EXHAUSTED. */
struct arena *tool_run_arena(struct tool_run *run);
void *tool_run_data(struct tool_run *run);

const cJSON *tool_run_arguments(const struct tool_run *run);
/* As it came: for tools that hand it on. Well-formed JSON. */
const char *tool_run_arguments_json(const struct tool_run *run);

/* Who calls, for calls of other services (rpc_client_call: principal, trace, timeout_ms) and for what belongs to a
 * tenant. */
const struct rpc_principal *tool_run_principal(const struct tool_run *run);
const struct trace_context *tool_run_trace(const struct tool_run *run);
int64_t tool_run_deadline_ns(const struct tool_run *run); /* on clock_now_ns; never TIME_NEVER */
/* Names the call for good, within the tenant: the same again when it is repeated after a crash. For work that is to be
 * done once and that the tool records itself. And the thread and the run that it belongs to; "" where there is none. */
const char *tool_run_key(const struct tool_run *run);
const char *tool_run_thread_id(const struct tool_run *run);
const char *tool_run_run_id(const struct tool_run *run);
/* Longest text that the caller takes. */
size_t tool_run_output_max(const struct tool_run *run);

/* ---- what it gives ----------------------------------------------------------------------------------------------- */

/* Appends to the text for the model; UTF-8, a byte that is not becomes U+FFFD. Of what is more than the caller takes
 * only the length counts. False where nothing more is taken, since TOOL_OUTPUT_MAX is reached or the run was stopped:
 * end it. */
bool tool_write(struct tool_run *run, const char *text, size_t length);
bool tool_print(struct tool_run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The result as JSON, well-formed; once. What is longer than the caller takes is left out and shows as truncated. */
void tool_structured(struct tool_run *run, const char *json, size_t length);

/* The tool looked for something, and there is nothing: the text says no more than that. */
void tool_found_nothing(struct tool_run *run);

/* One thing found; copied, and cut to the limits of SearchHit. */
void tool_hit(struct tool_run *run, const Renga__V1__SearchHit *hit);

/* Ends it. */
void tool_finish(struct tool_run *run);

/* Ends it with a status of ToolResult.status_code: UNKNOWN where the tool says that it failed. The text is for a model
 * that may do better: what was wrong, with which value, and what would mend it. What was written stays. */
void tool_fail(struct tool_run *run, enum status_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void tool_fail_status(struct tool_run *run, const struct status *status);

/* Ends a run of which nothing was done, UNAVAILABLE: it is not recorded, and the same call may be tried again. */
void tool_unavailable(struct tool_run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
