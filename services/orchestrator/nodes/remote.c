/* Asks a NodeService, in whatever language it is written. */
#include "node_kind.h"

#include "base/json.h"

#include <string.h>

#define REMOTE_PARAMETERS_MAX ((size_t)64 << 10) /* bytes, as RunNodeRequest.parameters_json */

enum { REMOTE_ADDRESS, REMOTE_FUNCTION, REMOTE_STREAM, REMOTE_PARAMETERS };

static const struct node_parameter parameters[] = {
    [REMOTE_ADDRESS] = {.name = "address",
                        .type = PARAMETER_ADDRESS,
                        .required = true,
                        .help = "Where its renga.v1.NodeService listens: \"host:port\"."},
    [REMOTE_FUNCTION] = {.name = "function",
                         .type = PARAMETER_TEXT,
                         .help = "What it shall do, where one address serves several nodes; else the node's name."},
    [REMOTE_STREAM] = {.name = "stream",
                       .type = PARAMETER_BOOLEAN,
                       .help = "Call RunStream, which may show something while it works, and not Run."},
    [REMOTE_PARAMETERS] = {.name = "parameters",
                           .type = PARAMETER_JSON,
                           .help = "An object that it is told each time."},
    {.name = NULL},
};

static bool check_parameters(const char *text, struct status *st)
{
    if (strlen(text) > REMOTE_PARAMETERS_MAX)
        return fail_field(st, "parameters", "has %zu bytes; at most %zu are allowed", strlen(text),
                          REMOTE_PARAMETERS_MAX);
    return text[0] == '{' || fail_field(st, "parameters", "must be an object, {…}");
}

static bool check(const struct node *node, struct status *st)
{
    const char *function = node_argument(node, REMOTE_FUNCTION)->text;
    const char *given = node_argument(node, REMOTE_PARAMETERS)->text;
    if (function && (!*function || strlen(function) > GRAPH_NAME_MAX))
        return fail_field(st, "function", "has %zu bytes; 1 to %d are allowed", strlen(function), GRAPH_NAME_MAX);
    return !given || check_parameters(given, st);
}

extern const struct node_kind remote_kind;
const struct node_kind remote_kind = {
    .name = "remote",
    .help = "Asks a NodeService, in whatever language it is written.",
    .parameters = parameters,
    .outcomes = NULL,
    .check = check,
};
