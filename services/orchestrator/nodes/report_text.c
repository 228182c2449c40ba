#include "report_text.h"

#include "words/support.h"

#include <string.h>

#define THEME_MAX       200                                    /* characters of the title */
#define NOTE_CHARACTERS 6                                      /* " [^12]" */
#define SUMMARY_POOL    16                                     /* sentences among which the summary is chosen */
#define POOL_MAX        48                                     /* sentences of the sources for a part */
#define POINT_SENTENCES 4                                      /* of the sources, below a point */
#define HEADING_ENOUGH  0.5                                    /* coverage from which a heading is that of a point */
#define TEXT_MAX        (CITED_TEXT_MAX - ((size_t)256 << 10)) /* bytes up to the end of a draft's section */
#define POINT_COVERED   0.6                                    /* coverage from which a heading speaks of a point */

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

static void report_text_print(struct report *report, struct report_span text)
{
    buffer_append(&report->cite.out, text.text, text.length);
}

/* Removes the output behind `length`. */
static void report_cut(struct report *report, size_t length)
{
    if (!report->cite.out.failed)
        report->cite.out.length = length;
}

/* An empty line, then the heading. */
static void report_print_heading(struct report *report, const char *marks, struct report_span words)
{
    struct buffer *out = &report->cite.out;
    while (out->length && out->data[out->length - 1] == '\n')
        out->length--;
    buffer_print(out, out->length ? "\n\n" : "");
    buffer_print(out, marks);
    for (size_t i = 0; i < words.length; i++)
        buffer_put(out, words.text[i] == '\n' || words.text[i] == '\r' ? ' ' : words.text[i]);
}

static void report_print_missing(struct report *report, const char *before)
{
    buffer_print(&report->cite.out, before);
    report_text_print(report, report->cite.sources->count ? report->missing : report->no_source);
}

/* Sentences side by side; a blank stands between those that end with a Latin stop. */
static void report_print_line(struct report *report, const struct report_line *line, bool first)
{
    struct buffer *out = &report->cite.out;
    bool latin = out->length && (unsigned char)out->data[out->length - 1] < 0x80;
    buffer_print(out, !first && latin ? " " : "");
    cite_text_keep(&report->cite, line->sentence.text, line->sentence.length, line->carried ? &line->support : NULL);
}

static size_t report_cost(const struct report_line *line)
{
    return line->characters + NOTE_CHARACTERS;
}

static void report_choose_points(struct report *report, const struct report_lines *used, struct report_lines *lines)
{
    for (size_t i = 0; i < report->point_count && lines->count < POOL_MAX; i++)
        report_choose(report, i, 1, used, lines);
}

/* The first sentences of the sources if no sentence answers the theme or a point. */
static void report_choose_rest(struct report *report, size_t before, struct report_lines *lines)
{
    if (lines->count == before)
        report_choose_first(report, SUMMARY_POOL, lines);
}

/* ---- the summary ------------------------------------------------------------------------------------------------- */

struct report_choice {
    const struct report_lines *lines;
    bool in[SUMMARY_POOL], best[SUMMARY_POOL];
    size_t best_total;
};

/* Tries the lines in their order, each with it before without it. True if the sentences are long enough together. */
static bool summary_try(struct report_choice *choice, size_t at, size_t length, size_t cost)
{
    if (length > choice->best_total) {
        choice->best_total = length;
        memcpy(choice->best, choice->in, sizeof choice->best);
    }
    if (length >= REPORT_SUMMARY_LEAST)
        return true;
    if (at == choice->lines->count || at == SUMMARY_POOL)
        return false;
    const struct report_line *line = &choice->lines->list[at];
    if (cost + report_cost(line) <= REPORT_SUMMARY_MOST) {
        choice->in[at] = true;
        if (summary_try(choice, at + 1, length + line->characters, cost + report_cost(line)))
            return true;
        choice->in[at] = false;
    }
    return summary_try(choice, at + 1, length, cost);
}

/* No sentence is short enough: the beginning of the first. */
static void summary_print_cut(struct report *report, struct report_line line)
{
    size_t characters = 0, at = 0, blank = 0;
    const char *text = line.sentence.text;
    for (; at < line.sentence.length && characters + NOTE_CHARACTERS < REPORT_SUMMARY_MOST; characters++) {
        blank = text[at] == ' ' ? at : blank;
        at++;
        while (at < line.sentence.length && ((unsigned char)text[at] & 0xC0) == 0x80)
            at++;
    }
    line.sentence.length = blank > at / 2 ? blank : at;
    char *cut = arena_printf(report->cite.sources->arena, "%.*s…", (int)line.sentence.length, text);
    report->no_memory |= !cut;
    if (!cut)
        return;
    line.sentence = (struct report_span){cut, strlen(cut)};
    report_print_line(report, &line, true);
}

/* Further sentences of the draft that fit. */
static void summary_extend(struct report_choice *choice, size_t of_draft)
{
    size_t cost = 0;
    for (size_t i = 0; i < choice->lines->count && i < SUMMARY_POOL; i++)
        cost += choice->best[i] ? report_cost(&choice->lines->list[i]) : 0;
    for (size_t i = 0; i < of_draft && i < SUMMARY_POOL; i++) {
        size_t more = report_cost(&choice->lines->list[i]);
        if (choice->best[i] || cost + more > REPORT_SUMMARY_MOST)
            continue;
        choice->best[i] = true;
        cost += more;
    }
}

static void summary_print(struct report *report, struct report_lines *lines, size_t of_draft)
{
    struct report_choice choice = {.lines = lines};
    size_t count = 0;
    summary_try(&choice, 0, 0, 0);
    summary_extend(&choice, of_draft);
    for (size_t i = 0; i < lines->count && i < SUMMARY_POOL; i++) {
        if (!choice.best[i])
            continue;
        report_print_line(report, &lines->list[i], count == 0);
        report->composed[REPORT_SUMMARY] |= i >= of_draft;
        lines->list[count++] = lines->list[i];
    }
    if (!count) {
        summary_print_cut(report, lines->list[count++]);
        report->composed[REPORT_SUMMARY] = of_draft == 0;
    }
    lines->count = count;
    report->summary = lines;
}

/* The draft's sentences as far as they fit, then others until there are enough. */
static void report_write_summary(struct report *report, struct report_span draft)
{
    struct report_lines *lines = arena_zalloc(report->cite.sources->arena, sizeof *lines);
    report->no_memory |= !lines;
    if (!lines)
        return;
    report_read_lines(report, draft, lines);
    size_t of_draft = lines->count;
    report_choose(report, REPORT_THEME, SUMMARY_POOL, NULL, lines);
    report_choose_points(report, NULL, lines);
    report_choose_rest(report, 0, lines);
    report_print_heading(report, "## ", report->headings[REPORT_SUMMARY]);
    buffer_print(&report->cite.out, "\n\n");
    if (lines->count)
        summary_print(report, lines, of_draft);
    else
        report_print_missing(report, "");
}

/* ---- the findings ------------------------------------------------------------------------------------------------ */

/* The best sentence of each point, then those about the theme; first those that the summary does not have. */
static void findings_choose(struct report *report, struct report_lines *lines)
{
    const struct report_lines *const used[] = {report->summary, NULL};
    size_t before = lines->count;
    for (int i = 0; i < 2 && lines->count < REPORT_FINDINGS_LEAST; i++) {
        report_choose_points(report, used[i], lines);
        report_choose(report, REPORT_THEME, SUMMARY_POOL, used[i], lines);
    }
    report_choose_rest(report, before, lines);
}

static void report_write_findings(struct report *report, struct report_span draft)
{
    struct report_lines *lines = arena_zalloc(report->cite.sources->arena, sizeof *lines);
    struct buffer *out = &report->cite.out;
    size_t items = 0, shown = 0;
    report->no_memory |= !lines;
    if (!lines)
        return;
    report_read_lines(report, draft, lines);
    size_t of_draft = lines->count;
    for (size_t i = 0; i < of_draft; i++)
        items += i == 0 || lines->list[i].item != lines->list[i - 1].item || !lines->list[i].item;
    if (items < REPORT_FINDINGS_LEAST)
        findings_choose(report, lines);
    size_t most = items && items < REPORT_FINDINGS_LEAST ? REPORT_FINDINGS_LEAST : REPORT_FINDINGS_MOST;
    report_print_heading(report, "## ", report->headings[REPORT_FINDINGS]);
    buffer_print(out, "\n");
    for (size_t i = 0; i < lines->count; i++) {
        bool same = i && i < of_draft && lines->list[i].item && lines->list[i].item == lines->list[i - 1].item;
        if (!same && shown == most)
            break;
        shown += !same;
        buffer_print(out, same ? "" : "\n- ");
        report_print_line(report, &lines->list[i], !same);
        report->composed[REPORT_FINDINGS] |= i >= of_draft;
    }
    if (!shown)
        report_print_missing(report, "\n- ");
}

/* ---- the analysis ------------------------------------------------------------------------------------------------ */

struct report_analysis {
    const struct report_draft *draft;
    bool written[REPORT_SECTIONS_MAX];
    size_t point_of[REPORT_SECTIONS_MAX]; /* SIZE_MAX: of no point */
    struct report_lines *used;            /* sentences of the sources that stand in the analysis */
};

static struct evidence *report_weigh(struct report *report, const struct report_span *texts, size_t count)
{
    struct arena *arena = report->cite.sources->arena;
    struct passage *passages = arena_zalloc(arena, (count + 1) * sizeof *passages);
    for (size_t i = 0; passages && i < count; i++)
        passages[i] = (struct passage){.text = texts[i].text, .length = texts[i].length};
    struct evidence *evidence = passages ? evidence_create(arena, passages, count) : NULL;
    report->no_memory |= !evidence;
    return evidence;
}

/* The point that has most of the heading's words, or whose words the heading has. */
static size_t analysis_point_of(struct report *report, const struct evidence *points, struct report_span heading)
{
    struct support support;
    if (!heading.length || !report->point_count)
        return SIZE_MAX;
    if (support_find(points, heading.text, heading.length, HEADING_ENOUGH, &support))
        return support.passage;
    struct evidence *own = report_weigh(report, &heading, 1);
    for (size_t i = 0; own && i < report->point_count; i++) {
        const struct report_span *point = &report->points[i];
        struct coverage coverage;
        evidence_cover(own, points, point->text, point->length, &coverage);
        if (coverage.share >= POINT_COVERED)
            return i;
    }
    return SIZE_MAX;
}

/* False: no sentence of it is carried, or the report has no room for it. */
static bool analysis_write_text(struct report *report, struct report_span text)
{
    struct cite_text *cite = &report->cite;
    size_t length = cite->out.length, cited = cite->cited_count;
    int32_t sentences = cite->sentences;
    if (text.length > TEXT_MAX || length > TEXT_MAX - text.length)
        return false;
    char *copy = arena_strndup(cite->sources->arena, text.text, text.length);
    report->no_memory |= !copy;
    if (!copy)
        return false;
    cite->drops_questions = true;
    cite_text_write(cite, copy);
    report->looked += cite->sentences - sentences;
    report->kept += (int32_t)(cite->cited_count - cited);
    if (cite->cited_count > cited)
        return true;
    report_cut(report, length);
    return false;
}

static bool analysis_compose(struct report *report, size_t question, struct report_lines *used)
{
    struct report_lines *lines = arena_zalloc(report->cite.sources->arena, sizeof *lines);
    report->no_memory |= !lines;
    if (!lines)
        return false;
    report_choose(report, question, POINT_SENTENCES, used, lines);
    if (!lines->count)
        report_choose(report, question, 1, NULL, lines); /* said above, but it answers this point, too */
    buffer_print(&report->cite.out, lines->count ? "\n\n" : "");
    for (size_t i = 0; i < lines->count; i++) {
        report_print_line(report, &lines->list[i], i == 0);
        if (used->count < REPORT_LINES_MAX)
            used->list[used->count++] = lines->list[i];
    }
    return lines->count;
}

static void analysis_write_point(struct report *report, struct report_analysis *analysis, size_t point)
{
    bool any = false;
    report_print_heading(report, "### ", report->points[point]);
    for (size_t i = 0; i < analysis->draft->section_count; i++)
        if (analysis->point_of[i] == point) {
            analysis->written[i] = true;
            any |= analysis_write_text(report, analysis->draft->sections[i].text);
        }
    if (any)
        return;
    if (analysis_compose(report, point, analysis->used))
        report->composed[REPORT_ANALYSIS] = true;
    else
        report_print_missing(report, "\n\n");
}

/* A section of the draft that belongs to no point keeps its own heading. */
static bool analysis_write_other(struct report *report, const struct report_section *section)
{
    struct buffer *out = &report->cite.out;
    size_t length = out->length;
    bool numbers = evidence_has_numbers(report->cite.evidence, section->heading.text, section->heading.length);
    if (section->heading.length && (numbers || report->cite.unsupported != CITE_DROP))
        report_print_heading(report, "### ", section->heading);
    if (analysis_write_text(report, section->text))
        return true;
    report_cut(report, length);
    return false;
}

static void report_write_analysis(struct report *report, const struct report_draft *draft)
{
    struct report_analysis *analysis = arena_zalloc(report->cite.sources->arena, sizeof *analysis);
    struct report_lines *used = arena_zalloc(report->cite.sources->arena, sizeof *used);
    struct evidence *points = report_weigh(report, report->points, report->point_count);
    report->no_memory |= !analysis || !used;
    if (report->no_memory)
        return;
    *analysis = (struct report_analysis){.draft = draft, .used = used};
    for (size_t i = 0; i < draft->section_count; i++)
        analysis->point_of[i] = analysis_point_of(report, points, draft->sections[i].heading);
    report_print_heading(report, "## ", report->headings[REPORT_ANALYSIS]);
    bool any = report->point_count;
    for (size_t i = 0; i < draft->section_count && !draft->sections[i].heading.length; i++) {
        analysis->written[i] = true;
        any |= analysis_write_other(report, &draft->sections[i]);
    }
    for (size_t i = 0; i < report->point_count; i++)
        analysis_write_point(report, analysis, i);
    for (size_t i = 0; i < draft->section_count; i++)
        any |= !analysis->written[i] && analysis_write_other(report, &draft->sections[i]);
    if (any)
        return;
    if (analysis_compose(report, REPORT_THEME, used))
        report->composed[REPORT_ANALYSIS] = true;
    else
        report_print_missing(report, "\n\n");
}

/* ---- the report -------------------------------------------------------------------------------------------------- */

static struct report_span report_title(const char *theme)
{
    theme += strspn(theme, " \t\r\n#");
    size_t length = strcspn(theme, "\r\n"), at = 0;
    for (size_t characters = 0; at < length && characters < THEME_MAX; characters++) {
        at++;
        while (at < length && ((unsigned char)theme[at] & 0xC0) == 0x80)
            at++;
    }
    return (struct report_span){theme, at};
}

void report_write(struct report *report, const char *draft)
{
    const struct cite_sources *sources = report->cite.sources;
    struct report_draft *parts = arena_zalloc(sources->arena, sizeof *parts);
    struct cited_span ignored;
    char *plain = report_unwrap(sources->arena, draft);
    const char *clean = plain ? cite_clean(sources, plain, &ignored) : NULL;
    report->no_memory |= !parts || !clean;
    if (report->no_memory)
        return;
    report_split(clean, parts);
    report_print_heading(report, "# ", report_title(report->theme));
    report_write_summary(report, parts->summary);
    report_write_findings(report, parts->findings);
    report_write_analysis(report, parts);
}

void report_write_references(struct report *report)
{
    const struct report_span *heading = &report->headings[REPORT_REFERENCES];
    if (report->cite.reference_count) {
        cite_text_write_references(&report->cite, heading->text, heading->length);
        return;
    }
    report_print_heading(report, "## ", *heading);
    report_print_missing(report, "\n\n");
}
