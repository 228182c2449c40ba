/* Converts a text and the pieces of acts to the same plain form for comparison. */
#include "form/acts.h"

#include "words/fold.h"

#include <string.h>

/* The character in the plain form; 0: removed, ' ': a mark between words. */
static uint32_t plain_character(uint32_t code)
{
    if (code == '\'' || code == '-' || code == FOLD_BROKEN)
        return 0;
    if (code == '_')
        return ' ';
    enum script script = script_of(code);
    if (script == SCRIPT_SPACE)
        return ' ';
    if (script != SCRIPT_NONE)
        return code;
    return code >= 0x80 || strchr(".,!?;:\"()~*", (int)code) ? ' ' : code;
}

bool plain_read(struct plain_text *plain, const char *text, size_t length, struct arena *arena)
{
    struct fold fold;
    struct folded folded;
    size_t room = 2 * length + 64; /* few texts are longer in the plain form */
    *plain =
        (struct plain_text){.text = arena_alloc(arena, room), .begin = arena_alloc(arena, room * sizeof(uint32_t))};
    if (!plain->text || !plain->begin)
        return false;
    fold_begin(&fold, text, length);
    while (fold_next(&fold, &folded)) {
        uint32_t code = plain_character(folded.code);
        plain->asks = plain->asks || folded.code == '?';
        bool spare = code == ' ' && (plain->length == 0 || plain->text[plain->length - 1] == ' ');
        if (code == 0 || spare)
            continue;
        plain->cut = plain->length + 8 > room;
        if (plain->cut)
            break;
        size_t size = utf8_write(plain->text + plain->length, code);
        for (size_t i = 0; i < size; i++)
            plain->begin[plain->length + i] = (uint32_t)folded.begin;
        plain->length += size;
    }
    if (plain->length > 0 && plain->text[plain->length - 1] == ' ')
        plain->length--;
    plain->text[plain->length] = '\0';
    plain->begin[plain->length] = (uint32_t)length;
    return true;
}

bool plain_is_latin(char c)
{
    unsigned char byte = (unsigned char)c;
    return byte > ' ' && byte < 0xE3;
}

bool plain_has(const struct plain_text *plain, size_t at, const char *words, size_t length)
{
    if (length == 0 || plain->text[at] != words[0] || plain->length - at < length ||
        memcmp(plain->text + at, words, length) != 0)
        return false;
    bool ends = at + length == plain->length || !plain_is_latin(plain->text[at + length]);
    return ends || !plain_is_latin(words[length - 1]);
}

static size_t plain_longest(const struct plain_text *plain, const struct piece_table *tables, size_t at,
                            enum piece *piece)
{
    size_t longest = 0;
    for (size_t table = 0; tables[table].words; table++) {
        for (const char *words = tables[table].words, *end; (end = strchr(words, '|')); words = end + 1) {
            size_t length = (size_t)(end - words);
            if (length > longest && plain_has(plain, at, words, length)) {
                longest = length;
                *piece = tables[table].piece;
            }
        }
    }
    return longest;
}

size_t plain_piece(const struct plain_text *plain, size_t at, enum piece *piece)
{
    size_t length = plain_is_latin(plain->text[at]) ? plain_longest(plain, acts_english, at, piece) : 0;
    return length > 0 ? length : plain_longest(plain, acts_japanese, at, piece);
}
