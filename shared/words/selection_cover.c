/* How the best sentence answers the question as a whole: the signs that decide whether it is given at all. */
#include <math.h>
#include <string.h>

#include "words/selection_priv.h"

static void mark_unit(const struct evidence *evidence, const struct query *query, uint32_t unit, uint8_t bits,
                      uint8_t has[QUERY_TERMS_MAX])
{
    for (uint32_t t = evidence->units[unit].terms; t < evidence->units[unit].terms_end; t++) {
        int at = query_find(query, evidence->unit_terms[t]);
        if (at >= 0)
            has[at] |= bits;
    }
}

void selection_mark(const struct evidence *evidence, const struct query *query, uint32_t best, uint32_t end,
                    bool whole_passage, uint8_t has[QUERY_TERMS_MAX])
{
    uint32_t passage = evidence->units[best].passage, first = evidence->firsts[passage];
    memset(has, 0, QUERY_TERMS_MAX);
    if (best == end)
        return;
    for (uint32_t unit = best; unit < end; unit++)
        mark_unit(evidence, query, unit, HAS_SENTENCE | HAS_CONTEXT | HAS_PASSAGE, has);
    uint32_t header = evidence->units[best].header;
    if (header != NO_TERM)
        mark_unit(evidence, query, header, HAS_CONTEXT | HAS_PASSAGE, has);
    else if (best > first)
        mark_unit(evidence, query, best - 1, HAS_CONTEXT | HAS_PASSAGE, has);
    if (evidence->units[first].heading)
        mark_unit(evidence, query, first, HAS_CONTEXT | HAS_PASSAGE, has);
    for (uint32_t unit = first;
         whole_passage && unit < evidence->unit_count && evidence->units[unit].passage == passage; unit++)
        mark_unit(evidence, query, unit, HAS_PASSAGE, has);
}

/* A share of the weight of some terms. */
struct part {
    double has, all;
};

static void cover_add(struct part *part, double weight, bool has)
{
    part->all += weight;
    part->has += has ? weight : 0;
}

static double cover_share(const struct part *part, double without)
{
    return part->all > 0 ? part->has / part->all : without;
}

double selection_share_of(const struct question *question, const struct span *span, const uint8_t has[QUERY_TERMS_MAX],
                          uint8_t bits)
{
    struct part part = {0};
    for (size_t i = 0; i < question->terms.count; i++) {
        const struct query_term *term = &question->terms.terms[i];
        if (!term->stop_word && term->begin >= span->begin && term->end <= span->end)
            cover_add(&part, term->weight, has[i] & bits);
    }
    return cover_share(&part, FIT_UNKNOWN);
}

/* A word with a capital letter that does not begin the question, or a word of Katakana. */
static bool selection_cover_is_name(const struct question *question, const struct query_term *term)
{
    const char *text = question->text + term->begin;
    bool capital = text[0] >= 'A' && text[0] <= 'Z' && term->begin > 0;
    bool katakana = term->end - term->begin >= 9 && (unsigned char)text[0] == 0xE3 &&
                    ((unsigned char)text[1] == 0x82 || (unsigned char)text[1] == 0x83) &&
                    !((unsigned char)text[1] == 0x82 && (unsigned char)text[2] < 0xA1);
    return capital || katakana;
}

void selection_cover(const struct evidence *evidence, const struct question *question, struct selection *selection)
{
    uint8_t has[QUERY_TERMS_MAX];
    struct part sentence = {0}, context = {0}, passage = {0}, all = {0}, names = {0}, near_names = {0}, numbers = {0};
    struct part runs = {0};
    double heaviest = 0, lacking = 0, sum = 0;
    const struct query_term *last = NULL;
    size_t count = 0;
    bool last_has = false;
    selection_mark(evidence, &question->terms, selection->list[0].unit, selection->list[0].end, true, has);
    for (size_t i = 0; i < question->terms.count; i++) {
        const struct query_term *term = &question->terms.terms[i];
        double weight = term->weight;
        if (term->stop_word)
            continue;
        count++;
        cover_add(&sentence, weight, has[i] & HAS_SENTENCE);
        cover_add(&context, weight, has[i] & HAS_CONTEXT);
        cover_add(&passage, weight, has[i] & HAS_PASSAGE);
        cover_add(&all, weight, term->id != NO_TERM);
        heaviest = weight > heaviest ? weight : heaviest;
        if (!(has[i] & HAS_PASSAGE) && weight > lacking)
            lacking = weight;
        if (selection_cover_is_name(question, term)) {
            cover_add(&names, weight, has[i] & HAS_PASSAGE);
            cover_add(&near_names, weight, has[i] & HAS_CONTEXT);
        }
        if (term->exact)
            cover_add(&numbers, weight, has[i] & HAS_PASSAGE);
        if (last && term->begin < last->end + NEAR_BYTES)
            cover_add(&runs, weight < last->weight ? weight : last->weight, last_has && (has[i] & HAS_SENTENCE));
        last = term;
        last_has = has[i] & HAS_SENTENCE;
    }
    for (size_t i = 0; i < selection->count; i++)
        sum += exp(selection->list[i].chosen.score - selection->list[0].chosen.score);
    double *covers = selection->covers;
    covers[COVER_SENTENCE] = cover_share(&sentence, 0);
    covers[COVER_CONTEXT] = cover_share(&context, 0);
    covers[COVER_PASSAGE] = cover_share(&passage, 0);
    covers[COVER_ALL] = cover_share(&all, 0);
    covers[COVER_RARE] = heaviest > 0 ? lacking / heaviest : 1;
    covers[COVER_NAMES] = cover_share(&names, 1);
    covers[COVER_NAMES_CONTEXT] = cover_share(&near_names, 1);
    covers[COVER_NUMBERS] = cover_share(&numbers, 1);
    covers[COVER_RUNS] = cover_share(&runs, 0);
    covers[COVER_FIT_NUMBER] = selection->list[0].signs[SIGN_FIT_NUMBER];
    covers[COVER_FIT_NAME] = selection->list[0].signs[SIGN_FIT_NAME];
    covers[COVER_FIT_OTHER] = selection->list[0].signs[SIGN_FIT_OTHER];
    covers[COVER_FIT_IDENTIFIER] = selection->list[0].signs[SIGN_FIT_IDENTIFIER];
    covers[COVER_FOCUS] = selection->list[0].signs[SIGN_FOCUS];
    covers[COVER_SUBJECT] = selection->list[0].signs[SIGN_SUBJECT];
    covers[COVER_FOCUS_PASSAGE] = selection_share_of(question, &question->asked.focus, has, HAS_PASSAGE);
    covers[COVER_SUBJECT_PASSAGE] = selection_share_of(question, &question->asked.subject, has, HAS_PASSAGE);
    covers[COVER_CLEAR] = 1 / sum;
    covers[COVER_TERMS] = log(1 + (double)count);
}
