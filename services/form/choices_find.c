#include "form/choices.h"

#include <string.h>

#include "words/words.h"

#define TERMS_MAX 512 /* of an answer and of the labels; further terms are ignored */

/* ---- by their own words ------------------------------------------------------------------------------------------ */

/* "a" and "i" are choices only as capitals or as the whole answer. */
static bool choice_is_word(const struct reading *in, size_t first, size_t end)
{
    if (end - first != 1 || !code_is_latin(code_at(in, first)))
        return false;
    char letter = in->in.text[in->in.at[first].begin];
    bool capital = letter >= 'A' && letter <= 'Z', alone = skip_spaces(in, 0) == first && in->in.count <= end + 1;
    bool sentence = first == 0 || sentence_begin(in, first) == first;
    return !alone && (!capital || letter == 'I' || (letter == 'A' && sentence));
}

static bool choices_by_words(const struct reading *in, struct choices_found *found)
{
    struct name_found *names = arena_alloc(in->arena, CHOICES_FOUND_MAX * sizeof(*names));
    if (!names)
        return false;
    size_t count = names_find(in->form->names, &in->in, in->arena, names, CHOICES_FOUND_MAX);
    if (count == SIZE_MAX)
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct form_word *word = &in->form->words[names[i].tag];
        if (word->field != in->field || word->choice < 0 || choice_is_word(in, names[i].first, names[i].end))
            continue;
        found->list[found->count++] = (struct choice_found){.choice = (size_t)word->choice,
                                                            .first = names[i].first,
                                                            .end = names[i].end,
                                                            .denied = reading_denies(in, names[i].first, names[i].end)};
        for (size_t c = names[i].first; c < names[i].end; c++)
            found->covered[c] = true;
    }
    return true;
}

/* A label or a value that is the whole answer, however long. */
static bool choices_by_whole(const struct reading *in, struct choices_found *found)
{
    const char *text = reading_copy(in, 0, in->in.count);
    if (!text)
        return false;
    if (in->in.length > 600)
        return true;
    for (size_t i = 0; i < in->spec->n_choices && found->count == 0; i++) {
        const Renga__V1__FieldChoice *choice = in->spec->choices[i];
        if (!names_equal(in->arena, text, choice->value) && !names_equal(in->arena, text, choice->label))
            continue;
        found->list[found->count++] = (struct choice_found){.choice = i, .end = in->in.count};
        for (size_t c = 0; c < in->in.count; c++)
            found->covered[c] = true;
    }
    return !in->arena->exhausted;
}

/* ---- by their place ---------------------------------------------------------------------------------------------- */

static size_t figure_at(const struct reading *in, size_t i, size_t *value)
{
    size_t end = i;
    for (*value = 0; code_is_digit(code_at(in, end)) && end - i < 3; end++)
        *value = *value * 10 + (code_at(in, end) - '0');
    return code_is_digit(code_at(in, end)) ? i : end;
}

/* A place that begins at `i`, counted from 1: its end, or 0. */
static size_t place_at(const struct reading *in, size_t i, size_t *place)
{
    static const char *const words[] = {
        "the first",    "the second",    "the third",    "the fourth", "the fifth",    "first one",
        "second one",   "third one",     "fourth one",   "fifth one",  "first option", "second option",
        "third option", "fourth option", "fifth option", "一番目",     "二番目",       "三番目",
        "四番目",       "五番目",        "ひとつ目",     "ふたつ目",   "みっつ目",     "よっつ目",
        "いつつ目",     "一つ目",        "二つ目",       "三つ目",     "四つ目",       "五つ目",
        "最初の",       "二番",          "三番",         "四番",       "五番",         NULL};
    static const char *const lasts[] = {"the last", "last one", "最後の", "最後", NULL};
    static const char *const leads[] = {"number", "option", "no.", "#", "choice", NULL};
    static const size_t places[] = {1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2, 3,
                                    4, 5, 1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2, 3, 4, 5};
    size_t which, end = words_at(in, i, words, &which);
    if (end) {
        *place = places[which];
        size_t one = words_at(in, skip_spaces(in, end),
                              (const char *const[]){"one", "option", "choice", "もの", "やつ", NULL}, NULL);
        return one ? one : end;
    }
    if ((end = words_at(in, i, lasts, NULL)) != 0) {
        *place = in->spec->n_choices;
        size_t one =
            words_at(in, skip_spaces(in, end), (const char *const[]){"one", "option", "もの", "やつ", NULL}, NULL);
        return one ? one : end;
    }
    size_t lead = words_at(in, i, leads, NULL), at = lead ? skip_spaces(in, lead) : i;
    end = figure_at(in, at, place);
    if (end == at || (i > 0 && code_is_digit(code_at(in, i - 1))))
        return 0;
    size_t behind =
        words_at(in, end, (const char *const[]){"番目", "番", "つ目", "つめ", "st", "nd", "rd", "th", NULL}, NULL);
    if (lead || behind)
        return behind ? behind : end;
    return 0;
}

/* "2" is the second choice only if it is the whole answer and no choice contains a digit. */
static bool choices_have_figures(const struct reading *in)
{
    for (size_t i = 0; i < in->spec->n_choices; i++) {
        const char *text = in->spec->choices[i]->label[0] ? in->spec->choices[i]->label : in->spec->choices[i]->value;
        if (strpbrk(text, "0123456789") || strstr(text, "０") || strstr(text, "１"))
            return true;
        const char *value = in->spec->choices[i]->value;
        if (strpbrk(value, "0123456789"))
            return true;
    }
    return false;
}

static void choices_by_place(const struct reading *in, struct choices_found *found)
{
    size_t place, first = skip_spaces(in, 0), end = figure_at(in, first, &place);
    size_t behind = end;
    while (is_space(code_at(in, behind)) || code_at(in, behind) == '.' || code_at(in, behind) == 0x3002)
        behind++;
    if (choices_have_figures(in))
        return;
    if (end > first && (behind >= in->in.count || word_at(in, behind, "です")) && place >= 1 &&
        place <= in->spec->n_choices) {
        found->list[found->count++] = (struct choice_found){.choice = place - 1, .first = first, .end = end};
        for (size_t c = first; c < end; c++)
            found->covered[c] = true;
        return;
    }
    for (size_t i = 0; i < in->in.count && found->count < CHOICES_FOUND_MAX;) {
        end = place_at(in, i, &place);
        if (end && place >= 1 && place <= in->spec->n_choices) {
            found->list[found->count++] = (struct choice_found){
                .choice = place - 1, .first = i, .end = end, .denied = reading_denies(in, i, end)};
            for (size_t c = i; c < end; c++)
                found->covered[c] = true;
        }
        i = end ? end : i + 1;
    }
    if (!reading_is_filler(in, 0, in->in.count, found->covered)) /* "the first time I used it" */
        found->count = 0;
}

/* ---- by a part of their label ------------------------------------------------------------------------------------ */

struct choice_term {
    char text[32];
    size_t choice;
};

/* Strong words and pairs of all labels. */
static size_t choice_terms(const struct reading *in, struct choice_term *terms)
{
    size_t count = 0;
    for (size_t i = 0; i < in->spec->n_choices; i++) {
        const Renga__V1__FieldChoice *choice = in->spec->choices[i];
        const char *label = choice->label[0] ? choice->label : choice->value;
        struct term_reader reader;
        struct term term;
        terms_begin(&reader, label, strlen(label));
        while (count < TERMS_MAX && terms_next(&reader, &term)) {
            bool strong = !term.stop_word && term.length < sizeof(terms->text) && term.length > 2 &&
                          (term.kind == TERM_WORD || term.kind == TERM_PAIR || term.kind == TERM_KATAKANA);
            if (!strong)
                continue;
            memcpy(terms[count].text, term.text, term.length + 1);
            terms[count++].choice = i;
        }
    }
    return count;
}

static size_t character_at_byte(const struct reading *in, size_t byte)
{
    size_t low = 0, high = in->in.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (in->in.at[middle].begin < byte)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Only if the answer consists of parts of labels and words of filler. */
static bool choices_by_part(const struct reading *in, struct choices_found *found, bool *shares)
{
    struct choice_term *terms = arena_alloc(in->arena, TERMS_MAX * sizeof(*terms));
    unsigned *hits = arena_zalloc(in->arena, in->spec->n_choices * sizeof(*hits));
    size_t said = 0, first = in->in.count, end = 0;
    struct term_reader reader;
    struct term term;
    *shares = false;
    if (!terms || !hits)
        return false;
    size_t count = in->in.length < 400 ? choice_terms(in, terms) : 0;
    terms_begin(&reader, in->in.text, in->in.length);
    while (count > 0 && said < TERMS_MAX && terms_next(&reader, &term)) {
        bool known = false;
        for (size_t i = 0; i < count; i++) {
            if (strcmp(terms[i].text, term.text) == 0) {
                hits[terms[i].choice]++;
                known = true;
            }
        }
        if (!known)
            continue;
        said++;
        size_t from = character_at_byte(in, term.begin), to = character_at_byte(in, term.end);
        first = from < first ? from : first;
        end = to > end ? to : end;
        for (size_t c = from; c < to; c++)
            found->covered[c] = true;
    }
    if (said == 0 || !reading_is_filler(in, 0, in->in.count, found->covered))
        return true;
    size_t best = 0, ties = 0;
    for (size_t i = 0; i < in->spec->n_choices; i++) {
        ties = hits[i] > hits[best] ? 0 : ties + (hits[i] == hits[best] && i != best);
        best = hits[i] > hits[best] ? i : best;
    }
    *shares = ties > 0;
    if (ties == 0 && !reading_denies(in, first, end))
        found->list[found->count++] = (struct choice_found){.choice = best, .first = first, .end = end};
    return true;
}

/* Whether the rest of the answer has a part of another choice's label: "the laptop and a tab" may mean both. */
static bool choices_shared(const struct reading *in, const struct choices_found *found, bool *shares)
{
    struct choice_term *terms = arena_alloc(in->arena, TERMS_MAX * sizeof(*terms));
    struct term_reader reader;
    struct term term;
    size_t said = 0;
    if (!terms)
        return false;
    size_t count = in->in.length < 400 ? choice_terms(in, terms) : 0;
    terms_begin(&reader, in->in.text, in->in.length);
    while (count > 0 && said++ < TERMS_MAX && terms_next(&reader, &term)) {
        bool own = found->covered[character_at_byte(in, term.begin)], other = false;
        for (size_t i = 0; i < count && !own; i++) {
            if (strcmp(terms[i].text, term.text) != 0)
                continue;
            other = true;
            for (size_t f = 0; f < found->count; f++)
                own = own || found->list[f].choice == terms[i].choice;
        }
        *shares = *shares || (other && !own);
    }
    return true;
}

bool choices_find(const struct reading *in, struct choices_found *found, bool *shares)
{
    found->count = 0;
    *shares = false;
    found->covered = arena_zalloc(in->arena, in->in.count + 1);
    if (!found->covered || !choices_by_words(in, found) || (found->count == 0 && !choices_by_whole(in, found)))
        return false;
    if (found->count == 0)
        choices_by_place(in, found);
    return found->count > 0 ? choices_shared(in, found, shares) : choices_by_part(in, found, shares);
}
