/* Paths: taken apart, decoded, and compared with the templates of the table. */
#include "routes.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

static int path_hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool path_text_is_printable(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            return false;
    return true;
}

/* Decodes a segment. It must not be empty, "." or "..", and must be printable UTF-8. */
static const char *path_decode(const char *raw, size_t length, struct arena *arena, struct status *st)
{
    char *text = arena_alloc(arena, length + 1), *out = text;
    if (!text) {
        fail(st, RESOURCE_EXHAUSTED, "no memory for the path");
        return NULL;
    }
    for (size_t i = 0; i < length; i++) {
        int high = raw[i] == '%' && i + 2 < length ? path_hex(raw[i + 1]) : -1;
        int low = high >= 0 ? path_hex(raw[i + 2]) : -1;
        if (raw[i] == '%' && (low < 0 || (high << 4 | low) == 0)) {
            fail(st, INVALID_ARGUMENT,
                 "the path has a '%%' without two hexadecimal digits, or a NUL; encode it as %%25");
            return NULL;
        }
        *out++ = raw[i] == '%' ? (char)(high << 4 | low) : raw[i];
        i += raw[i] == '%' ? 2 : 0;
    }
    *out = '\0';
    if (!text_is_clean(text, (size_t)(out - text)) || !path_text_is_printable(text)) {
        fail(st, INVALID_ARGUMENT, "the path is not UTF-8, or has control characters");
        return NULL;
    }
    if (!*text || strcmp(text, ".") == 0 || strcmp(text, "..") == 0) {
        fail(st, INVALID_ARGUMENT, "the path has an empty part, '.' or '..'; leave it out");
        return NULL;
    }
    return text;
}

bool edge_path_read(const char *target, struct arena *arena, struct edge_path *path, struct status *st)
{
    *path = (struct edge_path){0};
    const char *end = target + strcspn(target, "?#"), *at = target + (*target == '/');
    if (at == end)
        return true; /* "/" */
    for (bool last = false; !last;) {
        const char *slash = memchr(at, '/', (size_t)(end - at)), *stop = slash ? slash : end;
        last = !slash;
        const char *colon = last ? memrchr(at, ':', (size_t)(stop - at)) : NULL;
        if (path->count == EDGE_SEGMENTS_MAX)
            return fail(st, NOT_FOUND, "no path here has more than %d parts", EDGE_SEGMENTS_MAX);
        if (colon && !(path->verb = path_decode(colon + 1, (size_t)(stop - colon) - 1, arena, st)))
            return false;
        const char *segment = path_decode(at, (size_t)((colon ? colon : stop) - at), arena, st);
        if (!segment)
            return false;
        path->segments[path->count++] = segment;
        at = stop + 1;
    }
    return true;
}

/* The end of the template's word, if the segment is that word; else NULL. */
static const char *template_word_end(const char *word, const char *segment)
{
    while (*word == *segment && *word && *word != '/' && *word != ':') {
        word++;
        segment++;
    }
    return *segment || (*word && *word != '/' && *word != ':') ? NULL : word;
}

/* Whether the path is one of the template; `match` then has its variables. */
static bool template_fits(const char *template, const struct edge_path *path, struct edge_match *match)
{
    size_t count = 0;
    match->count = 0;
    while (*template == '/') {
        const char *word = template + 1;
        if (count == path->count)
            return false;
        const char *segment = path->segments[count++];
        if (*word == '{') {
            match->names[match->count] = word + 1;
            match->values[match->count++] = segment;
            template = strchr(word, '}') + 1;
        } else {
            template = template_word_end(word, segment);
            if (!template)
                return false;
        }
    }
    const char *verb = *template == ':' ? template + 1 : NULL;
    return count == path->count && !verb == !path->verb && (!verb || strcmp(verb, path->verb) == 0);
}

static void allow_add(char allow[EDGE_ALLOW_MAX], const char *verb)
{
    size_t used = strlen(allow);
    snprintf(allow + used, EDGE_ALLOW_MAX - used, "%s%s%s", used ? ", " : "", verb,
             strcmp(verb, "GET") == 0 ? ", HEAD" : "");
}

void edge_route_match(const struct edge_path *path, const char *method, struct edge_match *match)
{
    const char *verb = strcmp(method, "HEAD") == 0 ? "GET" : method;
    struct edge_match here = {0};
    *match = here;
    for (size_t i = 0; i < edge_route_count; i++) {
        const struct edge_route *route = &edge_routes[i];
        if (!template_fits(route->path, path, &here))
            continue;
        allow_add(match->allow, route->verb);
        if (strcmp(route->verb, verb) != 0)
            continue;
        memcpy(here.allow, match->allow, sizeof here.allow);
        *match = here;
        match->route = route;
    }
}

const ProtobufCFieldDescriptor *edge_route_field(const ProtobufCMessageDescriptor *type, const char *name)
{
    size_t length = strcspn(name, "}");
    for (unsigned i = 0; i < type->n_fields; i++)
        if (strncmp(type->fields[i].name, name, length) == 0 && !type->fields[i].name[length])
            return &type->fields[i];
    return NULL;
}

const ProtobufCMethodDescriptor *edge_route_method(const struct edge_route *route)
{
    return protobuf_c_service_descriptor_get_method_by_name(route->service, route->method);
}
