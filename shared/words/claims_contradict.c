/* Whether two nearly equal texts state different things. Manuals repeat a paragraph for another version, in which a
 * number or a "not" is all that is new. */
#include "words/claims.h"

#include "words/claims_priv.h"
#include "words/figures.h"
#include "words/sentences.h"

#include <string.h>
#include <strings.h>

static bool contradict_is_letter(char c)
{
    return (unsigned char)c >= 0x80 || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

/* Words of German, French and Spanish that deny. "no" is counted as English. */
static bool contradict_denies(const char *word, size_t length)
{
    static const char *const words[] = {"nicht", "kein",  "keine",  "keinen",  "keiner", "keinem",
                                        "nie",   "ohne",  "pas",    "jamais",  "aucun",  "aucune",
                                        "sans",  "nunca", "ningún", "ninguna", "ninguno"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == length && strncasecmp(words[i], word, length) == 0)
            return true;
    return false;
}

static size_t contradict_denials(struct claim text)
{
    struct sentence_reader reader;
    struct span span;
    size_t count = 0;
    sentences_begin(&reader, text.text, text.length);
    while (sentences_next(&reader, &span)) /* Japanese denials are counted once a text */
        count += claims_denials((struct claim){text.text + span.begin, span.end - span.begin});
    for (size_t at = 0, end; at < text.length; at = end) {
        end = at + 1;
        if (!contradict_is_letter(text.text[at]))
            continue;
        while (end < text.length && contradict_is_letter(text.text[end]))
            end++;
        count += contradict_denies(text.text + at, end - at);
    }
    return count;
}

/* Whether the first text has a number that the second lacks. Bounded by FIGURES_MAX. */
static bool contradict_lacks(const struct figures *one, const struct figures *other)
{
    for (size_t i = 0; i < one->count; i++) {
        bool there = false;
        for (size_t j = 0; j < other->count && !there; j++)
            there =
                figure_same_value(&one->list[i], &other->list[j]) && figure_same_unit(&one->list[i], &other->list[j]);
        if (!there)
            return true;
    }
    return false;
}

bool claims_contradict(struct claim one, struct claim other)
{
    struct figures figures, others;
    if (contradict_denials(one) != contradict_denials(other) || !claims_opposites_agree(one, other) ||
        !claims_opposites_agree(other, one))
        return true;
    figures_read(one.text, one.length, &figures);
    figures_read(other.text, other.length, &others);
    return contradict_lacks(&figures, &others) && contradict_lacks(&others, &figures);
}
