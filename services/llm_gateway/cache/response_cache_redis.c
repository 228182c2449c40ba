#include "response_cache_redis.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/random.h"
#include "redis/command.h"
#include "redis_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REST_FIRST_MS 100
#define REST_MAX_MS   10000
#define REFUSALS_MAX  8 /* in a row; then it rests like one that is silent */
#define KEY_PREFIX    "renga:recall:"
#define KEY_TEXT_SIZE (sizeof KEY_PREFIX - 1 + (size_t)2 * RESPONSE_CACHE_KEY_SIZE)

/* ---- giving up --------------------------------------------------------------------------------------------------- */

static void response_cache_redis_found(struct redis_request *request, const uint8_t *value, size_t size)
{
    void (*looked)(void *owner, const uint8_t *value, size_t size) = request->looked;
    request->looked = NULL;
    if (looked)
        looked(request->owner, value, size);
}

static struct redis_request *request_at(struct response_cache_redis *redis, unsigned place)
{
    return &redis->asks[(redis->first_request + place) % REDIS_REQUESTS_MAX];
}

static void disconnect(struct response_cache_redis *redis)
{
    loop_disarm(redis->loop, &redis->timer);
    redis_socket_close(redis);
    redis->state = REDIS_RESTS;
    for (; redis->request_count; redis->request_count--) {
        response_cache_redis_found(request_at(redis, 0), NULL, 0);
        redis->first_request = (redis->first_request + 1) % REDIS_REQUESTS_MAX;
    }
}

void redis_give_up(struct response_cache_redis *redis, const char *why)
{
    const struct redis_target *target = redis->target;
    disconnect(redis);
    atomic_fetch_add_explicit(redis->failures, 1, memory_order_relaxed);
    if (!redis->unwell)
        log_warn("response_cache.redis_lost", "Redis at %s port %d %s; until it works again nothing is kept there",
                 target->host, target->port, why);
    redis->unwell = true;
    redis->fresh = false;
    loop_arm_after(redis->loop, &redis->timer, redis->rest_ms + (int64_t)random_below((uint64_t)redis->rest_ms / 2));
    redis->rest_ms = redis->rest_ms * 2 > REST_MAX_MS ? REST_MAX_MS : redis->rest_ms * 2;
}

/* ---- commands ---------------------------------------------------------------------------------------------------- */

/* NULL: too many open commands. */
static struct redis_request *command(struct response_cache_redis *redis, enum redis_request_kind kind,
                                     const struct redis_part *parts, size_t count)
{
    if (redis->request_count == REDIS_REQUESTS_MAX)
        return NULL;
    redis_command(&redis->out, parts, count);
    if (redis->out.failed) {
        redis_give_up(redis, "takes nothing more");
        return NULL;
    }
    struct redis_request *request = request_at(redis, redis->request_count++);
    int64_t patience_ms = kind < REDIS_GET ? REDIS_GREET_MS : redis->timeout_ms;
    *request = (struct redis_request){
        .kind = kind, .replies_before = redis->reply_count, .deadline_ns = clock_now_ns() + patience_ms * NS_PER_MS};
    if (!redis->timer.place || request->deadline_ns < redis->timer.at_ns)
        loop_arm(redis->loop, &redis->timer, request->deadline_ns);
    loop_defer(redis->loop, &redis->flushing);
    return request;
}

void redis_greet(struct response_cache_redis *redis)
{
    const struct redis_target *target = redis->target;
    char database[16];
    snprintf(database, sizeof database, "%d", target->database);
    if (target->user[0])
        command(redis, REDIS_AUTH,
                (struct redis_part[]){REDIS_PART("AUTH"), REDIS_PART(target->user), REDIS_PART(target->password)}, 3);
    else if (target->password[0])
        command(redis, REDIS_AUTH, (struct redis_part[]){REDIS_PART("AUTH"), REDIS_PART(target->password)}, 2);
    if (target->database)
        command(redis, REDIS_SELECT, (struct redis_part[]){REDIS_PART("SELECT"), REDIS_PART(database)}, 2);
    command(redis, REDIS_PING, (struct redis_part[]){REDIS_PART("PING")}, 1);
}

static bool may_be_asked(const struct response_cache_redis *redis)
{
    return redis->state == REDIS_WORKS || (redis->fresh && redis->state >= REDIS_CONNECTS);
}

static void response_cache_redis_write_key(const struct response_cache_key *key, char text[KEY_TEXT_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    char *at = text + sizeof KEY_PREFIX - 1;
    memcpy(text, KEY_PREFIX, sizeof KEY_PREFIX - 1);
    for (size_t i = 0; i < RESPONSE_CACHE_KEY_SIZE; i++) {
        *at++ = digits[key->bytes[i] >> 4];
        *at++ = digits[key->bytes[i] & 15];
    }
}

/* GETRANGE is GET with a bound: it never sends more bytes than we acceptfor any value of the key. */
struct redis_request *response_cache_redis_get(struct response_cache_redis *redis, const struct response_cache_key *key,
                                               void (*looked)(void *owner, const uint8_t *value, size_t size),
                                               void *owner)
{
    char name[KEY_TEXT_SIZE], last[24];
    if (!may_be_asked(redis) || redis_backlog(redis) + KEY_TEXT_SIZE * 2 > REDIS_OUT_MAX)
        return NULL;
    response_cache_redis_write_key(key, name);
    snprintf(last, sizeof last, "%zu", REDIS_VALUE_MAX);
    struct redis_request *request = command(
        redis, REDIS_GET,
        (struct redis_part[]){REDIS_PART("GETRANGE"), {name, sizeof name}, REDIS_PART("0"), REDIS_PART(last)}, 4);
    if (request) {
        request->looked = looked;
        request->owner = owner;
    }
    return request;
}

void response_cache_redis_forget(struct redis_request *request)
{
    request->looked = NULL;
}

void response_cache_redis_set(struct response_cache_redis *redis, const struct response_cache_key *key,
                              const uint8_t *value, size_t size, int64_t keep_ms)
{
    char name[KEY_TEXT_SIZE], life[24];
    if (!may_be_asked(redis) || size > REDIS_VALUE_MAX ||
        redis_backlog(redis) + size + KEY_TEXT_SIZE * 2 > REDIS_OUT_MAX)
        return;
    response_cache_redis_write_key(key, name);
    snprintf(life, sizeof life, "%" PRId64, keep_ms);
    command(redis, REDIS_SET,
            (struct redis_part[]){
                REDIS_PART("SET"), {name, sizeof name}, {value, size}, REDIS_PART("PX"), REDIS_PART(life)},
            5);
}

/* ---- replies ----------------------------------------------------------------------------------------------------- */

static const char *refusal_of(enum redis_request_kind kind)
{
    return kind == REDIS_AUTH     ? "refuses the user or password"
           : kind == REDIS_SELECT ? "does not have the database"
                                  : "cannot be used yet, or wants a password";
}

static void response_cache_redis_works(struct response_cache_redis *redis)
{
    redis->state = REDIS_WORKS;
    redis->fresh = false;
    if (redis->unwell)
        log_info("response_cache.redis_found", "Redis at %s port %d works again", redis->target->host,
                 redis->target->port);
    redis->unwell = false;
}

bool redis_take_reply(struct response_cache_redis *redis, const struct redis_reply *reply)
{
    if (!redis->request_count) {
        redis_give_up(redis, "sends more than it was asked for");
        return false;
    }
    struct redis_request *request = request_at(redis, 0);
    bool greets = request->kind < REDIS_GET, refuses = reply->kind == REDIS_REFUSAL;
    redis->reply_count++;
    redis->refusals = refuses ? redis->refusals + 1 : 0;
    if ((greets && refuses) || redis->refusals >= REFUSALS_MAX) {
        redis_give_up(redis, greets ? refusal_of(request->kind) : "refuses what it is asked");
        return false;
    }
    redis->first_request = (redis->first_request + 1) % REDIS_REQUESTS_MAX;
    redis->request_count--;
    if (request->kind == REDIS_PING)
        response_cache_redis_works(redis);
    else if (!greets && refuses)
        atomic_fetch_add_explicit(redis->failures, 1, memory_order_relaxed);
    else if (!greets && !request->late)
        redis->rest_ms = REST_FIRST_MS;
    bool has_value = reply->kind == REDIS_VALUE && reply->size <= REDIS_VALUE_MAX;
    response_cache_redis_found(request, has_value ? reply->bytes : NULL, has_value ? reply->size : 0);
    return true;
}

/* ---- time -------------------------------------------------------------------------------------------------------- */

/* A late reply counts as a miss. Without any reply since the command was sent, the connection is dead. */
static void look_at_the_clock(struct response_cache_redis *redis)
{
    int64_t now_ns = clock_now_ns(), next_ns = TIME_NEVER;
    for (unsigned i = 0; i < redis->request_count; i++) {
        struct redis_request *request = request_at(redis, i);
        if (request->deadline_ns > now_ns) {
            next_ns = request->deadline_ns < next_ns ? request->deadline_ns : next_ns;
            continue;
        }
        if (request->kind < REDIS_GET || redis->reply_count == request->replies_before) {
            redis_give_up(redis, "does not answer in time");
            return;
        }
        if (!request->late)
            atomic_fetch_add_explicit(redis->failures, 1, memory_order_relaxed);
        request->late = true;
        response_cache_redis_found(request, NULL, 0);
    }
    if (next_ns != TIME_NEVER)
        loop_arm(redis->loop, &redis->timer, next_ns);
}

static void response_cache_redis_expired(struct timer *timer)
{
    struct response_cache_redis *redis = CONTAINER_OF(timer, struct response_cache_redis, timer);
    if (redis->state == REDIS_RESTS)
        redis_socket_open(redis);
    else if (redis->state == REDIS_LOOKS_UP)
        redis_socket_look_up(redis);
    else
        look_at_the_clock(redis);
}

struct response_cache_redis *response_cache_redis_open(struct loop *loop, const struct redis_target *target,
                                                       int64_t timeout_ms, atomic_ullong *failures)
{
    struct response_cache_redis *redis = xcalloc(1, sizeof *redis);
    redis->loop = loop;
    redis->target = target;
    redis->timeout_ms = timeout_ms;
    redis->failures = failures;
    redis->fresh = true;
    redis->rest_ms = REST_FIRST_MS;
    redis->timer.expired = response_cache_redis_expired;
    redis_socket_init(redis);
    redis_socket_open(redis);
    return redis;
}

void response_cache_redis_close(struct response_cache_redis **redis)
{
    if (!*redis)
        return;
    disconnect(*redis);
    free(*redis);
    *redis = NULL;
}
