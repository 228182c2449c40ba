/* One who asks a recall, and what was told. */
#ifndef RENGA_TESTS_RECALL_ASKER_H
#define RENGA_TESTS_RECALL_ASKER_H

#include "recall/recall.h"

#include <string.h>

struct asker {
    struct recall_query query; /* first */
    int told;                  /* times */
};

static void asker_told(struct recall_query *query)
{
    ((struct asker *)query)->told++;
}

/* Takes all there is and shares all there is. */
static inline struct asker asker_of(struct loop *loop, const char *text)
{
    struct asker asker = {.query = {.loop = loop, .reads = true, .shares = true, .resolved = asker_told}};
    recall_key_of_word("tenant", text, &asker.query.key);
    asker.query.content = asker.query.key;
    return asker;
}

static inline struct asker asker_of_word(struct loop *loop, const char *word, const char *content)
{
    struct asker asker = asker_of(loop, word);
    recall_key_of_word("content", content, &asker.query.content);
    return asker;
}

static inline bool asker_ask(struct recall *recall, struct asker *asker)
{
    loop_enter(asker->query.loop);
    bool there = recall_ask(recall, &asker->query);
    loop_leave(asker->query.loop);
    return there;
}

static inline void asker_answer(struct asker *asker, const char *text, int64_t keep_ms)
{
    loop_enter(asker->query.loop);
    recall_answer(&asker->query, (const uint8_t *)text, strlen(text), keep_ms);
    loop_leave(asker->query.loop);
}

static inline void asker_leave(struct asker *asker)
{
    loop_enter(asker->query.loop);
    recall_leave(&asker->query);
    loop_leave(asker->query.loop);
}

static inline bool asker_has(const struct asker *asker, enum recall_result result, const char *text)
{
    const struct recall_query *query = &asker->query;
    return query->result == result && query->size == strlen(text) && memcmp(query->bytes, text, query->size) == 0;
}

#endif
