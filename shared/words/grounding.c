/* The sentences of an answer one after the other; then the score of the places in which they stand. */
#include "words/grounding_priv.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#define SCORE_LEAST  0.03         /* of a place, for an answer in Chinese or Korean */
#define SHORT_BYTES  ((size_t)80) /* of a sentence that may be a short answer */
#define FIT_LEAST    0.3          /* below it, a sentence does not offer the number or the date that was asked for */
#define FOUND_SHARE  0.5          /* of the answer's sentences: more than this must stand in the sources */
#define HEADINGS_MAX 32           /* headings of an answer that are no claims; further ones count as sentences */

/* Logistic regression on right and wrong answers to questions over encyclopaedic texts: half of the documents. */
#define WEIGHT_BIAS   (-4.01)
#define WEIGHT_RANK   1.71 /* the best place, relative to the best one of all sources */
#define WEIGHT_SHARE  3.32 /* the share of the question in that sentence */
#define WEIGHT_NAMES  0.47 /* the share of the question's names in its passage */
#define WEIGHT_FITS   0.97 /* how well the answer fits the asked type */
#define WEIGHT_CHOSEN 1.08 /* the score of that sentence as an answer, relative to the best sentence */

struct grounding_signs {
    double score, share, names, fits, chosen;
};

/* "Title: sentence" is the sentence, if a source has that title. */
static struct claim grounding_untitled(const struct evidence *evidence, struct claim sentence)
{
    struct aligned_text title, heading;
    const char *colon = memmem(sentence.text, sentence.length, ": ", 2);
    const char *wide = memmem(sentence.text, sentence.length, "：", strlen("："));
    size_t mark = colon && (!wide || colon < wide) ? 2 : strlen("：");
    colon = mark == 2 ? colon : wide;
    if (!colon || colon == sentence.text)
        return sentence;
    aligned_read((struct claim){sentence.text, (size_t)(colon - sentence.text)}, &title);
    for (size_t i = 0; i < evidence->passage_count && title.count; i++) {
        aligned_read(grounding_heading(evidence, i), &heading);
        if (aligned_stand(&heading, title.words, title.count))
            return (struct claim){colon + mark, sentence.length - (size_t)(colon + mark - sentence.text)};
    }
    return sentence;
}

/* "**Restoring**" above the steps of a section of that name claims nothing. */
static bool grounding_is_heading(const struct evidence *evidence, struct claim sentence)
{
    static const char bold[] = "**";
    const size_t mark = sizeof bold - 1;
    struct aligned_text said, heading;
    if (sentence.length <= 2 * mark || memcmp(sentence.text, bold, mark) != 0 ||
        memcmp(sentence.text + sentence.length - mark, bold, mark) != 0)
        return false;
    aligned_read((struct claim){sentence.text + mark, sentence.length - 2 * mark}, &said);
    for (size_t i = 0; i < evidence->passage_count && said.count; i++) {
        aligned_read(grounding_heading(evidence, i), &heading);
        if (aligned_stand(&heading, said.words, said.count))
            return true;
    }
    return false;
}

/* "It is Delhi." is Delhi: without the words that make a sentence of a short answer. */
static struct claim grounding_bare(struct claim sentence)
{
    static const char *const begins[] = {"It is ",         "It was ", "They are ", "They were ",
                                         "The answer is ", "答えは",  "答案是"};
    static const char *const ends[] = {"です。", "でした。", "である。", "だ。", "です", "である"};
    for (size_t i = 0; i < sizeof begins / sizeof *begins && sentence.length <= SHORT_BYTES; i++) {
        size_t length = strlen(begins[i]);
        if (sentence.length > length && memcmp(sentence.text, begins[i], length) == 0)
            return (struct claim){sentence.text + length, sentence.length - length};
    }
    for (size_t i = 0; i < sizeof ends / sizeof *ends && sentence.length <= SHORT_BYTES; i++) {
        size_t length = strlen(ends[i]);
        if (sentence.length > length && memcmp(sentence.text + sentence.length - length, ends[i], length) == 0)
            return (struct claim){sentence.text, sentence.length - length};
    }
    return sentence;
}

/* The share of the question's names that a passage or its heading has; 1 if the question has no names. */
static double grounding_names(const struct grounding_work *work, uint32_t passage)
{
    const struct passage *of = &work->evidence->passages[passage];
    struct aligned_text there, heading;
    size_t names = 0, known = 0;
    if (work->names[passage] > 0)
        return work->names[passage] - 1;
    aligned_read((struct claim){of->text, of->length}, &there);
    aligned_read(grounding_heading(work->evidence, passage), &heading);
    for (size_t i = 0; i < work->asked.count; i++) {
        const struct aligned_word *word = &work->asked.words[i];
        if (!word->name || (i == 0 && word->script == SCRIPT_LETTER))
            continue;
        names++;
        known += aligned_stand(&there, word, 1) || aligned_stand(&heading, word, 1);
    }
    double share = names ? (double)known / (double)names : 1;
    work->names[passage] = 1 + share;
    return share;
}

static double grounding_most(double one, double other)
{
    return one > other ? one : other;
}

static double grounding_chosen(const struct selection *selection, uint32_t unit)
{
    for (size_t i = 0; i < selection->count; i++)
        if (selection->list[i].unit == unit)
            return exp(selection->list[i].chosen.score - selection->list[0].chosen.score);
    return 0;
}

static double grounding_fits(const struct grounding_work *work, struct claim sentence)
{
    const struct asked *asked = &work->selection->asked;
    return asked->language[0]
               ? asked_fits(asked, work->question.text, work->question.length, sentence.text, sentence.length).type
               : FIT_UNKNOWN;
}

static void grounding_note(const struct grounding_work *work, struct claim sentence, uint32_t unit,
                           struct grounding_signs *signs)
{
    signs->score = grounding_most(signs->score, grounding_unit_score(work, unit));
    signs->share = grounding_most(signs->share, work->units[unit]);
    signs->names = grounding_most(signs->names, grounding_names(work, work->evidence->units[unit].passage));
    signs->fits = grounding_most(signs->fits, grounding_fits(work, sentence));
    signs->chosen = grounding_most(signs->chosen, grounding_chosen(work->selection, unit));
}

static double grounding_score(const struct grounding_work *work, const struct grounding_signs *signs)
{
    double rank = work->best > 0 ? signs->score / work->best : 0;
    double sum = WEIGHT_BIAS + WEIGHT_RANK * rank + WEIGHT_SHARE * signs->share + WEIGHT_NAMES * signs->names +
                 WEIGHT_FITS * signs->fits + WEIGHT_CHOSEN * signs->chosen;
    return 1 / (1 + exp(-sum));
}

/* Whether the words of the question tell enough: function words and stems are known for Japanese and English alone. */
static bool grounding_knows_language(const struct aligned_text *asked)
{
    static const char *const words[] = {"the",  "what", "who", "when", "where", "which", "how", "why",
                                        "does", "did",  "of",  "many", "can",   "are",   "is"};
    for (size_t i = 0; i < asked->count; i++) {
        if (asked->words[i].script == SCRIPT_HIRAGANA)
            return true;
        size_t length = asked->words[i].span.end - asked->words[i].span.begin;
        for (size_t k = 0; k < sizeof words / sizeof *words; k++)
            if (strlen(words[k]) == length &&
                strncasecmp(asked->text.text + asked->words[i].span.begin, words[k], length) == 0)
                return true;
    }
    return false;
}

/* Whether the question asks for a value of which none of the places has one: for days, and they have a time of day. */
static bool grounding_misses(const struct grounding_work *work, const struct grounding_signs *signs)
{
    enum asked_type type = work->selection->asked.type;
    return (type == ASKED_QUANTITY || type == ASKED_DURATION || type == ASKED_DATE) && signs->fits < FIT_LEAST;
}

static void grounding_take(struct grounding_work *work, struct claim answer, struct claim sentence,
                           struct grounding *grounding, struct grounding_signs *signs,
                           struct passage places[GROUNDING_SENTENCES])
{
    struct grounded grounded;
    grounding_compare(work, sentence, &grounded);
    if (grounded.other) {
        size_t at = (size_t)(sentence.text - answer.text);
        if (!grounding->other.end)
            grounding->other = (struct span){at + grounded.word.begin, at + grounded.word.end};
        return;
    }
    uint32_t unit = grounding_place(work, sentence, grounded.unit);
    if (unit == NO_TERM)
        return;
    struct claim text = grounding_text(work->evidence, unit);
    struct claim heading = grounding_heading(work->evidence, work->evidence->units[unit].passage);
    places[grounding->found++] = (struct passage){
        .text = text.text, .length = text.length, .heading = heading.text, .heading_length = heading.length};
    grounding_note(work, sentence, unit, signs);
    grounding->echoes &= !grounding_adds(work, sentence, unit);
}

bool grounding_judge(const struct evidence *evidence, struct claim question, struct claim answer,
                     struct grounding *grounding)
{
    struct grounding_work work;
    struct grounding_signs signs = {0};
    struct passage *places = arena_alloc(evidence->arena, GROUNDING_SENTENCES * sizeof *places);
    struct sentence_reader reader;
    struct span span;
    size_t headings = 0;
    *grounding = (struct grounding){.echoes = true};
    if (!places || !grounding_open(evidence, question, &work))
        return false;
    sentences_begin(&reader, answer.text, answer.length);
    while (grounding->sentences < GROUNDING_SENTENCES && sentences_next(&reader, &span)) {
        struct claim sentence = {answer.text + span.begin, span.end - span.begin};
        if (span.end < answer.length && headings < HEADINGS_MAX && grounding_is_heading(evidence, sentence)) {
            headings++;
            continue;
        }
        grounding->sentences++;
        grounding_take(&work, answer, grounding_bare(grounding_untitled(evidence, sentence)), grounding, &signs,
                       places);
    }
    struct evidence *said = evidence_create(evidence->arena, places, grounding->found);
    if (!said)
        return false;
    evidence_cover(said, evidence, question.text, question.length, &grounding->coverage);
    grounding->score = grounding->found ? grounding_score(&work, &signs) : 0;
    grounding->echoes &= grounding->found > 0;
    grounding->misses = grounding->found && grounding_misses(&work, &signs);
    const char *language = work.selection->asked.language;
    double least = strcmp(language, "zh") == 0 || strcmp(language, "ko") == 0 ? SCORE_LEAST : 0;
    bool answers = grounding_knows_language(&work.asked) ? grounding->score >= GROUNDING_ENOUGH : signs.score >= least;
    grounding->completed = (double)grounding->found > FOUND_SHARE * (double)grounding->sentences &&
                           !grounding->other.end && !grounding->echoes && answers;
    return true;
}
