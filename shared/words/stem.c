#include "words/stem.h"

#include "words/spelling.h"

#include <libstemmer.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define KEPT_WORD_MAX 18  /* bytes; longer words are rare */
#define KEPT          512 /* entries of the cache, a power of 2: texts repeat their words */

struct kept {
    char word[KEPT_WORD_MAX];
    uint8_t length;  /* 0: the slot is free */
    uint8_t stemmed; /* bytes of the stem */
    char stem[KEPT_WORD_MAX];
};

struct stemmer {
    struct sb_stemmer *own;
    struct kept kept[KEPT];
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key; /* used only for its destructor */
static bool have_key;
static _Thread_local struct stemmer *of_thread;

static void stemmer_destroy(void *gone)
{
    struct stemmer *stemmer = gone;
    of_thread = NULL;
    sb_stemmer_delete(stemmer->own);
    free(stemmer);
}

static void stem_make_key(void)
{
    have_key = pthread_key_create(&key, stemmer_destroy) == 0;
}

/* NULL if there is no memory for a stemmer. */
static struct stemmer *stemmer_of_thread(void)
{
    if (of_thread != NULL)
        return of_thread;
    pthread_once(&once, stem_make_key);
    struct stemmer *stemmer = have_key ? calloc(1, sizeof(*stemmer)) : NULL;
    if (stemmer == NULL)
        return NULL;
    stemmer->own = sb_stemmer_new("english", NULL);
    if (stemmer->own == NULL || pthread_setspecific(key, stemmer) != 0) {
        stemmer_destroy(stemmer);
        return NULL;
    }
    of_thread = stemmer;
    return stemmer;
}

static size_t stem(struct stemmer *stemmer, char *word, size_t length)
{
    if (spelling_irregular(word, &length))
        return length;
    length = spelling_american(word, length);
    const sb_symbol *stem = sb_stemmer_stem(stemmer->own, (const sb_symbol *)word, (int)length);
    size_t stemmed = stem == NULL ? 0 : (size_t)sb_stemmer_length(stemmer->own);
    if (stemmed == 0 || stemmed > length)
        return length;
    memcpy(word, stem, stemmed);
    word[stemmed] = '\0';
    return spelling_stem(word, stemmed);
}

static struct kept *stem_place_of(struct stemmer *stemmer, const char *word, size_t length)
{
    uint32_t hash = (uint32_t)length;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)word[i]) * 16777619U;
    return &stemmer->kept[(hash ^ hash >> 16) & (KEPT - 1)];
}

size_t stem_english(char *word, size_t length)
{
    struct stemmer *stemmer = stemmer_of_thread();
    if (stemmer == NULL)
        return length;
    if (length > KEPT_WORD_MAX)
        return stem(stemmer, word, length);
    struct kept *kept = stem_place_of(stemmer, word, length);
    if (kept->length == length && memcmp(kept->word, word, length) == 0) {
        memcpy(word, kept->stem, kept->stemmed);
        word[kept->stemmed] = '\0';
        return kept->stemmed;
    }
    memcpy(kept->word, word, length);
    kept->length = (uint8_t)length;
    kept->stemmed = (uint8_t)stem(stemmer, word, length);
    memcpy(kept->stem, word, kept->stemmed);
    return kept->stemmed;
}
