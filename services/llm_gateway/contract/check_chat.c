#include "check_priv.h"

#include "json/json.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MODEL_MAX              128
#define STOPS_MAX              4
#define STOP_MAX               64
#define TOOLS_MAX              128
#define TOOL_NAME_MAX          64
#define DESCRIPTION_MAX        8192
#define PARAMETERS_MAX         ((size_t)64 << 10)
#define SCHEMA_MAX             ((size_t)64 << 10)
#define SCHEMA_DESCRIPTION_MAX 1024
#define KEY_MAX                128
#define TTL_MAX_MS             (INT64_C(7) * 24 * 3600 * 1000)
#define LABELS_MAX             16

static const struct place HERE;

bool wrong(struct status *st, const struct place *place, const char *field, const char *format, ...)
{
    struct status reason = {0};
    char path[STATUS_FIELD_MAX];
    va_list arguments;
    va_start(arguments, format);
    status_set(&reason, INVALID_ARGUMENT, format, arguments);
    va_end(arguments);
    if (place->sub_list)
        snprintf(path, sizeof path, "%s[%zu].%s[%zu].%s", place->list, place->index, place->sub_list, place->sub_index,
                 field);
    else if (place->list)
        snprintf(path, sizeof path, "%s[%zu]%s%s", place->list, place->index, *field ? "." : "", field);
    else
        snprintf(path, sizeof path, "%s", field);
    return fail_field(st, path, "%s", reason.text);
}

bool fits(struct status *st, const struct place *place, const char *field, const char *text, size_t max)
{
    size_t length = strlen(text);
    return length <= max || wrong(st, place, field, "has %zu bytes; at most %zu are allowed", length, max);
}

bool is_json_object(struct status *st, const struct place *place, const char *field, const char *json)
{
    struct status reason = {0};
    if (!json_check(json, strlen(json), NULL, &reason))
        return wrong(st, place, field, "is not JSON: %s", reason.text);
    return json[strspn(json, " \t\r\n")] == '{' || wrong(st, place, field, "must be a JSON object, {…}");
}

bool tool_name_is_valid(const char *name)
{
    size_t length = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-");
    return length > 0 && length <= TOOL_NAME_MAX && name[length] == '\0';
}

/* ---- how to answer ----------------------------------------------------------------------------------------------- */

static bool between(struct status *st, const char *field, double value, double min, double max)
{
    return (isfinite(value) && value >= min && value <= max) ||
           wrong(st, &HERE, field, "is %g; it must be within %g and %g", value, min, max);
}

static bool check_sampling(const Renga__V1__Sampling *sampling, struct status *st)
{
    if (!sampling)
        return true;
    if (sampling->maybe_temperature_case && !between(st, "sampling.temperature", sampling->temperature, 0, 2))
        return false;
    if (sampling->maybe_top_p_case && !(sampling->top_p > 0 && sampling->top_p <= 1))
        return wrong(st, &HERE, "sampling.top_p", "is %g; it must be above 0 and at most 1", sampling->top_p);
    if (sampling->maybe_frequency_penalty_case &&
        !between(st, "sampling.frequency_penalty", sampling->frequency_penalty, -2, 2))
        return false;
    return !sampling->maybe_presence_penalty_case ||
           between(st, "sampling.presence_penalty", sampling->presence_penalty, -2, 2);
}

static bool check_stops(const Renga__V1__ChatRequest *request, struct status *st)
{
    if (request->n_stop > STOPS_MAX)
        return wrong(st, &HERE, "stop", "has %zu texts; at most %d are allowed", request->n_stop, STOPS_MAX);
    for (size_t i = 0; i < request->n_stop; i++) {
        const struct place place = {.list = "stop", .index = i};
        if (!request->stop[i][0])
            return wrong(st, &place, "", "is empty; leave it out");
        if (!fits(st, &place, "", request->stop[i], STOP_MAX))
            return false;
    }
    return true;
}

static bool check_chat_format(const Renga__V1__ResponseFormat *format, struct status *st)
{
    if (!format)
        return true;
    switch (format->kind) {
    case RENGA__V1__RESPONSE_FORMAT_KIND__RESPONSE_FORMAT_KIND_UNSPECIFIED:
    case RENGA__V1__RESPONSE_FORMAT_KIND__RESPONSE_FORMAT_KIND_TEXT:
    case RENGA__V1__RESPONSE_FORMAT_KIND__RESPONSE_FORMAT_KIND_JSON_OBJECT:
        return true;
    case RENGA__V1__RESPONSE_FORMAT_KIND__RESPONSE_FORMAT_KIND_JSON_SCHEMA:
        break;
    default:
        return wrong(st, &HERE, "response_format.kind",
                     "is %d; it must be RESPONSE_FORMAT_KIND_TEXT (1), _JSON_OBJECT (2) or _JSON_SCHEMA (3)",
                     (int)format->kind);
    }
    if (!tool_name_is_valid(format->name))
        return wrong(st, &HERE, "response_format.name", "must be 1 to 64 of A-Z, a-z, 0-9, '_' and '-'");
    if (!format->schema_json[0])
        return wrong(st, &HERE, "response_format.schema_json", "is empty; RESPONSE_FORMAT_KIND_JSON_SCHEMA needs one");
    return fits(st, &HERE, "response_format.description", format->description, SCHEMA_DESCRIPTION_MAX) &&
           fits(st, &HERE, "response_format.schema_json", format->schema_json, SCHEMA_MAX) &&
           is_json_object(st, &HERE, "response_format.schema_json", format->schema_json);
}

/* ---- tools ------------------------------------------------------------------------------------------------------- */

static bool check_tool(const Renga__V1__ChatRequest *request, size_t i, struct status *st)
{
    const struct place place = {.list = "tools", .index = i};
    const Renga__V1__ToolDefinition *tool = request->tools[i];
    if (!tool_name_is_valid(tool->name))
        return wrong(st, &place, "name", "must be 1 to 64 of A-Z, a-z, 0-9, '_' and '-'");
    for (size_t other = 0; other < i; other++)
        if (strcmp(request->tools[other]->name, tool->name) == 0)
            return wrong(st, &place, "name", "is that of tools[%zu] too; names must differ", other);
    return fits(st, &place, "description", tool->description, DESCRIPTION_MAX) &&
           fits(st, &place, "parameters_json", tool->parameters_json, PARAMETERS_MAX) &&
           (!tool->parameters_json[0] || is_json_object(st, &place, "parameters_json", tool->parameters_json));
}

static bool check_tool_choice(const Renga__V1__ChatRequest *request, struct status *st)
{
    const Renga__V1__ToolChoice *choice = request->tool_choice;
    if (!choice)
        return true;
    bool named = choice->mode == RENGA__V1__TOOL_CHOICE_MODE__TOOL_CHOICE_MODE_NAMED;
    if (choice->mode < RENGA__V1__TOOL_CHOICE_MODE__TOOL_CHOICE_MODE_UNSPECIFIED ||
        choice->mode > RENGA__V1__TOOL_CHOICE_MODE__TOOL_CHOICE_MODE_NAMED)
        return wrong(st, &HERE, "tool_choice.mode",
                     "is %d; it must be TOOL_CHOICE_MODE_AUTO (1), _NONE (2), "
                     "_REQUIRED (3) or _NAMED (4)",
                     (int)choice->mode);
    if (choice->mode == RENGA__V1__TOOL_CHOICE_MODE__TOOL_CHOICE_MODE_REQUIRED && !request->n_tools)
        return wrong(st, &HERE, "tool_choice.mode", "demands a tool call, but the request offers no tools");
    if (!named && choice->name[0])
        return wrong(st, &HERE, "tool_choice.name", "goes with TOOL_CHOICE_MODE_NAMED; leave it empty here");
    for (size_t i = 0; named && i < request->n_tools; i++)
        if (strcmp(request->tools[i]->name, choice->name) == 0)
            return true;
    return !named ||
           wrong(st, &HERE, "tool_choice.name", "is '%.64s'; it must be one of the request's tools", choice->name);
}

static bool check_tools(const Renga__V1__ChatRequest *request, struct status *st)
{
    if (request->n_tools > TOOLS_MAX)
        return wrong(st, &HERE, "tools", "has %zu tools; at most %d are allowed", request->n_tools, TOOLS_MAX);
    for (size_t i = 0; i < request->n_tools; i++)
        if (!check_tool(request, i, st))
            return false;
    return check_tool_choice(request, st);
}

/* ---- the caller -------------------------------------------------------------------------------------------------- */

bool check_origin(const Renga__V1__CallOrigin *origin, struct status *st)
{
    if (!origin)
        return true;
    if (origin->n_labels > LABELS_MAX)
        return wrong(st, &HERE, "origin.labels", "has %zu labels; at most %d are allowed", origin->n_labels,
                     LABELS_MAX);
    for (size_t i = 0; i < origin->n_labels; i++)
        if (!fits(st, &HERE, "origin.labels", origin->labels[i]->key, 64) ||
            !fits(st, &HERE, "origin.labels", origin->labels[i]->value, 256))
            return false;
    return fits(st, &HERE, "origin.run_id", origin->run_id, 64) &&
           fits(st, &HERE, "origin.thread_id", origin->thread_id, 128) &&
           fits(st, &HERE, "origin.agent", origin->agent, 64) && fits(st, &HERE, "origin.node", origin->node, 256);
}

bool check_priority(Renga__V1__Priority priority, struct status *st)
{
    return (priority >= RENGA__V1__PRIORITY__PRIORITY_UNSPECIFIED &&
            priority <= RENGA__V1__PRIORITY__PRIORITY_INTERACTIVE) ||
           wrong(st, &HERE, "priority",
                 "is %d; it must be PRIORITY_BATCH (1), PRIORITY_NORMAL (2) or PRIORITY_INTERACTIVE (3)",
                 (int)priority);
}

bool check_cache(const Renga__V1__CacheControl *cache, struct status *st)
{
    return !cache || (cache->ttl_ms >= 0 && cache->ttl_ms <= TTL_MAX_MS) ||
           wrong(st, &HERE, "cache.ttl_ms", "is %lld; it must be within 0 and %lld", (long long)cache->ttl_ms,
                 (long long)TTL_MAX_MS);
}

static bool check_chat_terms(const Renga__V1__ChatRequest *request, struct status *st)
{
    if (request->max_output_tokens < 0)
        return wrong(st, &HERE, "max_output_tokens", "is %d; it must be 0 (the model's own limit) or more",
                     request->max_output_tokens);
    if (request->max_model_calls < 0)
        return wrong(st, &HERE, "max_model_calls", "is %d; it must be 0 (as many as the route tries) or more",
                     request->max_model_calls);
    if (request->reasoning_effort < RENGA__V1__REASONING_EFFORT__REASONING_EFFORT_UNSPECIFIED ||
        request->reasoning_effort > RENGA__V1__REASONING_EFFORT__REASONING_EFFORT_HIGH)
        return wrong(st, &HERE, "reasoning_effort",
                     "is %d; it must be REASONING_EFFORT_NONE (1), _MINIMAL (2), _LOW (3), _MEDIUM (4) or _HIGH (5)",
                     (int)request->reasoning_effort);
    if (!check_priority(request->priority, st) || !check_cache(request->cache, st))
        return false;
    return fits(st, &HERE, "idempotency_key", request->idempotency_key, KEY_MAX);
}

bool check_model(const char *model, struct status *st)
{
    if (!model[0])
        return wrong(st, &HERE, "model", "is empty; give a model's name, or \"default\"");
    return fits(st, &HERE, "model", model, MODEL_MAX);
}

bool check_chat_request(const Renga__V1__ChatRequest *request, struct status *st)
{
    return check_model(request->model, st) && check_messages(request, st) && check_sampling(request->sampling, st) &&
           check_stops(request, st) && check_chat_terms(request, st) && check_tools(request, st) &&
           check_chat_format(request->response_format, st) && check_origin(request->origin, st);
}
