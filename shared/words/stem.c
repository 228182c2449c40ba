#include "words/stem.h"

#include <libstemmer.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key; /* for its destructor alone */
static bool have_key;
static _Thread_local struct sb_stemmer *stemmer;

static void stemmer_destroy(void *gone)
{
    sb_stemmer_delete(gone);
    stemmer = NULL;
}

static void make_key(void)
{
    have_key = pthread_key_create(&key, stemmer_destroy) == 0;
}

static struct sb_stemmer *stemmer_of_thread(void)
{
    if (stemmer != NULL)
        return stemmer;
    pthread_once(&once, make_key);
    if (!have_key)
        return NULL;
    stemmer = sb_stemmer_new("english", NULL);
    if (stemmer != NULL && pthread_setspecific(key, stemmer) != 0) {
        sb_stemmer_delete(stemmer);
        stemmer = NULL;
    }
    return stemmer;
}

size_t stem_english(char *word, size_t length)
{
    struct sb_stemmer *own = stemmer_of_thread();
    const sb_symbol *stem = own == NULL ? NULL : sb_stemmer_stem(own, (const sb_symbol *)word, (int)length);
    if (stem == NULL)
        return length;
    size_t stemmed = (size_t)sb_stemmer_length(own);
    if (stemmed == 0 || stemmed > length)
        return length;
    memcpy(word, stem, stemmed);
    word[stemmed] = '\0';
    return stemmed;
}
