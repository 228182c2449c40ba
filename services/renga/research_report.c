/* A report for people: on a terminal its Markdown in lines that fit, with the sources and their quotes below it; in a
 * pipe the Markdown itself. Then its cost, and the command for further questions. */
#include "markdown.h"
#include "outcome.h"
#include "research.h"
#include "wrap.h"

#include <stdio.h>
#include <string.h>

#define TEXT_MAX      ((size_t)16 << 20) /* bytes */
#define LINE_COLUMNS  100                /* of text; longer lines are hard to read, however wide the terminal */
#define QUOTE_COLUMNS 240                /* of a quote on a terminal */
#define CODE_INDENT   4

/* ---- Markdown on a terminal -------------------------------------------------------------------------------------- */

struct printing {
    const struct research *research;
    struct research_marks *marks;
    const char *report;
    size_t width;
};

static void report_put_marks(const struct printing *printing, struct buffer *out, size_t offset)
{
    for (size_t number; (number = research_marks_take(printing->marks, offset));)
        buffer_printf(out, "%c[%zu]%c", WRAP_DIM, number, WRAP_PLAIN);
}

static void report_put_piece(const struct printing *printing, struct buffer *out, const struct markdown_piece *piece)
{
    if (piece->mark == MARKDOWN_REFERENCE)
        buffer_put(out, WRAP_DIM);
    wrap_put(out, piece->text, piece->length, true);
    if (piece->mark == MARKDOWN_REFERENCE)
        buffer_put(out, WRAP_PLAIN);
    if (piece->target_length) {
        buffer_print(out, " (");
        wrap_put(out, piece->target, piece->target_length, true);
        buffer_put(out, ')');
    }
    report_put_marks(printing, out, (size_t)(piece->text + piece->length - printing->report));
}

/* A text is cut at the marks in it. */
static void report_put_line(const struct printing *printing, struct buffer *out, const char *text, size_t length)
{
    struct markdown_line line;
    struct markdown_piece piece;
    markdown_line_begin(&line, text, length);
    while (markdown_line_next(&line, &piece)) {
        const struct research_marks *marks = printing->marks;
        while (marks->next < marks->count) {
            size_t begin = (size_t)(piece.text - printing->report), at = marks->marks[marks->next].offset;
            if (at <= begin || at >= begin + piece.length)
                break;
            struct markdown_piece head = piece;
            head.length = at - begin;
            head.target_length = 0;
            report_put_piece(printing, out, &head);
            piece.text += head.length;
            piece.length -= head.length;
        }
        report_put_piece(printing, out, &piece);
    }
    report_put_marks(printing, out, (size_t)(text + length - printing->report));
}

static size_t report_print_head(const struct printing *printing, const struct markdown_block *block)
{
    const struct orchestrator_client *client = &printing->research->client;
    size_t indent = 2 * (size_t)block->level;
    if (block->kind == MARKDOWN_HEADING)
        fputs(colour(client, BOLD), stdout);
    if (block->kind == MARKDOWN_QUOTE)
        return (size_t)printf("│ ") - 2;
    if (block->kind != MARKDOWN_ITEM)
        return 0;
    if (block->number)
        return (size_t)printf("%*s%d. ", (int)indent, "", block->number);
    printf("%*s• ", (int)indent, "");
    return indent + 2;
}

static void report_print_code(const struct markdown_block *block)
{
    for (const char *at = block->text, *end = block->text + block->length; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        printf("%*s", CODE_INDENT, "");
        show_bytes(at, (size_t)((stop ? stop : end) - at));
        putchar('\n');
        at = stop ? stop + 1 : end;
    }
}

static void report_print_block(const struct printing *printing, const struct markdown_block *block)
{
    struct buffer out;
    const struct orchestrator_client *client = &printing->research->client;
    if (block->kind == MARKDOWN_CODE) {
        report_print_code(block);
        return;
    }
    if (block->kind == MARKDOWN_RULE || block->kind == MARKDOWN_LINE) {
        puts("────────");
        return;
    }
    size_t indent = report_print_head(printing, block);
    buffer_init(&out, TEXT_MAX);
    report_put_line(printing, &out, block->text, block->length);
    wrap_text(buffer_text(&out), indent, printing->width, client->colours);
    if (block->kind == MARKDOWN_HEADING)
        fputs(colour(client, PLAIN), stdout);
    buffer_fini(&out);
}

static bool report_is_close(enum markdown_kind before, enum markdown_kind kind)
{
    bool row = kind == MARKDOWN_ROW || kind == MARKDOWN_LINE;
    return row ? before == MARKDOWN_ROW || before == MARKDOWN_LINE
               : before == kind && (kind == MARKDOWN_ITEM || kind == MARKDOWN_QUOTE);
}

static void research_report_print(const struct printing *printing, size_t length)
{
    struct markdown reader;
    struct markdown_block block;
    bool first = true;
    markdown_begin(&reader, printing->report, length);
    for (enum markdown_kind before = MARKDOWN_RULE; markdown_next(&reader, &block); before = block.kind) {
        if (!first && !report_is_close(before, block.kind))
            putchar('\n');
        report_print_block(printing, &block);
        first = false;
    }
}

/* ---- sources ----------------------------------------------------------------------------------------------------- */

/* "guide.md:3-5 — Title: “quote”"; the quote is cut and dim on a terminal. */
static void report_put_source(struct buffer *out, const struct research_words *words,
                              const Renga__V1__Citation *citation, bool terminal)
{
    struct buffer quote;
    char lines[32];
    research_lines_text(citation, lines);
    buffer_init(&quote, TEXT_MAX);
    wrap_put(&quote, citation->quote, strlen(citation->quote), true);
    wrap_put(out, citation->uri, strlen(citation->uri), true);
    buffer_printf(out, "%s%s%s", *lines ? ":" : "", lines, *citation->title ? " — " : "");
    wrap_put(out, citation->title, strlen(citation->title), true);
    size_t length = terminal ? wrap_fit(buffer_text(&quote), QUOTE_COLUMNS) : quote.length;
    buffer_print(out, ": ");
    if (terminal)
        buffer_put(out, WRAP_DIM);
    buffer_printf(out, "%s%.*s%s%s", words->quoted[0], (int)length, buffer_text(&quote),
                  length < quote.length ? "…" : "", words->quoted[1]);
    if (terminal)
        buffer_put(out, WRAP_PLAIN);
    buffer_fini(&quote);
}

static void report_print_sources(const struct printing *printing, const struct research_sources *sources)
{
    const struct research_words *words = printing->research->words;
    struct buffer out;
    char label[24];
    printf("\n%s%s%s\n", colour(&printing->research->client, BOLD), words->sources,
           colour(&printing->research->client, PLAIN));
    buffer_init(&out, TEXT_MAX);
    for (size_t i = 0; i < sources->count; i++) {
        if (!research_sources_is_new(sources, i))
            continue;
        int indent = snprintf(label, sizeof label, "[%zu] ", sources->numbers[sources->order[i]]);
        buffer_clear(&out);
        report_put_source(&out, words, sources->result->citations[sources->order[i]], true);
        fputs(label, stdout);
        wrap_text(buffer_text(&out), (size_t)indent, printing->width, printing->research->client.colours);
    }
    buffer_fini(&out);
}

/* ---- Markdown ---------------------------------------------------------------------------------------------------- */

/* The report unchanged; if it has no list of its own, with numbers and a list. */
void research_put_markdown(struct buffer *out, const struct research_words *words,
                           const Renga__V1__DeepResearchResult *result)
{
    struct research_sources sources;
    struct research_marks marks;
    const char *report = result->report_md;
    size_t at = 0;
    research_sources_init(&sources, result);
    research_marks_init(&marks, &sources);
    for (size_t i = 0; i < marks.count; i++) {
        buffer_append(out, report + at, marks.marks[i].offset - at);
        at = marks.marks[i].offset;
        buffer_printf(out, "[%zu]", marks.marks[i].number);
    }
    buffer_print(out, report + at);
    buffer_print(out, *report && report[strlen(report) - 1] != '\n' ? "\n" : "");
    if (!sources.listed && sources.count)
        buffer_printf(out, "\n## %s\n\n", words->sources);
    for (size_t i = 0; !sources.listed && i < sources.count; i++)
        if (research_sources_is_new(&sources, i)) {
            buffer_printf(out, "- [%zu] ", sources.numbers[sources.order[i]]);
            report_put_source(out, words, result->citations[sources.order[i]], false);
            buffer_put(out, '\n');
        }
    research_marks_fini(&marks);
    research_sources_fini(&sources);
}

/* ---- the end ------------------------------------------------------------------------------------------------------
 */

/* "Not known yet: …" needs no "Not known:" before it. */
static bool report_says(const char *text, const char *words)
{
    return strncmp(text, words, strlen(words)) == 0;
}

static void report_show_gaps(FILE *out, const struct research *research)
{
    const Renga__V1__DeepResearchResult *result = research->result;
    for (size_t i = 0; i < result->n_gaps; i++)
        if (!strstr(result->report_md, result->gaps[i])) /* the report may tell of it */
            outcome_line(out, &research->client, research->live ? research->width : 0, YELLOW,
                         report_says(result->gaps[i], research->words->gaps) ? "" : research->words->gaps,
                         result->gaps[i]);
}

static void report_show_end(FILE *out, const struct research *research)
{
    struct buffer figures;
    const Renga__V1__DeepResearchResult *result = research->result;
    const char *connect = config_string(research->client.config, CONNECT);
    size_t width = research->live ? research->width : 0;
    report_show_gaps(out, research);
    outcome_show(out, &research->client, width, research->words->tag, result->outcome);
    buffer_init(&figures, TEXT_MAX);
    research_put_figures(&figures, research->words, result);
    outcome_line(out, &research->client, width, DIM, "", buffer_text(&figures));
    buffer_fini(&figures);
    if (!*research->run_id)
        return;
    fprintf(out, "%s%s%s" RESEARCH " --on %s%s%s \"…\"%s\n", colour(&research->client, DIM), research->words->further,
            research->words->colon, research->run_id, connect ? " --connect " : "", connect ? connect : "",
            colour(&research->client, PLAIN));
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static void report_show_on_terminal(const struct research *research)
{
    struct research_sources sources;
    struct research_marks marks;
    struct printing printing = {.research = research, .marks = &marks, .report = research->result->report_md};
    printing.width = research->width > LINE_COLUMNS ? LINE_COLUMNS : research->width;
    research_sources_init(&sources, research->result);
    research_marks_init(&marks, &sources);
    research_report_print(&printing, sources.report_length);
    if (sources.count)
        report_print_sources(&printing, &sources);
    research_marks_fini(&marks);
    research_sources_fini(&sources);
}

static void report_show_in_pipe(const struct research *research)
{
    struct buffer out;
    buffer_init(&out, TEXT_MAX);
    research_put_markdown(&out, research->words, research->result);
    fwrite(buffer_text(&out), 1, out.length, stdout);
    buffer_fini(&out);
}

void research_show(const struct research *research)
{
    if (research->json)
        message_print_json(research->exact ? research->exact : &research->result->base);
    else if (!research->output)
        (research->client.terminal ? report_show_on_terminal : report_show_in_pipe)(research);
    if (!research->json && !research->quiet) {
        FILE *out = research->client.terminal ? stdout : stderr;
        fputs(research->client.terminal ? "\n" : "", out);
        report_show_end(out, research);
    }
    fflush(stdout);
}
