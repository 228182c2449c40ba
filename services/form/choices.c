/* CHOICE and CHOICES: which of the choices in an answer the person means. */
#include "form/choices.h"

#include <string.h>

#include "json/writer.h"

/* "the laptop would be wrong", "instead of": words with which a choice may stand without being chosen. */
static const char *const against[] = {
    "lost",   "broke",     "broken", "hate",   "dislike",    "instead",  "unless",     "if",      "depends",
    "either", "whichever", "any",    "don't",  "doesn't",    "didn't",   "not",        "never",   "can't",
    "cannot", "won't",     "isn't",  "wasn't", "without",    "except",   "other than", "used to", "neither",
    "以外",   "ない",      "ません", "嫌",     "どちらでも", "どれでも", "どっちでも", "なくし",  "壊れ",
    "もし",   "なら",      "たら",   "かも",   "かもしれ",   "迷",       NULL};

static bool says_against(const struct reading *in, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        if (words_at(in, i, against, NULL))
            return true;
    }
    return false;
}

/* Whether a different choice is live: a word such as "A" of two rows fits both choices. The same choice twice counts
 * once. */
static bool several_live(const struct choices_found *found, size_t from, size_t choice)
{
    for (size_t i = from; i < found->count; i++) {
        if (!found->list[i].denied && found->list[i].choice != choice)
            return true;
    }
    return false;
}

/* candidates_choose resolves corrections such as "A, no wait, B". */
static struct candidate choice_settle(const struct reading *in, const struct choices_found *found)
{
    struct candidates list = {.count = 0};
    for (size_t i = 0; i < found->count; i++) {
        if (!found->list[i].denied)
            candidate_add(&list, found->list[i].first, found->list[i].end, FORM_FINE,
                          in->spec->choices[found->list[i].choice]->value);
    }
    return candidates_choose(in, &list, FORM_NO_SUCH_CHOICE, FORM_SEVERAL_CHOICES);
}

bool choice_read(const struct reading *in, struct candidate *read)
{
    struct choices_found *found = arena_alloc(in->arena, sizeof(*found));
    bool shares;
    *read = (struct candidate){.problem = FORM_NO_SUCH_CHOICE, .end = in->in.count, .text = ""};
    if (!found || !choices_find(in, found, &shares))
        return false;
    size_t first = 0;
    while (first < found->count && found->list[first].denied)
        first++;
    if (shares)
        read->problem = FORM_SEVERAL_CHOICES;
    if (shares || first == found->count)
        return true;
    *read = choice_settle(in, found);
    if (read->problem != FORM_FINE)
        return true;
    /* A denial of another choice may also deny this choice. */
    size_t begin = sentence_begin(in, read->first), stop = sentence_end(in, read->end);
    bool corrected = several_live(found, first, found->list[first].choice) || found->count > 1;
    bool doubted = says_against(in, begin, read->first) || says_against(in, read->end, stop);
    if (doubted && !corrected)
        *read = (struct candidate){.problem = FORM_NO_SUCH_CHOICE, .end = in->in.count, .text = ""};
    return true;
}

/* ---- several ----------------------------------------------------------------------------------------------------- */

const char *choices_text(const struct reading *in, const bool *chosen)
{
    struct buffer out;
    struct json_writer writer;
    buffer_init(&out, (size_t)1 << 20);
    json_writer_init(&writer, &out);
    json_write_array(&writer, NULL);
    for (size_t i = 0; i < in->spec->n_choices; i++) {
        if (chosen[i])
            json_write_string(&writer, NULL, in->spec->choices[i]->value);
    }
    json_write_end(&writer);
    const char *text = json_writer_done(&writer) ? arena_strndup(in->arena, out.data, out.length) : NULL;
    buffer_fini(&out);
    return text;
}

/* Returns the end of "all of them" or "both" at `i`, or 0. */
static size_t all_at(const struct reading *in, size_t i)
{
    static const char *const words[] = {
        "all",    "all of them", "all of these", "all of the above", "everything", "every one", "全部",
        "ぜんぶ", "すべて",      "全て",         "全部です",         "みんな",     NULL};
    static const char *const both[] = {"both",     "both of them", "両方",     "両方とも",
                                       "どちらも", "2つとも",      "二つとも", NULL};
    size_t end = words_at(in, i, words, NULL);
    if (!end && in->spec->n_choices == 2)
        end = words_at(in, i, both, NULL);
    return end;
}

static size_t none_at(const struct reading *in, size_t i)
{
    static const char *const words[] = {"none",           "none of them", "none of these", "none of the above",
                                        "nothing",        "neither",      "no thanks",     "なし",
                                        "無し",           "特になし",     "ありません",    "ないです",
                                        "特にありません", "どれも",       "いりません",    "要りません",
                                        "不要",           "特に",         "nil",           NULL};
    return words_at(in, i, words, NULL);
}

/* Finds the first word of a kind, and marks all words of that kind as covered. Returns its place. */
static size_t choices_word(const struct reading *in, size_t (*at)(const struct reading *, size_t), bool *covered,
                           size_t *end)
{
    size_t first = SIZE_MAX;
    for (size_t i = 0; i < in->in.count;) {
        size_t after = covered[i] ? 0 : at(in, i);
        if (after && first == SIZE_MAX) {
            first = i;
            *end = after;
        }
        for (size_t c = i; c < after; c++)
            covered[c] = true;
        i = after ? after : i + 1;
    }
    return first;
}

static bool says_except(const struct reading *in)
{
    static const char *const words[] = {"except", "but", "apart from", "other than", "以外", "除", "without", NULL};
    for (size_t i = 0; i < in->in.count; i++) {
        if (words_at(in, i, words, NULL))
            return true;
    }
    return false;
}

static bool choices_settle(const struct reading *in, const bool *chosen, size_t first, size_t end,
                           struct candidate *read)
{
    const Renga__V1__FieldLimits *limits = in->spec->limits;
    int32_t count = 0;
    for (size_t i = 0; i < in->spec->n_choices; i++)
        count += chosen[i];
    *read = (struct candidate){.first = first, .end = end, .problem = FORM_FINE, .text = choices_text(in, chosen)};
    if (limits && count < limits->min_choices)
        read->problem = FORM_FEW_CHOICES;
    else if (limits && limits->max_choices && count > limits->max_choices)
        read->problem = FORM_MANY_CHOICES;
    else if (count == 0 && in->spec->required && !limits)
        read->problem = FORM_FINE;
    return read->text != NULL;
}

/* Whether each part of the answer is explained: "A and a spaceship" is not, unless a reason begins there. */
static bool choices_explained(const struct reading *in, bool *covered)
{
    static const char *const denials[] = {
        "not",        "but",        "but not",  "don't",        "じゃなく", "ではなく", "じゃなくて", "ではなくて",
        "いりません", "要りません", "いらない", "いらないです", "なし",     "抜き",     "以外",       NULL};
    for (size_t i = 0; i < in->in.count; i++) {
        size_t denial = covered[i] ? 0 : words_at(in, i, denials, NULL);
        for (size_t c = i; c < denial; c++)
            covered[c] = true;
    }
    static const char *const reasons[] = {"because", "since", "as i", "so that", "ので", "ため", "なぜなら", NULL};
    size_t end = in->in.count;
    for (size_t i = 0; i < in->in.count && end == in->in.count; i++) {
        if (words_at(in, i, reasons, NULL) && script_of(code_at(in, i)) == SCRIPT_LETTER)
            end = i;
    }
    return reading_is_filler(in, 0, end, covered);
}

bool choices_read(const struct reading *in, struct candidate *read)
{
    struct choices_found *found = arena_alloc(in->arena, sizeof(*found));
    bool *chosen = arena_zalloc(in->arena, in->spec->n_choices + 1);
    bool shares;
    size_t first = in->in.count, end = 0, live = 0, word_end = 0;
    *read = (struct candidate){.problem = FORM_NO_SUCH_CHOICE, .end = in->in.count, .text = ""};
    if (!found || !chosen || !choices_find(in, found, &shares))
        return false;
    for (size_t i = 0; i < found->count; i++) {
        first = found->list[i].first < first ? found->list[i].first : first;
        end = found->list[i].end > end ? found->list[i].end : end;
        live += !found->list[i].denied;
    }
    bool except = says_except(in), asked = reading_asks(in, end);
    size_t all = choices_word(in, all_at, found->covered, &word_end);
    if (all != SIZE_MAX && (found->count == 0 || except) && !asked) {
        bool denied = except || live < found->count;
        for (size_t i = 0; i < in->spec->n_choices; i++)
            chosen[i] = true;
        for (size_t i = 0; denied && i < found->count; i++)
            chosen[found->list[i].choice] = false;
        first = all < first ? all : first;
        end = word_end > end ? word_end : end;
        bool plain = (found->count == 0 && !except) || found->count > 0;
        return plain && !reading_denies(in, all, word_end) ? choices_settle(in, chosen, first, end, read) : true;
    }
    size_t none = choices_word(in, none_at, found->covered, &word_end);
    if (none != SIZE_MAX && found->count == 0 && !asked && reading_is_filler(in, 0, in->in.count, found->covered))
        return choices_settle(in, chosen, none, word_end, read);
    if (shares)
        read->problem = FORM_SEVERAL_CHOICES;
    if (shares || live == 0 || asked || !choices_explained(in, found->covered))
        return true;
    for (size_t i = 0; i < found->count; i++) {
        bool twice = i > 0 && found->list[i].first == found->list[i - 1].first;
        if (twice && found->list[i].choice != found->list[i - 1].choice) {
            read->problem = FORM_SEVERAL_CHOICES;
            return true;
        }
        chosen[found->list[i].choice] = chosen[found->list[i].choice] || !found->list[i].denied;
    }
    for (size_t i = 0; i < found->count; i++) {
        if (found->list[i].denied)
            chosen[found->list[i].choice] = false;
    }
    return choices_settle(in, chosen, first, end, read);
}
