#include "redis/target.h"

#include <netdb.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#define PORT_DEFAULT 6379
#define DATABASE_MAX 9999 /* Redis has 16 by default */

/* The source and the target of parsing. */
struct reading {
    const char *option;
    struct redis_target *target;
    struct status *st;
};

static bool target_refuse(struct reading *reading, const char *what)
{
    return fail(reading->st, INVALID_ARGUMENT,
                "%s: %s; what is right looks like redis://:PASSWORD@HOST:6379/0 or unix:/run/redis/redis.sock",
                reading->option, what);
}

static int target_hex(char digit)
{
    static const char digits[] = "0123456789abcdefABCDEF";
    const char *at = digit ? strchr(digits, digit) : NULL;
    return !at ? -1 : at - digits < 16 ? (int)(at - digits) : (int)(at - digits - 6);
}

/* Percent-decodes; false if it does not fit, or would contain a NUL. */
static bool target_decode(const char *text, size_t size, char *word)
{
    size_t length = 0;
    for (size_t i = 0; i < size; i++) {
        int byte = (unsigned char)text[i];
        if (text[i] == '%') {
            int high = i + 2 < size ? target_hex(text[i + 1]) : -1, low = i + 2 < size ? target_hex(text[i + 2]) : -1;
            byte = high < 0 || low < 0 ? 0 : high << 4 | low;
            i += 2;
        }
        if (!byte || length + 1 == REDIS_WORD_MAX)
            return false;
        word[length++] = (char)byte;
    }
    word[length] = '\0';
    return true;
}

static bool read_entrance(struct reading *reading, const char *text, size_t size)
{
    const char *colon = memchr(text, ':', size);
    if (!colon)
        return target_refuse(reading, "before the '@' stands no ':PASSWORD'");
    struct redis_target *target = reading->target;
    size_t user = (size_t)(colon - text);
    if (!target_decode(text, user, target->user) || !target_decode(colon + 1, size - user - 1, target->password))
        return target_refuse(reading, "the user or password is too long, or not percent-encoded as it should be");
    return true;
}

static bool target_read_number(const char *text, const char *end, int max, int *number)
{
    long value = 0;
    if (text == end)
        return false;
    for (; text < end; text++) {
        if (*text < '0' || *text > '9' || (value = value * 10 + (*text - '0')) > max)
            return false;
    }
    *number = (int)value;
    return true;
}

static bool read_place(struct reading *reading, const char *text, const char *end)
{
    struct redis_target *target = reading->target;
    const char *host = text, *host_end = memchr(text, ':', (size_t)(end - text));
    if (*text == '[') {
        host = text + 1;
        host_end = memchr(text, ']', (size_t)(end - text));
        if (!host_end)
            return target_refuse(reading, "the '[' of the address has no ']'");
    }
    const char *port = !host_end ? end : *host_end == ']' ? host_end + 1 : host_end;
    host_end = host_end ? host_end : end;
    if (host == host_end || host_end - host >= REDIS_HOST_MAX)
        return target_refuse(reading, "the host is empty or too long");
    memcpy(target->host, host, (size_t)(host_end - host));
    target->port = PORT_DEFAULT;
    if (port == end)
        return true;
    if (*port != ':' || !target_read_number(port + 1, end, 65535, &target->port) || !target->port)
        return target_refuse(reading, "the port is no number from 1 to 65535");
    return true;
}

static bool target_read_url(struct reading *reading, const char *place)
{
    const char *end = place + strlen(place), *at = strrchr(place, '@');
    if (at && !read_entrance(reading, place, (size_t)(at - place)))
        return false;
    place = at ? at + 1 : place;
    const char *slash = strchr(place, '/');
    if (slash && slash[1] && !target_read_number(slash + 1, end, DATABASE_MAX, &reading->target->database))
        return target_refuse(reading, "the database behind the '/' is no number");
    return read_place(reading, place, slash ? slash : end);
}

static bool target_read_path(struct reading *reading, const char *path)
{
    if (*path != '/' || strlen(path) >= REDIS_PATH_MAX)
        return target_refuse(reading, "the path of the socket is not absolute, or too long");
    memcpy(reading->target->path, path, strlen(path) + 1);
    return true;
}

bool redis_target_parse(const char *option, const char *url, struct redis_target *target, struct status *st)
{
    struct reading reading = {option, target, st};
    memset(target, 0, sizeof *target);
    if (strncmp(url, "unix:", 5) == 0)
        return target_read_path(&reading, url + 5);
    target->tls = strncmp(url, "rediss://", 9) == 0;
    if (!target->tls && strncmp(url, "redis://", 8) != 0)
        return target_refuse(&reading, "it does not begin with redis://");
    return target_read_url(&reading, url + (target->tls ? 9 : 8));
}

bool redis_target_word(char word[REDIS_WORD_MAX], const char *text, size_t size)
{
    if (size >= REDIS_WORD_MAX || memchr(text, '\0', size))
        return false;
    memcpy(word, text, size);
    word[size] = '\0';
    return true;
}

const char *redis_target_place(const struct redis_target *target, char place[REDIS_PLACE_MAX])
{
    if (target->path[0])
        snprintf(place, REDIS_PLACE_MAX, "%s", target->path);
    else
        snprintf(place, REDIS_PLACE_MAX, "%s port %d", target->host, target->port);
    return place;
}

/* ---- the name ---------------------------------------------------------------------------------------------------- */

static bool target_find(const char *host, const char *port, int flags, struct sockaddr_storage *address,
                        socklen_t *size)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV | flags}, *found = NULL;
    if (getaddrinfo(host, port, &hints, &found) != 0)
        return false;
    memcpy(address, found->ai_addr, found->ai_addrlen);
    *size = found->ai_addrlen;
    freeaddrinfo(found);
    return true;
}

bool redis_target_address(const struct redis_target *target, struct sockaddr_storage *address, socklen_t *size)
{
    char port[8];
    if (target->path[0]) {
        struct sockaddr_un *named = (struct sockaddr_un *)(void *)address;
        named->sun_family = AF_UNIX;
        memcpy(named->sun_path, target->path, sizeof target->path);
        *size = sizeof *named;
        return true;
    }
    snprintf(port, sizeof port, "%d", target->port);
    return target_find(target->host, port, AI_NUMERICHOST, address, size);
}

/* Held by the waiting thread and by its own: getaddrinfo cannot be cancelled. */
struct redis_lookup {
    atomic_uint holders;
    atomic_bool done;
    char host[REDIS_HOST_MAX], port[8];
    struct sockaddr_storage address;
    socklen_t size;
};

/* Each lookup has a thread, which stays asleep when it is abandoned. A name server that hangs would accumulate them. */
static _Atomic unsigned lookups;

static void target_release(struct redis_lookup *lookup)
{
    if (atomic_fetch_sub(&lookup->holders, 1) == 1)
        free(lookup);
}

static void *target_look_up(void *data)
{
    struct redis_lookup *lookup = data;
    if (!target_find(lookup->host, lookup->port, 0, &lookup->address, &lookup->size))
        lookup->size = 0;
    atomic_store(&lookup->done, true);
    target_release(lookup);
    atomic_fetch_sub(&lookups, 1);
    return NULL;
}

struct redis_lookup *redis_lookup_start(const struct redis_target *target)
{
    pthread_t thread;
    struct redis_lookup *lookup;
    if (atomic_fetch_add(&lookups, 1) >= REDIS_LOOKUPS_MAX || !(lookup = calloc(1, sizeof *lookup))) {
        atomic_fetch_sub(&lookups, 1);
        return NULL;
    }
    atomic_init(&lookup->holders, 2);
    memcpy(lookup->host, target->host, sizeof lookup->host);
    snprintf(lookup->port, sizeof lookup->port, "%d", target->port);
    if (pthread_create(&thread, NULL, target_look_up, lookup) != 0) {
        free(lookup);
        atomic_fetch_sub(&lookups, 1);
        return NULL;
    }
    pthread_detach(thread);
    return lookup;
}

bool redis_lookup_done(struct redis_lookup *lookup, struct sockaddr_storage *address, socklen_t *size)
{
    if (!atomic_load(&lookup->done))
        return false;
    *address = lookup->address;
    *size = lookup->size;
    return true;
}

void redis_lookup_drop(struct redis_lookup **lookup)
{
    if (*lookup)
        target_release(*lookup);
    *lookup = NULL;
}
