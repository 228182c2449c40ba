/* Reading from Redis: each reader's thread has a connection of its own. Waiting scans are sent together: an answer
 * comes only after the sync of concurrent writes, so single requests would reach only a few hundred a second. */
#include "store/redis/redis_priv.h"

#include <stdio.h>
#include <string.h>

/* The connection is not older than the writer's: after a failover, the writer's connection finds the new primary. */
static bool reader_ready(struct redis_engine *engine, unsigned number, int64_t deadline_ns, struct status *st)
{
    struct redis_connection *reader = &engine->readers[number];
    uint64_t losses = atomic_load(&engine->losses);
    if (engine->losses_seen[number] != losses)
        redis_link_close(&reader->link);
    engine->losses_seen[number] = losses;
    return redis_connection_ready(reader, deadline_ns, st);
}

/* Whether an empty group has to go first; appends it. */
static bool append_settling(struct redis_engine *engine, struct redis_connection *reader, uint64_t *number)
{
    static const struct redis_group empty = {.takes_away = true};
    char id[REDIS_WRITER_SIZE];
    pthread_mutex_lock(&engine->lock);
    bool unconfirmed = engine->unconfirmed;
    memcpy(id, engine->unconfirmed_id, sizeof id);
    *number = engine->unconfirmed_number;
    pthread_mutex_unlock(&engine->lock);
    if (unconfirmed)
        redis_group_append(&empty, reader, id, *number);
    return unconfirmed;
}

/* A writer that Redis does not know any more can not be carried out late either. */
static enum redis_outcome reader_settle(struct redis_engine *engine, struct redis_connection *reader, uint64_t number,
                                        struct redis_reply *reply, struct status *st)
{
    enum redis_error error = REDIS_FINAL;
    enum redis_outcome outcome = redis_classify_reply(reader, &reply, &error, st);
    redis_reply_free(&reply);
    if (outcome == REDIS_REFUSED && error == REDIS_LOST)
        outcome = REDIS_ANSWERED;
    if (outcome == REDIS_ANSWERED) {
        pthread_mutex_lock(&engine->lock);
        if (engine->unconfirmed_number == number)
            engine->unconfirmed = false;
        pthread_mutex_unlock(&engine->lock);
    }
    return outcome;
}

/* Sends all of them; the answer to the first. */
static enum redis_outcome reader_ask_rows(struct redis_engine *engine, struct redis_connection *reader,
                                          const struct store_scan *scans, int64_t deadline_ns,
                                          struct redis_reply **rows, struct status *st)
{
    enum redis_error error;
    uint64_t number;
    bool settles = append_settling(engine, reader, &number);
    for (const struct store_scan *scan = scans; scan != NULL; scan = scan->next) {
        char limit[24], room[24];
        snprintf(limit, sizeof limit, "%zu", scan->limit);
        snprintf(room, sizeof room, "%zu", scan->bytes_max);
        redis_range_append(redis_connection_script(reader, REDIS_SCAN, 5), scan->from, scan->to);
        redis_connection_argument(reader, limit);
        redis_connection_argument(reader, room);
        redis_connection_argument(reader, scan->backwards ? "1" : "0");
    }
    *rows = redis_connection_ask(reader, deadline_ns, st);
    if (settles) {
        enum redis_outcome outcome = reader_settle(engine, reader, number, *rows, st);
        *rows = NULL;
        if (outcome != REDIS_ANSWERED)
            redis_link_close(&reader->link); /* the answers to the scans are not read */
        if (outcome != REDIS_ANSWERED)
            return outcome;
        *rows = redis_connection_next(reader, deadline_ns, st);
    }
    return redis_classify_reply(reader, rows, &error, st);
}

static void reader_take_rows(struct store_scan *scan, const struct redis_reply *rows)
{
    bool good = rows->kind == REDIS_LIST && rows->size % 2 == 1;
    for (size_t i = 1; good && i < rows->size; i += 2) {
        const struct redis_reply *value = rows->list[i + 1];
        struct store_bytes key = {rows->list[i]->bytes, rows->list[i]->size};
        bool lost = value->kind == REDIS_OTHER;
        if (lost ? !store_scan_add_lost(scan, key)
                 : !store_scan_add(scan, key, (struct store_bytes){value->bytes, value->size}))
            return;
    }
    if (!good)
        fail(&scan->status, DATA_LOSS, "Redis gives an answer that is none");
    scan->more = good && rows->list[0]->size == 1 && rows->list[0]->bytes[0] == '1';
}

/* Reads the answers. Returns the first scan without an answer, or NULL. */
static struct store_scan *take_answers(struct redis_engine *engine, struct redis_connection *reader,
                                       struct store_scan *scan, int64_t deadline_ns)
{
    struct redis_reply *rows;
    enum redis_error error;
    enum redis_outcome outcome = reader_ask_rows(engine, reader, scan, deadline_ns, &rows, &scan->status);
    while (outcome != REDIS_AGAIN) {
        if (outcome == REDIS_ANSWERED)
            reader_take_rows(scan, rows);
        redis_reply_free(&rows);
        scan = scan->next;
        if (scan == NULL || reader->link == NULL)
            return scan;
        rows = redis_connection_next(reader, redis_connection_deadline(reader), &scan->status);
        outcome = redis_classify_reply(reader, &rows, &error, &scan->status);
    }
    return scan;
}

void redis_scan(void *data, unsigned number, struct store_scan *scan)
{
    struct redis_engine *engine = data;
    struct redis_connection *reader = &engine->readers[number];
    int64_t deadline_ns = redis_connection_deadline(reader);
    while (scan != NULL && reader_ready(engine, number, deadline_ns, &scan->status)) {
        const struct store_scan *before = scan;
        scan = take_answers(engine, reader, scan, deadline_ns);
        if (scan != before)
            deadline_ns = redis_connection_deadline(reader);
    }
    for (const struct status *why = scan != NULL ? &scan->status : NULL; scan != NULL; scan = scan->next) {
        scan->status = *why;
        scan->status.code = UNAVAILABLE;
    }
}
