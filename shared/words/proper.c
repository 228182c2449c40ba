#include "words/proper.h"

#include "words/claims.h"
#include "words/evidence.h"
#include "words/fold.h"
#include "words/words.h"

#include <string.h>
#include <unicode/uchar.h>

#define PROPER_SLOTS  1024 /* a power of 2 */
#define PROPER_FILLED 768
#define NAME_BYTES    96
#define LATIN_LEAST   3 /* letters */
#define KANA_LEAST    3 /* characters */
#define HAN_LEAST     3
#define HAN_MOST      8

struct counted_name {
    uint64_t hash; /* 0: free */
    struct proper_name name;
};

struct proper {
    const char *text;
    struct counted_name slots[PROPER_SLOTS];
    size_t filled;
};

static void proper_count(struct proper *proper, size_t begin, size_t end)
{
    if (end - begin > NAME_BYTES)
        return;
    uint64_t hash = term_hash(proper->text + begin, end - begin);
    size_t at = hash & (PROPER_SLOTS - 1);
    while (proper->slots[at].hash && proper->slots[at].hash != hash)
        at = (at + 1) & (PROPER_SLOTS - 1);
    struct counted_name *slot = &proper->slots[at];
    if (!slot->hash && proper->filled++ >= PROPER_FILLED) {
        proper->filled--;
        return;
    }
    if (!slot->hash)
        *slot = (struct counted_name){.hash = hash, .name.span = {begin, end}};
    slot->name.count++;
}

/* A run of characters of the same script; a sentence is split into these runs, which are its words. */
struct proper_run {
    enum script script;
    size_t begin, end, characters;
    bool capital;
};

static bool proper_run_is_name(const struct proper *proper, const struct proper_run *run, bool first)
{
    switch (run->script) {
    case SCRIPT_LETTER:
        return run->capital && !first && run->characters >= LATIN_LEAST;
    case SCRIPT_KATAKANA:
        return run->characters >= KANA_LEAST;
    case SCRIPT_HAN:
        return run->characters >= HAN_LEAST && run->characters <= HAN_MOST &&
               claims_end_as_name(proper->text + run->begin, run->end - run->begin);
    default:
        return false;
    }
}

/* Reads the names of a sentence. Capitalised words in a row are one name. */
static void proper_sentence(struct proper *proper, struct span sentence)
{
    struct proper_run run = {.script = SCRIPT_NONE};
    struct span name = {0, 0};
    bool first = true, joins = false;
    for (size_t at = sentence.begin, end; at <= sentence.end; at = end) {
        bool over = at == sentence.end;
        uint32_t code = over ? 0 : utf8_read(proper->text, sentence.end, at, &end);
        enum script script = over             ? SCRIPT_NONE
                             : code == 0x30FC ? SCRIPT_KATAKANA
                                              : script_of((uint32_t)u_tolower((UChar32)code));
        end = over ? at + 1 : end;
        if (script == run.script && !over) {
            run.end = end;
            run.characters++;
            continue;
        }
        bool is_name = proper_run_is_name(proper, &run, first), latin = run.script == SCRIPT_LETTER;
        bool blank = run.script == SCRIPT_SPACE && run.characters == 1;
        if (is_name && latin && joins && name.end) {
            name.end = run.end;
        } else if (!blank || over) {
            if (name.end)
                proper_count(proper, name.begin, name.end);
            name = is_name ? (struct span){run.begin, run.end} : (struct span){0, 0};
        }
        joins = (latin && is_name) || (blank && joins);
        first &= !latin;
        run = (struct proper_run){script, at, end, 1, u_isupper((UChar32)code)};
    }
    if (name.end)
        proper_count(proper, name.begin, name.end);
}

static void proper_rank(const struct proper_name *name, struct proper_name names[PROPER_NAMES_MAX], size_t *count)
{
    size_t at = *count;
    if (at == PROPER_NAMES_MAX) {
        if (names[at - 1].count >= name->count)
            return;
        at--;
    } else {
        ++*count;
    }
    for (; at > 0 && (names[at - 1].count < name->count ||
                      (names[at - 1].count == name->count && names[at - 1].span.begin > name->span.begin));
         at--)
        names[at] = names[at - 1];
    names[at] = *name;
}

size_t proper_names(const char *text, size_t length, const char *without, size_t without_length, unsigned least,
                    struct proper_name names[PROPER_NAMES_MAX])
{
    struct proper proper = {.text = text};
    struct sentence_reader reader;
    struct span sentence;
    size_t count = 0;
    sentences_begin(&reader, text, length);
    while (sentences_next(&reader, &sentence))
        proper_sentence(&proper, sentence);
    for (size_t i = 0; i < PROPER_SLOTS; i++) {
        const struct proper_name *name = &proper.slots[i].name;
        if (proper.slots[i].hash && name->count >= least &&
            !(without_length &&
              memmem(without, without_length, text + name->span.begin, name->span.end - name->span.begin)))
            proper_rank(name, names, &count);
    }
    return count;
}
