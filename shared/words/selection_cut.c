/* Which of the ranked sentences are given. A score is a logarithm of odds: exp(score), as a share of the sum over all
 * sentences, says how probable it is that the sentence answers. */
#include <math.h>
#include <string.h>

#include "words/selection_priv.h"
#include "words/sentences_priv.h"

#define CLEAR       0.9  /* the share of the sentences that are given, from which no other is added */
#define LEAST       0.12 /* of the best sentence's odds that a further sentence must have */
#define LEAST_OTHER 0.8  /* ... from another document, or beside steps */
#define ALIKE_MOST  0.8  /* the weight that a sentence may have in common with one that is given, of the lighter one */
#define ITEMS_MAX   12   /* of a list */
#define NAMES_LEAST 0.08 /* the share of the question that a heading must add to stand before a sentence */
#define HEADING_MAX 96   /* bytes of a heading before a sentence */

struct cutting {
    const struct evidence *evidence;
    const struct selection_terms *terms;
    struct query query;
    uint32_t units[PICKED_MAX];
    struct picked *picked;
    double weights[PICKED_MAX]; /* of their terms */
    uint16_t *given_in;         /* of each term: a bit for each unit that has it */
    size_t count, bytes;
};

/* ---- lists ------------------------------------------------------------------------------------------------------- */

static bool leads_in(const struct evidence *evidence, uint32_t unit)
{
    const struct span *span = &evidence->units[unit].span;
    return sentences_announce(evidence->passages[evidence->units[unit].passage].text + span->begin,
                              span->end - span->begin);
}

/* ---- the selected text ------------------------------------------------------------------------------------------- */

static size_t selection_cut_size_of(const struct evidence *evidence, uint32_t unit)
{
    return evidence->units[unit].span.end - evidence->units[unit].span.begin;
}

static double selection_cut_weight_of(const struct evidence *evidence, uint32_t term)
{
    return evidence_weight(evidence, evidence->terms[term].count, evidence->terms[term].stop_word);
}

/* Whether the sentence, or nearly all of it, is given already. */
static bool is_given(const struct cutting *cutting, uint32_t unit)
{
    const struct evidence *evidence = cutting->evidence;
    const struct unit *at = &evidence->units[unit];
    double common[PICKED_MAX] = {0}, own = 0;
    for (uint32_t t = at->terms; t < at->terms_end; t++) {
        uint32_t term = evidence->unit_terms[t];
        double weight = selection_cut_weight_of(evidence, term);
        own += weight;
        for (size_t i = 0; i < cutting->count; i++)
            common[i] += cutting->given_in[term] >> i & 1 ? weight : 0;
    }
    for (size_t i = 0; i < cutting->count; i++) {
        double lighter = own < cutting->weights[i] ? own : cutting->weights[i];
        if (cutting->units[i] == unit || common[i] >= ALIKE_MOST * lighter)
            return true;
    }
    return false;
}

/* Whether the sentence was given as part of a list. */
static bool is_in_given_list(const struct cutting *cutting, uint32_t unit)
{
    for (size_t i = 0; i < cutting->count; i++)
        if (cutting->units[i] == unit)
            return true;
    return false;
}

/* Once. False: the answer is full. */
static bool selection_cut_give(struct cutting *cutting, uint32_t unit, bool item)
{
    const struct unit *at = &cutting->evidence->units[unit];
    size_t size = selection_cut_size_of(cutting->evidence, unit);
    for (size_t i = 0; i < cutting->count; i++)
        if (cutting->units[i] == unit)
            return true;
    if (cutting->count == PICKED_MAX || (cutting->count && cutting->bytes + size > cutting->terms->bytes_max))
        return false;
    cutting->units[cutting->count] = unit;
    cutting->weights[cutting->count] = 0;
    for (uint32_t t = at->terms; t < at->terms_end; t++) {
        uint32_t term = cutting->evidence->unit_terms[t];
        cutting->given_in[term] |= (uint16_t)(1U << cutting->count);
        cutting->weights[cutting->count] += selection_cut_weight_of(cutting->evidence, term);
    }
    cutting->picked[cutting->count++] = (struct picked){.passage = at->passage, .span = at->span, .item = item};
    cutting->bytes += size;
    return true;
}

static void give_items(struct cutting *cutting, uint32_t first)
{
    uint32_t unit = first;
    for (size_t items = 0; items < ITEMS_MAX; unit++) {
        bool item = selection_is_item(cutting->evidence, unit);
        if ((unit != first && !selection_are_beside(cutting->evidence, unit - 1, unit)) || (unit == first && !item))
            return;
        /* A sentence without a mark ends the list unless it stands in the line of its item, or an item follows. */
        if (!item && !selection_continues_item(cutting->evidence, unit) &&
            !(selection_are_beside(cutting->evidence, unit, unit + 1) &&
              selection_is_item(cutting->evidence, unit + 1)))
            return;
        if (!selection_cut_give(cutting, unit, item))
            return;
        items += item;
        if (unit + 1 >= cutting->evidence->unit_count)
            return;
    }
}

/* Whether a list that is given from `first` on gives `unit` before it comes to a limit. */
static bool items_reach(const struct cutting *cutting, uint32_t first, uint32_t unit, size_t lead)
{
    size_t items = 0, bytes = cutting->bytes + lead, count = cutting->count + (lead > 0);
    for (uint32_t at = first; at < unit; at++) {
        items += selection_is_item(cutting->evidence, at);
        bytes += selection_cut_size_of(cutting->evidence, at);
    }
    return items < ITEMS_MAX && count + (unit - first) < PICKED_MAX &&
           bytes + selection_cut_size_of(cutting->evidence, unit) <= cutting->terms->bytes_max;
}

/* A row of a table, to the end of its line, below the header. */
static void give_row(struct cutting *cutting, uint32_t unit)
{
    const struct unit *at = &cutting->evidence->units[unit];
    const struct passage *passage = &cutting->evidence->passages[at->passage];
    size_t given = cutting->count;
    if (!selection_cut_give(cutting, at->header, true) || !selection_cut_give(cutting, unit, true))
        return;
    for (size_t i = given; i < cutting->count; i++)
        cutting->picked[i].row = true;
    struct span *span = &cutting->picked[cutting->count - 1].span;
    const char *end = memchr(passage->text + span->end, '\n', passage->length - span->end);
    size_t line_end = end ? (size_t)(end - passage->text) : passage->length;
    span->end = cutting->bytes + (line_end - span->end) <= cutting->terms->bytes_max ? line_end : span->end;
}

/* "Then restart it:" and the lines of code below it. */
static void give_code(struct cutting *cutting, uint32_t unit)
{
    uint32_t end = selection_code_end(cutting->evidence, unit);
    bool room = selection_cut_give(cutting, unit, false);
    for (uint32_t line = unit + 1; room && line < end; line++) {
        size_t before = cutting->count;
        room = selection_cut_give(cutting, line, true);
        for (size_t i = before; i < cutting->count; i++)
            cutting->picked[i].row = true;
    }
}

/* A sentence, or the whole list that it belongs to. Of a longer list it gives the items up to this one. */
static void give_whole(struct cutting *cutting, uint32_t unit)
{
    const struct evidence *evidence = cutting->evidence;
    uint32_t first = unit, end;
    if (evidence->units[unit].header != NO_TERM) {
        give_row(cutting, unit);
        return;
    }
    bool listed = cutting->terms->lists && selection_list_of(evidence, unit, &first, &end);
    if (!listed && leads_in(evidence, unit) && selection_code_end(evidence, unit) > unit + 1) {
        give_code(cutting, unit);
        return;
    }
    if (!listed && leads_in(evidence, unit) && selection_are_beside(evidence, unit, unit + 1)) {
        if (selection_cut_give(cutting, unit, false))
            give_items(cutting, unit + 1);
        return;
    }
    if (!listed) {
        selection_cut_give(cutting, unit, false);
        return;
    }
    bool led = first > 0 && selection_are_beside(evidence, first - 1, first) && leads_in(evidence, first - 1);
    uint32_t begin = first;
    while (first < unit && (!selection_is_item(evidence, first) ||
                            !items_reach(cutting, first, unit, led ? selection_cut_size_of(evidence, begin - 1) : 0)))
        first++;
    if (led)
        selection_cut_give(cutting, begin - 1, false);
    give_items(cutting, first);
}

/* ---- the subject ------------------------------------------------------------------------------------------------- */

/* The weight of the question's terms that this part of a heading has and the sentence has not. */
static double heading_adds(const struct cutting *cutting, uint32_t unit, const char *text, size_t length)
{
    const struct evidence *evidence = cutting->evidence;
    const struct unit *at = &evidence->units[unit];
    struct term_reader reader;
    struct term term;
    double weight = 0;
    terms_begin(&reader, text, length);
    while (terms_next(&reader, &term)) {
        uint32_t id = evidence_term(evidence, term_hash(term.text, term.length));
        int asked = id == NO_TERM || term.stop_word ? -1 : query_find(&cutting->query, id);
        bool own = false;
        for (uint32_t t = at->terms; asked >= 0 && t < at->terms_end && !own; t++)
            own = evidence->unit_terms[t] == id;
        if (asked >= 0 && !own)
            weight += cutting->query.terms[asked].weight;
    }
    return weight;
}

/* The part of "A > B > C" that adds most, the last one of several; always the last part above a list without a lead. */
static void name_subject(struct cutting *cutting, const struct selected *selected, struct picked *picked)
{
    const struct passage *passage = &cutting->evidence->passages[picked->passage];
    bool adds_little =
        selected->signs[SIGN_HEADING] < NAMES_LEAST || selected->signs[SIGN_HEADING] < selected->signs[SIGN_BEFORE];
    bool always = picked->item && !picked->row;
    double most = 0;
    if ((adds_little && !always) || !passage->heading)
        return;
    for (size_t begin = 0; begin < passage->heading_length;) {
        const char *bar = memmem(passage->heading + begin, passage->heading_length - begin, " > ", 3);
        size_t end = bar ? (size_t)(bar - passage->heading) : passage->heading_length;
        const char *part = passage->heading + begin;
        double adds = end - begin <= HEADING_MAX ? heading_adds(cutting, selected->unit, part, end - begin) : 0;
        bool asks = end > begin && (part[end - begin - 1] == '?' ||
                                    (end - begin >= 3 && memcmp(passage->heading + end - 3, "？", 3) == 0));
        if (((adds > 0 && adds >= most) || always) && end - begin <= HEADING_MAX && !asks) {
            most = adds;
            picked->heading = (struct span){begin, end};
        }
        begin = end + 3;
    }
}

/* ---- the cut ----------------------------------------------------------------------------------------------------- */

static bool is_other_document(const struct evidence *evidence, const struct selected *one, const struct selected *other)
{
    const struct passage *a = &evidence->passages[one->chosen.passage], *b = &evidence->passages[other->chosen.passage];
    return one->chosen.passage != other->chosen.passage && (a->document == 0 || a->document != b->document);
}

/* A heading that asks is a question with its answer below, which is read from its beginning. */
static bool answers_heading(const struct evidence *evidence, size_t passage)
{
    const struct passage *at = &evidence->passages[passage];
    static const char wide[] = "？";
    return at->heading_length > sizeof(wide) &&
           (at->heading[at->heading_length - 1] == '?' ||
            memcmp(at->heading + at->heading_length - (sizeof(wide) - 1), wide, sizeof(wide) - 1) == 0);
}

/* Whether the best sentence is a later step of an instruction in prose: "First … Then … Finally …" is given in order.
 */
static bool follows_on(const struct evidence *evidence, const struct selected *best)
{
    static const char *const begins[] = {"Then ",  "Next",   "After that", "Finally", "次に",
                                         "その後", "続いて", "最後に",     "それから"};
    const char *text = evidence->passages[best->chosen.passage].text + best->chosen.span.begin;
    size_t length = best->chosen.span.end - best->chosen.span.begin;
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (length > strlen(begins[i]) && memcmp(text, begins[i], strlen(begins[i])) == 0)
            return true;
    return false;
}

/* The heading stays before the first sentence. */
static void sort_answer(struct picked *picked, size_t count)
{
    struct span heading = picked[0].heading;
    picked[0].heading = (struct span){0, 0};
    for (size_t i = 1; i < count && picked[i].passage == picked[0].passage; i++) {
        struct picked next = picked[i];
        size_t at = i;
        for (; at > 0 && picked[at - 1].span.begin > next.span.begin; at--)
            picked[at] = picked[at - 1];
        picked[at] = next;
    }
    picked[0].heading = heading;
}

size_t selection_cut(const struct evidence *evidence, const char *question, size_t length,
                     const struct selection *selection, const struct selection_terms *terms,
                     struct picked picked[PICKED_MAX])
{
    struct cutting cutting = {.evidence = evidence, .terms = terms, .picked = picked};
    const struct selected *best = selection->list;
    double sum = 0, given = 0;
    size_t sentences = 0;
    bool steps = false; /* the best sentence was given with its list */
    query_read(evidence, evidence, question, length, &cutting.query);
    cutting.given_in = arena_zalloc(evidence->arena, evidence->term_count * sizeof(*cutting.given_in));
    if (cutting.given_in == NULL)
        return 0;
    for (size_t i = 0; i < selection->count; i++)
        sum += exp(selection->list[i].chosen.score - best->chosen.score);
    for (size_t i = 0; i < selection->count && sentences < terms->sentences_max; i++) {
        const struct selected *next = &selection->list[i];
        double odds = exp(next->chosen.score - best->chosen.score);
        size_t before = cutting.count;
        if (i > 0 && (given >= CLEAR * sum || odds < (steps ? LEAST_OTHER : LEAST)))
            break;
        if (i > 0 && is_in_given_list(&cutting, next->unit)) {
            given += odds;
            continue;
        }
        if (i > 0 &&
            ((odds < LEAST_OTHER && is_other_document(evidence, best, next)) || is_given(&cutting, next->unit)))
            continue;
        give_whole(&cutting, next->unit);
        if (cutting.count == before)
            break;
        if (i == 0 && (cutting.count == 1 || picked[0].item))
            name_subject(&cutting, next, &picked[0]);
        steps |= i == 0 && cutting.count > 1 && selection->asked.type == ASKED_HOW;
        given += odds;
        sentences++;
    }
    bool ordered = selection->asked.type == ASKED_HOW && selection->count && follows_on(evidence, best);
    if (cutting.count && (ordered || answers_heading(evidence, picked[0].passage)))
        sort_answer(picked, cutting.count);
    return cutting.count;
}
