/* Slugs of sections, as the reference implementation of ACE has them for its own sections; others get the first letters
 * of their words. */
#include "playbook_draft.h"

#include "words/words.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *section, *slug;
} known_sections[] = {
    {"financial strategies and insights", "fin"},
    {"formulas and calculations", "calc"},
    {"code snippets and templates", "code"},
    {"common mistakes to avoid", "err"},
    {"problem solving heuristics", "prob"},
    {"context clues and indicators", "ctx"},
    {"meta strategies", "meta"},
    {"others", "misc"},
    {"other", "misc"},
};

/* "and", "to" and the like count only if there is no other word. */
static size_t first_letters(const char *words, char slug[PLAYBOOK_SLUG_MAX + 1], bool all)
{
    size_t length = 0;
    while (*words && length < PLAYBOOK_SLUG_MAX) {
        size_t word = strcspn(words, " ");
        if (all || !words_function_word(words, word))
            slug[length++] = *words;
        words += word + (words[word] == ' ');
    }
    slug[length] = '\0';
    return length;
}

void playbook_slug(const char *section, char slug[PLAYBOOK_SLUG_MAX + 1])
{
    char words[PLAYBOOK_SECTION_MAX + 1];
    /* The words of ASCII letters and digits, in lower case, with a space between. */
    char *at = words;
    for (const char *c = section; *c; c++) {
        bool word = isalnum((unsigned char)*c) && !((unsigned char)*c & 0x80);
        if (word)
            *at++ = (char)tolower((unsigned char)*c);
        else if (at > words && at[-1] != ' ')
            *at++ = ' ';
    }
    if (at > words && at[-1] == ' ')
        at--;
    *at = '\0';
    for (size_t i = 0; i < sizeof known_sections / sizeof *known_sections; i++)
        if (strcmp(words, known_sections[i].section) == 0 || strcmp(words, known_sections[i].slug) == 0) {
            strcpy(slug, known_sections[i].slug);
            return;
        }
    if (!first_letters(words, slug, false) && !first_letters(words, slug, true))
        strcpy(slug, "misc");
}
