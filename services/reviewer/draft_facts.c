/* Compares facts by code, before a model is asked. A claim with citations is compared with their quotes. A claim with
 * notes is compared with the sources that its notes name, and any other claim with all sources. This compares wording
 * and does not check truth. */
#include "draft_facts_priv.h"
#include "findings.h"

#include "base/text.h"
#include "words/quantity.h"
#include "words/words.h"

#define CLAIMS_MOST  400 /* of a draft, compared: some 100 ms at most */
#define RIVAL_GAIN   0.1 /* coverage by which another sentence must be nearer to a claim than its support */
#define RIVAL_ENOUGH 0.8 /* coverage of a claim without its numbers by another sentence that is about the same */

/* ---- the texts of the sources ------------------------------------------------------------------------------------ */

static void facts_add_text(struct draft_facts *facts, size_t owner, const char *text, size_t *room)
{
    const char *title = facts->request->sources[owner]->title;
    size_t length = text_cut(text, strlen(text), *room), at = facts->text_count, *link = &facts->firsts[owner];
    if (!length)
        return;
    *room -= length;
    while (*link)
        link = &facts->texts[*link - 1].next;
    *link = ++facts->text_count;
    facts->passages[at] =
        (struct passage){.text = text, .length = length, .heading = title, .heading_length = strlen(title)};
    facts->texts[at] = (struct fact_text){.passage = facts->passages[at], .owner = owner};
}

static struct evidence *facts_plan(struct draft_facts *facts)
{
    const Renga__V1__ResearchPlan *plan = facts->request->plan;
    size_t count = plan ? plan->n_investigation_points : 0;
    struct passage *passages = arena_zalloc(facts->arena, (count + 1) * sizeof *passages);
    if (!passages)
        return NULL;
    for (size_t i = 0; i < count; i++)
        passages[i] =
            (struct passage){.text = plan->investigation_points[i], .length = strlen(plan->investigation_points[i])};
    if (plan)
        passages[count] = (struct passage){.text = plan->theme, .length = strlen(plan->theme)};
    return evidence_create(facts->arena, passages, count + (plan != NULL));
}

/* Makes evidence from the sources, at most FINDINGS_WEIGHED_MAX bytes: all summaries, then passages. */
static bool facts_weigh(struct draft_facts *facts)
{
    const Renga__V1__ReviewDraftRequest *request = facts->request;
    size_t most = request->n_sources + request->n_passages + 1, room = FINDINGS_WEIGHED_MAX;
    facts->passages = arena_zalloc(facts->arena, most * sizeof *facts->passages);
    facts->texts = arena_zalloc(facts->arena, most * sizeof *facts->texts);
    facts->firsts = arena_zalloc(facts->arena, most * sizeof *facts->firsts);
    facts->sources = arena_zalloc(facts->arena, most * sizeof(struct evidence *));
    if (!facts->passages || !facts->texts || !facts->firsts || !facts->sources)
        return false;
    for (size_t i = 0; i < request->n_sources; i++)
        facts_add_text(facts, i, request->sources[i]->summary, &room);
    for (size_t i = 0; i < request->n_passages; i++) {
        int owner = draft_source_at(&facts->table, request->passages[i]->uri);
        if (owner >= 0)
            facts_add_text(facts, (size_t)owner, request->passages[i]->text, &room);
    }
    facts->evidence = evidence_create(facts->arena, facts->passages, facts->text_count);
    facts->planned = facts_plan(facts);
    return facts->evidence && facts->planned;
}

/* The evidence of a source alone; `texts` are its passages. NULL: no memory. */
static struct evidence *facts_source(struct draft_facts *facts, size_t owner)
{
    size_t count = 0, at = 0;
    if (facts->sources[owner])
        return facts->sources[owner];
    for (size_t text = facts->firsts[owner]; text; text = facts->texts[text - 1].next)
        count++;
    struct passage *passages = arena_alloc(facts->arena, (count + 1) * sizeof *passages);
    for (size_t text = facts->firsts[owner]; passages && text; text = facts->texts[text - 1].next)
        passages[at++] = facts->texts[text - 1].passage;
    facts->sources[owner] = passages ? evidence_create(facts->arena, passages, count) : NULL;
    return facts->sources[owner];
}

/* ---- a claim and a quote ----------------------------------------------------------------------------------------- */

bool fact_agrees(const struct fact *fact, const struct fact_source *source)
{
    struct claim words = fact_words(fact);
    return claims_numbers_stand(words, source->quote, source->title) &&
           claims_agree(words, source->quote, source->title) && claims_words_stand(words, source->quote, source->title);
}

static struct fact_source fact_source_of(const struct passage *passage, const struct support *support, size_t owner)
{
    return (struct fact_source){{passage->text + support->quote.begin, support->quote.end - support->quote.begin},
                                {passage->heading, passage->heading_length},
                                (int)owner + 1};
}

/* The share of a text that a quote covers; terms have the weights that they have in all sources. */
static double fact_share(const struct draft_facts *facts, struct claim text, const struct fact_source *source)
{
    struct arena arena;
    struct coverage coverage = {0};
    struct passage passage = {.text = source->quote.text,
                              .length = source->quote.length,
                              .heading = source->title.text,
                              .heading_length = source->title.length};
    arena_init(&arena, NULL, 0, WEIGHING_MEMORY_MAX);
    struct evidence *evidence = evidence_create(&arena, &passage, 1);
    if (evidence)
        evidence_cover(evidence, facts->evidence, text.text, text.length, &coverage);
    arena_fini(&arena);
    return coverage.share;
}

/* A number may be right but belong to another subject. True if another sentence of the sources is nearer to the claim
 * without its numbers, has numbers, and lacks those of the claim. `rival` is that sentence. */
static bool fact_has_rival(const struct draft_facts *facts, const struct fact *fact, const struct fact_source *source,
                           struct fact_source *rival)
{
    struct fact bare;
    struct support support;
    if (!words_has_number(fact->words, fact->length))
        return false;
    bare.length = 0;
    for (size_t i = 0; i < fact->length; i++)
        bare.words[bare.length++] = fact->words[i] >= '0' && fact->words[i] <= '9' ? ' ' : fact->words[i];
    if (!support_find(facts->evidence, bare.words, bare.length, RIVAL_ENOUGH, &support))
        return false;
    const struct passage *passage = &facts->passages[support.passage];
    *rival = fact_source_of(passage, &support, facts->texts[support.passage].owner);
    return words_has_number(rival->quote.text, rival->quote.length) &&
           !claims_numbers_stand(fact_words(fact), rival->quote, rival->title) &&
           fact_share(facts, fact_words(&bare), rival) > fact_share(facts, fact_words(&bare), source) + RIVAL_GAIN;
}

/* Whether the words of a table's header that the sources know are in the quote of a row. */
static bool fact_columns_agree(const struct draft_facts *facts, const struct fact *fact,
                               const struct fact_source *source)
{
    struct arena arena;
    struct term_reader reader;
    struct term term;
    struct passage passage = {.text = source->quote.text,
                              .length = source->quote.length,
                              .heading = source->title.text,
                              .heading_length = source->title.length};
    bool agrees = true;
    if (!fact->columns.length)
        return true;
    arena_init(&arena, NULL, 0, WEIGHING_MEMORY_MAX);
    struct evidence *evidence = evidence_create(&arena, &passage, 1);
    terms_begin(&reader, fact->columns.text, fact->columns.length);
    while (agrees && evidence && terms_next(&reader, &term))
        agrees = term.stop_word || !evidence_has_term(facts->evidence, term.text, term.length) ||
                 evidence_has_term(evidence, term.text, term.length);
    arena_fini(&arena);
    return agrees && evidence;
}

/* ---- the comparison ---------------------------------------------------------------------------------------------- */

/* The best support of a claim in evidence of `texts`, and whether it agrees with the claim. */
struct fact_found {
    bool any, found, agrees;
    struct fact_source source;
};

static struct fact_found fact_find(const struct draft_facts *facts, const struct fact *fact,
                                   const struct evidence *evidence, size_t owner)
{
    struct support support;
    struct fact_found result = {.any = false};
    if (!evidence)
        return result;
    result.found = support_find(evidence, fact->words, fact->length, SUPPORT_ENOUGH, &support);
    result.any = support.quote.end > support.quote.begin;
    if (!result.any)
        return result;
    if (evidence == facts->evidence) {
        const struct fact_text *text = &facts->texts[support.passage];
        result.source = fact_source_of(&text->passage, &support, text->owner);
    } else {
        size_t text = facts->firsts[owner];
        for (size_t i = 0; i < support.passage; i++)
            text = facts->texts[text - 1].next;
        result.source = fact_source_of(&facts->texts[text - 1].passage, &support, owner);
    }
    struct fact_source rival;
    bool fits = support.exact || fact_agrees(fact, &result.source);
    if (result.found && !support.exact && fact_has_rival(facts, fact, &result.source, &rival)) {
        fits = false;
        result.source = rival;
    }
    result.agrees = result.found && fits && fact_columns_agree(facts, fact, &result.source);
    return result;
}

/* Whether one of the texts of a source has all numbers of a claim. */
static bool source_has_numbers(const struct draft_facts *facts, const struct fact *fact, size_t owner,
                               struct fact_source *source)
{
    for (size_t at = facts->firsts[owner]; at; at = facts->texts[at - 1].next) {
        const struct passage *passage = &facts->texts[at - 1].passage;
        *source = (struct fact_source){
            {passage->text, passage->length}, {passage->heading, passage->heading_length}, (int)owner + 1};
        if (claims_numbers_stand(fact_words(fact), source->quote, source->title))
            return true;
    }
    return false;
}

/* A claim must agree with at least one of the sources that its notes name. */
static bool fact_stands_by_notes(struct draft_facts *facts, const struct fact *fact)
{
    bool numbers = false, contradicted = false;
    struct fact_source source = {0};
    struct fact_found found;
    for (size_t i = 0; i < fact->note_count; i++) {
        size_t owner = (size_t)fact->notes[i]->source - 1;
        struct fact_source whole = {0};
        bool has = source_has_numbers(facts, fact, owner, &whole);
        found = fact_find(facts, fact, facts_source(facts, owner), owner);
        if (found.agrees)
            return true;
        numbers |= has;
        contradicted |= found.found;
        source = found.any ? found.source : whole;
    }
    if ((contradicted || !numbers) && source.quote.length)
        fact_report_contradicted(facts, fact, &source);
    else if (fact_find(facts, fact, facts->evidence, 0).agrees)
        fact_report_reference(facts, fact);
    else
        fact_report_unsupported(facts, fact, false);
    return false;
}

/* Whether the notes of a claim name the source; also true without notes. */
static bool fact_notes_name(const struct fact *fact, size_t owner)
{
    for (size_t i = 0; i < fact->note_count; i++)
        if (fact->notes[i]->source == owner + 1)
            return true;
    return !fact->note_count;
}

static bool fact_stands(struct draft_facts *facts, const struct fact *fact)
{
    struct fact_source source = {0};
    size_t owner = 0;
    enum fact_cited cited = fact_cited_by(facts, fact, &source, &owner);
    if (cited == FACT_FORGED_QUOTE || cited == FACT_FORGED_SOURCE) {
        fact_report_forged(facts, fact, &source, cited == FACT_FORGED_QUOTE);
        return false;
    }
    if (cited == FACT_SUPPORTED && fact_notes_name(fact, owner) && !fact->open_note)
        return true;
    if (cited == FACT_SUPPORTED || fact->open_note) {
        fact_report_reference(facts, fact);
        return false;
    }
    if (fact->note_count)
        return fact_stands_by_notes(facts, fact);
    struct fact_found found = fact_find(facts, fact, facts->evidence, 0);
    if (found.agrees)
        return true;
    if (cited == FACT_CITED)
        fact_report_contradicted(facts, fact, &source);
    else {
        /* A claim without support: the most similar source contradicts it, or does not mention it. */
        const Renga__V1__ResearchPlan *plan = facts->request->plan;
        struct claim words = fact_words(fact), theme = fact_claim(plan ? plan->theme : "");
        bool number = words_has_number(fact->words, fact->length) && !claims_numbers_stand(words, theme, theme);
        if (!found.any)
            fact_report_unsupported(facts, fact, number);
        else if (found.found || (number && !claims_numbers_stand(words, found.source.quote, found.source.title)))
            fact_report_contradicted(facts, fact, &found.source);
        else
            fact_report_unsupported(facts, fact, false);
    }
    return false;
}

/* A label stands if the plan or the sources have its numbers and names; a label with a number is compared as a claim if
 * it is not the plan's. */
static bool fact_label_stands(struct draft_facts *facts, const struct fact *fact)
{
    if (claims_heading_stands(facts->planned, fact->words, fact->length))
        return true;
    if (words_has_number(fact->words, fact->length))
        return fact_stands(facts, fact);
    if (claims_heading_stands(facts->evidence, fact->words, fact->length))
        return true;
    fact_report_unsupported(facts, fact, false);
    return false;
}

static double facts_compare(struct draft_facts *facts, struct fact *fact)
{
    const char *draft = facts->request->draft;
    struct draft_parts parts;
    struct fact_line line = {.references = 0};
    struct sentence_reader reader;
    struct span span;
    int number = 0, all = 0, good = 0;
    draft_parts_read(draft, &parts);
    line.references = parts.parts[DRAFT_REFERENCES].begin == SIZE_MAX ? 0 : parts.parts[DRAFT_REFERENCES].begin;
    sentences_begin(&reader, draft, strlen(draft));
    while (all <= CLAIMS_MOST && sentences_next(&reader, &span)) {
        number++;
        enum fact_kind kind = fact_kind_of(facts, &span, &line);
        if (kind == FACT_NOTHING)
            continue;
        fact_read(facts, fact, &span, number, kind);
        fact->columns = kind == FACT_ROW ? line.columns : fact->columns;
        if (kind == FACT_LABEL && fact_label_stands(facts, fact))
            continue;
        if (all++ == CLAIMS_MOST) /* claims that are not compared are not approved */
            fact_report_rest(facts, fact);
        else if (kind != FACT_LABEL)
            good += fact_stands(facts, fact);
    }
    return all ? (double)good / all : 0;
}

void draft_facts_check(struct draft_reviewing *reviewing)
{
    struct arena arena;
    arena_init(&arena, NULL, 0, WEIGHING_MEMORY_MAX);
    struct fact *fact = arena_alloc(&arena, sizeof *fact);
    struct draft_facts *facts = arena_zalloc(&arena, sizeof *facts);
    double known = draft_known_addresses(reviewing);
    reviewing->facts = 0; /* no memory: no claim is supported */
    if (fact && facts) {
        facts->reviewing = reviewing;
        facts->request = reviewing->request;
        facts->arena = &arena;
        draft_sources_index(&facts->table, facts->request);
        draft_notes_read(&facts->notes, facts->request);
        if (facts_weigh(facts))
            reviewing->facts = facts_compare(facts, fact) * known;
    }
    arena_fini(&arena);
}
