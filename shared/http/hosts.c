#include "http/hosts.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

/* Of RFC 3986 §3.2.2, without percent-encoding and the marks that no name has: two readers may differ about those. */
bool host_is_valid(const char *host)
{
    size_t length = strspn(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_~:[]");
    return host[length] == '\0' && length <= HOST_NAME_MAX_BYTES;
}

/* Without the port, and without the dot of the root behind a name. */
static size_t hosts_name_length(const char *host, size_t size)
{
    const char *bracket = memchr(host, ']', size), *colon = memchr(host, ':', size);
    size_t length = host[0] == '[' && bracket ? (size_t)(bracket - host) + 1 : colon ? (size_t)(colon - host) : size;
    return length > 1 && host[length - 1] == '.' ? length - 1 : length;
}

static bool is_same_name(const char *host, const char *other, size_t size)
{
    size_t length = hosts_name_length(host, strlen(host));
    return size && length == hosts_name_length(other, size) && strncasecmp(host, other, length) == 0;
}

bool host_is_loopback(const char *listen)
{
    return strncmp(listen, "127.", 4) == 0 || strncmp(listen, "[::1]", 5) == 0;
}

bool host_is_allowed(const char *host, const char *listen, const char *names)
{
    static const char *const own[] = {"localhost", "127.0.0.1", "[::1]"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (is_same_name(host, own[i], strlen(own[i])))
            return true;
    if (listen && is_same_name(host, listen, strlen(listen)))
        return true;
    for (const char *name = names; name && *name;) {
        size_t length = strcspn(name, ", ");
        if (is_same_name(host, name, length))
            return true;
        name += length + strspn(name + length, ", ");
    }
    return false;
}
