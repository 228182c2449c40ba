/* "The capital of India." only repeats "What is the capital of India?". A sentence adds information if its source has
 * words of it that the question has not. */
#include "words/grounding_priv.h"

#include <string.h>
#include <strings.h>

#define FEW_WORDS   3 /* content words of an answer that may be a single Han character */
#define SHORT_WORDS 8
#define SAME_START  4 /* bytes that two forms of a word have in common: appear, appeared */

/* Questions that offer their answers: "Delhi or Mumbai?", どちら. */
static bool echo_offers(struct claim question)
{
    static const char *const words[] = {" or ",   "どちら", "どっち", "それとも", "还是",
                                        "哪一个", " oder ", " ou ",   " o "};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (memmem(question.text, question.length, words[i], strlen(words[i])))
            return true;
    return false;
}

static bool echo_is_form(const struct aligned_text *one, const struct aligned_word *word,
                         const struct aligned_text *other, const struct aligned_word *form)
{
    size_t length = word->span.end - word->span.begin, most = form->span.end - form->span.begin;
    return word->script == SCRIPT_LETTER && length >= SAME_START && most >= SAME_START &&
           strncasecmp(one->text.text + word->span.begin, other->text.text + form->span.begin, SAME_START) == 0;
}

/* 2 of C2 is no number: the question "How do C2 and C3 differ?" does not have the 2 of "2 years". */
static bool echo_is_in_name(const struct aligned_text *text, const struct aligned_word *word)
{
    return word->script == SCRIPT_DIGIT && word > text->words && word[-1].script == SCRIPT_LETTER &&
           word[-1].span.end == word->span.begin;
}

static bool echo_is_known(const struct aligned_text *said, const struct aligned_word *word,
                          const struct aligned_text *asked)
{
    for (size_t i = 0; i < asked->count; i++)
        if ((asked->words[i].hash == word->hash &&
             (echo_is_in_name(said, word) || !echo_is_in_name(asked, &asked->words[i]))) ||
            echo_is_form(said, word, asked, &asked->words[i]))
            return true;
    return false;
}

/* Whether words [at, to) are in the text, also with an ending: 런던 in 런던은. */
static bool echo_stands(const struct aligned_text *said, const struct aligned_text *there, size_t at, size_t to)
{
    const char *begin = said->text.text + said->words[at].span.begin;
    size_t length = said->words[to - 1].span.end - said->words[at].span.begin;
    return aligned_stand(there, said->words + at, to - at) ||
           memmem(there->text.text, there->text.length, begin, length);
}

/* The end of the run of words of the same script from `at` on: the characters of a Han word, or of Hiragana. */
static size_t echo_run_end(const struct aligned_text *said, size_t at)
{
    enum script script = said->words[at].script;
    bool single = script == SCRIPT_HAN || script == SCRIPT_HIRAGANA;
    size_t to = at + 1;
    while (single && to < said->count && said->words[to].script == script && !said->words[to].mark)
        to++;
    return to;
}

/* Whether the run of words [at, to) is new: content that the question does not have, and the source has. */
static bool echo_is_new(const struct aligned_text *said, const struct aligned_text *asked,
                        const struct aligned_text *there, size_t at, size_t to, size_t content)
{
    const struct aligned_word *word = &said->words[at];
    bool characters = word->script == SCRIPT_HAN || word->script == SCRIPT_HIRAGANA;
    if (word->script == SCRIPT_HIRAGANA ? content > 0 : word->stop_word)
        return false;
    if (characters && to - at == 1 && content > FEW_WORDS)
        return false;
    bool known = characters ? aligned_stand(asked, word, to - at) : echo_is_known(said, word, asked);
    return !known && echo_stands(said, there, at, to);
}

/* Whether a short answer is a term of its own, although its parts may be in the question: 位置エネルギー. */
static bool echo_is_term(const struct aligned_text *said, const struct aligned_text *asked)
{
    for (size_t i = 0; i < said->count; i++)
        if (said->words[i].script == SCRIPT_HIRAGANA ||
            (said->words[i].script == SCRIPT_LETTER && echo_is_known(said, &said->words[i], asked)))
            return false;
    return said->count && said->count <= SHORT_WORDS && !aligned_stand(asked, said->words, said->count);
}

bool grounding_adds(const struct grounding_work *work, struct claim sentence, uint32_t unit)
{
    struct aligned_text said, there;
    aligned_read(sentence, &said);
    aligned_read(grounding_text(work->evidence, unit), &there);
    size_t content = 0;
    for (size_t i = 0; i < said.count; i++)
        content += !said.words[i].stop_word;
    if (said.count && said.count == there.count && !memmem(sentence.text, sentence.length, "?", 1) &&
        !memmem(sentence.text, sentence.length, "？", strlen("？")))
        return true; /* a whole statement of the source may answer "Is it …?" */
    for (size_t at = 0, to; at < said.count; at = to) {
        to = echo_run_end(&said, at);
        if (echo_is_new(&said, &work->asked, &there, at, to, content))
            return true;
    }
    if (echo_is_term(&said, &work->asked) && echo_stands(&said, &there, 0, said.count))
        return true;
    return echo_offers(work->question) && said.count < work->asked.count / 2;
}
