#include "redis/replies.h"

#include <hiredis/read.h>
#include <stdlib.h>
#include <string.h>

struct redis_replies {
    redisReader *reader;
    size_t unread; /* bytes since the last whole reply */
    size_t reply_max, list_max;
};

void redis_reply_free(struct redis_reply **reply_pointer)
{
    struct redis_reply *reply = *reply_pointer;
    if (!reply)
        return;
    *reply_pointer = NULL;
    if (reply->kind == REDIS_LIST) {
        for (size_t i = 0; i < reply->size; i++)
            redis_reply_free(&reply->list[i]);
        free(reply->list);
    }
    free(reply);
}

static void free_reply(void *object)
{
    struct redis_reply *reply = object;
    redis_reply_free(&reply);
}

/* NULL, outside the tree, when memory runs out: hiredis then gives up the connection. */
static struct redis_reply *replies_make(const redisReadTask *task, enum redis_reply_kind kind, const char *bytes,
                                        size_t size)
{
    struct redis_reply *reply = malloc(sizeof *reply + size + 1);
    if (!reply)
        return NULL;
    *reply = (struct redis_reply){.kind = kind, .size = size};
    if (size)
        memcpy(reply->bytes, bytes, size);
    reply->bytes[size] = '\0';
    if (task->parent)
        ((struct redis_reply *)task->parent->obj)->list[task->idx] = reply;
    return reply;
}

static void *make_string(const redisReadTask *task, char *bytes, size_t size)
{
    return replies_make(task,
                        task->type == REDIS_REPLY_STRING  ? REDIS_VALUE
                        : task->type == REDIS_REPLY_ERROR ? REDIS_REFUSAL
                                                          : REDIS_OTHER,
                        bytes, size);
}

/* A list may announce any length before its first byte arrives. */
static void *make_array(const redisReadTask *task, int count)
{
    const struct redis_replies *replies = task->privdata;
    if (count < 0 || (size_t)count > replies->list_max)
        return NULL;
    struct redis_reply **list = calloc((size_t)count + 1, sizeof(struct redis_reply *));
    struct redis_reply *reply = list ? replies_make(task, REDIS_LIST, NULL, 0) : NULL;
    if (!reply) {
        free(list);
        return NULL;
    }
    reply->list = list;
    reply->size = (size_t)count;
    return reply;
}

static void *make_integer(const redisReadTask *task, long long value)
{
    struct redis_reply *reply = replies_make(task, REDIS_NUMBER, NULL, 0);
    if (reply)
        reply->number = value;
    return reply;
}

static void *make_nil(const redisReadTask *task)
{
    return replies_make(task, REDIS_OTHER, NULL, 0);
}

static redisReplyObjectFunctions functions = {
    .createString = make_string,
    .createArray = make_array,
    .createInteger = make_integer,
    .createNil = make_nil,
    .freeObject = free_reply,
};

struct redis_replies *redis_replies_create(size_t reply_max, size_t list_max)
{
    struct redis_replies *replies = calloc(1, sizeof *replies);
    if (!replies)
        return NULL;
    replies->reply_max = reply_max;
    replies->list_max = list_max;
    replies->reader = redisReaderCreateWithFunctions(&functions);
    if (!replies->reader)
        redis_replies_destroy(&replies);
    else
        replies->reader->privdata = replies;
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

/* hiredis searches for the end of a line from its beginning each time that bytes arrive. */
static bool line_may_go_on(const redisReader *reader)
{
    size_t rest = reader->len - reader->pos;
    return rest <= REDIS_LINE_MAX || memmem(reader->buf + reader->pos, REDIS_LINE_MAX, "\r\n", 2);
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
    return whole || (replies->unread <= replies->reply_max && line_may_go_on(replies->reader));
}
