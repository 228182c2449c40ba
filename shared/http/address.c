/* Decides which addresses are of the public internet: all except IANA's special-purpose registries. */
#include "http/client.h"

#include <netinet/in.h>
#include <string.h>

struct range {
    uint8_t prefix[16];
    uint8_t bits;
};

/* The kinds of special addresses, for a service that fetches pages for a stranger. */
enum reach {
    NOT_PUBLIC, /* a private network: fetched from if the operator names the host */
    NEVER,      /* link-local, or a cloud's metadata service with a machine's secrets: never fetched */
};
struct special {
    struct range range;
    enum reach reach;
};

/* IANA's IPv4 Special-Purpose Address Registry (RFC 6890 and its updates) as of 2025-10, without its globally reachable
 * ones, and multicast (RFC 5771). The rows that are NEVER are the documented addresses of clouds. */
static const struct special special_v4[] = {
    {{{0}, 8}, NOT_PUBLIC},              /* this network (RFC 791) */
    {{{10}, 8}, NOT_PUBLIC},             /* private use (RFC 1918) */
    {{{100, 64}, 10}, NOT_PUBLIC},       /* carrier's NAT (RFC 6598) */
    {{{100, 100, 100, 200}, 32}, NEVER}, /* Alibaba Cloud: metadata */
    {{{127}, 8}, NOT_PUBLIC},            /* loopback (RFC 1122) */
    {{{161, 26}, 16}, NOT_PUBLIC},       /* IBM Cloud: its services on the private network */
    {{{166, 8}, 14}, NOT_PUBLIC},        /* IBM Cloud: endpoints of services, likewise */
    {{{168, 63, 129, 16}, 32}, NEVER},   /* Azure: wire server, which has the machine's certificates and settings */
    {{{169, 254}, 16}, NEVER},         /* link-local (RFC 3927): AWS, Azure, Google, Oracle, Tencent, DigitalOcean… */
    {{{172, 16}, 12}, NOT_PUBLIC},     /* private use (RFC 1918) */
    {{{192, 0, 0}, 24}, NOT_PUBLIC},   /* IETF protocol assignments (RFC 6890) */
    {{{192, 0, 0, 192}, 32}, NEVER},   /* Oracle Cloud (classic): metadata */
    {{{192, 0, 2}, 24}, NOT_PUBLIC},   /* documentation (RFC 5737) */
    {{{192, 88, 99}, 24}, NOT_PUBLIC}, /* 6to4 relays, deprecated (RFC 7526) */
    {{{192, 168}, 16}, NOT_PUBLIC},    /* private use (RFC 1918) */
    {{{199, 36, 153, 4}, 30}, NOT_PUBLIC}, /* Google Cloud: its APIs, from its networks alone */
    {{{199, 36, 153, 8}, 30}, NOT_PUBLIC}, /* ... and of those, the private ones */
    {{{198, 18}, 15}, NOT_PUBLIC},         /* benchmarks (RFC 2544) */
    {{{198, 51, 100}, 24}, NOT_PUBLIC},    /* documentation (RFC 5737) */
    {{{203, 0, 113}, 24}, NOT_PUBLIC},     /* documentation (RFC 5737) */
    {{{224}, 4}, NOT_PUBLIC},              /* multicast (RFC 5771) */
    {{{240}, 4}, NOT_PUBLIC},              /* reserved (RFC 1112), limited broadcast (RFC 8190) */
};

/* IANA's IPv6 Special-Purpose Address Registry, likewise. Outside of 2000::/3 no address is public (RFC 4291): rows
 * there mark those that are NEVER, and complete the list. */
static const struct special special_v6[] = {
    {{{0x01}, 64}, NOT_PUBLIC},                       /* discard only (RFC 6666), 100::/64 */
    {{{0x20, 0x01, 0}, 23}, NOT_PUBLIC},              /* protocol assignments, Teredo (RFC 2928) */
    {{{0x20, 0x01, 0x0d, 0xb8}, 32}, NOT_PUBLIC},     /* documentation (RFC 3849) */
    {{{0x3f, 0xfe}, 16}, NOT_PUBLIC},                 /* 6bone, returned (RFC 3701) */
    {{{0x3f, 0xff}, 20}, NOT_PUBLIC},                 /* documentation (RFC 9637) */
    {{{0x5f}, 16}, NOT_PUBLIC},                       /* segment routing (RFC 9602) */
    {{{0, 0x64, 0xff, 0x9b, 0, 1}, 48}, NEVER},       /* a site's own NAT64 (RFC 8215) */
    {{{0xfc}, 7}, NOT_PUBLIC},                        /* unique local (RFC 4193) */
    {{{0xfd, 0, 0, 0x42, [15] = 0x42}, 128}, NEVER},  /* Scaleway: metadata */
    {{{0xfd, 0, 0, 0xc1}, 32}, NEVER},                /* Oracle Cloud: metadata */
    {{{0xfd, 0, 0x0e, 0xc2}, 32}, NEVER},             /* AWS: metadata, time, names */
    {{{0xfd, 0, 0xa9, 0xfe, 0xa9, 0xfe}, 48}, NEVER}, /* Akamai (Linode): metadata */
    {{{0xfd, 0x20, 0, 0xce}, 32}, NEVER},             /* Google Cloud: metadata */
    {{{0xfe, 0x80}, 10}, NEVER},                      /* link-local (RFC 4291) */
    {{{0xfe, 0xc0}, 10}, NOT_PUBLIC},                 /* site-local, deprecated (RFC 3879) */
    {{{0xff}, 8}, NOT_PUBLIC},                        /* multicast (RFC 4291) */
};

static const struct range global_unicast_v6 = {{0x20}, 3};

/* IPv6 addresses with an embedded IPv4 address. */
static const struct embedding {
    struct range range;
    unsigned at;   /* its first byte */
    uint8_t flips; /* the mask that its bytes are exclusive-ored with */
} embeddings[] = {
    {{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96}, 12, 0}, /* mapped */
    {{{0, 0x64, 0xff, 0x9b}, 96}, 12, 0},                      /* NAT64 */
    {{{0x20, 0x02}, 16}, 2, 0},                                /* 6to4 */
    {{{0}, 96}, 12, 0},                                        /* compatible, retired */
    {{{0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96}, 12, 0},       /* translated (RFC 2765), retired */
    {{{0x20, 0x01}, 32}, 4, 0},                                /* Teredo: its server */
    {{{0x20, 0x01}, 32}, 12, 0xff},                            /* ... and its client */
};
#define EMBEDDINGS         (sizeof embeddings / sizeof *embeddings)
#define EMBEDDINGS_REACHED 3 /* the first of them: an address is public when its embedded IPv4 address is */

static bool in_range(const uint8_t *address, const struct range *range)
{
    size_t whole = range->bits / 8, rest = range->bits % 8;
    if (memcmp(address, range->prefix, whole) != 0)
        return false;
    return !rest || (address[whole] ^ range->prefix[whole]) >> (8 - rest) == 0;
}

static bool is_special(const uint8_t *address, const struct special *rows, size_t count, enum reach least)
{
    for (size_t i = 0; i < count; i++)
        if (rows[i].reach >= least && in_range(address, &rows[i].range))
            return true;
    return false;
}

static bool is_special_v4(const uint8_t *address, enum reach least)
{
    return is_special(address, special_v4, sizeof special_v4 / sizeof *special_v4, least);
}

static bool is_special_v6(const uint8_t *address, enum reach least)
{
    return is_special(address, special_v6, sizeof special_v6 / sizeof *special_v6, least);
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
            return !is_special_v4(inner, NOT_PUBLIC);
    return in_range(address, &global_unicast_v6) && !is_special_v6(address, NOT_PUBLIC);
}

bool http_address_is_public(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET)
        return !is_special_v4((const uint8_t *)&((const struct sockaddr_in *)(const void *)address)->sin_addr,
                              NOT_PUBLIC);
    if (address->sa_family == AF_INET6)
        return is_public_v6(((const struct sockaddr_in6 *)(const void *)address)->sin6_addr.s6_addr);
    return false;
}

static bool is_routed_v6(const uint8_t *address)
{
    uint8_t inner[4];
    for (size_t i = 0; i < EMBEDDINGS; i++)
        if (embeds(address, &embeddings[i], inner) && is_special_v4(inner, NEVER))
            return false;
    return !is_special_v6(address, NEVER);
}

bool http_address_is_routed(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET)
        return !is_special_v4((const uint8_t *)&((const struct sockaddr_in *)(const void *)address)->sin_addr, NEVER);
    if (address->sa_family == AF_INET6)
        return is_routed_v6(((const struct sockaddr_in6 *)(const void *)address)->sin6_addr.s6_addr);
    return false;
}
