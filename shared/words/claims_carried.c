/* Whether a quote carries a whole sentence. Coverage and claims_agree accept a sentence of which the quote has most
 * words: the rest may be another word in place of one, or a statement that was added. */
#include "words/claims.h"

#include "words/aligned.h"
#include "words/claims_priv.h"
#include "words/sentences.h"

#include <string.h>

#define ADDED_MOST 4  /* weight of neighbouring words that the quote lacks: two words, or four Han characters */
#define WORD_BYTES 64 /* a longer word is no word, and weighs as a statement */

/* The weight of a word that the terms lack, as a part of an added statement. */
static int carried_weight(const struct aligned_word *word)
{
    if (word->span.end - word->span.begin > WORD_BYTES)
        return ADDED_MOST + 1;
    return word->script == SCRIPT_HAN ? 1 : 2;
}

static bool carried_has(const struct aligned_text *text, const struct aligned_word *word)
{
    for (size_t i = 0; i < text->count; i++)
        if (text->words[i].hash == word->hash)
            return true;
    return false;
}

/* Whether the quote, its heading or its terms have the word in some form. */
static bool carried_knows(const struct aligned_text *quote, const struct aligned_text *heading,
                          struct claim_terms *terms, const struct aligned_text *said, const struct aligned_word *word)
{
    struct claim text = {said->text.text + word->span.begin, word->span.end - word->span.begin};
    if (carried_has(quote, word) || carried_has(heading, word))
        return true;
    return word->script == SCRIPT_LETTER && claim_share_of(terms, text) > 0; /* by its stem */
}

/* Whether a full stop is between a word and the one before it: "… are kept. sold since" is read as one sentence. */
static bool carried_stops(const struct aligned_text *said, size_t at)
{
    size_t from = at ? said->words[at - 1].span.end : 0, to = said->words[at].span.begin;
    for (size_t i = from; at && i + 1 < to; i++)
        if (strchr(".!?", said->text.text[i]) && strchr(" \t\n", said->text.text[i + 1]))
            return true;
    return false;
}

/* The words of a part of the sentence, function words left out, and those among them that the quote has. */
struct carried_part {
    size_t words, known;
    int weight; /* of the last words that are not known */
};

/* Whether the sentence has a run of words that the quote and its heading lack, or a part of its own of which they have
 * no word. Numbers are compared elsewhere. */
static bool carried_adds(const struct aligned_text *said, struct claim quote, struct claim heading)
{
    struct aligned_text quoted, above;
    struct claim_terms terms = {.count = 0};
    struct carried_part part = {0};
    aligned_read(quote, &quoted);
    aligned_read(heading, &above);
    if (!claim_terms_add(&terms, quote) || !claim_terms_add(&terms, heading))
        return true;
    for (size_t i = 0; i < said->count; i++) {
        const struct aligned_word *word = &said->words[i];
        if (carried_stops(said, i)) {
            if (part.words && !part.known)
                return true;
            part = (struct carried_part){0};
        }
        if (word->stop_word)
            continue;
        bool known = word->script == SCRIPT_DIGIT || carried_knows(&quoted, &above, &terms, said, word);
        part.words++;
        part.known += known;
        if (word->script != SCRIPT_DIGIT)
            part.weight = known ? 0 : part.weight + carried_weight(word);
        if (part.weight > ADDED_MOST)
            return true;
    }
    return part.words && !part.known;
}

/* Whether the words are of letters, none a name, and the source has all of them elsewhere: the sentence is in another
 * order. */
static bool carried_moves(struct claim words, struct claim source)
{
    struct aligned_text moved, there;
    aligned_read(words, &moved);
    aligned_read(source, &there);
    for (size_t i = 0; i < moved.count; i++) {
        const struct aligned_word *word = &moved.words[i];
        if (word->script != SCRIPT_LETTER || word->name || (!word->stop_word && !carried_has(&there, word)))
            return false;
    }
    return moved.count;
}

/* Whether a word of the sentence stands in place of another in each sentence of the quote that is nearly equal. */
static bool carried_replaces(struct claim sentence, struct claim quote, struct claim passage, struct claim heading)
{
    struct sentence_reader reader;
    struct span span, word;
    bool other = false;
    sentences_begin(&reader, quote.text, quote.length);
    for (int looked = 0; looked < QUOTED_MOST && sentences_next(&reader, &span); looked++) {
        struct claim one = {quote.text + span.begin, span.end - span.begin};
        enum aligned_result result = aligned_compare(sentence, one, passage, heading, &word);
        if (result == ALIGNED_OTHER &&
            carried_moves((struct claim){sentence.text + word.begin, word.end - word.begin}, one))
            result = ALIGNED_SAME;
        if (result == ALIGNED_SAME)
            return false;
        other |= result == ALIGNED_OTHER;
    }
    return other;
}

bool claims_carried(struct claim sentence, struct claim quote, struct claim passage, struct claim heading)
{
    struct aligned_text said;
    if (!claims_agree(sentence, quote, heading))
        return false;
    aligned_read(sentence, &said);
    return said.count < ALIGNED_WORDS && !carried_adds(&said, quote, heading) &&
           claims_words_stand(sentence, quote, heading) && !carried_replaces(sentence, quote, passage, heading);
}
