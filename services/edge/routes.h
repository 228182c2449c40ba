/* Which method of the contract a request of HTTP calls: one table, one row a method.
 *
 * A path template is "/v1/runs/{run_id}:cancel": words, fields of the request message in braces, and after the last
 * colon a verb. Fields are named as in the contract. A POST or PUT has the rest of the request message as its JSON
 * body, a GET or DELETE as its query. Whether a method streams, the contract says (rpc/schema.h). */
#ifndef RENGA_EDGE_ROUTES_H
#define RENGA_EDGE_ROUTES_H

#include "base/arena.h"
#include "base/status.h"

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>

#define EDGE_SEGMENTS_MAX  8 /* of a path */
#define EDGE_VARIABLES_MAX 2 /* of a template */
#define EDGE_ALLOW_MAX     48

struct edge_route {
    const ProtobufCServiceDescriptor *service;
    const char *method; /* "GetRun" */
    const char *verb;   /* "GET", "POST", "PUT", "DELETE" */
    const char *path;
};

extern const struct edge_route edge_routes[];
extern const size_t edge_route_count;

/* The methods of these services are not for clients; tests/unit/edge has every other method of the contract in the
 * table. */
extern const char *const edge_internal_services[]; /* NULL-terminated */

/* The path of a request, taken apart before it is decoded: "%3Acancel" belongs to an id, ":cancel" is a verb. */
struct edge_path {
    const char *segments[EDGE_SEGMENTS_MAX]; /* decoded, the verb taken off the last one */
    size_t count;
    const char *verb; /* "cancel"; NULL: without a verb */
};

/* `target` is path and query as they were sent. INVALID_ARGUMENT for a path that cannot be decoded; NOT_FOUND for one
 * with more segments than any template. */
bool edge_path_read(const char *target, struct arena *arena, struct edge_path *path, struct status *st);

struct edge_match {
    const struct edge_route *route;         /* NULL: no row has this path and this HTTP method */
    const char *names[EDGE_VARIABLES_MAX];  /* of the variables, into the template: up to the brace */
    const char *values[EDGE_VARIABLES_MAX]; /* into the path */
    size_t count;
    char allow[EDGE_ALLOW_MAX]; /* the HTTP methods of rows with this path, "GET, HEAD, POST"; "": no row has it */
};

/* `method` is of HTTP; HEAD matches rows of GET. */
void edge_route_match(const struct edge_path *path, const char *method, struct edge_match *match);

/* The field that a template's variable names; NULL is a fault of the table, which a test looks for. */
const ProtobufCFieldDescriptor *edge_route_field(const ProtobufCMessageDescriptor *type, const char *name);

/* The method within its service. */
const ProtobufCMethodDescriptor *edge_route_method(const struct edge_route *route);

#endif
