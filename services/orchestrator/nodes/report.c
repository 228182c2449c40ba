/* Writes a report of five parts whose sentences the sources carry (report_text.h): out of a model's draft, or without
 * a model. */
#include "input_job.h"
#include "report_text.h"

#include "base/text.h"
#include "graph/agents.h"

#include <stdio.h>
#include <string.h>

#define REPORT_REASON_MAX  1000          /* bytes, within Degradation.reason */
#define REPORT_PART_MAX    ((size_t)400) /* ... of a sentence that is told as a part */
#define REPORT_URI_MAX     ((size_t)300)
#define REPORT_NEAREST_MAX ((size_t)400) /* ... of the words of a source */

enum {
    REPORT_ROW_THEME,
    REPORT_ROW_PLAN,
    REPORT_ROW_OF,
    REPORT_ROW_DRAFT,
    REPORT_ROW_INTO,
    REPORT_ROW_CITATIONS,
    REPORT_ROW_HEADINGS,
    REPORT_ROW_MISSING,
    REPORT_ROW_UNSUPPORTED,
    REPORT_ROW_MARK,
    REPORT_ROW_PASSAGES,
};

static const struct node_parameter parameters[] = {
    [REPORT_ROW_THEME] = {"theme", READS_STRING, REQUIRED, "The theme, a string: the title."},
    [REPORT_ROW_PLAN] = {"plan", READS_OBJECT, OPTIONAL,
                         "An object (ResearchPlan): each of its investigation_points is a section of the analysis."},
    [REPORT_ROW_OF] =
        {"of", READS_OBJECTS, REQUIRED,
         "The sources, an object[]: SearchResult, hits as search writes them, or objects that contain them."},
    [REPORT_ROW_DRAFT] = {"draft", READS_STRING, OPTIONAL,
                          "A model's draft, a string. Without one, code composes the report."},
    [REPORT_ROW_INTO] = {"into", WRITES_STRING, REQUIRED, "The report, a string."},
    [REPORT_ROW_CITATIONS] = {"citations", WRITES_OBJECTS, REQUIRED, "Its citations, an object[] (Citation)."},
    [REPORT_ROW_HEADINGS] = {"headings", PARAMETER_PROMPT, REQUIRED,
                             "A prompt of four lines: the headings of summary, findings, analysis and references."},
    [REPORT_ROW_MISSING] = {"missing", PARAMETER_PROMPT, REQUIRED,
                            "A prompt of two lines: the sentence for a point without a source, and the one for a "
                            "report without any source."},
    [REPORT_ROW_UNSUPPORTED] =
        {"unsupported", PARAMETER_TEXT, OPTIONAL,
         "What becomes of a sentence of the draft without a source: \"drop\" (the default) or \"mark\"."},
    [REPORT_ROW_MARK] = {"mark", PARAMETER_PROMPT, OPTIONAL,
                         "With \"mark\": the words behind the sentence, one of the prompts."},
    [REPORT_ROW_PASSAGES] =
        {"passages", WRITES_OBJECTS, OPTIONAL,
         "The parts of the sources in which the quotes of the citations stand, an object[] (SourcePassage)."},
    {.name = NULL},
};
static const char *const outcomes[] = {"written", "composed", "nothing", NULL};
static const char *const unsupported_words[] = {"drop", "mark", NULL};
static const enum cite_unsupported unsupported_ways[] = {CITE_DROP, CITE_MARK};

struct reporting {
    struct input_job base; /* first */
    struct report *report;
    bool drafted;
};

/* ---- the document ------------------------------------------------------------------------------------------------ */

/* The lines of a prompt that are not empty; how many. */
static size_t report_lines_of(const char *text, struct report_span *lines, size_t most)
{
    size_t count = 0;
    while (text && *text && count < most) {
        size_t length = strcspn(text, "\r\n");
        if (length)
            lines[count++] = (struct report_span){text, length};
        text += length + strspn(text + length, "\r\n");
    }
    return count;
}

static bool report_check_prompt(const struct node *node, size_t row, size_t count, struct status *st)
{
    static const char *const languages[] = {"en", "ja"};
    struct report_span lines[REPORT_PARTS];
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++) {
        const char *text = agent_prompt(node->graph->agent, node_argument(node, row)->text, languages[i]);
        if (report_lines_of(text, lines, count) < count)
            return fail_field(st, parameters[row].name, "'%s' must have %zu lines in each language",
                              node_argument(node, row)->text, count);
    }
    return true;
}

static bool report_check(const struct node *node, struct status *st)
{
    int way = word_check(node, REPORT_ROW_UNSUPPORTED, unsupported_words, st);
    if (way >= 0 && (way == 1) != (node_argument(node, REPORT_ROW_MARK)->text != NULL))
        return fail_field(st, "mark", "and \"unsupported\": \"mark\" go together; add the other");
    return way >= 0 && report_check_prompt(node, REPORT_ROW_HEADINGS, REPORT_PARTS, st) &&
           report_check_prompt(node, REPORT_ROW_MISSING, 2, st);
}

/* ---- the inputs -------------------------------------------------------------------------------------------------- */

static const char *report_prompt(const struct service_call *run, size_t row)
{
    const struct node *node = task_node(run->task);
    const char *name = node_argument(node, row)->text;
    return name ? agent_prompt(node->graph->agent, name, run->language) : NULL;
}

/* As they stand in the inputs, which last as long as the work. */
static void report_read_points(const struct service_call *run, struct report *report)
{
    const cJSON *plan = service_call_input(run, REPORT_ROW_PLAN), *point;
    cJSON_ArrayForEach(point, cJSON_GetObjectItemCaseSensitive(plan, "investigation_points"))
    {
        const char *text = cJSON_GetStringValue(point);
        if (text && text[strspn(text, " \t\r\n#")] && report->point_count < REPORT_POINTS_MAX)
            report->points[report->point_count++] = (struct report_span){text, strlen(text)};
    }
}

static void report_leave_orders_out(struct cite_sources *sources)
{
    for (size_t i = 0; i < sources->count; i++)
        sources->passages[i].length = report_orders_begin(sources->passages[i].text, sources->passages[i].length);
}

static bool report_open(struct reporting *reporting)
{
    const struct service_call *run = &reporting->base.base;
    struct arena *arena = task_arena(run->task);
    struct report *report = reporting->report = arena_zalloc(arena, sizeof *report);
    struct cite_sources *sources = arena_zalloc(arena, sizeof *sources);
    const char *mark = report_prompt(run, REPORT_ROW_MARK);
    struct report_span missing[2];
    struct status ignored = {0};
    if (!report || !sources)
        return false;
    sources->arena = arena;
    sources->own_addresses = true;
    cite_sources_gather(sources, service_call_input(run, REPORT_ROW_OF));
    report_leave_orders_out(sources);
    report->theme = service_call_text(run, REPORT_ROW_THEME);
    report_read_points(run, report);
    report_lines_of(report_prompt(run, REPORT_ROW_HEADINGS), report->headings, REPORT_PARTS);
    report_lines_of(report_prompt(run, REPORT_ROW_MISSING), missing, 2);
    report->missing = missing[0];
    report->no_source = missing[1];
    report->cite = (struct cite_text){
        .sources = sources,
        .evidence = sources->no_memory ? NULL : evidence_create(arena, sources->passages, sources->count),
        .unsupported =
            unsupported_ways[word_check(task_node(run->task), REPORT_ROW_UNSUPPORTED, unsupported_words, &ignored)],
        .mark = mark ? arena_strndup(arena, mark, strcspn(mark, "\n")) : NULL,
        .has_references = true,
        .footnotes = true,
        .cited = arena_alloc(arena, CITED_MAX * sizeof(struct cited)),
    };
    buffer_init(&report->cite.out, CITED_TEXT_MAX);
    return report->cite.evidence && report->cite.cited && (!mark || report->cite.mark);
}

/* ---- the node ---------------------------------------------------------------------------------------------------- */

static bool report_run_job(struct input_job *job, struct status *st)
{
    struct reporting *reporting = CONTAINER_OF(job, struct reporting, base);
    const char *draft = service_call_text(&job->base, REPORT_ROW_DRAFT);
    struct json_writer *json = &job->update.out;
    if (!report_open(reporting))
        return fail(st, RESOURCE_EXHAUSTED, "no memory for the report");
    struct report *report = reporting->report;
    struct cite_text *cite = &report->cite;
    reporting->drafted = draft[strspn(draft, " \t\r\n")];
    report_write(report, draft);
    json_write_array(json, update_field(job->base.task, REPORT_ROW_CITATIONS));
    bool good = !report->no_memory && cite_text_write_citations(json, cite);
    json_write_end(json);
    if (good && update_field(job->base.task, REPORT_ROW_PASSAGES)) {
        json_write_array(json, update_field(job->base.task, REPORT_ROW_PASSAGES));
        good = cite_text_write_passages(json, cite);
        json_write_end(json);
    }
    report_write_references(report);
    good = good && !cite->out.failed;
    if (good)
        json_write_string(json, update_field(job->base.task, REPORT_ROW_INTO), buffer_text(&cite->out));
    buffer_fini(&cite->out);
    return good || fail(st, RESOURCE_EXHAUSTED, "no memory for the report");
}

/* In the language of the run: the parts of a model's draft that code composed. */
static void report_tell_composed(struct reporting *reporting, struct update *update, bool japanese)
{
    const struct report *report = reporting->report;
    char names[512], reason[640];
    size_t used = 0;
    for (size_t i = 0; i < REPORT_REFERENCES; i++) {
        const struct report_span *name = &report->headings[i];
        if (report->composed[i] && used + name->length + 4 < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%.*s", used ? ", " : "", (int)name->length,
                                     name->text);
    }
    if (!used)
        return;
    snprintf(reason, sizeof reason,
             japanese ? "ドラフトに足りない部分を情報源の文で補った: %s"
                      : "sentences of the sources complete what the draft lacks: %s",
             names);
    input_job_degrade(&reporting->base, update, RENGA__V1__DEGRADATION_KIND__DEGRADATION_KIND_FALLBACK, reason);
}

/* Each sentence that was left out, with the address and the words of the source that is nearest. */
static void report_tell_sentences(struct reporting *reporting, struct update *update, bool japanese)
{
    const struct report *report = reporting->report;
    for (size_t i = 0; i < report->dropped_count; i++) {
        const struct report_dropped *dropped = &report->dropped[i];
        const Renga__V1__SearchHit *hit = dropped->nearest.length ? report->cite.sources->hits[dropped->passage] : NULL;
        char reason[REPORT_REASON_MAX + 1];
        int words = (int)text_cut(dropped->nearest.text ? dropped->nearest.text : "", dropped->nearest.length,
                                  REPORT_NEAREST_MAX);
        char *part = arena_strndup(task_arena(reporting->base.base.task), dropped->sentence.text,
                                   text_cut(dropped->sentence.text, dropped->sentence.length, REPORT_PART_MAX));
        if (!part)
            return;
        if (!hit)
            snprintf(reason, sizeof reason, "%s",
                     japanese ? "裏付ける出典がないため、この文をドラフトから除いた"
                              : "the sentence was left out of the draft, since no source speaks of it");
        else
            snprintf(reason, sizeof reason,
                     japanese ? "この文をドラフトから除いた。最も近い出典 %.*s の記述は「%.*s」"
                              : "the sentence was left out of the draft; the nearest source, %.*s, says: \"%.*s\"",
                     (int)text_cut(hit->uri, strlen(hit->uri), REPORT_URI_MAX), hit->uri, words, dropped->nearest.text);
        input_job_degrade_part(&reporting->base, update, RENGA__V1__DEGRADATION_KIND__DEGRADATION_KIND_SKIPPED, part,
                               reason);
    }
}

static void report_tell_dropped(struct reporting *reporting, struct update *update, bool japanese)
{
    const struct report *report = reporting->report;
    int looked = (int)report->looked, missing = looked - (int)report->kept;
    bool dropped = report->cite.unsupported == CITE_DROP;
    char reason[256];
    if (missing <= 0)
        return;
    if (japanese)
        snprintf(reason, sizeof reason, "ドラフトの%d文のうち%d文には出典が見つからない%s", looked, missing,
                 dropped ? "ため除いた" : "");
    else
        snprintf(reason, sizeof reason, "of %d sentences of the draft %d have no source%s", looked, missing,
                 dropped ? " and were left out" : "");
    input_job_degrade(&reporting->base, update, RENGA__V1__DEGRADATION_KIND__DEGRADATION_KIND_PARTIAL, reason);
}

static const char *report_finish_job(struct input_job *job, struct update *update)
{
    struct reporting *reporting = CONTAINER_OF(job, struct reporting, base);
    const struct report *report = reporting->report;
    bool japanese = strcmp(job->base.language, "ja") == 0;
    if (reporting->drafted) {
        report_tell_dropped(reporting, update, japanese);
        report_tell_sentences(reporting, update, japanese);
        report_tell_composed(reporting, update, japanese);
    }
    return outcomes[!report->cite.cited_count ? 2 : report->kept ? 0 : 1];
}

static void report_start(struct task *task)
{
    struct reporting *reporting = task_data(task);
    input_job_start(&reporting->base, task, report_run_job, report_finish_job);
}

extern const struct node_kind report_kind;
const struct node_kind report_kind = {
    .name = "report",
    .help = "Writes a report of five parts whose sentences the sources carry, out of a model's draft or without one.",
    .parameters = parameters,
    .outcomes = outcomes,
    .check = report_check,
    .size = sizeof(struct reporting),
    .start = report_start,
    .cancel = input_job_cancel,
};
