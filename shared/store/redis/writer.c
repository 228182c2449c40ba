/* Writing to Redis, group by group. A group without an answer is sent again over the next connection: it is executed
 * once, however often it arrives (scripts.h). When the timeout is over, its batches get UNAVAILABLE and the
 * group is in doubt: data of the old connection may still reach Redis. So before any other write or read, an empty
 * group of the same number is written. After it, the group in doubt cannot be executed any more. */
#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "redis/command.h"
#include "store/redis/redis_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *writer_place_of(const struct redis_engine *engine)
{
    static _Thread_local char place[REDIS_PLACE_MAX];
    return redis_target_place(&engine->settings.target, place);
}

/* ---- the writer -------------------------------------------------------------------------------------------------- */

static void set_doubt(struct redis_engine *engine, bool in_doubt)
{
    engine->in_doubt = in_doubt;
    pthread_mutex_lock(&engine->lock);
    engine->unconfirmed = in_doubt;
    memcpy(engine->unconfirmed_id, engine->id, sizeof engine->id);
    engine->unconfirmed_number = engine->number + 1;
    pthread_mutex_unlock(&engine->lock);
}

static bool writer_ready(struct redis_engine *engine, int64_t deadline_ns, struct status *st)
{
    bool works = redis_connection_ready(&engine->writer, deadline_ns, st);
    atomic_store(&engine->losses, engine->writer.losses);
    atomic_store(&engine->weak, engine->writer.weak);
    return works;
}

bool redis_register_writer(struct redis_engine *engine, struct status *st)
{
    int64_t deadline_ns = redis_connection_deadline(&engine->writer);
    char id[REDIS_WRITER_SIZE];
    enum redis_error error;
    snprintf(id, sizeof id, "%016" PRIx64 "%016" PRIx64, random_u64(), random_u64());
    while (writer_ready(engine, deadline_ns, st)) {
        redis_connection_script(&engine->writer, REDIS_REGISTER, 1);
        redis_connection_argument(&engine->writer, id);
        struct redis_reply *reply = redis_connection_ask(&engine->writer, deadline_ns, st);
        enum redis_outcome outcome = redis_classify_reply(&engine->writer, &reply, &error, st);
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

/* ---- groups ------------------------------------------------------------------------------------------------------ */

struct attempt {
    enum redis_outcome outcome;
    enum redis_error error;
    struct redis_reply *answer;
    int64_t replicas; /* that have it too */
    bool unheard;     /* it was sent, and its result is unknown */
};

static int64_t replicas_of(struct redis_engine *engine, int64_t deadline_ns, struct status *st)
{
    struct redis_reply *reply = redis_connection_next(&engine->writer, deadline_ns, st);
    int64_t replicas = reply != NULL && reply->kind == REDIS_NUMBER ? reply->number : 0;
    redis_reply_free(&reply);
    return replicas;
}

static struct attempt try_group(struct redis_engine *engine, const struct redis_group *group, int64_t deadline_ns,
                                struct status *st)
{
    struct redis_connection *writer = &engine->writer;
    struct attempt attempt = {0};
    redis_group_append(group, writer, engine->id, engine->number + 1);
    if (engine->settings.replicas > 0) {
        char replicas[16], timeout[24];
        snprintf(replicas, sizeof replicas, "%d", engine->settings.replicas);
        snprintf(timeout, sizeof timeout, "%" PRId64, engine->settings.unavailable_ms / 4);
        redis_command(redis_link_out(engine->writer.link),
                      (struct redis_part[]){REDIS_PART("WAIT"), REDIS_PART(replicas), REDIS_PART(timeout)}, 3);
    }
    attempt.answer = redis_connection_ask(writer, deadline_ns, st);
    attempt.unheard = attempt.answer == NULL;
    if (attempt.answer != NULL && engine->settings.replicas > 0)
        attempt.replicas = replicas_of(engine, deadline_ns, st);
    attempt.outcome = redis_classify_reply(writer, &attempt.answer, &attempt.error, st);
    return attempt;
}

static bool write_group(struct redis_engine *engine, const struct redis_group *group, struct status *st)
{
    int64_t deadline_ns = redis_connection_deadline(&engine->writer) + redis_link_busy_ms(group->bytes) * NS_PER_MS;
    bool in_doubt = engine->in_doubt;
    while (writer_ready(engine, deadline_ns, st)) {
        struct attempt attempt = try_group(engine, group, deadline_ns, st);
        bool enough = attempt.replicas >= engine->settings.replicas || clock_now_ns() >= deadline_ns;
        if (attempt.outcome == REDIS_ANSWERED && enough) {
            bool ours = redis_group_answered(group, attempt.answer);
            redis_reply_free(&attempt.answer);
            engine->number++;
            set_doubt(engine, false);
            if (!ours)
                return fail(st, DATA_LOSS, "Redis at %s gives an answer that is none", writer_place_of(engine));
            if (attempt.replicas < engine->settings.replicas)
                return fail(st, UNAVAILABLE,
                            "Redis at %s has what was written, but of its replicas %" PRId64 " instead of %d",
                            writer_place_of(engine), attempt.replicas, engine->settings.replicas);
            return true;
        }
        if (attempt.outcome == REDIS_REFUSED && attempt.error == REDIS_LOST) {
            /* Acknowledged data is lost, and the state in memory may build on it: these batches are not written, and a
             * new writer writes the next ones. */
            log_error("store.redis_rolled_back", "%s", st->text);
            set_doubt(engine, false);
            engine->id[0] = '\0';
            return false;
        }
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
    static const struct redis_group empty = {.takes_away = true};
    if (engine->in_doubt && !write_group(engine, &empty, st) && engine->id[0] != '\0')
        return false;
    return engine->id[0] != '\0' || redis_register_writer(engine, st);
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static void trace_memory(struct redis_engine *engine, bool full, const struct status *st)
{
    if (full && !engine->full)
        log_error("store.redis_full", "%s", st->text);
    if (!full && engine->full)
        log_info("store.redis_room", "Redis at %s takes rows again", writer_place_of(engine));
    engine->full = full;
}

static struct store_batch *behind(const struct redis_group *group)
{
    struct store_batch *batch = group->first;
    for (unsigned i = 0; i < group->batches; i++)
        batch = batch->next;
    return batch;
}

static bool writer_too_many(const struct redis_group *group, struct status *st)
{
    if (group->arguments <= REDIS_GROUP_ARGUMENTS_MAX)
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
        struct redis_group group = alone ? redis_group_take_one(batch) : redis_group_take(batch);
        bool written = !writer_too_many(&group, st) && write_group(engine, &group, st),
             full = st->code == RESOURCE_EXHAUSTED;
        if (full || (written && !group.takes_away))
            trace_memory(engine, !written, st);
        if (!written && full && group.batches > 1) {
            alone = true;
            continue;
        }
        if (!written && full)
            redis_group_fail(&group, st);
        good = written || full;
        batch = good ? behind(&group) : batch;
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
