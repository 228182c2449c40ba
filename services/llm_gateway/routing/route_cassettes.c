/* Files that models record to, or are replayed from, so that agents can be tested without a network. */
#include "deployment.h"
#include "http/cassette.h"
#include "route_priv.h"

#include <stdlib.h>
#include <string.h>

struct open_cassette {
    struct open_cassette *next;
    const char *path;
    enum cassette_mode mode;
    struct cassette *cassette;
};

/* A provider may repeat a key in an error: keys, and text that looks like one, are not written to files. */
static void route_cassettes_redact(const char *body, size_t size, struct buffer *out, const void *data)
{
    const struct routes *routes = data;
    char *text = strndup(body, size);
    if (!text)
        return; /* out of memory: omits the body rather than write a key */
    if (strlen(text) == size)
        for (size_t i = 0; i < routes->deployment_count; i++)
            deployment_redact(routes->deployments[i], text);
    buffer_print(out, text);
    free(text);
}

static struct cassette *route_cassettes_find(struct routes *routes, const char *path, enum cassette_mode mode,
                                             struct status *st)
{
    struct open_cassette *open = routes->cassettes;
    while (open && strcmp(open->path, path) != 0)
        open = open->next;
    if (open && open->mode != mode)
        fail(st, INVALID_ARGUMENT, "'%s' is both recorded to and replayed from; let it be one of them", path);
    if (open)
        return open->mode == mode ? open->cassette : NULL;
    open = arena_alloc(&routes->arena, sizeof *open);
    const struct cassette_options options = {.mode = mode, .redact = route_cassettes_redact, .redact_data = routes};
    struct cassette *cassette = open ? cassette_open(path, &options, st) : NULL;
    if (!cassette)
        return NULL;
    *open = (struct open_cassette){.next = routes->cassettes, .path = path, .mode = mode, .cassette = cassette};
    routes->cassettes = open;
    return cassette;
}

bool cassettes_open(struct routes *routes, struct status *st)
{
    for (size_t i = 0; i < routes->count; i++) {
        struct route *route = &routes->list[i];
        if (route->record && !(route->records = route_cassettes_find(routes, route->record, CASSETTE_RECORD, st)))
            return false;
        if (route->replay && !(route->replays = route_cassettes_find(routes, route->replay, CASSETTE_REPLAY, st)))
            return false;
    }
    return true;
}

void cassettes_close(struct routes *routes)
{
    for (struct open_cassette *open = routes->cassettes; open; open = open->next)
        cassette_close(&open->cassette);
}
