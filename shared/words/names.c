/* A hash table of the names. At the beginning of each word, the text is looked up for each length of a name, longest
 * first. The hash of any part of the text is computed from prefix hashes. */
#include "words/names.h"

#include <string.h>

#define HASH_BASE UINT64_C(0x9E3779B97F4A7C15)

/* The compared form of a text: its codes and the characters that they come from. */
struct squeezed {
    uint32_t *codes;
    uint32_t *from;
    size_t count;
};

struct named {
    const uint32_t *codes;
    uint32_t length;
    uint32_t tag;
    uint64_t hash;
    uint32_t next; /* of the same slot, + 1 */
};

struct names {
    struct named *named;
    size_t count;
    uint32_t *slots; /* index + 1 of the first of them; 0: free */
    size_t slot_mask;
    uint8_t lengths[NAMES_LENGTH_MAX]; /* of the names, longest first */
    size_t length_count;
};

static bool names_leave_out(const struct characters *text, size_t i)
{
    switch (text->at[i].code) {
    case '-':
    case '_':
    case '.':
    case '\'':
    case 0x30FB: /* ・ */
        break;
    default:
        if (script_of(text->at[i].code) != SCRIPT_SPACE)
            return false;
    }
    bool digits =
        i > 0 && script_of(text->at[i - 1].code) == SCRIPT_DIGIT && script_of(text->at[i + 1].code) == SCRIPT_DIGIT;
    return !digits;
}

static uint32_t names_plain(uint32_t code)
{
    return code >= 0x30A1 && code <= 0x30F6 ? code - 0x60 : code;
}

static bool names_squeeze(struct arena *arena, const struct characters *text, struct squeezed *squeezed)
{
    squeezed->count = 0;
    squeezed->codes = arena_alloc(arena, (text->count + 1) * sizeof(*squeezed->codes));
    squeezed->from = arena_alloc(arena, (text->count + 1) * sizeof(*squeezed->from));
    if (!squeezed->codes || !squeezed->from)
        return false;
    for (size_t i = 0; i < text->count; i++) {
        if (names_leave_out(text, i))
            continue;
        squeezed->codes[squeezed->count] = names_plain(text->at[i].code);
        squeezed->from[squeezed->count++] = (uint32_t)i;
    }
    return true;
}

static uint64_t names_mix(uint64_t hash)
{
    hash ^= hash >> 29;
    hash *= UINT64_C(0xBF58476D1CE4E5B9);
    return hash ^ hash >> 32;
}

static void names_add(struct names *names, const struct squeezed *squeezed, uint32_t tag, bool *lengths)
{
    if (squeezed->count == 0 || squeezed->count > NAMES_LENGTH_MAX)
        return;
    struct named *named = &names->named[names->count++];
    *named = (struct named){.codes = squeezed->codes, .length = (uint32_t)squeezed->count, .tag = tag};
    for (size_t i = 0; i < squeezed->count; i++)
        named->hash = named->hash * HASH_BASE + squeezed->codes[i];
    lengths[squeezed->count - 1] = true;
}

const struct names *names_create(struct arena *arena, const struct name *list, size_t count)
{
    size_t slots = 16;
    bool lengths[NAMES_LENGTH_MAX] = {false};
    while (slots < 2 * count)
        slots *= 2;
    struct names *names = arena_zalloc(arena, sizeof(*names));
    if (!names)
        return NULL;
    names->named = arena_alloc(arena, (count + 1) * sizeof(*names->named));
    names->slots = arena_zalloc(arena, slots * sizeof(*names->slots));
    names->slot_mask = slots - 1;
    if (!names->named || !names->slots)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        struct characters text;
        struct squeezed squeezed;
        if (!characters_read(arena, list[i].text, strlen(list[i].text), &text) ||
            !names_squeeze(arena, &text, &squeezed))
            return NULL;
        names_add(names, &squeezed, list[i].tag, lengths);
    }
    /* Inserts from the last to the first, so that the list of a slot has the order of the input. */
    for (size_t i = names->count; i-- > 0;) {
        uint32_t *slot = &names->slots[names_mix(names->named[i].hash) & names->slot_mask];
        names->named[i].next = *slot;
        *slot = (uint32_t)i + 1;
    }
    for (size_t length = NAMES_LENGTH_MAX; length > 0; length--) {
        if (lengths[length - 1])
            names->lengths[names->length_count++] = (uint8_t)length;
    }
    return names;
}

/* ---- whole words ------------------------------------------------------------------------------------------------- */

static bool one_of(uint32_t code, const char *characters)
{
    char bytes[5] = {0};
    utf8_write(bytes, code);
    return code >= 0x80 && strstr(characters, bytes) != NULL;
}

/* Han characters that may follow a name without changing it: 東京都, 営業部, 日本在住. */
static bool han_suffix(uint32_t code)
{
    return one_of(code, "部課係人都府県市区町村国製用型側系行派席便駅店校社様氏希望在居住勤務出時現");
}

/* Hiragana that may stand before a name; particle_after: after it. */
static bool particle_before(uint32_t code)
{
    return one_of(code, "はがをにでとのもやかねよ");
}

static bool particle_after(uint32_t code)
{
    return one_of(code, "はがをにでとのもやかだねよさしおくっへなまじ");
}

/* A counter after a digit ends a word: 4月1日入社. */
static bool counts_before(const struct characters *text, size_t i)
{
    return i > 1 && one_of(text->at[i - 1].code, "日月年時分円歳人個台") &&
           script_of(text->at[i - 2].code) == SCRIPT_DIGIT;
}

static bool name_may_begin(const struct characters *text, size_t i)
{
    if (i == 0 || counts_before(text, i))
        return true;
    uint32_t before = text->at[i - 1].code;
    if (script_of(text->at[i].code) == SCRIPT_HIRAGANA && script_of(before) == SCRIPT_HIRAGANA)
        return particle_before(before);
    return characters_part(text, i);
}

static bool name_may_end(const struct characters *text, size_t first, size_t i)
{
    if (i >= text->count)
        return true;
    enum script last = script_of(text->at[i - 1].code), after = script_of(text->at[i].code);
    if (last == SCRIPT_HIRAGANA && after == SCRIPT_HIRAGANA)
        return particle_after(text->at[i].code);
    if (last == SCRIPT_HAN && after == SCRIPT_HAN)
        return i - first > 1 && han_suffix(text->at[i].code);
    return characters_part(text, i);
}

/* ---- finding ----------------------------------------------------------------------------------------------------- */

struct names_search {
    const struct names *names;
    const struct characters *text;
    struct squeezed squeezed;
    const uint64_t *hashes; /* of the first i codes */
    const uint64_t *powers;
    struct name_found *found;
    size_t room, count;
};

/* Takes all names that equal the `length` codes at `at`; returns their number. */
static size_t names_take(struct names_search *search, size_t at, size_t length)
{
    const struct names *names = search->names;
    const uint32_t *codes = search->squeezed.codes + at;
    uint64_t hash = search->hashes[at + length] - search->hashes[at] * search->powers[length];
    size_t before = search->count, first = search->squeezed.from[at], end = search->squeezed.from[at + length - 1] + 1;
    uint32_t index = names->slots[names_mix(hash) & names->slot_mask];
    if (index == 0 || !name_may_end(search->text, first, end))
        return 0;
    for (; index != 0 && search->count < search->room; index = names->named[index - 1].next) {
        const struct named *named = &names->named[index - 1];
        if (named->hash == hash && named->length == length && memcmp(named->codes, codes, length * sizeof(*codes)) == 0)
            search->found[search->count++] = (struct name_found){.tag = named->tag, .first = first, .end = end};
    }
    return search->count - before;
}

/* The length of the longest name at `at`, which is taken; 0 without a match. */
static size_t names_longest(struct names_search *search, size_t at)
{
    for (size_t i = 0; i < search->names->length_count; i++) {
        size_t length = search->names->lengths[i];
        if (at + length <= search->squeezed.count && names_take(search, at, length) > 0)
            return length;
    }
    return 0;
}

size_t names_find(const struct names *names, const struct characters *text, struct arena *arena,
                  struct name_found *found, size_t room)
{
    struct names_search search = {.names = names, .text = text, .found = found, .room = room};
    uint64_t powers[NAMES_LENGTH_MAX + 1] = {1};
    if (!names_squeeze(arena, text, &search.squeezed))
        return SIZE_MAX;
    uint64_t *hashes = arena_alloc(arena, (search.squeezed.count + 1) * sizeof(*hashes));
    if (!hashes)
        return SIZE_MAX;
    hashes[0] = 0;
    for (size_t i = 0; i < search.squeezed.count; i++)
        hashes[i + 1] = hashes[i] * HASH_BASE + search.squeezed.codes[i];
    for (size_t i = 1; i <= NAMES_LENGTH_MAX; i++)
        powers[i] = powers[i - 1] * HASH_BASE;
    search.hashes = hashes;
    search.powers = powers;
    for (size_t at = 0; at < search.squeezed.count && search.count < room;) {
        size_t length = name_may_begin(text, search.squeezed.from[at]) ? names_longest(&search, at) : 0;
        at += length > 0 ? length : 1;
    }
    return search.count;
}

bool names_equal(struct arena *arena, const char *one, const char *other)
{
    struct characters texts[2];
    struct squeezed squeezed[2];
    return characters_read(arena, one, strlen(one), &texts[0]) && names_squeeze(arena, &texts[0], &squeezed[0]) &&
           characters_read(arena, other, strlen(other), &texts[1]) && names_squeeze(arena, &texts[1], &squeezed[1]) &&
           squeezed[0].count == squeezed[1].count && squeezed[0].count > 0 &&
           memcmp(squeezed[0].codes, squeezed[1].codes, squeezed[0].count * sizeof(uint32_t)) == 0;
}
