/* Reports of five parts, of two sources in English and two in Japanese, and what must hold of each. */
#ifndef RENGA_UNIT_REPORT_FIXTURE_H
#define RENGA_UNIT_REPORT_FIXTURE_H

#include "nodes/report_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct source {
    const char *uri, *title, *text;
};

/* Two sources in English: each sentence differs. */
static struct source english[] = {
    {"https://a.example/market", "Market [2024]",
     "The market for solid state batteries reached 1.2 billion dollars in 2024. Analysts expect growth of 30 percent a "
     "year until 2030. Toyota plans to sell cars with solid state batteries from 2027."},
    {"https://b.example/safety(x)", "Safety",
     "Solid electrolytes do not burn, so solid state batteries are safer than batteries with liquid electrolytes. "
     "Dendrites still grow through cracks of the electrolyte and shorten the life of a cell."},
    {"javascript:alert(1)", "Costs",
     "The cost of solid state batteries is eight times the cost of lithium ion batteries today."},
};
static struct source japanese[] = {
    {"https://a.example/ja", "市場",
     "全固体電池の市場規模は2024年に12億ドルに達した。アナリストは2030年まで年率30パーセントの成長を見込んでいる。"
     "トヨタ自動車は2027年から全固体電池を搭載した車を販売する計画である。"},
    {"https://b.example/ja", "安全性",
     "固体電解質は燃えないため、全固体電池の安全性は液体電解質の電池より高い。デンドライトは電解質の亀裂を通って"
     "成長し、電池の寿命を縮める。"},
};
static const char *const english_points[] = {"Market size and growth", "Safety of solid electrolytes", "Recycling"};
static const char *const japanese_points[] = {"市場規模と成長", "安全性", "リサイクル"};

struct fixture {
    struct arena arena;
    struct cite_sources sources;
    struct report report;
};
static struct fixture all;

static struct report_span span_of(const char *text)
{
    return (struct report_span){text, strlen(text)};
}

static void open_report(struct source *sources, size_t count, const char *theme, const char *const *points,
                        size_t point_count)
{
    memset(&all, 0, sizeof all);
    arena_init(&all.arena, NULL, 0, SIZE_MAX);
    all.sources.arena = &all.arena;
    for (; all.sources.count < count; all.sources.count++) {
        struct source *source = &sources[all.sources.count];
        Renga__V1__SearchHit *hit = arena_alloc(&all.arena, sizeof *hit);
        renga__v1__search_hit__init(hit);
        hit->uri = arena_strdup(&all.arena, source->uri);
        hit->title = arena_strdup(&all.arena, source->title);
        hit->snippet = arena_strdup(&all.arena, source->text);
        all.sources.hits[all.sources.count] = hit;
        all.sources.passages[all.sources.count] =
            (struct passage){.text = source->text, .length = strlen(source->text)};
    }
    all.report = (struct report){
        .theme = theme,
        .headings = {span_of("Executive Summary"), span_of("Key Findings"), span_of("Detailed Analysis"),
                     span_of("References")},
        .missing = span_of("No source was found for this point."),
        .no_source = span_of("No source at all was found."),
        .cite = {.sources = &all.sources,
                 .evidence = evidence_create(&all.arena, all.sources.passages, all.sources.count),
                 .unsupported = CITE_DROP,
                 .mark = "[unverified]",
                 .has_references = true,
                 .footnotes = true,
                 .cited = arena_alloc(&all.arena, CITED_MAX * sizeof(struct cited))},
    };
    for (; all.report.point_count < point_count; all.report.point_count++)
        all.report.points[all.report.point_count] = span_of(points[all.report.point_count]);
    buffer_init(&all.report.cite.out, CITED_TEXT_MAX);
}

/* Freed by the caller. */
static char *close_report(const char *draft)
{
    report_write(&all.report, draft);
    assert_false(all.report.no_memory);
    report_write_references(&all.report);
    assert_false(all.report.cite.out.failed);
    char *text = strdup(buffer_text(&all.report.cite.out));
    if (getenv("SHOW"))
        printf("%s\n-----\n", text);
    buffer_fini(&all.report.cite.out);
    arena_fini(&all.arena);
    return text;
}

static char *english_report(const char *draft)
{
    open_report(english, 3, "Solid state batteries", english_points, 3);
    return close_report(draft);
}

static char *japanese_report(const char *draft)
{
    open_report(japanese, 2, "全固体電池の現状", japanese_points, 3);
    return close_report(draft);
}

/* ---- what must hold of each report ------------------------------------------------------------------------------- */

/* The text below a heading, up to the next one of its level or above. */
static struct report_span part_of(const char *text, const char *heading)
{
    const char *begin = strstr(text, heading);
    assert_non_null(begin);
    begin += strlen(heading);
    const char *end = strstr(begin, heading[2] == '#' ? "\n##" : "\n## ");
    return (struct report_span){begin, end ? (size_t)(end - begin) : strlen(begin)};
}

static bool part_has(const char *text, const char *heading, const char *words)
{
    struct report_span part = part_of(text, heading);
    return memmem(part.text, part.length, words, strlen(words)) != NULL;
}

static size_t count_of(struct report_span text, const char *words)
{
    size_t count = 0;
    for (const char *at = text.text;
         (at = memmem(at, text.length - (size_t)(at - text.text), words, strlen(words))) != NULL; at++)
        count++;
    return count;
}

/* Characters of the summary without notes. */
static size_t summary_length(const char *text)
{
    struct report_span part = part_of(text, "## Executive Summary\n\n");
    size_t characters = 0;
    for (size_t i = 0; i < part.length; i++) {
        if (part.text[i] == '[' && part.text[i + 1] == '^')
            i += strcspn(part.text + i, "]");
        else if (part.text[i] != '\n')
            characters += ((unsigned char)part.text[i] & 0xC0) != 0x80;
    }
    return characters;
}

/* Each mark has a definition, each definition a mark; marks are numbered in the order of their first use. */
static void assert_notes_resolve(const char *text)
{
    const char *references = strstr(text, "\n## References\n");
    assert_non_null(references);
    unsigned next = 1;
    for (const char *at = text; (at = strstr(at, "[^")) && at < references; at++) {
        unsigned number = (unsigned)strtoul(at + 2, NULL, 10);
        char definition[32];
        assert_true(number >= 1 && number <= next);
        next += number == next;
        snprintf(definition, sizeof definition, "\n[^%u]: ", number);
        assert_non_null(strstr(references, definition));
    }
    assert_int_equal(count_of(span_of(references), "\n[^"), next - 1);
}

static void assert_form(const char *text, const char *title)
{
    static const char *const parts[] = {"\n\n## Executive Summary\n", "\n\n## Key Findings\n",
                                        "\n\n## Detailed Analysis\n", "\n\n## References\n"};
    const char *at = text;
    assert_memory_equal(text, title, strlen(title));
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(count_of(span_of(text), parts[i]), 1);
        at = strstr(at, parts[i]);
        assert_non_null(at);
    }
    assert_notes_resolve(text);
}

#endif
