/* Compares facts by code, before a model is asked. A claim with citations is compared with their quotes. Other claims
 * are compared with the sentences of the sources, and their numbers with the sources that their notes name. This
 * compares wording and does not check truth. */
#include "draft_priv.h"
#include "findings.h"

#include "base/text.h"
#include "words/claims.h"
#include "words/quantity.h"
#include "words/sentences_priv.h"

#include <ctype.h>
#include <string.h>

#define CLAIMS_MOST    400  /* of a draft, compared: some 100 ms at most */
#define CONTRADICTED   0.5  /* the highest mark of a draft with a claim that its source contradicts */
#define NOTES_MAX      2000 /* note numbers are below this limit */
#define NOTES_MOST     4    /* of a claim */
#define LABEL_MAX      20
#define SAID_MAX       ((size_t)600) /* bytes of a claim and of a source that an issue shows */
#define ISSUE(name)    RENGA__V1__DRAFT_ISSUE_TYPE__DRAFT_ISSUE_TYPE_##name
#define SEVERITY(name) RENGA__V1__ISSUE_SEVERITY__ISSUE_SEVERITY_##name

struct draft_facts {
    struct draft_reviewing *reviewing;
    const Renga__V1__ReviewDraftRequest *request;
    struct evidence *evidence;
    struct passage *passages;
    size_t *owners;            /* the source of each passage */
    uint16_t notes[NOTES_MAX]; /* the source of each note + 1; 0: no source */
    bool contradicted;
};

/* A claim without marks, notes and addresses. */
struct fact {
    char words[SENTENCE_MAX + 1];
    size_t length;
    int number; /* of the sentence */
    int notes[NOTES_MOST];
    size_t note_count;
};

/* The source that a claim is compared with. */
struct fact_source {
    struct claim quote, title;
    int number; /* of the note, the reference, or the source in the request */
};

static struct claim fact_text(const char *text)
{
    return (struct claim){text, strlen(text)};
}

/* ---- the words of a claim ---------------------------------------------------------------------------------------- */

/* The length of "[^1]", "[^name]" or "[1]" at `text`; 0 if there is no note. *number is 0 for a name. */
static size_t fact_note(const char *text, size_t length, int *number)
{
    size_t begin = 1 + (length > 1 && text[1] == '^'), at = begin;
    bool digits = true;
    *number = 0;
    for (; at < length && at < LABEL_MAX && (unsigned char)text[at] > ' ' && text[at] != ']'; at++) {
        digits &= isdigit((unsigned char)text[at]) != 0;
        *number = digits && *number < NOTES_MAX ? *number * 10 + (text[at] - '0') : *number;
    }
    bool closed = text[0] == '[' && at > begin && at < length && text[at] == ']' && (digits || begin == 2);
    *number = digits ? *number : 0;
    return closed ? at + 1 : 0;
}

/* The number of bytes at `text` that are not words: the target of a link, an address, a mark. */
static size_t fact_mark(const char *text, size_t length)
{
    if (length > 1 && memcmp(text, "](", 2) == 0) {
        const char *close = memchr(text, ')', length);
        return close ? (size_t)(close - text) + 1 : 1;
    }
    if (length > 7 && memcmp(text, "http", 4) == 0 && memmem(text, 8, "://", 3)) {
        size_t end = 0;
        while (end < length && (unsigned char)text[end] > ' ' && (unsigned char)text[end] < 0x7f && text[end] != ')')
            end++;
        return end;
    }
    return strchr("*`[]", text[0]) ? 1 : 0;
}

static void fact_read(struct fact *fact, const char *text, size_t length, int number)
{
    size_t at = skip_space(text, length, line_mark(text, length, 0));
    struct marker marker = marker_read(text, length, at);
    at = marker.kind ? skip_space(text, length, marker.end) : at;
    fact->length = fact->note_count = 0;
    fact->number = number;
    while (at < length && fact->length < SENTENCE_MAX) {
        int note;
        size_t skipped = fact_note(text + at, length - at, &note);
        if (skipped && note && fact->note_count < NOTES_MOST)
            fact->notes[fact->note_count++] = note;
        skipped = skipped ? skipped : fact_mark(text + at, length - at);
        if (!skipped)
            fact->words[fact->length++] = text[at];
        at += skipped ? skipped : 1;
    }
    fact->words[fact->length] = '\0';
}

/* ---- its sources ------------------------------------------------------------------------------------------------- */

/* Reads the definitions "[^3]: … address" of the draft: the source of each note. The first one counts. Linear time. */
static void facts_read_notes(struct draft_facts *facts)
{
    static const char mark[] = "\n[^";
    struct source_table table = {0};
    draft_sources_index(&table, facts->request);
    for (const char *at = facts->request->draft; (at = strstr(at, mark)); at++) {
        const char *line = at + 1;
        size_t length = strcspn(line, "\n");
        int note;
        size_t end = fact_note(line, length, &note);
        if (end && end < length && line[end] == ':' && note && note < NOTES_MAX && !facts->notes[note])
            facts->notes[note] = (uint16_t)(draft_source_of(&table, line + end, length - end) + 1);
    }
}

static bool fact_agrees(const struct fact *fact, const struct fact_source *source)
{
    struct claim words = {fact->words, fact->length};
    return claims_numbers_stand(words, source->quote, source->title) &&
           claims_agree(words, source->quote, source->title);
}

/* Whether a claim has citations. `agrees`: a citation supports the claim. `source`: the last compared citation. */
static bool fact_is_cited(const struct draft_facts *facts, const struct fact *fact, struct fact_source *source,
                          bool *agrees)
{
    const Renga__V1__ReviewDraftRequest *request = facts->request;
    bool cited = false;
    *agrees = false;
    for (size_t i = 0; i < request->n_citations && !*agrees; i++) {
        const Renga__V1__Citation *citation = request->citations[i];
        if (citation->sentence_number != fact->number || !citation->quote[0])
            continue;
        cited = true;
        *source =
            (struct fact_source){fact_text(citation->quote), fact_text(citation->title), citation->reference_number};
        *agrees = fact_agrees(fact, source);
    }
    return cited;
}

/* False if the notes of the claim name sources, but no single one has all its numbers. `source`: the last source. */
static bool fact_notes_agree(const struct draft_facts *facts, const struct fact *fact, struct fact_source *source)
{
    struct claim words = {fact->words, fact->length};
    bool named = false;
    for (size_t i = 0; i < fact->note_count; i++) {
        int note = fact->notes[i], owner = note < NOTES_MAX ? facts->notes[note] - 1 : -1;
        if (owner < 0)
            continue;
        const Renga__V1__SearchResult *result = facts->request->sources[owner];
        named = true;
        *source = (struct fact_source){fact_text(result->summary), fact_text(result->title), fact->notes[i]};
        if (claims_numbers_stand(words, source->quote, source->title))
            return true;
    }
    return !named;
}

/* ---- issues ------------------------------------------------------------------------------------------------------ */

static void fact_add_issue(struct draft_facts *facts, const struct fact *fact, Renga__V1__IssueSeverity severity,
                           const struct note *form, const char *source)
{
    static const struct note place = {.ja = "%s番目の文", .en = "sentence %s"};
    struct draft_reviewing *reviewing = facts->reviewing;
    struct thought *thought = &reviewing->thought;
    const char *said = thought_text(thought, fact->words, SAID_MAX);
    draft_add_issue(reviewing, ISSUE(FACT_CHECK), severity, thought_compose(thought, form, said, source),
                    thought_compose(thought, &place, thought_printf(thought, "%d", fact->number), NULL));
}

/* The sentence of a longer quote that is most similar to the claim. */
static struct claim fact_nearest(const struct draft_facts *facts, const struct fact *fact, struct claim quote)
{
    struct arena arena;
    struct support support = {0};
    struct passage passage = {.text = quote.text, .length = quote.length};
    arena_init(&arena, NULL, 0, WEIGHING_MEMORY_MAX);
    struct evidence *evidence =
        facts->reviewing->review.n_issues < DRAFT_ISSUES_MAX ? evidence_create(&arena, &passage, 1) : NULL;
    if (evidence)
        support_find(evidence, fact->words, fact->length, SUPPORT_ENOUGH, &support);
    if (support.quote.end > support.quote.begin)
        quote = (struct claim){quote.text + support.quote.begin, support.quote.end - support.quote.begin};
    arena_fini(&arena);
    return quote;
}

static void fact_add_contradicted(struct draft_facts *facts, const struct fact *fact, const struct fact_source *source)
{
    static const struct note form = {.ja = "情報源と一致しません: 「%s」。情報源: %s",
                                     .en = "The source does not say this: \"%s\". The source: %s"};
    struct thought *thought = &facts->reviewing->thought;
    struct claim nearest = fact_nearest(facts, fact, source->quote);
    size_t kept = text_cut(nearest.text, nearest.length, SAID_MAX);
    facts->contradicted = true;
    fact_add_issue(facts, fact, SEVERITY(HIGH), &form,
                   thought_printf(thought, "[%d] %.*s: \"%.*s\"", source->number, (int)source->title.length,
                                  source->title.text, (int)kept, nearest.text));
}

static void fact_add_unsupported(struct draft_facts *facts, const struct fact *fact, bool number)
{
    static const struct note unsupported = {.ja = "情報源に裏付けがありません: %s",
                                            .en = "No source supports this: %s"};
    static const struct note unknown = {.ja = "どの情報源にもない数値があります: %s",
                                        .en = "No source has a number of this: %s"};
    facts->contradicted |= number;
    fact_add_issue(facts, fact, number ? SEVERITY(HIGH) : SEVERITY(MEDIUM), number ? &unknown : &unsupported, NULL);
}

/* ---- the comparison ---------------------------------------------------------------------------------------------- */

/* Adds the issue for a claim without support: the most similar source contradicts it, or does not mention it. */
static void fact_tell(struct draft_facts *facts, const struct fact *fact, const struct support *support, bool found)
{
    const Renga__V1__ResearchPlan *plan = facts->request->plan;
    struct claim words = {fact->words, fact->length}, theme = fact_text(plan ? plan->theme : "");
    bool number = words_has_number(fact->words, fact->length) && !claims_numbers_stand(words, theme, theme);
    if (support->quote.end <= support->quote.begin) {
        fact_add_unsupported(facts, fact, number);
        return;
    }
    const struct passage *passage = &facts->passages[support->passage];
    struct fact_source source = {{passage->text + support->quote.begin, support->quote.end - support->quote.begin},
                                 {passage->heading, passage->heading_length},
                                 (int)facts->owners[support->passage] + 1};
    if (found || (number && !claims_numbers_stand(words, source.quote, source.title)))
        fact_add_contradicted(facts, fact, &source);
    else
        fact_add_unsupported(facts, fact, false);
}

static bool fact_stands(struct draft_facts *facts, const struct fact *fact)
{
    struct fact_source source = {0};
    struct support support;
    bool agrees;
    bool cited = fact_is_cited(facts, fact, &source, &agrees);
    if (cited && agrees)
        return true;
    bool found = support_find(facts->evidence, fact->words, fact->length, SUPPORT_ENOUGH, &support);
    if ((cited && !(found && support.exact)) || !fact_notes_agree(facts, fact, &source)) {
        fact_add_contradicted(facts, fact, &source);
        return false;
    }
    const struct passage *passage = found ? &facts->passages[support.passage] : NULL;
    if (found && (support.exact || claims_agree((struct claim){fact->words, fact->length},
                                                (struct claim){passage->text + support.quote.begin,
                                                               support.quote.end - support.quote.begin},
                                                (struct claim){passage->heading, passage->heading_length})))
        return true;
    fact_tell(facts, fact, &support, found);
    return false;
}

static double facts_compare(struct draft_facts *facts, struct fact *fact)
{
    const char *draft = facts->request->draft;
    struct draft_line line = {.references = draft_references(draft)};
    struct sentence_reader reader;
    struct span span;
    int number = 0, all = 0, good = 0;
    line.references = line.references == SIZE_MAX ? 0 : line.references;
    sentences_begin(&reader, draft, strlen(draft));
    while (all <= CLAIMS_MOST && sentences_next(&reader, &span)) {
        number++;
        if (!draft_claims(draft, &span, &line))
            continue;
        if (all++ == CLAIMS_MOST)
            break;
        fact_read(fact, draft + span.begin, span.end - span.begin, number);
        good += fact_stands(facts, fact);
    }
    if (all > CLAIMS_MOST) { /* claims that are not compared are not approved */
        static const struct note rest = {.ja = "長いドラフトのため、この文から先の事実は確認していません: %s",
                                         .en = "The draft is long; facts are not checked from here on: %s"};
        fact_read(fact, draft + span.begin, span.end - span.begin, number);
        facts->contradicted = true;
        fact_add_issue(facts, fact, SEVERITY(HIGH), &rest, NULL);
    }
    return all ? (double)good / all : 0;
}

/* Makes evidence from the sources, at most FINDINGS_WEIGHED_MAX bytes. */
static bool facts_weigh(struct draft_facts *facts, struct arena *arena)
{
    const Renga__V1__ReviewDraftRequest *request = facts->request;
    size_t count = 0, room = FINDINGS_WEIGHED_MAX;
    facts->passages = arena_zalloc(arena, (request->n_sources + 1) * sizeof *facts->passages);
    facts->owners = arena_zalloc(arena, (request->n_sources + 1) * sizeof *facts->owners);
    if (!facts->passages || !facts->owners)
        return false;
    for (size_t i = 0; i < request->n_sources; i++) {
        const Renga__V1__SearchResult *source = request->sources[i];
        size_t length = text_cut(source->summary, strlen(source->summary), room);
        if (!length)
            continue;
        room -= length;
        facts->owners[count] = i;
        facts->passages[count++] = (struct passage){.text = source->summary,
                                                    .length = length,
                                                    .heading = source->title,
                                                    .heading_length = strlen(source->title)};
    }
    facts->evidence = evidence_create(arena, facts->passages, count);
    return facts->evidence;
}

void draft_facts_check(struct draft_reviewing *reviewing)
{
    struct draft_facts facts = {.reviewing = reviewing, .request = reviewing->request};
    struct arena arena;
    arena_init(&arena, NULL, 0, WEIGHING_MEMORY_MAX);
    struct fact *fact = arena_alloc(&arena, sizeof *fact);
    facts_read_notes(&facts);
    double known = draft_known_addresses(reviewing);
    bool ready = fact && facts_weigh(&facts, &arena); /* no memory: no claim is supported */
    reviewing->facts = ready ? facts_compare(&facts, fact) * known : 0;
    if (facts.contradicted && reviewing->facts > CONTRADICTED)
        reviewing->facts = CONTRADICTED;
    memcpy(reviewing->found, reviewing->issues, reviewing->review.n_issues * sizeof reviewing->found[0]);
    reviewing->found_count = reviewing->review.n_issues;
    arena_fini(&arena);
}
