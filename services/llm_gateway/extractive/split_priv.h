/* Private to split*.c: a question while it is taken apart. */
#ifndef RENGA_LLM_GATEWAY_SPLIT_PRIV_H
#define RENGA_LLM_GATEWAY_SPLIT_PRIV_H

#include "extract.h"

#include <stdint.h>

struct split {
    struct arena *arena;
    struct text *parts;
    size_t count, limit;
    struct text topic; /* what the first part is about; length 0: not known */
};

/* One more part. Past the limit it goes to the end of the last one, while that has at most EXTRACT_ASKED_MAX bytes. */
void split_add(struct split *split, struct text part);

/* A text of at most EXTRACT_ASKED_MAX bytes with which of them stand in quotation marks or brackets. */
struct marked {
    struct text text;
    bool quoted[EXTRACT_ASKED_MAX];
};
void mark_quoted(struct marked *marked, struct text text);

/* Takes one question, without line breaks, apart. */
void split_japanese(struct split *split, struct text question);
void split_english(struct split *split, struct text question);

/* A part that leans on the first one ("それ", "it") with the topic in it. */
struct text carry_japanese(const struct split *split, struct text part);
struct text carry_english(const struct split *split, struct text part);

/* What a part is about; length 0: not known. */
struct text topic_japanese(struct text part);
struct text topic_english(struct text part);

#endif
