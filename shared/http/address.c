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

/* IPv6 addresses that lead to an IPv4 one which stands in them. */
static const struct embedding {
    struct range range;
    unsigned at;   /* its first byte */
    uint8_t flips; /* what its bytes are exclusive-ored with */
} embeddings[] = {
    {{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96}, 12, 0}, /* mapped */
    {{{0, 0x64, 0xff, 0x9b}, 96}, 12, 0},                      /* NAT64 */
    {{{0x20, 0x02}, 16}, 2, 0},                                /* 6to4 */
    {{{0}, 96}, 12, 0},                                        /* compatible, retired */
    {{{0x20, 0x01}, 32}, 4, 0},                                /* Teredo: its server */
    {{{0x20, 0x01}, 32}, 12, 0xff},                            /* ... and its client */
};
#define EMBEDDINGS         (sizeof embeddings / sizeof *embeddings)
#define EMBEDDINGS_REACHED 3 /* the first of them: public where what stands in them is */

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
static const struct range nat64_v6 = {{0, 0x64, 0xff, 0x9b, 0, 1},
                                      48}; /* a site's own: what stands in it, it alone knows */
static const struct range metadata_v6 = {{0xfd, 0x00, 0x0e, 0xc2}, 32}; /* Amazon's, among private ones */

static bool is_public_v4(const uint8_t *address)
{
    for (size_t i = 0; i < sizeof special_v4 / sizeof *special_v4; i++)
        if (in_range(address, &special_v4[i]))
            return false;
    return true;
}

static bool embeds(const uint8_t *address, const struct embedding *embedding, uint8_t inner[4])
{
    for (unsigned i = 0; i < 4; i++)
        inner[i] = address[embedding->at + i] ^ embedding->flips;
    return in_range(address, &embedding->range);
}

static bool is_public_v6(const uint8_t *address)
{
    uint8_t inner[4];
    for (size_t i = 0; i < EMBEDDINGS_REACHED; i++)
        if (embeds(address, &embeddings[i], inner))
            return is_public_v4(inner);
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
    uint8_t inner[4];
    for (size_t i = 0; i < EMBEDDINGS; i++)
        if (embeds(bytes, &embeddings[i], inner) && in_range(inner, &link_v4))
            return false;
    return !in_range(bytes, &link_v6) && !in_range(bytes, &metadata_v6) && !in_range(bytes, &nat64_v6);
}
