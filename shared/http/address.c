/* Which addresses are of the public internet: everything but IANA's special-purpose registries. */
#include "http/client.h"

#include <netinet/in.h>
#include <string.h>

struct range {
    uint8_t prefix[16];
    uint8_t bits;
};

static const struct range special_v4[] = {
    {{0}, 8},             /* this network */
    {{10}, 8},            /* private */
    {{100, 64}, 10},      /* carrier's NAT */
    {{127}, 8},           /* loopback */
    {{169, 254}, 16},     /* link-local: cloud metadata */
    {{172, 16}, 12},      /* private */
    {{192, 0, 0}, 24},    /* protocol assignments */
    {{192, 0, 2}, 24},    /* documentation */
    {{192, 88, 99}, 24},  /* 6to4 relays, retired */
    {{192, 168}, 16},     /* private */
    {{198, 18}, 15},      /* benchmarks */
    {{198, 51, 100}, 24}, /* documentation */
    {{203, 0, 113}, 24},  /* documentation */
    {{224}, 3},           /* multicast, reserved, broadcast */
};

/* Of 2000::/3; all else is not public to begin with. */
static const struct range special_v6[] = {
    {{0x20, 0x01, 0x0d, 0xb8}, 32}, /* documentation */
    {{0x20, 0x01, 0}, 23},          /* protocol assignments, Teredo among them */
    {{0x3f, 0xff}, 20},             /* documentation */
};

static const struct range global_unicast_v6 = {{0x20}, 3};
static const struct range mapped_v4 = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96};
static const struct range nat64_v4 = {{0, 0x64, 0xff, 0x9b}, 96};
static const struct range sixtofour_v4 = {{0x20, 0x02}, 16};

static bool in_range(const uint8_t *address, const struct range *range)
{
    size_t whole = range->bits / 8;
    if (memcmp(address, range->prefix, whole) != 0)
        return false;
    uint8_t mask = (uint8_t)(0xff00 >> range->bits % 8);
    return ((address[whole < 16 ? whole : 15] ^ range->prefix[whole < 16 ? whole : 15]) & mask) == 0;
}

static const struct range link_v4 = {{169, 254}, 16};
static const struct range link_v6 = {{0xfe, 0x80}, 10};
static const struct range metadata_v6 = {{0xfd, 0x00, 0x0e, 0xc2}, 32}; /* Amazon's, among private ones */

static bool is_public_v4(const uint8_t *address)
{
    for (size_t i = 0; i < sizeof special_v4 / sizeof *special_v4; i++)
        if (in_range(address, &special_v4[i]))
            return false;
    return true;
}

static bool is_public_v6(const uint8_t *address)
{
    if (in_range(address, &mapped_v4) || in_range(address, &nat64_v4))
        return is_public_v4(address + 12);
    if (in_range(address, &sixtofour_v4))
        return is_public_v4(address + 2);
    if (!in_range(address, &global_unicast_v6))
        return false;
    for (size_t i = 0; i < sizeof special_v6 / sizeof *special_v6; i++)
        if (in_range(address, &special_v6[i]))
            return false;
    return true;
}

bool http_address_is_public(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET)
        return is_public_v4((const uint8_t *)&((const struct sockaddr_in *)(const void *)address)->sin_addr);
    if (address->sa_family == AF_INET6)
        return is_public_v6(((const struct sockaddr_in6 *)(const void *)address)->sin6_addr.s6_addr);
    return false;
}

bool http_address_is_routed(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET)
        return !in_range((const uint8_t *)&((const struct sockaddr_in *)(const void *)address)->sin_addr, &link_v4);
    if (address->sa_family != AF_INET6)
        return false;
    const uint8_t *bytes = ((const struct sockaddr_in6 *)(const void *)address)->sin6_addr.s6_addr;
    if (in_range(bytes, &mapped_v4) || in_range(bytes, &nat64_v4))
        return !in_range(bytes + 12, &link_v4);
    return !in_range(bytes, &link_v6) && !in_range(bytes, &metadata_v6);
}
