/* The signs of each sentence, and the order of the sentences by their scores. */
#include <math.h>
#include <string.h>

#include "words/selection_priv.h"

/* Sums of weights by unit. */
struct sums {
    double *own, *specific, *runs, *before, *after, *in_heading; /* of each unit */
    double *header;            /* of each row of a table: the terms that its header adds to it and to the heading */
    double *passage, *heading; /* of each passage */
    double all, all_specific, all_runs;
};

static double *zeros(const struct evidence *evidence, size_t count)
{
    return arena_zalloc(evidence->arena, count * sizeof(double));
}

static bool sums_init(const struct evidence *evidence, struct sums *sums)
{
    size_t units = evidence->unit_count, passages = evidence->passage_count;
    *sums = (struct sums){.own = zeros(evidence, units),
                          .specific = zeros(evidence, units),
                          .runs = zeros(evidence, units),
                          .before = zeros(evidence, units),
                          .after = zeros(evidence, units),
                          .in_heading = zeros(evidence, units),
                          .header = zeros(evidence, units),
                          .passage = zeros(evidence, passages),
                          .heading = zeros(evidence, passages)};
    return sums->own && sums->specific && sums->runs && sums->before && sums->after && sums->in_heading &&
           sums->header && sums->passage && sums->heading;
}

/* Whether one of two neighbours is the other one's context: a row of a table is none of the next row. */
static bool selection_is_context(const struct evidence *evidence, uint32_t unit, uint32_t next)
{
    return selection_are_beside(evidence, unit, next) && evidence->units[next].header == NO_TERM;
}

/* The rows below a header that has the term: those that do not have it, unless the heading does. */
static void selection_add_header(const struct evidence *evidence, const struct query_term *term, uint32_t held,
                                 struct sums *sums)
{
    const struct term_entry *entry = &evidence->terms[term->id];
    const uint32_t *holders = evidence->holders + entry->holders;
    uint32_t header = holders[held];
    for (uint32_t unit = header + 2; unit < evidence->unit_count && evidence->units[unit].header == header; unit++) {
        while (held < entry->count && holders[held] < unit)
            held++;
        if (held == entry->count || holders[held] != unit)
            sums->header[unit] += term->weight;
    }
}

/* The holders of a term are in ascending order, and the heading is the first unit of its passage. */
static void selection_add_term(const struct evidence *evidence, const struct query_term *term, struct sums *sums)
{
    const struct term_entry *entry = &evidence->terms[term->id];
    const uint32_t *holders = evidence->holders + entry->holders;
    uint32_t passage = UINT32_MAX, headed = UINT32_MAX;
    for (uint32_t h = 0; h < entry->count; h++) {
        uint32_t unit = holders[h];
        const struct unit *at = &evidence->units[unit];
        if (at->passage != passage)
            sums->passage[at->passage] += term->weight;
        passage = at->passage;
        if (at->heading) {
            sums->heading[passage] += term->weight;
            headed = passage;
            continue;
        }
        sums->own[unit] += term->weight;
        sums->specific[unit] += term->weight * term->weight;
        if (headed == passage)
            sums->in_heading[unit] += term->weight;
        if (headed != passage)
            selection_add_header(evidence, term, h, sums);
        if (unit + 1 < evidence->unit_count && selection_is_context(evidence, unit, unit + 1) &&
            (h + 1 == entry->count || holders[h + 1] != unit + 1))
            sums->before[unit + 1] += term->weight;
        if (unit > 0 && selection_is_context(evidence, unit - 1, unit) && (h == 0 || holders[h - 1] != unit - 1))
            sums->after[unit - 1] += term->weight;
    }
    sums->all += term->weight;
    sums->all_specific += term->weight * term->weight;
}

/* Units that have both terms. */
static void add_run(const struct evidence *evidence, const struct query_term *one, const struct query_term *other,
                    struct sums *sums)
{
    const struct term_entry *first = &evidence->terms[one->id], *second = &evidence->terms[other->id];
    const uint32_t *a = evidence->holders + first->holders, *b = evidence->holders + second->holders;
    double weight = one->weight < other->weight ? one->weight : other->weight;
    for (uint32_t i = 0, k = 0; i < first->count && k < second->count;) {
        if (a[i] == b[k])
            sums->runs[a[i]] += weight;
        if (a[i] < b[k])
            i++;
        else
            k++;
    }
    sums->all_runs += weight;
}

static bool selection_ends_with(const char *text, size_t length, const char *const *ends, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t size = strlen(ends[i]);
        if (length >= size && memcmp(text + length - size, ends[i], size) == 0)
            return true;
    }
    return false;
}

static bool selection_asks(const char *text, size_t length)
{
    static const char *const marks[] = {"?", "？"};
    return selection_ends_with(text, length, marks, sizeof(marks) / sizeof(*marks));
}

static bool selection_is_stopped(const char *text, size_t length)
{
    static const char *const stops[] = {".", "!", "。", "！", ".)", "」", "．", "\"",
                                        "…", "”", "“",  "»",  "』", ")",  "）"};
    return selection_ends_with(text, length, stops, sizeof(stops) / sizeof(*stops));
}

/* Whether the subject of the sentence stands in the sentence before. */
static bool selection_continues(const char *text, size_t length)
{
    static const char *const begins[] = {
        "It ", "Its ", "This ", "These ", "They ", "Their ", "He ", "She ", "His ", "Her ", "Such ", "That ", "Those ",
        "これ", "それ", "この", "その", "同", "彼", "ここ", "そこ", "また", "さらに", "なお", "ただし", "例えば",
        "たとえば", "特に", "おそらく", "したがって", "従って", "つまり", "しかし", "ですが", "For example", "For this",
        "To do ", "Then ", "Instead", "Therefore", "However",
        /* German, French and Spanish */
        "Er ", "Sein ", "Seine", "Ihr ", "Ihre", "Letztere", "Sie ", "Mit ihm ", "Mit ihr ", "Bei ihm ", "In ihm ",
        "In ihr ", "Stattdessen ", "Il ", "Elle ", "Ils ", "Elles ", "Ses ", "Leur", "Celui-ci ", "Celle-ci ", "Él ",
        "Ella ", "Su ", "Sus ",
        /* Chinese */
        "他是", "他在", "他的", "他于", "他曾", "他被", "她", "它", "这", "這", "该", "該", "其中", "其後", "其后",
        "此", "但", "不过", "不過", "另外", "同时", "同時", "因此", "所以", "主要", "之后", "之後", "后来"};
    for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++)
        if (length > strlen(begins[i]) && memcmp(text, begins[i], strlen(begins[i])) == 0)
            return true;
    return false;
}

static double selection_share(double part, double all)
{
    return all > 0 ? part / all : 0;
}

static size_t new_terms(const struct evidence *evidence, const struct query *query, const struct unit *unit)
{
    size_t count = 0;
    for (uint32_t t = unit->terms; t < unit->terms_end; t++)
        count += !evidence->terms[evidence->unit_terms[t]].stop_word && query_find(query, evidence->unit_terms[t]) < 0;
    return count;
}

static void read_signs(const struct evidence *evidence, const struct question *question, const struct sums *sums,
                       struct selected *selected)
{
    const struct unit *unit = &evidence->units[selected->unit];
    const struct passage *passage = &evidence->passages[unit->passage];
    const char *text = passage->text + unit->span.begin;
    size_t length = unit->span.end - unit->span.begin;
    uint32_t at = selected->unit;
    double own = sums->own[at], before = sums->before[at], after = sums->after[at];
    double rest = sums->passage[unit->passage] - own - before - after - sums->header[at];
    double *signs = selected->signs;
    uint32_t first = evidence->firsts[unit->passage];
    signs[SIGN_OWN] = selection_share(own, sums->all);
    signs[SIGN_OWN_BEST] = selection_share(own, question->best_own);
    signs[SIGN_SPECIFIC] = selection_share(sums->specific[at], sums->all_specific);
    signs[SIGN_RUNS] = selection_share(sums->runs[at], sums->all_runs);
    signs[SIGN_BEFORE] = selection_share(before, sums->all);
    signs[SIGN_AFTER] = selection_share(after, sums->all);
    signs[SIGN_PASSAGE] = rest > 0 ? selection_share(rest, sums->all) : 0;
    signs[SIGN_HEADING] =
        selection_share(sums->heading[unit->passage] - sums->in_heading[at] + sums->header[at], sums->all);
    signs[SIGN_SEARCH] = question->best_search > 0 ? passage->score / question->best_search
                                                   : 1 - 0.1 * (unit->passage < 5 ? unit->passage : 5);
    signs[SIGN_TOP] = signs[SIGN_SEARCH] >= 1;
    signs[SIGN_FIT_NUMBER] = signs[SIGN_FIT_NAME] = signs[SIGN_FIT_OTHER] = signs[SIGN_FIT_IDENTIFIER] = FIT_UNKNOWN;
    signs[SIGN_FOCUS] = signs[SIGN_SUBJECT] = FIT_UNKNOWN;
    signs[SIGN_NEW] = log(1 + (double)new_terms(evidence, &question->terms, unit));
    signs[SIGN_LENGTH] = log(1 + (double)length);
    signs[SIGN_ASKS] = selection_asks(text, length);
    signs[SIGN_UNSTOPPED] =
        unit->header == NO_TERM && !selection_is_stopped(text, length) && !selection_asks(text, length);
    signs[SIGN_FIRST] = at == first + (evidence->units[first].heading ? 1 : 0);
    signs[SIGN_CONTINUES] = selection_continues(text, length) ? signs[SIGN_BEFORE] : 0;
    signs[SIGN_ANSWERS_HEADING] = signs[SIGN_FIRST] * signs[SIGN_HEADING];
}

static void selection_weigh(struct selected *selected)
{
    selected->chosen.score = 0;
    for (size_t i = 0; i < SELECTION_SIGNS; i++)
        selected->chosen.score += selected->signs[i] * selection_weights[i];
}

static void selection_insert(struct selection *selection, const struct selected *selected)
{
    size_t at = selection->count++;
    for (; at > 0 && selection->list[at - 1].chosen.score < selected->chosen.score; at--)
        selection->list[at] = selection->list[at - 1];
    selection->list[at] = *selected;
}

/* The best units by the measure that all units are read for. */
struct pool {
    uint32_t units[SELECTED_MAX];
    double scores[SELECTED_MAX];
    size_t count;
};

static void selection_add_to_pool(struct pool *pool, uint32_t unit, double score)
{
    size_t at = pool->count;
    if (at == SELECTED_MAX && score <= pool->scores[at - 1])
        return;
    at -= at == SELECTED_MAX;
    pool->count += pool->count < SELECTED_MAX;
    for (; at > 0 && pool->scores[at - 1] < score; at--) {
        pool->units[at] = pool->units[at - 1];
        pool->scores[at] = pool->scores[at - 1];
    }
    pool->units[at] = unit;
    pool->scores[at] = score;
}

static enum selection_sign sign_of(enum asked_type type)
{
    switch (type) {
    case ASKED_QUANTITY:
    case ASKED_DURATION:
    case ASKED_DATE:
        return SIGN_FIT_NUMBER;
    case ASKED_PERSON:
    case ASKED_PLACE:
    case ASKED_NAME:
        return SIGN_FIT_NAME;
    default:
        return SIGN_FIT_OTHER;
    }
}

/* The weight of the question's terms that the units [unit, end) have, and of those that only the heading has. */
struct step_terms {
    double own, specific, heading;
};

static struct step_terms step_terms_of(const struct evidence *evidence, const struct query *query, uint32_t unit,
                                       uint32_t end)
{
    struct step_terms terms = {0};
    uint8_t has[QUERY_TERMS_MAX], above[QUERY_TERMS_MAX];
    uint32_t first = evidence->firsts[evidence->units[unit].passage];
    selection_mark(evidence, query, unit, end, false, has);
    selection_mark(evidence, query, first, first + evidence->units[first].heading, false, above);
    for (size_t i = 0; i < query->count; i++) {
        double weight = query->terms[i].id == NO_TERM ? 0 : query->terms[i].weight;
        bool own = has[i] & HAS_SENTENCE;
        terms.own += own ? weight : 0;
        terms.specific += own ? weight * weight : 0;
        terms.heading += !own && above[i] & HAS_SENTENCE ? weight : 0;
    }
    return terms;
}

/* Steps are given whole, so they count as one sentence, which needs no full stop. It has half of the words that only
 * other steps than the best one have: long lists have many words. */
static void read_steps(const struct evidence *evidence, const struct question *question, const struct sums *sums,
                       struct selected *selected)
{
    const struct query *query = &question->terms;
    double *signs = selected->signs, own = 0, specific = 0;
    struct step_terms all = step_terms_of(evidence, query, selected->unit, selected->end);
    for (uint32_t unit = selected->unit; unit < selected->end; unit++) {
        own = sums->own[unit] > own ? sums->own[unit] : own;
        specific = sums->specific[unit] > specific ? sums->specific[unit] : specific;
    }
    own = (own + all.own) / 2;
    specific = (specific + all.specific) / 2;
    double rest = sums->passage[selected->chosen.passage] - own;
    signs[SIGN_OWN] = selection_share(own, sums->all);
    signs[SIGN_OWN_BEST] = own < question->best_own ? selection_share(own, question->best_own) : 1;
    signs[SIGN_SPECIFIC] = selection_share(specific, sums->all_specific);
    signs[SIGN_HEADING] = selection_share(all.heading, sums->all);
    signs[SIGN_BEFORE] = signs[SIGN_AFTER] = signs[SIGN_UNSTOPPED] = 0;
    signs[SIGN_PASSAGE] = rest > 0 ? selection_share(rest, sums->all) : 0;
}

#define STEPS_FIT       1   /* of steps, to a question for a method */
#define INSTRUCTS_LEAST 0.6 /* the fit of an item that is an instruction, so that its list has steps */

/* How well a sentence, or the steps that it begins, fits the asked type. */
static struct asked_fit read_fit(const struct evidence *evidence, const struct question *question,
                                 const struct sums *sums, struct selected *selected)
{
    uint32_t first, end;
    const char *text = evidence->passages[selected->chosen.passage].text + selected->chosen.span.begin;
    if (evidence->units[selected->unit].header != NO_TERM)
        return selection_fit_row(evidence, question, selected->unit);
    struct asked_fit fit = asked_fits(&question->asked, question->text, question->length, text,
                                      selected->chosen.span.end - selected->chosen.span.begin);
    if (question->asked.type == ASKED_HOW && selection_code_end(evidence, selected->unit) > selected->unit + 1)
        selected->signs[SIGN_UNSTOPPED] = 0; /* its code is given with it */
    if (question->asked.type != ASKED_HOW ||
        !selection_steps_of(evidence, selected->unit, fit.type >= INSTRUCTS_LEAST, &first, &end))
        return fit;
    fit.type = STEPS_FIT;
    if (first == selected->unit) {
        selected->end = end;
        read_steps(evidence, question, sums, selected);
    }
    return fit;
}

/* Only sentences that are good otherwise are read for the asked type. */
static void rank_pool(const struct evidence *evidence, const struct question *question, const struct sums *sums,
                      const struct pool *pool, struct selection *selection)
{
    const struct asked *asked = &question->asked;
    uint8_t has[QUERY_TERMS_MAX];
    for (size_t i = 0; i < pool->count; i++) {
        const struct unit *unit = &evidence->units[pool->units[i]];
        struct selected selected = {.unit = pool->units[i],
                                    .end = pool->units[i] + 1,
                                    .chosen = {.passage = unit->passage, .span = unit->span}};
        read_signs(evidence, question, sums, &selected);
        struct asked_fit fit = read_fit(evidence, question, sums, &selected);
        bool identifies = fit.identifier < FIT_UNKNOWN || fit.identifier > FIT_UNKNOWN;
        double known = identifies ? fit.identifier : fit.type;
        selected.signs[identifies ? SIGN_FIT_IDENTIFIER : sign_of(asked->type)] = known;
        selection_mark(evidence, &question->terms, selected.unit, selected.end, false, has);
        selected.signs[SIGN_FOCUS] = selection_share_of(question, &asked->focus, has, HAS_SENTENCE);
        selected.signs[SIGN_SUBJECT] = (selection_share_of(question, &asked->subject, has, HAS_SENTENCE) +
                                        selection_share_of(question, &asked->subject, has, HAS_CONTEXT)) /
                                       2;
        selected.signs[SIGN_FIT_OWN] = (known - FIT_UNKNOWN) * selected.signs[SIGN_OWN];
        selected.signs[SIGN_FIT_BEFORE] = (known - FIT_UNKNOWN) * selected.signs[SIGN_BEFORE];
        selection_weigh(&selected);
        selection_insert(selection, &selected);
    }
}

/* Whether more than half of the term lies in a question word. */
static bool is_question_word(const struct asked *asked, const struct query_term *term)
{
    for (size_t i = 0; i < asked->word_count; i++) {
        const struct span *word = &asked->words[i];
        size_t begin = word->begin > term->begin ? word->begin : term->begin;
        size_t end = word->end < term->end ? word->end : term->end;
        if (end > begin && 2 * (end - begin) > term->end - term->begin)
            return true;
    }
    return false;
}

static void selection_read_question(const struct evidence *evidence, struct question *question)
{
    struct query *terms = &question->terms;
    asked_read(question->text, question->length, &question->asked);
    query_read(evidence, evidence, question->text, question->length, terms);
    for (size_t i = 0; i < terms->count; i++) {
        struct query_term *term = &terms->terms[i];
        if (!is_question_word(&question->asked, term))
            continue;
        terms->weight -= term->weight;
        term->weight = 0;
        term->stop_word = true;
        term->exact = false;
    }
}

bool selection_rank(const struct evidence *evidence, const char *question, size_t length, struct selection *selection)
{
    struct question asked = {.text = question, .length = length};
    struct pool pool = {.count = 0};
    struct sums sums;
    *selection = (struct selection){.count = 0};
    selection_read_question(evidence, &asked);
    selection->asked = asked.asked;
    if (asked.terms.weight <= 0 || evidence->unit_count == 0)
        return true;
    if (!sums_init(evidence, &sums))
        return false;
    const struct query_term *last = NULL;
    for (size_t i = 0; i < asked.terms.count; i++) {
        const struct query_term *term = &asked.terms.terms[i];
        if (term->id == NO_TERM)
            continue;
        selection_add_term(evidence, term, &sums);
        if (term->stop_word)
            continue;
        if (last && term->begin < last->end + NEAR_BYTES)
            add_run(evidence, last, term, &sums);
        last = term;
    }
    for (size_t i = 0; i < evidence->unit_count; i++)
        if (!evidence->units[i].heading && sums.own[i] > asked.best_own)
            asked.best_own = sums.own[i];
    for (size_t i = 0; i < evidence->passage_count; i++)
        if (evidence->passages[i].score > asked.best_search)
            asked.best_search = evidence->passages[i].score;
    for (size_t i = 0; i < evidence->unit_count; i++) {
        const struct unit *unit = &evidence->units[i];
        struct selected selected = {.unit = (uint32_t)i};
        if (unit->heading || sums.passage[unit->passage] <= 0 || evidence_heads_table(evidence, (uint32_t)i))
            continue;
        read_signs(evidence, &asked, &sums, &selected);
        selection_weigh(&selected);
        selection_add_to_pool(&pool, selected.unit, selected.chosen.score);
    }
    rank_pool(evidence, &asked, &sums, &pool, selection);
    if (selection->count)
        selection_cover(evidence, &asked, selection);
    return true;
}
