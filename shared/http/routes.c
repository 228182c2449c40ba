/* Which handler a request goes to. */
#include "base/memory.h"
#include "http/server_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void http_server_route(struct http_server *server, const struct http_route *routes, size_t count, void *data)
{
    struct route_table *table = xcalloc(1, sizeof *table);
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
    return !route->method || strcmp(route->method, method) == 0 ||
           (strcmp(method, "HEAD") == 0 && strcmp(route->method, "GET") == 0);
}

/* The row for a request, or NULL; `longest` is the length of the longest matching path, for any method. */
static const struct route_table *routes_find_table(const struct http_server *server, const struct http_request *request,
                                                   const struct http_route **route, size_t *longest)
{
    const struct route_table *found = NULL;
    *longest = 0;
    for (const struct route_table *table = server->tables; table; table = table->next)
        for (size_t i = 0; i < table->count; i++) {
            const struct http_route *candidate = &table->routes[i];
            size_t length = strlen(candidate->path);
            if (length < *longest || !path_matches(candidate, request->path))
                continue;
            bool fits = method_matches(candidate, http_request_method(request));
            if (length > *longest || (fits && !found))
                found = fits ? table : NULL;
            else
                continue;
            *longest = length;
            *route = candidate;
        }
    return found;
}

/* The methods of the paths that match and are `length` long. */
static void list_methods(const struct http_server *server, const struct http_request *request, size_t length,
                         char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (const struct route_table *table = server->tables; table; table = table->next)
        for (size_t i = 0; i < table->count && used < size; i++) {
            const struct http_route *route = &table->routes[i];
            if (route->method && strlen(route->path) == length && path_matches(route, request->path))
                used += (size_t)snprintf(text + used, size - used, "%s%s%s", used ? ", " : "", route->method,
                                         strcmp(route->method, "GET") == 0 ? ", HEAD" : "");
        }
}

void server_handle(struct http_server *server, struct http_request *request)
{
    const struct http_route *route;
    size_t length;
    const struct route_table *table = routes_find_table(server, request, &route, &length);
    if (table) {
        route->handle(request, table->data);
    } else if (length) {
        char methods[128];
        list_methods(server, request, length, methods, sizeof methods);
        http_reply_header(request, "Allow", methods);
        http_reply_error(request, 405, "%s is not served here; use %s", http_request_method(request), methods);
    } else {
        http_reply_error(request, 404, "nothing is served at '%.200s'", request->path);
    }
}
