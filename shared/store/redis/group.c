#include "store/redis/group.h"

#include "redis/command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A few milliseconds of Redis, and then one fsync. */
#define GROUP_BATCHES_MAX   512
#define GROUP_ARGUMENTS_MAX 8192
#define GROUP_BYTES_MAX     ((size_t)1 << 20)

/* ---- arguments --------------------------------------------------------------------------------------------------- */

/* The letter and its arguments. */
static size_t group_arguments_of(const struct store_operation *operation)
{
    bool alone = operation->verb == STORE_DELETE || (operation->verb == STORE_EXPECT && operation->value.bytes == NULL);
    return alone ? 2 : 3;
}

static size_t arguments_of_batch(const struct store_batch *batch)
{
    size_t arguments = 0;
    for (const struct store_operation *operation = batch->first; operation != NULL; operation = operation->next)
        arguments += group_arguments_of(operation);
    return arguments;
}

static bool has_put(const struct store_batch *batch)
{
    for (const struct store_operation *operation = batch->first; operation != NULL; operation = operation->next)
        if (operation->verb == STORE_PUT)
            return true;
    return false;
}

struct redis_group redis_group_take_one(struct store_batch *first)
{
    return (struct redis_group){.first = first,
                                .batches = 1,
                                .arguments = 1 + arguments_of_batch(first),
                                .bytes = first->bytes,
                                .takes_away = !has_put(first)};
}

struct redis_group redis_group_take(struct store_batch *first)
{
    struct redis_group group = redis_group_take_one(first);
    for (struct store_batch *batch = first->next; batch != NULL; batch = batch->next) {
        size_t arguments = 1 + arguments_of_batch(batch);
        if (group.batches == GROUP_BATCHES_MAX || group.arguments + arguments > GROUP_ARGUMENTS_MAX ||
            group.bytes + batch->bytes > GROUP_BYTES_MAX)
            break;
        group.batches++;
        group.arguments += arguments;
        group.bytes += batch->bytes;
        group.takes_away = group.takes_away && !has_put(batch);
    }
    return group;
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

static void group_append_bytes(struct buffer *out, struct store_bytes bytes)
{
    redis_command_part(out, bytes.bytes, bytes.size);
}

static void append_bound(struct buffer *out, char kind, struct store_bytes bound)
{
    char bytes[1 + STORE_BOUND_MAX] = {kind};
    if (bound.size > 0)
        memcpy(bytes + 1, bound.bytes, bound.size);
    redis_command_part(out, bytes, 1 + bound.size);
}

void redis_range_append(struct buffer *out, struct store_bytes from, struct store_bytes to)
{
    append_bound(out, '[', from);
    if (to.size > 0)
        append_bound(out, '(', to);
    else
        redis_command_part(out, "+", 1);
}

static void append_operation(struct buffer *out, const struct store_operation *operation)
{
    static const char letters[] = {
        [STORE_PUT] = 'p', [STORE_DELETE] = 'd', [STORE_DELETE_RANGE] = 'r', [STORE_EXPECT] = 'e'};
    bool absent = operation->verb == STORE_EXPECT && operation->value.bytes == NULL;
    redis_command_part(out, absent ? "n" : &letters[operation->verb], 1);
    if (operation->verb == STORE_DELETE_RANGE) {
        redis_range_append(out, operation->key, operation->value);
        return;
    }
    group_append_bytes(out, operation->key);
    if (!absent && operation->verb != STORE_DELETE)
        group_append_bytes(out, operation->value);
}

void redis_group_append(const struct redis_group *group, struct redis_connection *connection, const char *writer,
                        uint64_t number)
{
    char before[24], own[24];
    snprintf(before, sizeof before, "%" PRIu64, number - 1);
    snprintf(own, sizeof own, "%" PRIu64, number);
    struct buffer *out = redis_connection_script(connection, REDIS_WRITE, 4 + group->arguments);
    redis_connection_argument(connection, writer);
    redis_connection_argument(connection, before);
    redis_connection_argument(connection, own);
    redis_connection_argument(connection, group->takes_away ? "1" : "0");
    const struct store_batch *batch = group->first;
    for (unsigned i = 0; i < group->batches; i++, batch = batch->next) {
        char count[24];
        int size = snprintf(count, sizeof count, "%zu", arguments_of_batch(batch));
        redis_command_part(out, count, (size_t)size);
        /* Expectations concern the state before the group: they come first. */
        for (int others = 0; others < 2; others++)
            for (const struct store_operation *operation = batch->first; operation != NULL; operation = operation->next)
                if ((operation->verb != STORE_EXPECT) == others)
                    append_operation(out, operation);
    }
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

static const struct store_operation *expectation_of(const struct store_batch *batch, unsigned long place)
{
    const struct store_operation *operation = batch->first;
    for (; operation != NULL; operation = operation->next)
        if (operation->verb == STORE_EXPECT && place-- == 0)
            return operation;
    return NULL;
}

bool redis_group_answered(const struct redis_group *group, const struct redis_reply *answer)
{
    if (answer->kind != REDIS_VALUE)
        return false;
    struct store_batch *batch = group->first;
    unsigned long at = 1;
    char *end;
    for (const char *text = (const char *)answer->bytes; *text != '\0'; text = end) {
        unsigned long number = strtoul(text, &end, 10), place = strtoul(end, &end, 10);
        if (end == text || number < at || number > group->batches)
            return false;
        for (; at < number; at++)
            batch = batch->next;
        const struct store_operation *expectation = batch != NULL ? expectation_of(batch, place) : NULL;
        if (expectation == NULL)
            return false;
        store_batch_abort(batch, expectation->key);
    }
    return true;
}

void redis_group_fail(const struct redis_group *group, const struct status *st)
{
    struct store_batch *batch = group->first;
    for (unsigned i = 0; i < group->batches; i++, batch = batch->next)
        batch->status = *st;
}
