/* A client of the response cache, and its results. */
#ifndef RENGA_TESTS_RESPONSE_CACHE_ASKER_H
#define RENGA_TESTS_RESPONSE_CACHE_ASKER_H

#include "cache/response_cache.h"

#include <string.h>

struct asker {
    struct response_cache_query query; /* first */
    int told;                          /* times */
};

static void asker_told(struct response_cache_query *query)
{
    ((struct asker *)query)->told++;
}

/* Takes all there is and shares all there is. */
static inline struct asker asker_of(struct loop *loop, const char *text)
{
    struct asker asker = {.query = {.loop = loop, .reads = true, .shares = true, .resolved = asker_told}};
    response_cache_key_of_idempotency("tenant", text, &asker.query.key);
    asker.query.content = asker.query.key;
    return asker;
}

static inline struct asker asker_of_idempotency_key(struct loop *loop, const char *word, const char *content)
{
    struct asker asker = asker_of(loop, word);
    response_cache_key_of_idempotency("content", content, &asker.query.content);
    return asker;
}

static inline bool asker_ask(struct response_cache *cache, struct asker *asker)
{
    loop_enter(asker->query.loop);
    bool there = response_cache_lookup(cache, &asker->query);
    loop_leave(asker->query.loop);
    return there;
}

static inline void asker_answer(struct asker *asker, const char *text, int64_t keep_ms)
{
    loop_enter(asker->query.loop);
    response_cache_complete(&asker->query, (const uint8_t *)text, strlen(text), keep_ms);
    loop_leave(asker->query.loop);
}

static inline void asker_leave(struct asker *asker)
{
    loop_enter(asker->query.loop);
    response_cache_leave(&asker->query);
    loop_leave(asker->query.loop);
}

static inline bool asker_has(const struct asker *asker, enum response_cache_result result, const char *text)
{
    const struct response_cache_query *query = &asker->query;
    return query->result == result && query->size == strlen(text) && memcmp(query->bytes, text, query->size) == 0;
}

#endif
