#include "http/address_text.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct sockaddr_in *v4(const struct sockaddr *address)
{
    return (const struct sockaddr_in *)(const void *)address;
}

static const struct sockaddr_in6 *v6(const struct sockaddr *address)
{
    return (const struct sockaddr_in6 *)(const void *)address;
}

bool address_parse(const char *text, struct sockaddr_storage *address, socklen_t *size, struct status *st)
{
    memset(address, 0, sizeof *address);
    char host[INET6_ADDRSTRLEN];
    const char *colon = strrchr(text, ':');
    size_t length = colon ? (size_t)(colon - text) : 0;
    bool brackets = length >= 2 && text[0] == '[' && text[length - 1] == ']';
    char *end = NULL;
    long port = colon && colon[1] >= '0' && colon[1] <= '9' ? strtol(colon + 1, &end, 10) : -1;
    if (port < 0 || port > 65535 || *end || !length || length >= sizeof host)
        goto bad;
    if (brackets)
        snprintf(host, sizeof host, "%.*s", (int)(length - 2), text + 1);
    else
        snprintf(host, sizeof host, "%.*s", (int)length, text);

    struct sockaddr_in *in = (struct sockaddr_in *)address;
    struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)address;
    if (!brackets && inet_pton(AF_INET, host, &in->sin_addr) == 1) {
        in->sin_family = AF_INET;
        in->sin_port = htons((uint16_t)port);
        *size = sizeof *in;
        return true;
    }
    if (brackets && inet_pton(AF_INET6, host, &in6->sin6_addr) == 1) {
        in6->sin6_family = AF_INET6;
        in6->sin6_port = htons((uint16_t)port);
        *size = sizeof *in6;
        return true;
    }
bad:
    return fail(st, INVALID_ARGUMENT, "'%.80s' is no address to listen on; give one like 0.0.0.0:15080 or [::]:15080",
                text);
}

void address_print(const struct sockaddr *address, char text[ADDRESS_TEXT_MAX])
{
    char host[INET6_ADDRSTRLEN] = "";
    text[0] = '\0';
    if (address->sa_family == AF_INET && inet_ntop(AF_INET, &v4(address)->sin_addr, host, sizeof host))
        snprintf(text, ADDRESS_TEXT_MAX, "%s:%d", host, address_port(address));
    else if (address->sa_family == AF_INET6 && inet_ntop(AF_INET6, &v6(address)->sin6_addr, host, sizeof host))
        snprintf(text, ADDRESS_TEXT_MAX, "[%s]:%d", host, address_port(address));
}

int address_port(const struct sockaddr *address)
{
    return ntohs(address->sa_family == AF_INET6 ? v6(address)->sin6_port : v4(address)->sin_port);
}
