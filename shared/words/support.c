/* Finds the span that supports a sentence. Candidates are the units that share its rarest terms. The best candidates
 * are compared in detail: together with their neighbours, and letter by letter. */
#include "words/support.h"

#include <string.h>

#include "words/claims.h"
#include "words/evidence.h"
#include "words/sentences_priv.h"

#define CANDIDATE_SLOTS 128  /* a power of 2, more than CANDIDATES_MAX */
#define CANDIDATES_MAX  96   /* units that are counted; fewer than slots, so that a free slot is near */
#define VISITS_MAX      1024 /* units that are looked up for a sentence */
#define CLOSE_LOOKS     6
#define UNITS_MAX       3    /* of a quote */
#define GAIN_LEAST      0.12 /* coverage that a neighbour must add to join the quote */
#define HEADING_SHARE   0.5  /* the share of its weight that a term has in the heading only */
#define EXACT_LEAST     0.5  /* coverage from which a literal match is searched */
#define LETTERS_MAX     1024 /* of a sentence that is compared letter by letter */
#define WINDOW_MAX      4096
#define HEADED_MAX      128 /* bytes of a heading before a sentence, with its colon */

struct candidate {
    uint32_t unit; /* + 1; 0: free */
    double weight;
};
struct candidates {
    struct candidate slots[CANDIDATE_SLOTS];
    size_t count;
};

static void count_candidate(struct candidates *candidates, uint32_t unit, double weight)
{
    size_t at = (unit * 2654435761U) >> 25;
    while (candidates->slots[at].unit != 0 && candidates->slots[at].unit != unit + 1)
        at = (at + 1) & (CANDIDATE_SLOTS - 1);
    struct candidate *candidate = &candidates->slots[at];
    if (candidate->unit == 0) {
        if (candidates->count == CANDIDATES_MAX)
            return;
        candidates->count++;
        candidate->unit = unit + 1;
    }
    candidate->weight += weight;
}

static uint32_t holders_of(const struct evidence *evidence, const struct query_term *term)
{
    return term->id == NO_TERM ? UINT32_MAX : evidence->terms[term->id].count;
}

/* The query terms, the rarest first. */
static size_t by_rarity(const struct evidence *evidence, const struct query *query, uint16_t order[QUERY_TERMS_MAX])
{
    size_t count = 0;
    for (size_t i = 0; i < query->count; i++) {
        if (query->terms[i].id == NO_TERM)
            continue;
        size_t at = count++;
        for (; at > 0 && holders_of(evidence, &query->terms[order[at - 1]]) > holders_of(evidence, &query->terms[i]);
             at--)
            order[at] = order[at - 1];
        order[at] = (uint16_t)i;
    }
    return count;
}

static void support_find_candidates(const struct evidence *evidence, const struct query *query,
                                    struct candidates *candidates)
{
    uint16_t order[QUERY_TERMS_MAX];
    size_t count = by_rarity(evidence, query, order), visits = VISITS_MAX;
    memset(candidates, 0, sizeof(*candidates));
    for (size_t i = 0; i < count && visits > 0; i++) {
        const struct query_term *term = &query->terms[order[i]];
        const struct term_entry *entry = &evidence->terms[term->id];
        if (term->stop_word && candidates->count > 0)
            continue;
        for (uint32_t h = 0; h < entry->count && visits > 0; h++, visits--) {
            uint32_t unit = evidence->holders[entry->holders + h];
            if (!evidence->units[unit].heading)
                count_candidate(candidates, unit, term->weight);
        }
    }
}

/* Removes the best candidate and returns its unit. */
static bool take_best(struct candidates *candidates, uint32_t *unit)
{
    struct candidate *best = NULL;
    for (size_t i = 0; i < CANDIDATE_SLOTS; i++) {
        struct candidate *candidate = &candidates->slots[i];
        bool better = best == NULL || candidate->weight > best->weight ||
                      (candidate->weight == best->weight && candidate->unit < best->unit);
        if (candidate->unit != 0 && candidate->weight > 0 && better)
            best = candidate;
    }
    if (best == NULL)
        return false;
    *unit = best->unit - 1;
    best->weight = 0;
    return true;
}

/* Units [from, to] of a passage, and the query terms that they have. */
struct window {
    uint32_t from, to;
    double coverage;
    bool has[QUERY_TERMS_MAX], in_heading[QUERY_TERMS_MAX];
};

static void support_mark(const struct evidence *evidence, const struct query *query, uint32_t unit,
                         bool has[QUERY_TERMS_MAX])
{
    for (uint32_t t = evidence->units[unit].terms; t < evidence->units[unit].terms_end; t++) {
        int at = query_find(query, evidence->unit_terms[t]);
        if (at >= 0)
            has[at] = true;
    }
}

static void support_weigh(const struct evidence *evidence, const struct query *query, uint32_t from, uint32_t to,
                          struct window *window)
{
    uint32_t first = evidence->firsts[evidence->units[from].passage];
    memset(window, 0, sizeof(*window));
    window->from = from;
    window->to = to;
    if (evidence->units[first].heading)
        support_mark(evidence, query, first, window->in_heading);
    for (uint32_t unit = from; unit <= to; unit++)
        support_mark(evidence, query, unit, window->has);
    double weight = 0;
    for (size_t i = 0; i < query->count; i++)
        weight += query->terms[i].weight * (window->has[i] ? 1 : window->in_heading[i] ? HEADING_SHARE : 0);
    window->coverage = query->weight > 0 ? weight / query->weight : 0;
}

static bool are_neighbours(const struct evidence *evidence, uint32_t unit, uint32_t next)
{
    return next < evidence->unit_count && evidence->units[unit].passage == evidence->units[next].passage &&
           !evidence->units[unit].heading && !evidence->units[next].heading;
}

/* Adds neighbours as long as each of them adds GAIN_LEAST coverage. */
static void widen(const struct evidence *evidence, const struct query *query, struct window *window)
{
    while (window->to - window->from + 1 < UNITS_MAX) {
        struct window before = {0}, after = {0};
        if (window->from > 0 && are_neighbours(evidence, window->from - 1, window->from))
            support_weigh(evidence, query, window->from - 1, window->to, &before);
        if (are_neighbours(evidence, window->to, window->to + 1))
            support_weigh(evidence, query, window->from, window->to + 1, &after);
        const struct window *better = before.coverage > after.coverage ? &before : &after;
        if (better->coverage < window->coverage + GAIN_LEAST)
            return;
        *window = *better;
    }
}

/* The characters of a text without white space; 0 if there are more than `max`. */
static size_t letters_of(const char *text, size_t length, struct folded *letters, size_t max)
{
    struct fold fold;
    struct folded c;
    size_t count = 0;
    fold_begin(&fold, text, length);
    while (fold_next(&fold, &c)) {
        if (script_of(c.code) == SCRIPT_SPACE)
            continue;
        if (count == max)
            return 0;
        letters[count++] = c;
    }
    return count;
}

/* For each letter, how many letters up to it are a beginning of them all (Knuth, Morris and Pratt). */
static void letters_borders(const struct folded *letters, size_t count, uint16_t borders[LETTERS_MAX])
{
    size_t border = 0;
    borders[0] = 0;
    for (size_t i = 1; i < count; i++) {
        while (border > 0 && letters[i].code != letters[border].code)
            border = borders[border - 1];
        border += letters[i].code == letters[border].code;
        borders[i] = (uint16_t)border;
    }
}

static bool is_digit_letter(const struct folded *letter)
{
    return letter->code >= '0' && letter->code <= '9';
}

/* 3 in 3万 is not the number 3. */
static bool multiplies(uint32_t code)
{
    static const uint32_t codes[] = {0x5341, 0x767E, 0x5343, 0x4E07, 0x5104, 0x5146};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i] == code)
            return true;
    return false;
}

/* Whether a word or a number may begin at letter `at`: not inside 1,234, nor inside 許可証. */
static bool parts_at(const struct folded *letters, size_t count, size_t at)
{
    if (at == 0 || at >= count || letters[at - 1].end != letters[at].begin)
        return true;
    enum script before = script_of(letters[at - 1].code), behind = script_of(letters[at].code);
    bool latin = (before == SCRIPT_LETTER || before == SCRIPT_DIGIT) &&
                 (behind == SCRIPT_LETTER || behind == SCRIPT_DIGIT || multiplies(letters[at].code));
    bool joined = strchr(".,:", (int)letters[at].code) && at + 1 < count && is_digit_letter(&letters[at - 1]) &&
                  is_digit_letter(&letters[at + 1]);
    bool joins = strchr(".,:", (int)letters[at - 1].code) && at > 1 && is_digit_letter(&letters[at - 2]) &&
                 is_digit_letter(&letters[at]);
    return !latin && !joined && !joins && !(before == behind && (before == SCRIPT_HAN || before == SCRIPT_KATAKANA));
}

/* Searches for the sentence, letter by letter, in the window and one unit before and after it. It must match whole
 * words and not be cut out of a clause that denies it. */
static bool find_exact(const struct evidence *evidence, const char *sentence, size_t length,
                       const struct window *window, struct span *quote)
{
    struct folded letters[LETTERS_MAX], around[WINDOW_MAX];
    uint16_t borders[LETTERS_MAX];
    size_t matched = 0;
    uint32_t from = window->from, to = window->to;
    if (from > 0 && are_neighbours(evidence, from - 1, from))
        from--;
    if (are_neighbours(evidence, to, to + 1))
        to++;
    size_t begin = evidence->units[from].span.begin, end = evidence->units[to].span.end;
    const char *text = evidence->passages[evidence->units[from].passage].text + begin;
    size_t count = letters_of(sentence, length, letters, LETTERS_MAX);
    while (count > 0 && (stop_mark(letters[count - 1].code) || letters[count - 1].code == ':'))
        count--;
    size_t held = letters_of(text, end - begin, around, WINDOW_MAX);
    if (count == 0 || held < count)
        return false;
    letters_borders(letters, count, borders);
    for (size_t i = 0; i < held; i++) {
        while (matched > 0 && around[i].code != letters[matched].code)
            matched = borders[matched - 1];
        matched += around[i].code == letters[matched].code;
        if (matched < count)
            continue;
        size_t at = i + 1 - count;
        matched = borders[count - 1];
        if (!parts_at(around, held, at) || !parts_at(around, held, at + count))
            continue;
        size_t last = at + count;
        while (last < held && stop_mark(around[last].code))
            last++;
        if (claims_denied_around((struct claim){text, end - begin}, around[at].begin, around[last - 1].end))
            continue;
        *quote = (struct span){.begin = begin + around[at].begin, .end = begin + around[last - 1].end};
        return true;
    }
    return false;
}

/* False if a number of the sentence is in neither the quote nor its heading. */
static bool numbers_agree(const struct query *query, const struct window *window)
{
    for (size_t i = 0; i < query->count; i++) {
        if (query->terms[i].exact && !window->has[i] && !window->in_heading[i])
            return false;
    }
    return true;
}

/* Whether a term begins with a digit, and so is a number or a number with its unit: "1.5", "20%", "5gb". The digits of
 * a word with letters before them are not a number. */
static bool is_figure(const char *sentence, const struct query_term *term)
{
    size_t end;
    char before = term->begin ? sentence[term->begin - 1] : ' ';
    if ((before | 0x20) >= 'a' && (before | 0x20) <= 'z')
        return false;
    uint32_t code = utf8_read(sentence, term->end, term->begin, &end);
    return (code >= '0' && code <= '9') || (code >= 0xFF10 && code <= 0xFF19);
}

/* Numbers that the window has in another form, as 1,500,000 for 150万, count as found. */
static void find_figures(const struct evidence *evidence, const struct query *query, const char *sentence,
                         size_t length, struct window *window)
{
    const struct passage *passage = &evidence->passages[evidence->units[window->from].passage];
    size_t begin = evidence->units[window->from].span.begin, end = evidence->units[window->to].span.end;
    struct claim quote = {passage->text + begin, end - begin}, heading = {passage->heading, passage->heading_length};
    for (size_t i = 0; i < query->count; i++) {
        const struct query_term *term = &query->terms[i];
        if (term->exact && !window->has[i] && !window->in_heading[i] && !is_figure(sentence, term))
            return; /* an identifier */
    }
    if (!claims_numbers_stand((struct claim){sentence, length}, quote, heading))
        return;
    for (size_t i = 0; i < query->count; i++) {
        if (!query->terms[i].exact || window->has[i])
            continue;
        window->has[i] = true;
        window->coverage += query->terms[i].weight * (window->in_heading[i] ? 1 - HEADING_SHARE : 1) / query->weight;
    }
}

/* The offset after the mark of a list item, which is not part of the statement. */
static size_t past_mark(const char *text, size_t length)
{
    size_t at = line_mark(text, length, 0);
    at = skip_space(text, length, at);
    struct marker marker = marker_read(text, length, at);
    return marker.kind == 0 ? at : skip_space(text, length, marker.end);
}

/* The offset after "Backups: ", which may be a heading that stands before the sentence; 0: there is none. */
static size_t past_heading(const char *sentence, size_t length)
{
    size_t most = length < HEADED_MAX ? length : HEADED_MAX;
    const char *colon = memmem(sentence, most, ": ", 2);
    return colon ? (size_t)(colon - sentence) + 2 : 0;
}

/* Searches for the sentence without the part of the passage's heading before it. */
static bool find_headed(const struct evidence *evidence, const char *sentence, size_t length,
                        const struct window *window, struct span *quote)
{
    const struct passage *passage = &evidence->passages[evidence->units[window->from].passage];
    size_t behind = past_heading(sentence, length);
    return behind > 2 && passage->heading != NULL &&
           memmem(passage->heading, passage->heading_length, sentence, behind - 2) != NULL &&
           find_exact(evidence, sentence + behind, length - behind, window, quote);
}

bool support_find(const struct evidence *evidence, const char *sentence, size_t length, double enough,
                  struct support *support)
{
    struct query query;
    struct candidates candidates;
    struct window window;
    uint32_t unit;
    bool agree = false;
    double best = 0;
    size_t mark_length = past_mark(sentence, length);
    *support = (struct support){0};
    sentence += mark_length;
    length -= mark_length;
    query_read(evidence, evidence, sentence, length, &query);
    support_find_candidates(evidence, &query, &candidates);
    for (unsigned look = 0; look < CLOSE_LOOKS && take_best(&candidates, &unit); look++) {
        support_weigh(evidence, &query, unit, unit, &window);
        widen(evidence, &query, &window);
        struct span quote;
        if (window.coverage >= EXACT_LEAST && (find_exact(evidence, sentence, length, &window, &quote) ||
                                               find_headed(evidence, sentence, length, &window, &quote))) {
            *support = (struct support){
                .passage = evidence->units[unit].passage, .quote = quote, .coverage = 1, .exact = true};
            return true;
        }
        if (!numbers_agree(&query, &window))
            find_figures(evidence, &query, sentence, length, &window);
        bool agrees = numbers_agree(&query, &window);
        double value = window.coverage - GAIN_LEAST * (window.to - window.from);
        if (agrees < agree || (agrees == agree && value <= best))
            continue;
        agree = agrees;
        best = value;
        *support = (struct support){
            .passage = evidence->units[unit].passage,
            .quote = {.begin = evidence->units[window.from].span.begin, .end = evidence->units[window.to].span.end},
            .coverage = window.coverage};
    }
    return agree && support->coverage >= enough;
}

bool evidence_has_numbers(const struct evidence *evidence, const char *text, size_t length)
{
    struct term_reader reader;
    struct term term;
    terms_begin(&reader, text, length);
    while (terms_next(&reader, &term)) {
        bool exact = term.kind == TERM_NUMBER || term.kind == TERM_IDENTIFIER;
        if (exact && evidence_term(evidence, term_hash(term.text, term.length)) == NO_TERM)
            return false;
    }
    return true;
}

bool evidence_has_term(const struct evidence *evidence, const char *text, size_t length)
{
    return evidence_term(evidence, term_hash(text, length)) != NO_TERM;
}
