/* "redis://…", "rediss://…", "unix:…" (redis_settings.h): rows in a Redis that several processes may share. One
 * connection writes, piece by piece (redis_piece.h), in the writer's thread; each reader has one of its own.
 *
 * A piece whose answer does not come is sent again over the next connection: it is carried out once, however often it
 * comes (redis_scripts.h). When patience is over its batches get UNAVAILABLE, and it is in doubt: what is left of the
 * old connection may still reach Redis. So before anything else is written or read an empty piece of the same number is
 * written, behind which the one in doubt can not be carried out any more. */
#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "redis/command.h"
#include "store/redis_connection.h"
#include "store/redis_piece.h"
#include "store/redis_refusal.h"
#include "store/store_priv.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WRITER_SIZE 33 /* bytes of a writer's id, the NUL included */

struct engine {
    struct redis_settings settings;
    struct redis_connection writer, readers[STORE_READERS];
    uint64_t losses_seen[STORE_READERS]; /* of the writer's, when the reader's connection was made */

    /* The writer's. */
    char id[WRITER_SIZE]; /* "": not registered */
    uint64_t number;      /* of the last piece that was answered */
    bool in_doubt;        /* the piece after that may still be carried out */
    bool full;            /* it was said in the log that Redis has no memory left */

    atomic_ullong losses; /* of the writer's connection */
    atomic_bool weak;
    pthread_mutex_t lock; /* of what the readers settle */
    bool unsettled;
    char unsettled_id[WRITER_SIZE];
    uint64_t unsettled_number;
};

static const char *place_of(const struct engine *engine)
{
    static _Thread_local char place[REDIS_PLACE_MAX];
    return redis_target_place(&engine->settings.target, place);
}

/* ---- requests ---------------------------------------------------------------------------------------------------- */

enum outcome { ANSWERED, AGAIN, REFUSED };

/* Sorts out a reply, which is consumed where it is no answer. */
static enum outcome sort_out(struct redis_connection *connection, struct redis_reply **reply,
                             enum redis_refusal *refusal, struct status *st)
{
    if (*reply == NULL)
        return AGAIN;
    if ((*reply)->kind != REDIS_REFUSAL)
        return ANSWERED;
    char place[REDIS_PLACE_MAX];
    *refusal = redis_refused(*reply, redis_target_place(&connection->settings->target, place), st);
    redis_reply_free(reply);
    if (*refusal != REDIS_LATER && *refusal != REDIS_NOSCRIPT)
        return REFUSED;
    redis_connection_lost(connection, st); /* the next one loads the scripts, and finds the primary */
    return AGAIN;
}

/* ---- who writes -------------------------------------------------------------------------------------------------- */

static void set_doubt(struct engine *engine, bool in_doubt)
{
    engine->in_doubt = in_doubt;
    pthread_mutex_lock(&engine->lock);
    engine->unsettled = in_doubt;
    memcpy(engine->unsettled_id, engine->id, sizeof engine->id);
    engine->unsettled_number = engine->number + 1;
    pthread_mutex_unlock(&engine->lock);
}

static bool ready(struct engine *engine, int64_t deadline_ns, struct status *st)
{
    bool works = redis_connection_ready(&engine->writer, deadline_ns, st);
    atomic_store(&engine->losses, engine->writer.losses);
    atomic_store(&engine->weak, engine->writer.weak);
    return works;
}

static bool enroll(struct engine *engine, struct status *st)
{
    int64_t deadline_ns = redis_connection_deadline(&engine->writer);
    char id[WRITER_SIZE];
    enum redis_refusal refusal;
    snprintf(id, sizeof id, "%016" PRIx64 "%016" PRIx64, random_u64(), random_u64());
    while (ready(engine, deadline_ns, st)) {
        redis_connection_script(&engine->writer, REDIS_REGISTER, 1);
        redis_connection_argument(&engine->writer, id);
        struct redis_reply *reply = redis_connection_ask(&engine->writer, deadline_ns, st);
        enum outcome outcome = sort_out(&engine->writer, &reply, &refusal, st);
        redis_reply_free(&reply);
        if (outcome == REFUSED)
            return false;
        if (outcome == AGAIN)
            continue;
        memcpy(engine->id, id, sizeof id);
        engine->number = 0;
        set_doubt(engine, false);
        return true;
    }
    return false;
}

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

struct attempt {
    enum outcome outcome;
    enum redis_refusal refusal;
    struct redis_reply *answer;
    int64_t replicas; /* that have it too */
    bool unheard;     /* it was sent, and nobody knows */
};

static void append_wait(struct engine *engine)
{
    char replicas[16], patience[24];
    snprintf(replicas, sizeof replicas, "%d", engine->settings.replicas);
    snprintf(patience, sizeof patience, "%" PRId64, engine->settings.patience_ms / 4);
    redis_command(redis_link_out(engine->writer.link),
                  (struct redis_part[]){REDIS_PART("WAIT"), REDIS_PART(replicas), REDIS_PART(patience)}, 3);
}

static int64_t replicas_of(struct engine *engine, int64_t deadline_ns, struct status *st)
{
    struct redis_reply *reply = redis_connection_next(&engine->writer, deadline_ns, st);
    int64_t replicas = reply != NULL && reply->kind == REDIS_NUMBER ? reply->number : 0;
    redis_reply_free(&reply);
    return replicas;
}

static struct attempt try_piece(struct engine *engine, const struct redis_piece *piece, int64_t deadline_ns,
                                struct status *st)
{
    struct redis_connection *writer = &engine->writer;
    struct attempt attempt = {0};
    redis_piece_append(piece, writer, engine->id, engine->number + 1);
    if (engine->settings.replicas > 0)
        append_wait(engine);
    attempt.answer = redis_connection_ask(writer, deadline_ns, st);
    attempt.unheard = attempt.answer == NULL;
    if (attempt.answer != NULL && engine->settings.replicas > 0)
        attempt.replicas = replicas_of(engine, deadline_ns, st);
    attempt.outcome = sort_out(writer, &attempt.answer, &attempt.refusal, st);
    return attempt;
}

static bool answered(struct engine *engine, const struct redis_piece *piece, struct attempt *attempt, struct status *st)
{
    bool ours = redis_piece_answered(piece, attempt->answer);
    redis_reply_free(&attempt->answer);
    engine->number++;
    set_doubt(engine, false);
    if (!ours)
        return fail(st, DATA_LOSS, "Redis at %s gives an answer that is none", place_of(engine));
    if (attempt->replicas < engine->settings.replicas)
        return fail(st, UNAVAILABLE, "Redis at %s has what was written, but of its replicas %" PRId64 " instead of %d",
                    place_of(engine), attempt->replicas, engine->settings.replicas);
    return true;
}

/* What was acknowledged is gone, and what is in memory here may build on it: these batches are not written, and the
 * next by a new writer. */
static bool rolled_back(struct engine *engine, const struct status *st)
{
    log_error("store.redis_rolled_back", "%s", st->text);
    set_doubt(engine, false);
    engine->id[0] = '\0';
    return false;
}

static bool write_piece(struct engine *engine, const struct redis_piece *piece, struct status *st)
{
    int64_t deadline_ns = redis_connection_deadline(&engine->writer);
    bool in_doubt = engine->in_doubt;
    while (ready(engine, deadline_ns, st)) {
        struct attempt attempt = try_piece(engine, piece, deadline_ns, st);
        if (attempt.outcome == ANSWERED)
            return answered(engine, piece, &attempt, st);
        if (attempt.outcome == REFUSED && attempt.refusal == REDIS_LOST)
            return rolled_back(engine, st);
        if (attempt.outcome == REFUSED)
            break;
        in_doubt = in_doubt || attempt.unheard;
    }
    set_doubt(engine, in_doubt);
    return false;
}

/* There is a writer, and nothing of what it wrote is in doubt. */
static bool settled(struct engine *engine, struct status *st)
{
    static const struct redis_piece empty = {.takes_away = true};
    if (engine->in_doubt && !write_piece(engine, &empty, st) && engine->id[0] != '\0')
        return false;
    return engine->id[0] != '\0' || enroll(engine, st);
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static void trace_memory(struct engine *engine, bool full, const struct status *st)
{
    if (full && !engine->full)
        log_error("store.redis_full", "%s", st->text);
    if (!full && engine->full)
        log_info("store.redis_room", "Redis at %s takes rows again", place_of(engine));
    engine->full = full;
}

static struct store_batch *behind(const struct redis_piece *piece)
{
    struct store_batch *batch = piece->first;
    for (unsigned i = 0; i < piece->batches; i++)
        batch = batch->next;
    return batch;
}

static bool too_many(const struct redis_piece *piece, struct status *st)
{
    if (piece->arguments <= REDIS_PIECE_ARGUMENTS_MAX)
        return false;
    fail(st, RESOURCE_EXHAUSTED, "a batch of more operations than Redis takes at once; give it in parts");
    return true;
}

/* Where Redis has no memory left, each batch goes alone: those that only take away are taken. */
static bool redis_write(void *data, struct store_batch *batches, struct status *st)
{
    struct engine *engine = data;
    bool alone = false, good = settled(engine, st);
    struct store_batch *batch = batches;
    while (good && batch != NULL) {
        struct redis_piece piece = alone ? redis_piece_take_one(batch) : redis_piece_take(batch);
        bool written = !too_many(&piece, st) && write_piece(engine, &piece, st), full = st->code == RESOURCE_EXHAUSTED;
        if (written || full)
            trace_memory(engine, !written, st);
        if (!written && full && piece.batches > 1) {
            alone = true;
            continue;
        }
        if (!written && full)
            redis_piece_fail(&piece, st);
        good = written || full;
        batch = good ? behind(&piece) : batch;
    }
    if (good)
        return true;
    st->code = st->code == DATA_LOSS ? DATA_LOSS : UNAVAILABLE;
    if (batch == batches)
        return false;
    for (; batch != NULL; batch = batch->next)
        batch->status = *st;
    return true;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* The connection is not older than the writer's: after a failover that one finds the new primary. */
static bool reader_ready(struct engine *engine, unsigned number, int64_t deadline_ns, struct status *st)
{
    struct redis_connection *reader = &engine->readers[number];
    uint64_t losses = atomic_load(&engine->losses);
    if (engine->losses_seen[number] != losses)
        redis_link_close(&reader->link);
    engine->losses_seen[number] = losses;
    return redis_connection_ready(reader, deadline_ns, st);
}

/* Whether an empty piece has to go first; appends it. */
static bool append_settling(struct engine *engine, struct redis_connection *reader, uint64_t *number)
{
    static const struct redis_piece empty = {.takes_away = true};
    char id[WRITER_SIZE];
    pthread_mutex_lock(&engine->lock);
    bool unsettled = engine->unsettled;
    memcpy(id, engine->unsettled_id, sizeof id);
    *number = engine->unsettled_number;
    pthread_mutex_unlock(&engine->lock);
    if (unsettled)
        redis_piece_append(&empty, reader, id, *number);
    return unsettled;
}

static void has_settled(struct engine *engine, uint64_t number)
{
    pthread_mutex_lock(&engine->lock);
    if (engine->unsettled_number == number)
        engine->unsettled = false;
    pthread_mutex_unlock(&engine->lock);
}

/* A writer that Redis does not know any more can not be carried out late either. */
static enum outcome settle(struct engine *engine, struct redis_connection *reader, uint64_t number,
                           struct redis_reply *reply, struct status *st)
{
    enum redis_refusal refusal = REDIS_FINAL;
    enum outcome outcome = sort_out(reader, &reply, &refusal, st);
    redis_reply_free(&reply);
    if (outcome == REFUSED && refusal == REDIS_LOST)
        outcome = ANSWERED;
    if (outcome == ANSWERED)
        has_settled(engine, number);
    return outcome;
}

static void append_scan(struct redis_connection *reader, const struct store_scan *scan)
{
    char limit[24], room[24];
    snprintf(limit, sizeof limit, "%zu", scan->limit);
    snprintf(room, sizeof room, "%zu", scan->bytes_max);
    redis_range_append(redis_connection_script(reader, REDIS_SCAN, 5), scan->from, scan->to);
    redis_connection_argument(reader, limit);
    redis_connection_argument(reader, room);
    redis_connection_argument(reader, scan->backwards ? "1" : "0");
}

static enum outcome ask_rows(struct engine *engine, struct redis_connection *reader, const struct store_scan *scan,
                             int64_t deadline_ns, struct redis_reply **rows, struct status *st)
{
    enum redis_refusal refusal;
    uint64_t number;
    bool settles = append_settling(engine, reader, &number);
    append_scan(reader, scan);
    *rows = redis_connection_ask(reader, deadline_ns, st);
    if (settles) {
        enum outcome outcome = settle(engine, reader, number, *rows, st);
        *rows = NULL;
        if (outcome != ANSWERED)
            redis_link_close(&reader->link); /* what comes of the scan is not looked at */
        if (outcome != ANSWERED)
            return outcome;
        *rows = redis_connection_next(reader, deadline_ns, st);
    }
    return sort_out(reader, rows, &refusal, st);
}

static void take_rows(struct store_scan *scan, const struct redis_reply *rows)
{
    bool good = rows->kind == REDIS_LIST && rows->size % 2 == 1;
    for (size_t i = 1; good && i < rows->size; i += 2) {
        const struct redis_reply *key = rows->list[i], *value = rows->list[i + 1];
        if (!store_scan_add(scan, (struct store_bytes){key->bytes, key->size},
                            (struct store_bytes){value->bytes, value->size}))
            return;
    }
    if (!good)
        fail(&scan->status, DATA_LOSS, "Redis gives an answer that is none");
    scan->more = good && rows->list[0]->size == 1 && rows->list[0]->bytes[0] == '1';
}

static void redis_scan(void *data, unsigned number, struct store_scan *scan)
{
    struct engine *engine = data;
    struct redis_connection *reader = &engine->readers[number];
    int64_t deadline_ns = redis_connection_deadline(reader);
    while (reader_ready(engine, number, deadline_ns, &scan->status)) {
        struct redis_reply *rows;
        enum outcome outcome = ask_rows(engine, reader, scan, deadline_ns, &rows, &scan->status);
        if (outcome == AGAIN)
            continue;
        if (outcome == ANSWERED)
            take_rows(scan, rows);
        redis_reply_free(&rows);
        return;
    }
    scan->status.code = UNAVAILABLE;
}

/* ---- open and close ---------------------------------------------------------------------------------------------- */

static void redis_look(void *data, struct store_stats *stats)
{
    struct engine *engine = data;
    stats->losses = atomic_load(&engine->losses);
    stats->weak = atomic_load(&engine->weak);
}

static void redis_close(void *data)
{
    struct engine *engine = data;
    redis_connection_fini(&engine->writer);
    for (int i = 0; i < STORE_READERS; i++)
        redis_connection_fini(&engine->readers[i]);
    redis_settings_fini(&engine->settings);
    pthread_mutex_destroy(&engine->lock);
    free(engine);
}

static void *redis_open(const char *url, struct status *st)
{
    struct engine *engine = calloc(1, sizeof *engine);
    if (engine == NULL) {
        fail(st, RESOURCE_EXHAUSTED, "no memory to open a store");
        return NULL;
    }
    pthread_mutex_init(&engine->lock, NULL);
    if (redis_settings_read(&engine->settings, url, st)) {
        redis_connection_init(&engine->writer, &engine->settings, "writer");
        for (int i = 0; i < STORE_READERS; i++)
            redis_connection_init(&engine->readers[i], &engine->settings, "reader");
        if (enroll(engine, st))
            return engine;
    }
    redis_close(engine);
    return NULL;
}

const struct store_kind store_redis = {
    .schemes = {"redis:", "rediss:", "unix:"},
    .shared = true,
    .open = redis_open,
    .close = redis_close,
    .write = redis_write,
    .scan = redis_scan,
    .look = redis_look,
};
