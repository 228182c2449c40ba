/* services/orchestrator: answers of models held to sources. */
#include "readers.h"

#include "nodes/report_text.h"
#include "words/aligned.h"
#include "words/claims.h"
#include "words/proper.h"
#include "words/tokens.h"

#include <string.h>

#define CITE_MOST ((size_t)256 << 10) /* a sentence costs as much as 64 KiB of other texts */

static char *copy_of(struct input *in)
{
    return arena_strndup(&in->arena, in->text, in->length);
}

/* The answer is its own source, so that all of it is carried; the other source is one word. */
static void rewrite(struct input *in)
{
    struct cited_span own;
    static char uri[] = "a.md", word[] = "word";
    struct cite_sources *sources = arena_zalloc(&in->arena, sizeof *sources);
    struct cite_text *cite = arena_zalloc(&in->arena, sizeof *cite);
    char *text = copy_of(in), *snippets[] = {in->with ? text : word, word};
    sources->arena = &in->arena;
    for (; sources->count < 2; sources->count++) {
        Renga__V1__SearchHit *hit = arena_alloc(&in->arena, sizeof *hit);
        renga__v1__search_hit__init(hit);
        hit->uri = uri;
        hit->snippet = snippets[sources->count];
        sources->hits[sources->count] = hit;
        sources->passages[sources->count] = (struct passage){.text = hit->snippet, .length = strlen(hit->snippet)};
    }
    cite->sources = sources;
    cite->evidence = evidence_create(&in->arena, sources->passages, sources->count);
    cite->unsupported = in->with ? CITE_DROP : CITE_KEEP;
    cite->has_references = true;
    cite->cited = arena_alloc(&in->arena, CITED_MAX * sizeof *cite->cited);
    buffer_init(&cite->out, CITED_TEXT_MAX);
    const char *clean = cite_clean(sources, text, &own);
    if (clean && cite->evidence)
        cite_text_write(cite, clean);
    cite_text_write_references(cite, "References", strlen("References"));
    buffer_fini(&cite->out);
}

/* A draft that its source carries, or one of which nothing is. */
static void report(struct input *in)
{
    static char uri[] = "a.md", word[] = "word";
    struct cite_sources *sources = arena_zalloc(&in->arena, sizeof *sources);
    struct report *report = arena_zalloc(&in->arena, sizeof *report);
    Renga__V1__SearchHit *hit = arena_alloc(&in->arena, sizeof *hit);
    char *text = copy_of(in);
    renga__v1__search_hit__init(hit);
    hit->uri = uri;
    hit->snippet = in->with ? text : word;
    sources->arena = &in->arena;
    sources->hits[0] = hit;
    sources->passages[0] = (struct passage){.text = hit->snippet, .length = strlen(hit->snippet)};
    sources->count = 1;
    report->theme = "word";
    report->points[0] = report->missing = report->no_source = (struct report_span){"word", 4};
    report->point_count = 1;
    for (size_t i = 0; i < REPORT_PARTS; i++)
        report->headings[i] = report->missing;
    report->cite.sources = sources;
    report->cite.evidence = evidence_create(&in->arena, sources->passages, 1);
    report->cite.unsupported = CITE_DROP;
    report->cite.has_references = report->cite.footnotes = true;
    report->cite.cited = arena_alloc(&in->arena, CITED_MAX * sizeof *report->cite.cited);
    buffer_init(&report->cite.out, CITED_TEXT_MAX);
    if (report->cite.evidence)
        report_write(report, text);
    report_write_references(report);
    buffer_fini(&report->cite.out);
}

static void compare(struct input *in)
{
    size_t half = in->length / 2;
    struct claim sentence = {in->text, half}, quote = {in->text + half, in->length - half};
    struct span word;
    claims_agree(sentence, quote, quote);
    claims_words_stand(sentence, quote, quote);
    claims_agree(sentence, sentence, quote);
    aligned_compare(sentence, quote, sentence, quote, &word);
}

/* The text carried by itself, by its other half, and by a text of which it is a part. */
static void compare_carried(struct input *in)
{
    size_t half = in->length / 2;
    struct claim all = {in->text, in->length}, sentence = {in->text, half},
                 quote = {in->text + half, in->length - half};
    claims_carried(all, all, all, all);
    claims_carried(sentence, quote, all, sentence);
    claims_carried(sentence, all, all, quote);
}

static void name(struct input *in)
{
    struct proper_name names[PROPER_NAMES_MAX];
    proper_names(in->text, in->length, in->text, in->length < 64 ? in->length : 64, 1, names);
}

static void shorten(struct input *in)
{
    sentences_whole(in->text, in->length, in->length - in->length / 8);
}

static const bool carried = true;

const struct reader readers_cite[] = {
    {"answers that are carried", rewrite, .sets = HOSTILE_TEXT | HOSTILE_MARKUP | HOSTILE_TABLE, .with = &carried,
     .most = CITE_MOST},
    {"answers that are not carried", rewrite, .sets = HOSTILE_TEXT | HOSTILE_MARKUP | HOSTILE_TABLE, .most = CITE_MOST},
    {"reports that are carried", report, .sets = HOSTILE_TEXT | HOSTILE_MARKUP | HOSTILE_TABLE, .with = &carried,
     .most = CITE_MOST},
    {"reports that are not carried", report, .sets = HOSTILE_TEXT | HOSTILE_MARKUP | HOSTILE_TABLE, .most = CITE_MOST},
    {"claims", compare, .sets = HOSTILE_TEXT | HOSTILE_BYTES},
    {"claims that are carried", compare_carried, .sets = HOSTILE_TEXT | HOSTILE_BYTES},
    {"names", name, .sets = HOSTILE_TEXT | HOSTILE_BYTES},
    {"whole sentences", shorten, .sets = HOSTILE_TEXT | HOSTILE_BYTES},
    {.name = NULL},
};
