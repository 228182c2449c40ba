#include "words/latin.h"

#include "words/variants_rows.h"

#include <pthread.h>

#define LOOKED_AT     400 /* bytes of a text that are enough to tell its language */
#define WORD_MAX      ROW_CHARACTERS
#define ENOUGH        3 /* English function words that stand before any others: the text is English */
#define LETTER_GAIN   1
#define LETTERS_LEAST 2 /* of a word that counts: the letters of "e-mail", "Plan A" and "Y axis" are of no language */

#define EAST_ASIAN_FIRST 0x3040 /* Japanese, Chinese, Korean: words in Latin letters are names there */

/* Function words and question words without accents. The same word may stand in several languages. */
static const char *const function_words[LATIN_LANGUAGES] = {
    [LATIN_GERMAN] = "der die das den dem des ein eine einen einem einer eines und oder aber auch als am an auf aus "
                     "bei beim bis da dass damit "
                     "dann dort durch er es fur gab gibt hat hatte hatten habe haben ich ihm ihn ihr ihre ihren ihrer "
                     "im in ins ist sind war "
                     "waren wurde wurden wird werden worden kann konnen konnte konnten man mit nach nicht noch nur ob "
                     "ohne sehr sein seine "
                     "seinen seiner sich sie so soll sollen sollte um uber unter vom von vor was wann warum wer wem "
                     "wen wessen wie wieso wo "
                     "woher wohin womit wodurch wofur woran woraus worin worauf wovon wozu welche welcher welches "
                     "welchem welchen wieviel "
                     "viel viele vielen wenn weil zu zum zur zwischen diese dieser dieses diesen diesem jede jeder "
                     "jedes kein keine mehr "
                     "meisten muss mussen seit wahrend gegen hier heisst nennt genannt lautet denn etwa sowie bzw je "
                     "wurden darf durfen",
    [LATIN_FRENCH] = "le la les un une des du de et ou mais au aux avec ce cet cette ces comme comment combien dans "
                     "depuis elle elles en entre "
                     "est sont etait etaient ete etre a ont avait avaient il ils je lequel laquelle lesquels leur "
                     "leurs lors lui ne nous on "
                     "par pas plus pour pourquoi qu quand que quel quelle quelles quels qui quoi sa sans se ses si son "
                     "sous sur te tu vers "
                     "vous fait faire peut peuvent doit doivent selon tout tous toute toutes tres aussi donc car ainsi "
                     "apres avant chez deja "
                     "encore jusqu meme moins parce quelque sera fut furent dont y cela ceux celui celle aujourd hui",
    [LATIN_SPANISH] = "el la los las un una unos unas de del y o u e a al ante bajo con contra desde en entre hacia "
                      "hasta para por segun sin "
                      "sobre tras que cual cuales quien quienes cuyo cuya como cuando cuanto cuanta cuantos cuantas "
                      "donde adonde se su sus lo "
                      "le les me mi te tu si no ni es son era eran fue fueron ser sera sido esta estan estaba estaban "
                      "este estos estas ese "
                      "esa esos esas aquel ha han habia hay haber hubo tiene tienen tenia puede pueden podia debe "
                      "deben hace hacen hizo hacer "
                      "mas menos muy ya tambien pero porque pues aun asi cada otro otra otros todo toda todos todas "
                      "antes despues durante "
                      "mientras mismo misma tan tanto nos yo ella ellos ellas eso esto algo llama llaman",
};

static struct variant_rows words[LATIN_LANGUAGES];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void latin_read_rows(void)
{
    for (int i = LATIN_GERMAN; i < LATIN_LANGUAGES; i++)
        variant_rows_read(&words[i], function_words[i]);
}

bool latin_function_word(enum latin_language language, const struct run_character *run, unsigned length)
{
    struct run_character plain[WORD_MAX];
    if (length > WORD_MAX)
        return false;
    pthread_once(&once, latin_read_rows);
    for (unsigned i = 0; i < length; i++)
        plain[i].code = latin_plain(run[i].code);
    const struct variant_row *row = variant_rows_find(&words[language], plain, length, 0);
    return row != NULL && row->from_length == length;
}

struct latin_counts {
    unsigned words[LATIN_LANGUAGES];
};

static void latin_count_word(struct latin_counts *counts, const struct run_character *word, unsigned length)
{
    char bytes[4 * WORD_MAX + 1];
    size_t size = 0;
    if (length < LETTERS_LEAST || length > WORD_MAX)
        return;
    for (unsigned i = 0; i < length; i++)
        size += utf8_write(bytes + size, word[i].code);
    counts->words[LATIN_ENGLISH] += words_function_word(bytes, size);
    for (int i = LATIN_GERMAN; i < LATIN_LANGUAGES; i++)
        counts->words[i] += latin_function_word((enum latin_language)i, word, length);
}

/* Letters that only one of the languages has. */
static void count_letter(struct latin_counts *counts, uint32_t code)
{
    switch (code) {
    case 0xE4: /* ä */
    case 0xF6: /* ö */
    case 0xFC: /* ü */
        counts->words[LATIN_GERMAN] += LETTER_GAIN;
        return;
    case 0xE0: /* à */
    case 0xE7: /* ç */
    case 0xE8: /* è */
    case 0xEA: /* ê */
    case 0xEE: /* î */
    case 0xF4: /* ô */
    case 0xF9: /* ù */
    case 0xFB: /* û */
    case 0x153:
        counts->words[LATIN_FRENCH] += LETTER_GAIN;
        return;
    case 0xA1: /* ¡ */
    case 0xBF: /* ¿ */
    case 0xE1: /* á */
    case 0xED: /* í */
    case 0xF1: /* ñ */
    case 0xF3: /* ó */
    case 0xFA: /* ú */
        counts->words[LATIN_SPANISH] += LETTER_GAIN;
        return;
    default:
        return;
    }
}

static bool is_english(const struct latin_counts *counts)
{
    unsigned english = counts->words[LATIN_ENGLISH];
    for (int i = LATIN_GERMAN; i < LATIN_LANGUAGES; i++) {
        if (english < ENOUGH + counts->words[i])
            return false;
    }
    return true;
}

static enum latin_language latin_most_of(const struct latin_counts *counts)
{
    enum latin_language most = LATIN_ENGLISH;
    bool shared = false;
    for (int i = LATIN_GERMAN; i < LATIN_LANGUAGES; i++) {
        shared = counts->words[i] == counts->words[most] || (shared && counts->words[i] < counts->words[most]);
        if (counts->words[i] > counts->words[most])
            most = (enum latin_language)i;
    }
    return shared ? LATIN_UNKNOWN : most;
}

enum latin_language latin_language_of(const char *text, size_t length)
{
    struct latin_counts counts = {0};
    struct run_character word[WORD_MAX + 1];
    unsigned letters = 0;
    struct fold fold;
    struct folded c;
    fold_begin(&fold, text, length < LOOKED_AT ? length : LOOKED_AT);
    while (fold_next(&fold, &c)) {
        enum script script = script_of(c.code);
        if (c.code >= EAST_ASIAN_FIRST)
            return LATIN_UNKNOWN;
        if (c.code >= 0x80)
            count_letter(&counts, c.code);
        if (script == SCRIPT_LETTER) {
            letters += letters <= WORD_MAX;
            word[letters - 1].code = c.code;
            continue;
        }
        latin_count_word(&counts, word, letters);
        letters = 0;
        if (is_english(&counts))
            return LATIN_ENGLISH;
    }
    latin_count_word(&counts, word, letters);
    return latin_most_of(&counts);
}
