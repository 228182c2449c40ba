/* Writing to Redis, piece by piece. A piece without an answer is sent again over the next connection: it is executed
 * once, however often it arrives (redis_scripts.h). When the patience is over, its batches get UNAVAILABLE and the
 * piece is in doubt: data of the old connection may still reach Redis. So before any other write or read, an empty
 * piece of the same number is written. After it, the piece in doubt cannot be executed any more. */
#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "redis/command.h"
#include "store/redis_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *place_of(const struct redis_engine *engine)
{
    static _Thread_local char place[REDIS_PLACE_MAX];
    return redis_target_place(&engine->settings.target, place);
}

/* ---- the writer -------------------------------------------------------------------------------------------------- */

static void set_doubt(struct redis_engine *engine, bool in_doubt)
{
    engine->in_doubt = in_doubt;
    pthread_mutex_lock(&engine->lock);
    engine->unsettled = in_doubt;
    memcpy(engine->unsettled_id, engine->id, sizeof engine->id);
    engine->unsettled_number = engine->number + 1;
    pthread_mutex_unlock(&engine->lock);
}

static bool ready(struct redis_engine *engine, int64_t deadline_ns, struct status *st)
{
    bool works = redis_connection_ready(&engine->writer, deadline_ns, st);
    atomic_store(&engine->losses, engine->writer.losses);
    atomic_store(&engine->weak, engine->writer.weak);
    return works;
}

bool redis_enroll(struct redis_engine *engine, struct status *st)
{
    int64_t deadline_ns = redis_connection_deadline(&engine->writer);
    char id[REDIS_WRITER_SIZE];
    enum redis_refusal refusal;
    snprintf(id, sizeof id, "%016" PRIx64 "%016" PRIx64, random_u64(), random_u64());
    while (ready(engine, deadline_ns, st)) {
        redis_connection_script(&engine->writer, REDIS_REGISTER, 1);
        redis_connection_argument(&engine->writer, id);
        struct redis_reply *reply = redis_connection_ask(&engine->writer, deadline_ns, st);
        enum redis_outcome outcome = redis_sort_out(&engine->writer, &reply, &refusal, st);
        redis_reply_free(&reply);
        if (outcome == REDIS_REFUSED)
            return false;
        if (outcome == REDIS_AGAIN)
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
    enum redis_outcome outcome;
    enum redis_refusal refusal;
    struct redis_reply *answer;
    int64_t replicas; /* that have it too */
    bool unheard;     /* it was sent, and its result is unknown */
};

static void append_wait(struct redis_engine *engine)
{
    char replicas[16], patience[24];
    snprintf(replicas, sizeof replicas, "%d", engine->settings.replicas);
    snprintf(patience, sizeof patience, "%" PRId64, engine->settings.patience_ms / 4);
    redis_command(redis_link_out(engine->writer.link),
                  (struct redis_part[]){REDIS_PART("WAIT"), REDIS_PART(replicas), REDIS_PART(patience)}, 3);
}

static int64_t replicas_of(struct redis_engine *engine, int64_t deadline_ns, struct status *st)
{
    struct redis_reply *reply = redis_connection_next(&engine->writer, deadline_ns, st);
    int64_t replicas = reply != NULL && reply->kind == REDIS_NUMBER ? reply->number : 0;
    redis_reply_free(&reply);
    return replicas;
}

static struct attempt try_piece(struct redis_engine *engine, const struct redis_piece *piece, int64_t deadline_ns,
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
    attempt.outcome = redis_sort_out(writer, &attempt.answer, &attempt.refusal, st);
    return attempt;
}

static bool answered(struct redis_engine *engine, const struct redis_piece *piece, struct attempt *attempt,
                     struct status *st)
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

/* Acknowledged data is lost, and the state in memory may build on it: these batches are not written, and a new writer
 * writes the next ones. */
static bool rolled_back(struct redis_engine *engine, const struct status *st)
{
    log_error("store.redis_rolled_back", "%s", st->text);
    set_doubt(engine, false);
    engine->id[0] = '\0';
    return false;
}

static bool write_piece(struct redis_engine *engine, const struct redis_piece *piece, struct status *st)
{
    int64_t deadline_ns = redis_connection_deadline(&engine->writer) + redis_link_busy_ms(piece->bytes) * NS_PER_MS;
    bool in_doubt = engine->in_doubt;
    while (ready(engine, deadline_ns, st)) {
        struct attempt attempt = try_piece(engine, piece, deadline_ns, st);
        bool enough = attempt.replicas >= engine->settings.replicas || clock_now_ns() >= deadline_ns;
        if (attempt.outcome == REDIS_ANSWERED && enough)
            return answered(engine, piece, &attempt, st);
        if (attempt.outcome == REDIS_REFUSED && attempt.refusal == REDIS_LOST)
            return rolled_back(engine, st);
        if (attempt.outcome == REDIS_REFUSED)
            break;
        in_doubt = in_doubt || attempt.unheard || attempt.outcome == REDIS_ANSWERED;
        redis_reply_free(&attempt.answer);
    }
    set_doubt(engine, in_doubt);
    return false;
}

/* Makes sure that a writer exists and has no write in doubt. */
static bool settled(struct redis_engine *engine, struct status *st)
{
    static const struct redis_piece empty = {.takes_away = true};
    if (engine->in_doubt && !write_piece(engine, &empty, st) && engine->id[0] != '\0')
        return false;
    return engine->id[0] != '\0' || redis_enroll(engine, st);
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static void trace_memory(struct redis_engine *engine, bool full, const struct status *st)
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

static bool forgets(const struct store_batch *batch)
{
    while (batch != NULL && !batch->forgets)
        batch = batch->next;
    return batch != NULL;
}

/* If Redis has no memory left, each batch is sent alone: Redis accepts those that only delete. */
bool redis_write(void *data, struct store_batch *batches, struct status *st)
{
    struct redis_engine *engine = data;
    bool alone = false, good = settled(engine, st);
    struct store_batch *batch = batches;
    if (good && forgets(batches))
        redis_forget_mark(engine);
    while (good && batch != NULL) {
        struct redis_piece piece = alone ? redis_piece_take_one(batch) : redis_piece_take(batch);
        bool written = !too_many(&piece, st) && write_piece(engine, &piece, st), full = st->code == RESOURCE_EXHAUSTED;
        if (full || (written && !piece.takes_away))
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
    for (const struct store_batch *one = batches; one != batch; one = one->next)
        engine->forgets = engine->forgets || one->forgets;
    if (good)
        return true;
    st->code = st->code == DATA_LOSS ? DATA_LOSS : UNAVAILABLE;
    if (batch == batches)
        return false;
    for (; batch != NULL; batch = batch->next)
        batch->status = *st;
    return true;
}
