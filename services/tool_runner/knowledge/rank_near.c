#include "knowledge/rank_near.h"

#include "words/slips.h"
#include "words/words.h"

#include <string.h>

#define CHARACTERS_MAX   24   /* of a word */
#define NEAR_LOOKUPS_MAX 3000 /* in the index, for one term */
#define NEAR_SHARE       0.5  /* of its weight that a word keeps as another one */
#define KATAKANA_FIRST   0x30A2
#define KATAKANA_LAST    0x30FC

_Static_assert(CHARACTERS_MAX + 1 <= SLIP_CODES_MAX, "a letter may be added");

struct near {
    struct tables *tables;
    const struct collection *collections;
    size_t collection_count;
    struct slip_word written;
    uint32_t word[CHARACTERS_MAX];
    unsigned length;
    enum latin_language language;
    unsigned lookups;
    char best[TERM_CHARACTERS_MAX * 4 + 1];
    size_t best_length;
    int64_t best_count; /* postings in the first rows */
};

static int64_t rank_near_count_of(struct near *near, const char *text, size_t length, struct status *st)
{
    int64_t count = 0;
    for (size_t i = 0; i < near->collection_count; i++) {
        struct sql *sql = tables_sql(near->tables, POSTINGS_FIRST, st);
        if (!sql)
            return 0;
        sql_bind(sql, 1, near->collections[i].id);
        sql_bind_text(sql, 2, text, length);
        if (sql_step(sql, st) == SQL_ROW)
            count += sql_number(sql, 0);
        sql_reset(sql);
        near->lookups++;
    }
    return count;
}

/* Looks a word up by its term, as an index has it. */
static void rank_near_look_up(struct near *near, const uint32_t *word, unsigned length, struct status *st)
{
    char text[4 * (CHARACTERS_MAX + 1)];
    struct term_reader reader;
    struct term term;
    struct slip_word other = {.length = length, .katakana = near->written.katakana};
    size_t size = 0;
    memcpy(other.codes, word, length * sizeof *word);
    if (st->code != OK || near->lookups >= NEAR_LOOKUPS_MAX || slip_of(&near->written, &other) == SLIP_NONE)
        return;
    for (unsigned i = 0; i < length; i++)
        size += utf8_write(text + size, word[i]);
    terms_begin_in(&reader, text, size, near->language);
    if (!terms_next(&reader, &term) || term.stop_word || (term.kind != TERM_WORD && term.kind != TERM_KATAKANA))
        return;
    int64_t count = rank_near_count_of(near, term.text, term.length, st);
    if (count <= near->best_count)
        return;
    near->best_count = count;
    near->best_length = term.length;
    memcpy(near->best, term.text, term.length + 1);
}

/* The word with a character less, or two exchanged, at each place. The first character is exchanged at most. */
static void try_without(struct near *near, struct status *st)
{
    uint32_t word[CHARACTERS_MAX];
    for (unsigned at = 1; at < near->length; at++) {
        memcpy(word, near->word, near->length * sizeof *word);
        memmove(word + at, word + at + 1, (near->length - at - 1) * sizeof *word);
        rank_near_look_up(near, word, near->length - 1, st);
        memcpy(word, near->word, near->length * sizeof *word);
        word[at] = near->word[at - 1];
        word[at - 1] = near->word[at];
        rank_near_look_up(near, word, near->length, st);
    }
}

/* The word with this character in place of another one, or inserted, at each place behind the first. */
static void try_with(struct near *near, uint32_t character, struct status *st)
{
    uint32_t word[CHARACTERS_MAX + 1];
    for (unsigned at = 1; at <= near->length; at++) {
        if (at < near->length) {
            memcpy(word, near->word, near->length * sizeof *word);
            word[at] = character;
            rank_near_look_up(near, word, near->length, st);
        }
        memcpy(word, near->word, at * sizeof *word);
        word[at] = character;
        memcpy(word + at + 1, near->word + at, (near->length - at) * sizeof *word);
        rank_near_look_up(near, word, near->length + 1, st);
    }
}

/* False if the word is not of a single script, or no slip. */
static bool read_word(struct near *near, const struct rank_term *term, bool *katakana)
{
    struct fold fold;
    struct folded c;
    fold_begin(&fold, term->word, term->word_length);
    near->length = 0;
    near->language = term->language;
    while (fold_next(&fold, &c)) {
        bool kana = c.code >= KATAKANA_FIRST && c.code <= KATAKANA_LAST, latin = c.code >= 'a' && c.code <= 'z';
        if (near->length == CHARACTERS_MAX || (!kana && !latin) || (near->length > 0 && kana != *katakana))
            return false;
        *katakana = kana;
        near->word[near->length++] = c.code;
    }
    near->written = (struct slip_word){.length = near->length, .katakana = *katakana};
    memcpy(near->written.codes, near->word, near->length * sizeof *near->word);
    return slip_is_possible(&near->written);
}

static bool rank_near_take(struct rank_term *term, struct arena *arena, const char *text, size_t length, double share)
{
    char *kept = arena_strndup(arena, text, length);
    if (!kept)
        return false;
    term->text = kept;
    term->length = length;
    term->share *= share;
    return true;
}

bool rank_near_find(struct tables *tables, const struct collection *collections, size_t count, struct rank_term *term,
                    struct arena *arena, struct status *st)
{
    struct near near = {.tables = tables, .collections = collections, .collection_count = count};
    bool katakana = false;
    if (count == 0)
        return false;
    for (size_t i = 0; i < RANK_STEMS_MAX; i++)
        if (term->stems[i] && rank_near_count_of(&near, term->stems[i], strlen(term->stems[i]), st) > 0)
            return rank_near_take(term, arena, term->stems[i], strlen(term->stems[i]), 1);
    if (term->exact || !read_word(&near, term, &katakana))
        return false;
    try_without(&near, st);
    if (katakana) {
        for (uint32_t code = KATAKANA_FIRST; code <= KATAKANA_LAST; code++)
            try_with(&near, code, st);
    } else {
        for (uint32_t code = 'a'; code <= 'z'; code++)
            try_with(&near, code, st);
    }
    return near.best_count > 0 && rank_near_take(term, arena, near.best, near.best_length, NEAR_SHARE);
}
