/* A tool: a function that a model may call by name. Each is one file in tools/ with a const entry, and a row in
 * tools/tools.c. The tools of MCP servers are entries of the same form, created at run time (mcp/).
 *
 *      RunTools ---> arguments fit the schema ---> tool->start ---> work, in the run's loop ---> tool_finish
 *                                                         '--- tool_write, tool_hit                 or tool_fail
 *
 * A run is one call of one tool. It ends exactly once, within `start` or later. It has a deadline of its own and a
 * limit on its output. `cancel` is called when time is up or the caller leaves. After that the tool's output is
 * ignored, but it must still end soon. The caller has its answer already and does not wait. All functions are called
 * from inside the run's loop. Slow work (files, long computing) belongs on another thread, which posts back to the
 * loop.
 *
 * A model wrote the arguments. They are guaranteed to be an object that fits `parameters`; all other properties have
 * to be checked. */
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
#define TOOL_OUTPUT_MAX      (16u << 20) /* bytes written by one run; a longer run is stopped */
#define TOOL_HITS_MAX        100         /* of one run; further hits are dropped */
#define TOOL_ARENA_MAX       (4u << 20)  /* bytes of one run's arena */

struct tool {
    const char *name;        /* A-Z, a-z, 0-9, "_", "-" */
    const char *description; /* for the model: its effect, and when to call it */
    const char *parameters;  /* JSON Schema of an object, in the keywords that json/schema.h supports */
    bool side_effects;       /* changes state outside: never run twice for one idempotency key */
    bool idempotent;         /* running it twice with the same arguments equals running it once */
    bool self_contained; /* its result follows from its arguments and the time alone: it reads no data, so it needs no
                            access filter */
    int64_t timeout_ms;  /* unless the call says otherwise */
    size_t size;         /* of a run's own data: tool_run_data, zeroed */

    /* NULL: always offered. False: the tool is not offered with this configuration. */
    bool (*is_offered)(const struct tool_shared *shared);

    void (*start)(struct tool_run *run);
    void (*cancel)(struct tool_run *run); /* NULL if it ends within start */

    /* Of a tool outside the table. */
    const char *server; /* its MCP server; NULL: a part of Renga */
    const void *owner;
};

/* ---- inputs of a run; all of them live until it ends ------------------------------------------------------------- */

const struct tool *tool_run_tool(const struct tool_run *run);
/* The instance of this loop, with the state that tools share (instance/tool_runner_instance.h). */
struct tool_runner *tool_run_runner(const struct tool_run *run);
struct loop *tool_run_loop(const struct tool_run *run);
/* Of TOOL_ARENA_MAX. If it returns NULL, the run has to fail with RESOURCE_EXHAUSTED. */
struct arena *tool_run_arena(struct tool_run *run);
void *tool_run_data(struct tool_run *run);

const cJSON *tool_run_arguments(const struct tool_run *run);
/* Unchanged, for tools that forward it. Well-formed JSON. */
const char *tool_run_arguments_json(const struct tool_run *run);

/* The caller, for calls of other services (rpc_client_call: principal, trace, timeout_ms) and for a tenant's data. */
const struct rpc_principal *tool_run_principal(const struct tool_run *run);
const struct trace_context *tool_run_trace(const struct tool_run *run);
int64_t tool_run_deadline_ns(const struct tool_run *run); /* on clock_now_ns; never TIME_NEVER */
/* The call's permanent key within its tenant: the same again after a crash. For work that must be done once and that
 * the tool records itself. Then the call's thread and run; "" without one. */
const char *tool_run_key(const struct tool_run *run);
const char *tool_run_thread_id(const struct tool_run *run);
const char *tool_run_run_id(const struct tool_run *run);
/* Longest text that the caller accepts. */
size_t tool_run_output_max(const struct tool_run *run);

/* ---- results of a run -------------------------------------------------------------------------------------------- */

/* Appends to the text for the model; UTF-8, an invalid byte becomes U+FFFD. Beyond the caller's limit only the
 * length is counted. False: TOOL_OUTPUT_MAX is reached or the run was stopped; end the run. */
bool tool_write(struct tool_run *run, const char *text, size_t length);
bool tool_print(struct tool_run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The result as JSON, well-formed; once. A result beyond the caller's limit is dropped and reported as truncated. */
void tool_structured(struct tool_run *run, const char *json, size_t length);

/* The search had no results: the text says only that. */
void tool_found_nothing(struct tool_run *run);

/* One search hit; copied, and cut to the limits of SearchHit. */
void tool_hit(struct tool_run *run, const Renga__V1__SearchHit *hit);

/* Ends the run. */
void tool_finish(struct tool_run *run);

/* Ends the run with a status for ToolResult.status_code: UNKNOWN if the tool reports a failure. The text is for a
 * model that may retry: the error, the wrong value, and a remedy. The text written so far stays. */
void tool_fail(struct tool_run *run, enum status_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void tool_fail_status(struct tool_run *run, const struct status *status);

/* Ends a run without any effect, UNAVAILABLE: it is not recorded, and the same call may be retried. */
void tool_unavailable(struct tool_run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
