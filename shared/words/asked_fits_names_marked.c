/* Rates names by the word before them. In German each noun has a capital letter, so a capital alone marks no name; in
 * Chinese no blank separates a name from its sentence. */
#include "words/asked_fits_priv.h"

#include <string.h>

#define WORD_BYTES 32

/* The word before letter `at`, with its blanks; "" at the beginning and behind other marks. */
static void marked_word_before(const struct asked_letters *letters, size_t at, char word[WORD_BYTES])
{
    size_t end = at, length = 0;
    while (end > 0 && script_of(letters->at[end - 1].code) == SCRIPT_SPACE)
        end--;
    size_t begin = end;
    while (begin > 0 && script_of(letters->at[begin - 1].code) == SCRIPT_LETTER)
        begin--;
    for (size_t i = begin; end < at && i < end && length + 6 < WORD_BYTES; i++)
        length += utf8_write(word + length + 1, letters->at[i].code);
    word[0] = ' ';
    word[length + 1] = ' ';
    word[length + 2] = '\0';
}

static bool marked_has(const char *words, const char *word)
{
    return word[1] != ' ' && strstr(words, word) != NULL;
}

static bool marked_ends(const struct asked_letters *letters, const struct asked_run *run, const char *const *endings)
{
    for (; *endings; endings++) {
        size_t length = strlen(*endings);
        if (run->end - run->begin > length + 2 && asked_stands(letters, run->end - length, run->end, *endings))
            return true;
    }
    return false;
}

/* Nouns of actions and qualities are neither persons nor places. */
static bool marked_is_abstract(const struct asked_letters *letters, const struct asked_run *run)
{
    static const char *const endings[] = {"ung",   "ungen",  "heit",   "keit", "schaft", "tion", "tionen",
                                          "ismus", "keiten", "heiten", "nis",  "tum",    NULL};
    return marked_ends(letters, run, endings);
}

double asked_name_fits_spaced(const struct asked_rated *rated, const struct asked_run *run, size_t fresh)
{
    static const char towards[] = " in nach aus bei nahe bis um à en au aux dans vers depuis a desde hasta hacia ";
    static const char at_the[] = " im am zum vom zur ins beim der du des de del al la las los ";
    static const char by[] = " von durch par por ";
    static const char articles[] = " der die das den dem des ein eine einen einem einer eines im am zum zur vom beim "
                                   "kein keine jeder jede jedes dieser diese dieses seine seiner ihre ihrer als ";
    const struct asked_letters *letters = rated->sentence;
    char before[WORD_BYTES];
    marked_word_before(letters, run->begin, before);
    bool german = rated->spoken == LATIN_GERMAN, article = german && marked_has(articles, before);
    if (german && rated->asked->type != ASKED_NAME && marked_is_abstract(letters, run))
        return 0.3;
    switch (rated->asked->type) {
    case ASKED_PERSON:
        return fresh > 1 && !article ? 1 : marked_has(by, before) ? 0.9 : article ? 0.5 : 0.65;
    case ASKED_PLACE:
        return marked_has(towards, before) ? 1 : marked_has(at_the, before) ? 0.8 : article ? 0.5 : 0.6;
    default:
        return article ? 0.6 : 0.7;
    }
}

static bool marked_is_any(uint32_t code, const uint32_t *codes)
{
    while (*codes && *codes != code)
        codes++;
    return *codes != 0;
}

/* 省 市 县 縣 区 區 州 国 國 镇 鎮 乡 鄉 村 岛 島 山 城 洲 湾 灣 街 路 */
static const uint32_t place_endings[] = {0x7701, 0x5E02, 0x53BF, 0x7E23, 0x533A, 0x5340, 0x5DDE, 0x56FD,
                                         0x570B, 0x9547, 0x93AE, 0x4E61, 0x9109, 0x6751, 0x5C9B, 0x5CF6,
                                         0x5C71, 0x57CE, 0x6D32, 0x6E7E, 0x7063, 0x8857, 0x8DEF, 0};
static const uint32_t place_verbs[] = {0x5728, 0x4E8E, 0x65BC, 0x81F3, 0x5230, 0x5F80, 0x5411, 0}; /* 在于於至到往向 */

double asked_name_fits_chinese(const struct asked_rated *rated, const struct asked_run *run)
{
    const struct asked_letters *letters = rated->sentence;
    bool agent = false, towards = false, place = false;
    for (size_t i = run->begin; i < run->end; i++) {
        uint32_t code = letters->at[i].code;
        bool goes_on = i + 2 < run->end && !asked_question_has(rated, i + 1, i + 3);
        agent |= code == 0x7531 && goes_on; /* 由 */
        towards |= marked_is_any(code, place_verbs) && goes_on;
        place |= i > run->begin + 1 && marked_is_any(code, place_endings) && !asked_question_has(rated, i - 1, i + 1);
    }
    double plain = run->end - run->begin >= 3 ? 0.7 : 0.5;
    if (rated->asked->type == ASKED_PERSON) {
        bool dotted = run->end < letters->count && letters->at[run->end].code == 0xB7; /* 史蒂芬·金 */
        return agent || dotted ? 1 : plain;
    }
    if (rated->asked->type == ASKED_PLACE)
        return place && towards ? 1 : place ? 0.8 : towards ? 0.65 : plain - 0.2;
    return plain;
}
