/* Stems of German and Spanish by libstemmer, light ones of French, and letters without their accents. */
#include "words/latin.h"

#include "words/stem.h"

#include <libstemmer.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unicode/unorm2.h>

#define LIGHT_LEAST 3 /* letters that stay before an ending */

struct stemmers {
    struct sb_stemmer *of[LATIN_LANGUAGES];
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key; /* used only for its destructor */
static bool have_key;
static _Thread_local struct stemmers *of_thread;

static void stemmers_destroy(void *gone)
{
    struct stemmers *stemmers = gone;
    of_thread = NULL;
    for (int i = 0; i < LATIN_LANGUAGES; i++)
        sb_stemmer_delete(stemmers->of[i]);
    free(stemmers);
}

static void latin_stem_make_key(void)
{
    have_key = pthread_key_create(&key, stemmers_destroy) == 0;
}

/* NULL if there is no memory. */
static struct sb_stemmer *stemmer_of(enum latin_language language)
{
    static const char *const names[LATIN_LANGUAGES] = {[LATIN_GERMAN] = "german", [LATIN_SPANISH] = "spanish"};
    pthread_once(&once, latin_stem_make_key);
    if (of_thread == NULL && have_key) {
        struct stemmers *stemmers = calloc(1, sizeof(*stemmers));
        if (stemmers == NULL || pthread_setspecific(key, stemmers) != 0) {
            free(stemmers);
            return NULL;
        }
        of_thread = stemmers;
    }
    if (of_thread == NULL || names[language] == NULL)
        return NULL;
    if (of_thread->of[language] == NULL)
        of_thread->of[language] = sb_stemmer_new(names[language], NULL);
    return of_thread->of[language];
}

uint32_t latin_plain(uint32_t code)
{
    UChar letters[8];
    UErrorCode error = U_ZERO_ERROR;
    if (code < 0xC0 || (code > 0x24F && (code < 0x1E00 || code > 0x1EFF)))
        return code;
    if (code == 0xF8) /* ø */
        return 'o';
    if (code == 0x142) /* ł */
        return 'l';
    const UNormalizer2 *nfd = unorm2_getNFDInstance(&error);
    int32_t count = U_SUCCESS(error) ? unorm2_getDecomposition(nfd, (UChar32)code, letters, 8, &error) : 0;
    return U_SUCCESS(error) && count > 1 && letters[0] < 0x80 ? letters[0] : code;
}

static bool latin_stem_is_ascii(const char *word, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)word[i] >= 0x80)
            return false;
    }
    return true;
}

static size_t without_accents(char *word, size_t length)
{
    size_t written = 0;
    if (latin_stem_is_ascii(word, length))
        return length;
    for (size_t at = 0, end; at < length; at = end) {
        uint32_t code = utf8_read(word, length, at, &end), plain = latin_plain(code);
        if (code == 0xE6 || code == 0x153) { /* æ, œ */
            word[written++] = code == 0xE6 ? 'a' : 'o';
            plain = 'e';
        }
        written += utf8_write(word + written, plain);
    }
    word[written] = '\0';
    return written;
}

static bool is_vowel(char c)
{
    return c != '\0' && strchr("aeiou", c) != NULL;
}

/* ae, oe and ue of German are written for ä, ö and ü, whose accents are taken away. */
static size_t without_umlauts(char *word, size_t length)
{
    size_t written = 0;
    char last = '\0', before_last = '\0';
    for (size_t at = 0; at < length; at++) {
        char c = word[at];
        bool umlaut = c == 'e' && (last == 'a' || last == 'o' || last == 'u');
        if (!umlaut || is_vowel(before_last) || before_last == 'q')
            word[written++] = c;
        before_last = last;
        last = c;
    }
    word[written] = '\0';
    return written;
}

static bool latin_stem_ends_with(const char *word, size_t length, const char *end)
{
    size_t size = strlen(end);
    return length >= LIGHT_LEAST + size && memcmp(word + length - size, end, size) == 0;
}

/* Takes the endings away that the word has, each at most once, in the order of the list. */
static size_t without_endings(const char *word, size_t length, const char *const *endings)
{
    for (; *endings != NULL; endings++)
        length -= latin_stem_ends_with(word, length, *endings) ? strlen(*endings) : 0;
    return length;
}

/* Plural, feminine and the frequent endings of verbs. libstemmer takes too much away: hérissons becomes her. */
static size_t light_french(char *word, size_t length)
{
    static const char *const endings[] = {"s", "ent", "er", "e", "e", NULL};
    if (latin_stem_ends_with(word, length, "aux")) {
        word[length - 2] = 'l';
        length--;
    } else if (latin_stem_ends_with(word, length, "x")) {
        length--;
    }
    length = without_endings(word, length, endings);
    return length > LIGHT_LEAST && word[length - 1] == word[length - 2] ? length - 1 : length;
}

static size_t snowball(enum latin_language language, char *word, size_t length)
{
    struct sb_stemmer *stemmer = stemmer_of(language);
    const sb_symbol *stem = stemmer ? sb_stemmer_stem(stemmer, (const sb_symbol *)word, (int)length) : NULL;
    size_t stemmed = stem == NULL ? 0 : (size_t)sb_stemmer_length(stemmer);
    if (stemmed == 0 || stemmed > length)
        return length;
    memcpy(word, stem, stemmed);
    word[stemmed] = '\0';
    return stemmed;
}

size_t latin_stem(enum latin_language language, char *word, size_t length)
{
    if (language == LATIN_GERMAN || language == LATIN_SPANISH)
        length = snowball(language, word, length);
    length = without_accents(word, length);
    if (language == LATIN_GERMAN)
        length = without_umlauts(word, length);
    else if (language == LATIN_FRENCH)
        length = light_french(word, length);
    else if (language != LATIN_SPANISH && (unsigned char)word[0] < 0x80)
        length = stem_english(word, length);
    word[length] = '\0';
    return length;
}
