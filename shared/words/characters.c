#include "words/characters.h"

bool characters_read(struct arena *arena, const char *text, size_t length, struct characters *characters)
{
    struct fold fold;
    struct folded c;
    size_t count = 0;
    fold_begin(&fold, text, length);
    while (fold_next(&fold, &c))
        count++;
    struct folded *at = arena_alloc(arena, (count + 1) * sizeof(*at));
    if (!at)
        return false;
    fold_begin(&fold, text, length);
    for (size_t i = 0; fold_next(&fold, &c); i++)
        at[i] = c;
    at[count] = (struct folded){.code = 0, .begin = length, .end = length};
    *characters = (struct characters){.text = text, .length = length, .at = at, .count = count};
    return true;
}

bool characters_part(const struct characters *characters, size_t i)
{
    if (i == 0 || i >= characters->count)
        return true;
    enum script before = script_of(characters->at[i - 1].code), after = script_of(characters->at[i].code);
    bool joined = after == SCRIPT_LETTER || after == SCRIPT_DIGIT || after == SCRIPT_KATAKANA || after == SCRIPT_HAN;
    return before != after || !joined;
}
