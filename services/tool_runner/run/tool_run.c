#include "tool_run.h"

#include "base/clock.h"
#include "base/machine.h"
#include "base/text.h"
#include "instance/tool_runner_instance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const states[] = {"ready", "running", "stopped", "ended"};
static const uint32_t moves[] = {
    [TOOL_RUN_READY] = MACHINE_TO(TOOL_RUN_RUNNING) | MACHINE_TO(TOOL_RUN_ENDED),
    [TOOL_RUN_RUNNING] = MACHINE_TO(TOOL_RUN_STOPPED) | MACHINE_TO(TOOL_RUN_ENDED),
    [TOOL_RUN_STOPPED] = MACHINE_TO(TOOL_RUN_ENDED),
    [TOOL_RUN_ENDED] = 0,
};
static const struct machine machine = MACHINE("tool_run", states, moves);

/* ---- life -------------------------------------------------------------------------------------------------------- */

static void tool_run_destroy(struct tool_run *run)
{
    if (run->release_tool)
        run->release_tool(run->tool);
    cJSON_Delete(run->arguments);
    free(run->arguments_json);
    free(run->principal_name);
    free(run->principal_tenant);
    free(run->structured);
    free(run->data);
    buffer_fini(&run->text);
    arena_fini(&run->arena);
    free(run);
}

static void tool_run_tell(struct work *work)
{
    struct tool_run *run = CONTAINER_OF(work, struct tool_run, over);
    run->told = true;
    if (run->owned)
        run->ended(run);
    else if (run->state == TOOL_RUN_ENDED)
        tool_run_destroy(run);
}

/* Ends the run for its owner. */
static void tool_run_end(struct tool_run *run, enum tool_run_state state)
{
    machine_move(&machine, &run->state, state);
    loop_disarm(run->runner->loop, &run->deadline);
    loop_defer(run->runner->loop, &run->over);
}

void tool_run_stop(struct tool_run *run, enum status_code code, const char *text)
{
    if (run->state != TOOL_RUN_RUNNING)
        return;
    run->status = (struct status){.code = code};
    snprintf(run->status.text, sizeof run->status.text, "%s", text);
    tool_run_end(run, TOOL_RUN_STOPPED);
    if (run->tool->cancel)
        run->tool->cancel(run);
}

static void late(struct timer *timer)
{
    struct tool_run *run = CONTAINER_OF(timer, struct tool_run, deadline);
    char text[STATUS_TEXT_MAX];
    snprintf(text, sizeof text, "'%s' did not answer within %lld ms and was stopped; ask for less, or allow more time",
             run->tool->name, (long long)run->timeout_ms);
    tool_run_stop(run, DEADLINE_EXCEEDED, text);
}

static bool copy_options(struct tool_run *run, const struct tool_run_options *options)
{
    run->arguments_json = strdup(options->arguments_json);
    run->principal_name = strdup(options->principal->name);
    run->principal_tenant = strdup(options->principal->tenant);
    run->data = calloc(1, run->tool->size ? run->tool->size : 1);
    run->principal = (struct rpc_principal){.name = run->principal_name, .tenant = run->principal_tenant};
    run->key = arena_strdup(&run->arena, options->key ? options->key : "");
    run->thread_id = arena_strdup(&run->arena, options->thread_id ? options->thread_id : "");
    run->run_id = arena_strdup(&run->arena, options->run_id ? options->run_id : "");
    return run->arguments_json && run->principal_name && run->principal_tenant && run->data && run->arguments &&
           !run->arena.exhausted;
}

struct tool_run *tool_run_create(const struct tool_run_options *options)
{
    struct tool_run *run = calloc(1, sizeof *run);
    if (!run) {
        cJSON_Delete(options->arguments);
        if (options->release_tool)
            options->release_tool(options->tool);
        return NULL;
    }
    *run = (struct tool_run){
        .tool = options->tool,
        .runner = options->runner,
        .release_tool = options->release_tool,
        .owned = true,
        .arguments = options->arguments,
        .timeout_ms = options->timeout_ms,
        .output_max = options->output_max,
        .deadline.expired = late,
        .ended = options->ended,
        .owner = options->owner,
        .over.run = tool_run_tell,
    };
    arena_init(&run->arena, NULL, 0, TOOL_ARENA_MAX);
    buffer_init(&run->text, options->output_max);
    trace_child(&run->trace, options->trace);
    if (copy_options(run, options))
        return run;
    tool_run_destroy(run);
    return NULL;
}

void tool_run_start(struct tool_run *run)
{
    machine_move(&machine, &run->state, TOOL_RUN_RUNNING);
    run->began_ns = clock_now_ns();
    run->deadline_ns = run->began_ns + run->timeout_ms * NS_PER_MS;
    loop_arm(run->runner->loop, &run->deadline, run->deadline_ns);
    run->tool->start(run);
}

void tool_run_release(struct tool_run **run_pointer)
{
    struct tool_run *run = *run_pointer;
    *run_pointer = NULL;
    if (!run)
        return;
    run->owned = false;
    if (run->state == TOOL_RUN_READY || (run->state == TOOL_RUN_ENDED && run->told))
        tool_run_destroy(run);
}

/* The tool has ended the run. */
static void tool_ended(struct tool_run *run)
{
    if (run->state == TOOL_RUN_RUNNING) {
        tool_run_end(run, TOOL_RUN_ENDED);
        return;
    }
    machine_move(&machine, &run->state, TOOL_RUN_ENDED);
    if (!run->owned && run->told)
        tool_run_destroy(run);
}

/* ---- the interface of tools: input ------------------------------------------------------------------------------- */

const struct tool *tool_run_tool(const struct tool_run *run)
{
    return run->tool;
}

struct tool_runner *tool_run_runner(const struct tool_run *run)
{
    return run->runner;
}

struct loop *tool_run_loop(const struct tool_run *run)
{
    return run->runner->loop;
}

struct arena *tool_run_arena(struct tool_run *run)
{
    return &run->arena;
}

void *tool_run_data(struct tool_run *run)
{
    return run->data;
}

const cJSON *tool_run_arguments(const struct tool_run *run)
{
    return run->arguments;
}

const char *tool_run_arguments_json(const struct tool_run *run)
{
    return run->arguments_json;
}

const char *tool_run_key(const struct tool_run *run)
{
    return run->key;
}

const char *tool_run_thread_id(const struct tool_run *run)
{
    return run->thread_id;
}

const char *tool_run_run_id(const struct tool_run *run)
{
    return run->run_id;
}

const struct rpc_principal *tool_run_principal(const struct tool_run *run)
{
    return &run->principal;
}

const struct trace_context *tool_run_trace(const struct tool_run *run)
{
    return &run->trace;
}

int64_t tool_run_deadline_ns(const struct tool_run *run)
{
    return run->deadline_ns;
}

size_t tool_run_output_max(const struct tool_run *run)
{
    return run->output_max;
}

/* ---- the interface of tools: results ----------------------------------------------------------------------------- */

/* Appends as much of the text as fits, cut at a character; bytes that are not UTF-8 are replaced by U+FFFD. */
static void tool_run_keep(struct tool_run *run, const char *text, size_t length)
{
    static const char replacement[] = "\xef\xbf\xbd";
    while (length && !run->truncated) {
        size_t clean = text_clean_length(text, length), room = run->output_max - run->text.length;
        size_t fits = text_cut(text, clean, room);
        buffer_append(&run->text, text, fits);
        if (fits < clean || (clean < length && run->output_max - run->text.length < sizeof replacement - 1)) {
            run->truncated = true;
            return;
        }
        if (clean < length)
            buffer_append(&run->text, replacement, sizeof replacement - 1);
        text += clean + (clean < length ? 1 : 0);
        length -= clean + (clean < length ? 1 : 0);
    }
}

static bool tool_run_count(struct tool_run *run, size_t bytes)
{
    run->full_bytes += bytes;
    if (run->full_bytes <= TOOL_OUTPUT_MAX)
        return true;
    run->truncated = true;
    tool_run_end(run, TOOL_RUN_STOPPED);
    return false;
}

void tool_found_nothing(struct tool_run *run)
{
    run->found_nothing = true;
}

bool tool_write(struct tool_run *run, const char *text, size_t length)
{
    if (run->state != TOOL_RUN_RUNNING)
        return false;
    if (length)
        tool_run_keep(run, text, length);
    return tool_run_count(run, length);
}

bool tool_print(struct tool_run *run, const char *format, ...)
{
    struct buffer text;
    va_list arguments;
    va_start(arguments, format);
    buffer_init(&text, TOOL_OUTPUT_MAX);
    buffer_vprintf(&text, format, arguments);
    va_end(arguments);
    bool more = tool_write(run, buffer_text(&text), text.length);
    buffer_fini(&text);
    return more;
}

void tool_structured(struct tool_run *run, const char *json, size_t length)
{
    if (run->state != TOOL_RUN_RUNNING || run->structured || !tool_run_count(run, length))
        return;
    if (length <= run->output_max)
        run->structured = strndup(json, length);
    run->truncated |= !run->structured;
}

void tool_finish(struct tool_run *run)
{
    tool_ended(run);
}

void tool_fail_status(struct tool_run *run, const struct status *status)
{
    if (run->state == TOOL_RUN_RUNNING)
        run->status = *status;
    tool_ended(run);
}

void tool_fail(struct tool_run *run, enum status_code code, const char *format, ...)
{
    struct status st = {0};
    va_list arguments;
    va_start(arguments, format);
    status_set(&st, code, format, arguments);
    va_end(arguments);
    tool_fail_status(run, &st);
}

void tool_unavailable(struct tool_run *run, const char *format, ...)
{
    struct status st = {0};
    va_list arguments;
    va_start(arguments, format);
    status_set(&st, UNAVAILABLE, format, arguments);
    va_end(arguments);
    run->untouched = run->state == TOOL_RUN_RUNNING;
    tool_fail_status(run, &st);
}
