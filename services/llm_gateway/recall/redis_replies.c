#include "redis_replies.h"

#include <hiredis/read.h>
#include <stdlib.h>
#include <string.h>

struct redis_replies {
    redisReader *reader;
    size_t unread; /* bytes since the last whole reply */
    size_t reply_max;
};

static void *make(enum redis_reply_kind kind, const char *bytes, size_t size)
{
    struct redis_reply *reply = malloc(sizeof *reply + size);
    if (!reply)
        return NULL;
    reply->kind = kind;
    reply->size = size;
    if (size)
        memcpy(reply->bytes, bytes, size);
    return reply;
}

static void *make_string(const redisReadTask *task, char *bytes, size_t size)
{
    return make(task->type == REDIS_REPLY_STRING  ? REDIS_VALUE
                : task->type == REDIS_REPLY_ERROR ? REDIS_REFUSAL
                                                  : REDIS_OTHER,
                bytes, size);
}

/* None of what we ask for is answered by an array, and one may claim any length. */
static void *make_array(const redisReadTask *task, int count)
{
    return NULL;
}

static void *make_integer(const redisReadTask *task, long long value)
{
    return make(REDIS_OTHER, NULL, 0);
}

static void *make_nil(const redisReadTask *task)
{
    return make(REDIS_OTHER, NULL, 0);
}

static redisReplyObjectFunctions functions = {
    .createString = make_string,
    .createArray = make_array,
    .createInteger = make_integer,
    .createNil = make_nil,
    .freeObject = free,
};

struct redis_replies *redis_replies_create(size_t reply_max)
{
    struct redis_replies *replies = calloc(1, sizeof *replies);
    if (!replies)
        return NULL;
    replies->reply_max = reply_max;
    replies->reader = redisReaderCreateWithFunctions(&functions);
    if (!replies->reader)
        redis_replies_destroy(&replies);
    return replies;
}

void redis_replies_destroy(struct redis_replies **replies)
{
    if (!*replies)
        return;
    if ((*replies)->reader)
        redisReaderFree((*replies)->reader);
    free(*replies);
    *replies = NULL;
}

bool redis_replies_feed(struct redis_replies *replies, const char *bytes, size_t size)
{
    replies->unread += size;
    return redisReaderFeed(replies->reader, bytes, size) == REDIS_OK;
}

bool redis_replies_next(struct redis_replies *replies, struct redis_reply **reply)
{
    void *whole = NULL;
    *reply = NULL;
    if (redisReaderGetReply(replies->reader, &whole) != REDIS_OK)
        return false;
    *reply = whole;
    if (whole)
        replies->unread = replies->reader->len - replies->reader->pos;
    return replies->unread <= replies->reply_max || whole;
}
