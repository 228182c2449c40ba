#include "request_check.h"

#include "tool.h"

#include <stdio.h>
#include <string.h>

#define KEY_MAX      128
#define CALL_ID_MAX  128
#define ALLOWED_MAX  128
#define RUN_ID_MAX   64
#define THREAD_MAX   128
#define AGENT_MAX    64
#define NODE_MAX     256
#define LABELS_MAX   16
#define LABEL_MAX    64
#define LABEL_IS_MAX 256

bool tool_name_is_legal(const char *name)
{
    size_t length = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-");
    return length > 0 && length <= TOOL_NAME_MAX && name[length] == '\0';
}

bool request_check_name(const char *field, const char *text, size_t max, bool required, struct status *st)
{
    size_t length = strlen(text);
    if (required && !length)
        return fail_field(st, field, "is empty; it is required");
    if (length > max)
        return fail_field(st, field, "has %zu bytes; at most %zu are allowed", length, max);
    for (const char *c = text; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            return fail_field(st, field, "has the control character 0x%02x at byte %zu; names have none",
                              (unsigned)(unsigned char)*c, (size_t)(c - text));
    return true;
}

static bool request_check_call(size_t i, const Renga__V1__ToolInvocation *asked, struct status *st)
{
    char field[STATUS_FIELD_MAX];
    const Renga__V1__ToolCall *call = asked->call;
    snprintf(field, sizeof field, "calls[%zu].call", i);
    if (!call)
        return fail_field(st, field, "is missing");
    snprintf(field, sizeof field, "calls[%zu].call.id", i);
    if (!request_check_name(field, call->id, CALL_ID_MAX, true, st))
        return false;
    snprintf(field, sizeof field, "calls[%zu].call.arguments_json", i);
    if (strlen(call->arguments_json) > RUN_ARGUMENTS_MAX)
        return fail_field(st, field, "has %zu bytes; at most %d are allowed", strlen(call->arguments_json),
                          RUN_ARGUMENTS_MAX);
    snprintf(field, sizeof field, "calls[%zu].timeout_ms", i);
    if (asked->timeout_ms < 0 || asked->timeout_ms > RUN_TIMEOUT_MAX)
        return fail_field(st, field, "is %lld; it must be within 0 (the tool's own) and %d",
                          (long long)asked->timeout_ms, RUN_TIMEOUT_MAX);
    snprintf(field, sizeof field, "calls[%zu].output_max_bytes", i);
    return (asked->output_max_bytes >= 0 && asked->output_max_bytes <= RUN_OUTPUT_MAX) ||
           fail_field(st, field, "is %d; it must be within 0 (%d) and %d", asked->output_max_bytes, RUN_OUTPUT_USUAL,
                      RUN_OUTPUT_MAX);
}

static bool check_calls(const Renga__V1__RunToolsRequest *request, struct status *st)
{
    char field[STATUS_FIELD_MAX];
    if (request->n_calls < 1 || request->n_calls > RUN_CALLS_MAX)
        return fail_field(st, "calls", "has %zu entries; 1 to %d are allowed", request->n_calls, RUN_CALLS_MAX);
    for (size_t i = 0; i < request->n_calls; i++) {
        if (!request_check_call(i, request->calls[i], st))
            return false;
        snprintf(field, sizeof field, "calls[%zu].call.id", i);
        for (size_t k = 0; k < i; k++)
            if (strcmp(request->calls[k]->call->id, request->calls[i]->call->id) == 0)
                return fail_field(st, field, "is that of calls[%zu] too; ids are all different", k);
    }
    return true;
}

static bool request_check_labels(const Renga__V1__CallOrigin *origin, struct status *st)
{
    if (origin->n_labels > LABELS_MAX)
        return fail_field(st, "origin.labels", "has %zu entries; at most %d are allowed", origin->n_labels, LABELS_MAX);
    for (size_t i = 0; i < origin->n_labels; i++)
        if (strlen(origin->labels[i]->key) > LABEL_MAX || strlen(origin->labels[i]->value) > LABEL_IS_MAX)
            return fail_field(st, "origin.labels", "has a key of more than %d or a value of more than %d bytes",
                              LABEL_MAX, LABEL_IS_MAX);
    return true;
}

static bool request_check_origin(const Renga__V1__CallOrigin *origin, struct status *st)
{
    return !origin ||
           (request_check_name("origin.run_id", origin->run_id, RUN_ID_MAX, false, st) &&
            request_check_name("origin.thread_id", origin->thread_id, THREAD_MAX, false, st) &&
            request_check_name("origin.agent", origin->agent, AGENT_MAX, false, st) &&
            request_check_name("origin.node", origin->node, NODE_MAX, false, st) && request_check_labels(origin, st));
}

static bool check_allowed(const Renga__V1__RunToolsRequest *request, struct status *st)
{
    char field[STATUS_FIELD_MAX];
    if (request->n_allowed_tools > ALLOWED_MAX)
        return fail_field(st, "allowed_tools", "has %zu entries; at most %d are allowed", request->n_allowed_tools,
                          ALLOWED_MAX);
    for (size_t i = 0; i < request->n_allowed_tools; i++) {
        snprintf(field, sizeof field, "allowed_tools[%zu]", i);
        if (!request_check_name(field, request->allowed_tools[i], TOOL_NAME_MAX, true, st))
            return false;
    }
    return true;
}

bool request_check(const Renga__V1__RunToolsRequest *request, struct status *st)
{
    if (!check_calls(request, st) ||
        !request_check_name("idempotency_key", request->idempotency_key, KEY_MAX, true, st))
        return false;
    if (request->attempt < 0)
        return fail_field(st, "attempt", "is %d; attempts count from 1, and 0 is not counted", request->attempt);
    if (request->fencing_token < 0)
        return fail_field(st, "fencing_token", "is %lld; it must be 0 (no owner) or more",
                          (long long)request->fencing_token);
    return check_allowed(request, st) && request_check_origin(request->origin, st);
}
