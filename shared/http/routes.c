/* Which handler a request goes to. */
#include "base/log.h"
#include "http/server_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void http_server_route(struct http_server *server, const struct http_route *routes, size_t count, void *data)
{
    struct route_table *table = calloc(1, sizeof *table);
    if (!table)
        fatal("http.memory", "no memory for routes");
    *table = (struct route_table){.next = server->tables, .routes = routes, .count = count, .data = data};
    server->tables = table;
}

static bool path_matches(const struct http_route *route, const char *path)
{
    size_t length = strlen(route->path);
    if (strncmp(route->path, path, length) != 0)
        return false;
    if (path[length] == '\0')
        return true;
    return route->prefix && (path[length] == '/' || (length && route->path[length - 1] == '/'));
}

static bool method_matches(const struct http_route *route, const char *method)
{
    return strcmp(route->method, method) == 0 || (strcmp(method, "HEAD") == 0 && strcmp(route->method, "GET") == 0);
}

/* What the path is good for. */
struct match {
    const struct http_route *route; /* NULL: none with this method */
    void *data;
    size_t length;   /* of the longest path that matches; SIZE_MAX: none */
    char allow[128]; /* the methods of that path */
};

static void consider(struct match *match, const struct http_route *route, void *data,
                     const struct http_request *request)
{
    size_t length = strlen(route->path);
    if (match->length != SIZE_MAX && length < match->length)
        return;
    if (match->length == SIZE_MAX || length > match->length) {
        match->length = length;
        match->allow[0] = '\0';
        match->route = NULL;
    }
    size_t used = strlen(match->allow);
    snprintf(match->allow + used, sizeof match->allow - used, "%s%s%s", used ? ", " : "", route->method,
             strcmp(route->method, "GET") == 0 ? ", HEAD" : "");
    if (!match->route && method_matches(route, request->method)) {
        match->route = route;
        match->data = data;
    }
}

void server_handle(struct http_server *server, struct http_request *request)
{
    struct match match = {.length = SIZE_MAX};
    for (const struct route_table *table = server->tables; table; table = table->next)
        for (size_t i = 0; i < table->count; i++)
            if (path_matches(&table->routes[i], request->path))
                consider(&match, &table->routes[i], table->data, request);
    if (match.route) {
        match.route->handle(request, match.data);
    } else if (match.length != SIZE_MAX) {
        http_reply_header(request, "Allow", match.allow);
        http_reply_error(request, MHD_HTTP_METHOD_NOT_ALLOWED, "%s is not served here; use %s", request->method,
                         match.allow);
    } else {
        http_reply_error(request, MHD_HTTP_NOT_FOUND, "nothing is served at '%.200s'", request->path);
    }
}
