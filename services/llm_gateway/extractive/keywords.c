/* The strong words of a text, in their original form. */
#include "extract.h"

#include "words/fold.h"
#include "words/words.h"

#include <string.h>

#define KEYWORDS_MAX 64

struct keywords {
    struct span spans[KEYWORDS_MAX];
    size_t count;
};

/* The pair う違 of どう違い spans two words, so that no word begins with it; お and ご are prefixes: お知らせ. */
static bool keywords_spans_words(const struct term *term)
{
    size_t second, end;
    uint32_t first = utf8_read(term->text, term->length, 0, &second);
    return term->kind == TERM_PAIR && script_of(first) == SCRIPT_HIRAGANA && first != 0x304A && first != 0x3054 &&
           script_of(utf8_read(term->text, term->length, second, &end)) == SCRIPT_HAN;
}

/* Pairs that overlap are one word again: 設定 and 定方 and 方法 are 設定方法. */
static void keywords_add(struct keywords *keywords, const struct term *term)
{
    struct span *last = keywords->count ? &keywords->spans[keywords->count - 1] : NULL;
    if (last && term->begin < last->end) {
        last->end = term->end > last->end ? term->end : last->end;
        return;
    }
    if (keywords->count < KEYWORDS_MAX && !keywords_spans_words(term))
        keywords->spans[keywords->count++] = (struct span){term->begin, term->end};
}

static void keywords_read(struct text text, struct keywords *keywords)
{
    struct term_reader reader;
    struct term term;
    keywords->count = 0;
    terms_begin(&reader, text.bytes, text.length);
    while (terms_next(&reader, &term))
        if (!term.stop_word)
            keywords_add(keywords, &term);
}

static bool keywords_stands_in(struct text where, struct text word)
{
    return where.length && memmem(where.bytes, where.length, word.bytes, word.length) != NULL;
}

struct text extract_keywords(struct arena *arena, struct text text, struct text without)
{
    struct keywords keywords;
    char *words = arena_alloc(arena, text.length + KEYWORDS_MAX);
    size_t length = 0;
    if (!words)
        return (struct text){"", 0};
    keywords_read(text, &keywords);
    for (size_t i = 0; i < keywords.count; i++) {
        struct text word = {text.bytes + keywords.spans[i].begin, keywords.spans[i].end - keywords.spans[i].begin};
        if (keywords_stands_in(without, word) || keywords_stands_in((struct text){words, length}, word))
            continue;
        if (length)
            words[length++] = ' ';
        memcpy(words + length, word.bytes, word.length);
        length += word.length;
    }
    return (struct text){words, length};
}

size_t extract_queries(const struct extract *extract, size_t limit, struct text queries[EXTRACT_PARTS_MAX])
{
    const struct text none = {NULL, 0};
    size_t count = 0;
    queries[count++] = extract->asked;
    struct text words = extract_keywords(extract->arena, extract->asked, none);
    if (count < limit && words.length && words.length < extract->asked.length)
        queries[count++] = words;
    return count;
}
