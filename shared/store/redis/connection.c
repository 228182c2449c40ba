#include "store/redis/connection.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "redis/command.h"
#include "store/redis/errors.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define BACKOFF_FIRST_MS 20
#define BACKOFF_MAX_MS   300  /* so that it is found again well within the timeout */
#define HANDSHAKE_MS     1000 /* the most that a try takes, from looking up the name on */
#define HANDSHAKE_MS_MIN 250  /* a request after the timeout waits so long for a due attempt */

#define REQUEST_MAX  ((size_t)STORE_BATCH_MAX * 3) /* bytes: small rows cost more than themselves */
#define REPLY_MAX    ((size_t)STORE_SCAN_BYTES_MAX + 2 * STORE_VALUE_MAX)
#define LIST_MAX     (2 * STORE_SCAN_ROWS_MAX + 16)
#define SETTING_SIZE 64 /* bytes of a value of CONFIG GET */

void redis_connection_init(struct redis_connection *connection, const struct redis_settings *settings,
                           atomic_llong *found_ns, const char *purpose)
{
    static const char *const keys[REDIS_KEYS] = {"rows", "values", "writers"};
    *connection = (struct redis_connection){.settings = settings, .found_ns = found_ns, .purpose = purpose};
    for (int i = 0; i < REDIS_KEYS; i++)
        snprintf(connection->keys[i], REDIS_KEY_MAX, "renga:{%s}:%s", settings->name, keys[i]);
}

void redis_connection_fini(struct redis_connection *connection)
{
    redis_link_close(&connection->link);
}

static const char *connection_place_of(const struct redis_connection *connection)
{
    static _Thread_local char place[REDIS_PLACE_MAX];
    return redis_target_place(&connection->settings->target, place);
}

/* ---- requests ---------------------------------------------------------------------------------------------------- */

struct buffer *redis_connection_script(struct redis_connection *connection, enum redis_script script, size_t arguments)
{
    struct buffer *out = redis_link_out(connection->link);
    const char *sha = connection->scripts[script];
    redis_command_begin(out, 3 + REDIS_KEYS + arguments);
    redis_command_part(out, "EVALSHA", 7);
    redis_command_part(out, sha, strlen(sha));
    redis_command_part(out, "3", 1);
    for (int i = 0; i < REDIS_KEYS; i++)
        redis_command_part(out, connection->keys[i], strlen(connection->keys[i]));
    return out;
}

void redis_connection_argument(struct redis_connection *connection, const char *text)
{
    redis_command_part(redis_link_out(connection->link), text, strlen(text));
}

/* ---- the handshake ----------------------------------------------------------------------------------------------- */

/* One command that must not be refused; its reply is of `kind`. */
static struct redis_reply *connection_must(struct redis_connection *connection, const struct redis_part *parts,
                                           size_t count, enum redis_reply_kind kind, int64_t deadline_ns,
                                           struct status *st)
{
    redis_command(redis_link_out(connection->link), parts, count);
    if (!redis_link_send(connection->link, deadline_ns, st))
        return NULL;
    struct redis_reply *reply = redis_link_reply(connection->link, deadline_ns, st);
    if (reply == NULL || reply->kind == kind)
        return reply;
    if (reply->kind == REDIS_REFUSAL)
        redis_error_read(reply, connection_place_of(connection), st);
    else
        fail(st, UNAVAILABLE, "Redis at %s does not answer as Redis does", connection_place_of(connection));
    redis_reply_free(&reply);
    return NULL;
}

static bool must_be_ok(struct redis_connection *connection, const struct redis_part *parts, size_t count,
                       int64_t deadline_ns, struct status *st)
{
    struct redis_reply *reply = connection_must(connection, parts, count, REDIS_OTHER, deadline_ns, st);
    bool good = reply != NULL;
    redis_reply_free(&reply);
    return good;
}

static bool connection_enter(struct redis_connection *connection, int64_t deadline_ns, struct status *st)
{
    const struct redis_target *target = &connection->settings->target;
    struct redis_part named[] = {REDIS_PART("AUTH"), REDIS_PART(target->user), REDIS_PART(target->password)};
    struct redis_part plain[] = {REDIS_PART("AUTH"), REDIS_PART(target->password)};
    char database[16];
    snprintf(database, sizeof database, "%d", target->database);
    struct redis_part select[] = {REDIS_PART("SELECT"), REDIS_PART(database)};
    if (target->user[0] != '\0' && !must_be_ok(connection, named, 3, deadline_ns, st))
        return false;
    if (target->user[0] == '\0' && target->password[0] != '\0' && !must_be_ok(connection, plain, 2, deadline_ns, st))
        return false;
    return target->database == 0 || must_be_ok(connection, select, 2, deadline_ns, st);
}

static bool is_primary(struct redis_connection *connection, int64_t deadline_ns, struct status *st)
{
    struct redis_part role[] = {REDIS_PART("ROLE")};
    struct redis_reply *reply = connection_must(connection, role, 1, REDIS_LIST, deadline_ns, st);
    if (reply == NULL)
        return false;
    bool primary = reply->size > 0 && strcmp((const char *)reply->list[0]->bytes, "master") == 0;
    redis_reply_free(&reply);
    return primary || fail(st, UNAVAILABLE, "Redis at %s is a replica; give the address of the primary",
                           connection_place_of(connection));
}

/* "" if the server does not tell it. */
static bool read_setting(struct redis_connection *connection, const char *name, char value[SETTING_SIZE],
                         int64_t deadline_ns, struct status *st)
{
    struct redis_part ask[] = {REDIS_PART("CONFIG"), REDIS_PART("GET"), REDIS_PART(name)};
    struct redis_reply *reply = connection_must(connection, ask, 3, REDIS_LIST, deadline_ns, st);
    if (reply == NULL)
        return false;
    bool told = reply->size == 2 && reply->list[1]->kind == REDIS_VALUE;
    snprintf(value, SETTING_SIZE, "%s", told ? (const char *)reply->list[1]->bytes : "");
    redis_reply_free(&reply);
    return true;
}

static const struct {
    const char *name, *wanted, *why;
    bool may_be_weak;
} durability[] = {
    {"appendonly", "yes", "what it acknowledges is not on its disk", true},
    {"appendfsync", "always", "what it acknowledges is on its disk only later", true},
    {"maxmemory-policy", "noeviction", "it throws rows away when its memory is full", false},
};

/* A user without permission to read the settings is treated as one with weak settings. */
static bool keeps_promise(struct redis_connection *connection, size_t which, bool *weak, int64_t deadline_ns,
                          struct status *st)
{
    char value[SETTING_SIZE] = "unknown";
    if (!read_setting(connection, durability[which].name, value, deadline_ns, st)) {
        if (st->code != PERMISSION_DENIED || !connection->settings->weak)
            return false;
        status_clear(st);
        *weak = true;
        return true;
    }
    if (strcmp(value, durability[which].wanted) == 0)
        return true;
    *weak = true;
    if (durability[which].may_be_weak && connection->settings->weak)
        return true;
    return fail(st, FAILED_PRECONDITION, "Redis at %s has %s '%s', so that %s; set it to '%s'%s",
                connection_place_of(connection), durability[which].name, value, durability[which].why,
                durability[which].wanted, durability[which].may_be_weak ? ", or give durability=weak" : "");
}

static bool settings_are_durable(struct redis_connection *connection, int64_t deadline_ns, struct status *st)
{
    bool weak = false;
    for (size_t i = 0; i < sizeof durability / sizeof durability[0]; i++)
        if (!keeps_promise(connection, i, &weak, deadline_ns, st))
            return false;
    if (weak && !connection->weak)
        log_warn("store.redis_weak",
                 "Redis at %s does not write what it acknowledges to its disk at once (appendonly yes, appendfsync "
                 "always); a crash of its machine may lose it",
                 connection_place_of(connection));
    connection->weak = weak;
    connection->checked_ns = clock_now_ns();
    return true;
}

static bool load_scripts(struct redis_connection *connection, int64_t deadline_ns, struct status *st)
{
    for (int i = 0; i < REDIS_SCRIPTS; i++) {
        struct redis_part load[] = {REDIS_PART("SCRIPT"), REDIS_PART("LOAD"), REDIS_PART(redis_scripts[i])};
        struct redis_reply *reply = connection_must(connection, load, 3, REDIS_VALUE, deadline_ns, st);
        if (reply == NULL)
            return false;
        snprintf(connection->scripts[i], REDIS_SHA_MAX, "%s", (const char *)reply->bytes);
        redis_reply_free(&reply);
    }
    return true;
}

static const char *or_none(const char *path)
{
    return path[0] != '\0' ? path : NULL;
}

static bool connect_once(struct redis_connection *connection, int64_t deadline_ns, struct status *st)
{
    const struct redis_settings *settings = connection->settings;
    const struct redis_link_options options = {
        .target = &settings->target,
        .silence_ms = settings->unavailable_ms / 2,
        .request_max = REQUEST_MAX,
        .reply_max = REPLY_MAX,
        .list_max = LIST_MAX,
        .authorities = or_none(settings->authorities),
        .certificate = or_none(settings->certificate),
        .key = or_none(settings->key),
    };
    connection->link = redis_link_open(&options, deadline_ns, st);
    if (connection->link != NULL && connection_enter(connection, deadline_ns, st) &&
        is_primary(connection, deadline_ns, st) && settings_are_durable(connection, deadline_ns, st) &&
        load_scripts(connection, deadline_ns, st))
        return true;
    redis_link_close(&connection->link);
    return false;
}

/* ---- loss and reconnection --------------------------------------------------------------------------------------- */

static void connection_back_off(struct redis_connection *connection)
{
    int64_t backoff_ms = connection->backoff_ms + (int64_t)random_below((uint64_t)connection->backoff_ms / 2);
    connection->next_try_ns = clock_now_ns() + backoff_ms * NS_PER_MS;
    connection->backoff_ms = connection->backoff_ms * 2 > BACKOFF_MAX_MS ? BACKOFF_MAX_MS : connection->backoff_ms * 2;
}

void redis_connection_lost(struct redis_connection *connection, const struct status *why)
{
    redis_link_close(&connection->link);
    connection->why = *why;
    connection->tried_ns = clock_now_ns();
    if (connection->lost_ns == 0) {
        log_warn("store.redis_lost", "the %s's connection: %s", connection->purpose, why->text);
        connection->lost_ns = clock_now_ns();
        connection->backoff_ms = BACKOFF_FIRST_MS;
        connection->losses++;
    }
    if (connection->verified)
        connection->next_try_ns = 0;
    else
        connection_back_off(connection);
    connection->verified = false;
}

int64_t redis_connection_deadline(struct redis_connection *connection)
{
    int64_t now_ns = clock_now_ns();
    if (connection->lost_ns != 0 && atomic_load(connection->found_ns) > connection->tried_ns) {
        connection->lost_ns = now_ns;
        connection->next_try_ns = 0;
    }
    int64_t since_ns = connection->lost_ns != 0 ? connection->lost_ns : now_ns;
    int64_t deadline_ns = since_ns + connection->settings->unavailable_ms * NS_PER_MS;
    int64_t least_ns = now_ns + HANDSHAKE_MS_MIN * NS_PER_MS;
    return deadline_ns > least_ns ? deadline_ns : least_ns;
}

/* New requests do not wait for a connection that has been lost for long. */
static bool waits_for(const struct redis_connection *connection, int64_t deadline_ns)
{
    int64_t now_ns = clock_now_ns();
    if (now_ns >= deadline_ns)
        return false;
    bool for_long =
        connection->lost_ns != 0 && now_ns - connection->lost_ns > connection->settings->unavailable_ms * NS_PER_MS;
    return connection->next_try_ns <= now_ns || (!for_long && connection->next_try_ns < deadline_ns);
}

static void sleep_until(int64_t at_ns)
{
    int64_t left_ns = at_ns - clock_now_ns();
    if (left_ns > 0)
        nanosleep(&(struct timespec){.tv_sec = left_ns / NS_PER_SEC, .tv_nsec = left_ns % NS_PER_SEC}, NULL);
}

static int64_t handshake_deadline(int64_t deadline_ns)
{
    int64_t most_ns = clock_now_ns() + HANDSHAKE_MS * NS_PER_MS;
    return deadline_ns < most_ns ? deadline_ns : most_ns;
}

static bool connection_come_back(struct redis_connection *connection, int64_t deadline_ns, struct status *st)
{
    while (waits_for(connection, deadline_ns)) {
        sleep_until(connection->next_try_ns);
        status_clear(st);
        if (connect_once(connection, handshake_deadline(deadline_ns), st))
            return true;
        redis_connection_lost(connection, st);
        if (st->code != UNAVAILABLE) /* that does not pass by itself */
            return false;
    }
    *st = connection->why;
    return false;
}

bool redis_connection_ready(struct redis_connection *connection, int64_t deadline_ns, struct status *st)
{
    status_clear(st);
    if (connection->link == NULL)
        return connection_come_back(connection, deadline_ns, st);
    if (clock_now_ns() - connection->checked_ns < REDIS_CHECK_EVERY_MS * NS_PER_MS ||
        settings_are_durable(connection, handshake_deadline(deadline_ns), st))
        return true;
    redis_connection_lost(connection, st);
    return st->code == UNAVAILABLE && connection_come_back(connection, deadline_ns, st);
}

struct redis_reply *redis_connection_next(struct redis_connection *connection, int64_t deadline_ns, struct status *st)
{
    struct redis_reply *reply = redis_link_reply(connection->link, deadline_ns, st);
    if (reply == NULL)
        redis_connection_lost(connection, st);
    else if (!connection->verified) {
        if (connection->lost_ns != 0)
            log_info("store.redis_found", "the %s's connection to Redis at %s works again after %lld ms",
                     connection->purpose, connection_place_of(connection),
                     (long long)((clock_now_ns() - connection->lost_ns) / NS_PER_MS));
        connection->lost_ns = connection->next_try_ns = 0;
        connection->verified = true;
        atomic_store(connection->found_ns, clock_now_ns());
    }
    return reply;
}

struct redis_reply *redis_connection_ask(struct redis_connection *connection, int64_t deadline_ns, struct status *st)
{
    if (redis_link_send(connection->link, deadline_ns, st))
        return redis_connection_next(connection, deadline_ns, st);
    redis_connection_lost(connection, st);
    return NULL;
}
