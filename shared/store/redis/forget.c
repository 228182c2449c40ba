/* Text that a batch with store_forget has deleted stands in Redis's append-only file until that is written anew:
 *
 *      deleted ---> a mark is in Redis ---> BGREWRITEAOF ---> it has ended well: the mark goes
 *
 * The mark is there before the deletion. So a process that is killed in between, or a Redis that dies while it writes,
 * leaves the mark, and the next process that opens the store goes on. */
#include "base/clock.h"
#include "base/random.h"
#include "redis/command.h"
#include "store/redis/redis_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FORGET_EVERY_MS 10000 /* all that is kept is written each time */
#define LOOK_EVERY_MS   500   /* whether Redis has ended that */
#define MARK            "forget"

static const char *writers_key(const struct redis_engine *engine)
{
    return engine->writer.keys[REDIS_KEYS - 1];
}

static struct redis_reply *forget_command(struct redis_engine *engine, const struct redis_part *parts, size_t count)
{
    struct status ignored = {0};
    struct redis_connection *writer = &engine->writer;
    if (writer->link == NULL)
        return NULL;
    redis_command(redis_link_out(writer->link), parts, count);
    return redis_connection_ask(writer, redis_connection_deadline(writer), &ignored);
}

static bool forget_read_mark(struct redis_engine *engine, char mark[REDIS_MARK_SIZE])
{
    struct redis_reply *reply = forget_command(
        engine, (struct redis_part[]){REDIS_PART("HGET"), REDIS_PART(writers_key(engine)), REDIS_PART(MARK)}, 3);
    bool there = reply != NULL && reply->kind == REDIS_VALUE && reply->size < REDIS_MARK_SIZE;
    snprintf(mark, REDIS_MARK_SIZE, "%s", there ? (const char *)reply->bytes : "");
    redis_reply_free(&reply);
    return there;
}

void redis_forget_mark(struct redis_engine *engine)
{
    char mark[REDIS_MARK_SIZE];
    snprintf(mark, sizeof mark, "%016" PRIx64, random_u64());
    struct redis_reply *reply = forget_command(
        engine,
        (struct redis_part[]){REDIS_PART("HSET"), REDIS_PART(writers_key(engine)), REDIS_PART(MARK), REDIS_PART(mark)},
        4);
    redis_reply_free(&reply);
}

void redis_forget_resume(struct redis_engine *engine)
{
    char mark[REDIS_MARK_SIZE];
    engine->forgets = engine->forgets || forget_read_mark(engine, mark);
}

/* ---- writing anew ------------------------------------------------------------------------------------------------ */

/* Another process may have deleted since: then the stored mark differs from ours, and stays. */
static void forget_unmark(struct redis_engine *engine)
{
    char mark[REDIS_MARK_SIZE];
    if (!forget_read_mark(engine, mark) || strcmp(mark, engine->rewritten_mark) != 0)
        return;
    struct redis_reply *reply = forget_command(
        engine, (struct redis_part[]){REDIS_PART("HDEL"), REDIS_PART(writers_key(engine)), REDIS_PART(MARK)}, 3);
    redis_reply_free(&reply);
}

/* Beside its work. If Redis is at that already it refuses: then another time. */
static void forget_rewrite(struct redis_engine *engine, int64_t now_ns)
{
    forget_read_mark(engine, engine->rewritten_mark);
    struct redis_reply *reply = forget_command(engine, (struct redis_part[]){REDIS_PART("BGREWRITEAOF")}, 1);
    engine->rewriting = reply != NULL && reply->kind != REDIS_REFUSAL;
    redis_reply_free(&reply);
    engine->looked_ns = now_ns;
    if (!engine->rewriting)
        return;
    engine->forgets = false;
    engine->forgot_ns = now_ns;
}

/* If Redis does not permit this user to ask, the rewrite counts as done. */
static void forget_look(struct redis_engine *engine, int64_t now_ns)
{
    engine->looked_ns = now_ns;
    struct redis_reply *reply =
        forget_command(engine, (struct redis_part[]){REDIS_PART("INFO"), REDIS_PART("persistence")}, 2);
    bool told = reply != NULL && reply->kind == REDIS_VALUE;
    const char *text = told ? (const char *)reply->bytes : "";
    bool works = strstr(text, "aof_rewrite_in_progress:1") || strstr(text, "aof_rewrite_scheduled:1");
    bool failed = strstr(text, "aof_last_bgrewrite_status:err") != NULL;
    if (reply != NULL && !works) {
        engine->rewriting = false;
        engine->forgets = engine->forgets || failed;
        if (!failed)
            forget_unmark(engine);
    }
    redis_reply_free(&reply);
}

bool redis_maintain(void *data)
{
    struct redis_engine *engine = data;
    int64_t now_ns = clock_now_ns();
    if (engine->writer.link == NULL)
        return engine->forgets || engine->rewriting;
    if (engine->rewriting && now_ns - engine->looked_ns >= LOOK_EVERY_MS * NS_PER_MS)
        forget_look(engine, now_ns);
    else if (!engine->rewriting && engine->forgets &&
             (engine->forgot_ns == 0 || now_ns - engine->forgot_ns >= FORGET_EVERY_MS * NS_PER_MS))
        forget_rewrite(engine, now_ns);
    return engine->forgets || engine->rewriting;
}
