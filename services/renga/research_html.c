/* A report as a page of its own: its Markdown, the sources with their quotes as notes, and its cost. All text is
 * escaped, there is no script, and only addresses of the web become links. */
#include "html.h"
#include "markdown.h"
#include "research.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define LISTS_MAX 8
#define PLAIN_MAX ((size_t)65536) /* bytes of the figures */

struct page {
    struct buffer *out;
    const struct research_words *words;
    const Renga__V1__DeepResearchResult *result;
    struct research_sources sources;
    struct research_marks marks;
    char lists[LISTS_MAX]; /* 'o' or 'u', outermost first */
    int depth;
    bool table, quote;
};

static const char style[] =
    ":root{color-scheme:light dark}"
    "body{font:1rem/1.7 system-ui,-apple-system,\"Hiragino Kaku Gothic ProN\",\"Noto Sans JP\",\"Yu "
    "Gothic\",sans-serif;"
    "max-width:44rem;margin:2rem auto;padding:0 1rem;overflow-wrap:anywhere}"
    "h1,h2,h3{line-height:1.3}pre{overflow-x:auto;padding:.8rem;border:1px solid #8886}"
    "table{border-collapse:collapse;display:block;overflow-x:auto}td,th{border:1px solid #8886;padding:.3rem .6rem}"
    "blockquote{margin:.3rem 0;padding-left:.8rem;border-left:3px solid #8886}"
    "a.ref{text-decoration:none;font-size:.8em;vertical-align:super}"
    "#sources{font-size:.9rem}#sources li:target{background:#fd03}footer{font-size:.85rem;opacity:.8;"
    "border-top:1px solid #8886;margin-top:2rem}"
    "@media print{body{max-width:none;margin:0;font-size:10.5pt;color:#000;background:#fff}"
    "h1,h2,h3{break-after:avoid}blockquote,li,tr,pre{break-inside:avoid}a{color:inherit}"
    "#sources a[href]::after{content:\" <\" attr(href) \">\"}}";

/* ---- text -------------------------------------------------------------------------------------------------------- */

static void html_escape_text(struct buffer *out, const char *text)
{
    html_escape(out, text, strlen(text));
}

static bool html_is_web(const char *target, size_t length)
{
    static const char *const schemes[] = {"https://", "http://"};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (length > strlen(schemes[i]) && strncasecmp(target, schemes[i], strlen(schemes[i])) == 0)
            return true;
    return false;
}

static void html_begin_link(struct buffer *out, const char *target, size_t length)
{
    if (!html_is_web(target, length))
        return;
    buffer_print(out, "<a rel=\"noopener noreferrer\" href=\"");
    html_escape(out, target, length);
    buffer_print(out, "\">");
}

static void html_end_link(struct buffer *out, const char *target, size_t length)
{
    if (html_is_web(target, length))
        buffer_print(out, "</a>");
}

static void html_put_reference(struct page *page, size_t number)
{
    if (number <= page->sources.most)
        buffer_printf(page->out, "<a class=\"ref\" href=\"#source-%zu\">[%zu]</a>", number, number);
    else
        buffer_printf(page->out, "[%zu]", number);
}

static void html_put_marks(struct page *page, size_t offset)
{
    for (size_t number; (number = research_marks_take(&page->marks, offset));)
        html_put_reference(page, number);
}

/* Marks stand at the end of their sentence, also within a piece. */
static void html_put_text(struct page *page, const char *text, size_t length)
{
    const char *report = page->result->report_md;
    const struct research_marks *marks = &page->marks;
    while (marks->next < marks->count && marks->marks[marks->next].offset < (size_t)(text - report) + length) {
        size_t at = marks->marks[marks->next].offset, begin = (size_t)(text - report);
        size_t head = at > begin ? at - begin : 0;
        html_escape(page->out, text, head);
        html_put_marks(page, at);
        text += head;
        length -= head;
    }
    html_escape(page->out, text, length);
}

static void html_put_piece(struct page *page, const struct markdown_piece *piece)
{
    static const char *const tags[] = {[MARKDOWN_STRONG] = "strong",
                                       [MARKDOWN_EMPHASIS] = "em",
                                       [MARKDOWN_LITERAL] = "code",
                                       [MARKDOWN_REFERENCE] = NULL};
    const char *tag = tags[piece->mark];
    if (piece->mark == MARKDOWN_REFERENCE) {
        html_put_reference(page, piece->number);
        return;
    }
    if (piece->mark == MARKDOWN_LINK)
        html_begin_link(page->out, piece->target, piece->target_length);
    if (tag)
        buffer_printf(page->out, "<%s>", tag);
    html_put_text(page, piece->text, piece->length);
    if (tag)
        buffer_printf(page->out, "</%s>", tag);
    if (piece->mark == MARKDOWN_LINK)
        html_end_link(page->out, piece->target, piece->target_length);
}

static void html_put_line(struct page *page, const char *text, size_t length)
{
    struct markdown_line line;
    struct markdown_piece piece;
    markdown_line_begin(&line, text, length);
    while (markdown_line_next(&line, &piece))
        html_put_piece(page, &piece);
    html_put_marks(page, (size_t)(text + length - page->result->report_md));
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

static void html_close_lists(struct page *page, int depth)
{
    while (page->depth > depth)
        buffer_printf(page->out, "</li></%cl>\n", page->lists[--page->depth]);
}

static void html_close_blocks(struct page *page, enum markdown_kind next)
{
    if (next != MARKDOWN_ITEM)
        html_close_lists(page, 0);
    if (page->table && next != MARKDOWN_ROW && next != MARKDOWN_LINE) {
        buffer_print(page->out, "</table>\n");
        page->table = false;
    }
    if (page->quote && next != MARKDOWN_QUOTE) {
        buffer_print(page->out, "</blockquote>\n");
        page->quote = false;
    }
}

/* A list within a list is at most 1 level deeper, for any indentation. */
static void html_put_item(struct page *page, const struct markdown_block *block)
{
    char kind = block->number ? 'o' : 'u';
    int depth = block->level + 1 < page->depth + 1 ? block->level + 1 : page->depth + 1;
    depth = depth < LISTS_MAX ? depth : LISTS_MAX;
    html_close_lists(page, depth);
    if (page->depth == depth && page->lists[depth - 1] != kind)
        html_close_lists(page, depth - 1);
    if (page->depth == depth) {
        buffer_print(page->out, "</li>");
    } else {
        buffer_printf(page->out, "<%cl>\n", kind);
        page->lists[page->depth++] = kind;
    }
    if (block->number)
        buffer_printf(page->out, "<li value=\"%d\">", block->number);
    else
        buffer_print(page->out, "<li>");
    html_put_line(page, block->text, block->length);
}

static void html_put_row(struct page *page, const struct markdown_block *block)
{
    const char *tag = page->table ? "td" : "th", *at = block->text + 1, *end = block->text + block->length;
    if (!page->table)
        buffer_print(page->out, "<table>\n");
    page->table = true;
    buffer_print(page->out, "<tr>");
    while (at < end) {
        const char *stop = memchr(at, '|', (size_t)(end - at));
        stop = stop ? stop : end;
        buffer_printf(page->out, "<%s>", tag);
        html_put_line(page, at, (size_t)(stop - at));
        buffer_printf(page->out, "</%s>", tag);
        at = stop + 1;
    }
    buffer_print(page->out, "</tr>\n");
}

static void html_put_within(struct page *page, const char *tag, const struct markdown_block *block)
{
    buffer_printf(page->out, "<%s>", tag);
    html_put_line(page, block->text, block->length);
    buffer_printf(page->out, "</%s>\n", tag);
}

static void html_put_block(struct page *page, const struct markdown_block *block)
{
    char heading[8];
    html_close_blocks(page, block->kind);
    switch (block->kind) {
    case MARKDOWN_HEADING:
        snprintf(heading, sizeof heading, "h%d", block->level);
        html_put_within(page, heading, block);
        break;
    case MARKDOWN_PARAGRAPH:
        html_put_within(page, "p", block);
        break;
    case MARKDOWN_ITEM:
        html_put_item(page, block);
        break;
    case MARKDOWN_QUOTE:
        buffer_print(page->out, page->quote ? "<br>" : "<blockquote>");
        page->quote = true;
        html_put_line(page, block->text, block->length);
        break;
    case MARKDOWN_CODE:
        buffer_print(page->out, "<pre><code>");
        html_escape(page->out, block->text, block->length);
        buffer_print(page->out, "</code></pre>\n");
        break;
    case MARKDOWN_ROW:
        html_put_row(page, block);
        break;
    case MARKDOWN_LINE:
        break;
    case MARKDOWN_RULE:
        buffer_print(page->out, "<hr>\n");
        break;
    }
}

static void html_put_report(struct page *page)
{
    struct markdown reader;
    struct markdown_block block;
    bool first = true;
    markdown_begin(&reader, page->result->report_md, page->sources.report_length);
    while (markdown_next(&reader, &block)) {
        if (first && (block.kind != MARKDOWN_HEADING || block.level != 1)) {
            buffer_print(page->out, "<h1>");
            html_escape_text(page->out, page->result->question);
            buffer_print(page->out, "</h1>\n");
        }
        first = false;
        html_put_block(page, &block);
    }
    html_close_blocks(page, MARKDOWN_RULE);
}

/* ---- sources ----------------------------------------------------------------------------------------------------- */

static void html_put_source_head(struct page *page, const Renga__V1__Citation *citation, size_t number)
{
    struct buffer *out = page->out;
    buffer_printf(out, "<li id=\"source-%zu\" value=\"%zu\">", number, number);
    html_escape_text(out, citation->title);
    buffer_print(out, *citation->title ? " — " : "");
    html_begin_link(out, citation->uri, strlen(citation->uri));
    html_escape_text(out, citation->uri);
    html_end_link(out, citation->uri, strlen(citation->uri));
}

static void html_put_quote(struct page *page, const Renga__V1__Citation *citation)
{
    struct buffer *out = page->out;
    char lines[32];
    research_lines_text(citation, lines);
    buffer_print(out, "\n<blockquote>");
    html_escape_text(out, citation->quote);
    buffer_print(out, *lines || citation->n_heading_path ? "<br><small>" : "");
    for (size_t i = 0; i < citation->n_heading_path; i++) {
        html_escape_text(out, citation->heading_path[i]);
        buffer_print(out, i + 1 < citation->n_heading_path ? " › " : *lines ? ", " : "");
    }
    if (*lines)
        buffer_printf(out, "%s%s%s", page->words->lines[0], lines, page->words->lines[1]);
    buffer_print(out, *lines || citation->n_heading_path ? "</small></blockquote>" : "</blockquote>");
}

static void html_put_sources(struct page *page)
{
    const struct research_sources *sources = &page->sources;
    buffer_printf(page->out, "<section id=\"sources\">\n<h2>%s</h2>\n<ol>\n", page->words->sources);
    for (size_t i = 0, before = 0; i < sources->count; i++) {
        const Renga__V1__Citation *citation = page->result->citations[sources->order[i]];
        size_t number = sources->numbers[sources->order[i]];
        if (number != before) {
            buffer_print(page->out, before ? "</li>\n" : "");
            html_put_source_head(page, citation, number);
        }
        before = number;
        if (research_sources_is_new(sources, i))
            html_put_quote(page, citation);
    }
    buffer_print(page->out, "</li>\n</ol>\n</section>\n");
}

/* ---- the page ---------------------------------------------------------------------------------------------------- */

static void html_put_list(struct page *page, const char *title, char *const *items, size_t count)
{
    if (!count)
        return;
    buffer_printf(page->out, "<p>%s%s", title, page->words->colon);
    for (size_t i = 0; i < count; i++) {
        buffer_print(page->out, i ? page->words->list : "");
        html_escape_text(page->out, items[i]);
    }
    buffer_print(page->out, "</p>\n");
}

static void html_put_footer(struct page *page)
{
    struct buffer figures;
    const Renga__V1__AgentOutcome *outcome = page->result->outcome;
    buffer_print(page->out, "<footer>\n");
    html_put_list(page, page->words->queries, page->result->queries, page->result->n_queries);
    html_put_list(page, page->words->gaps, page->result->gaps, page->result->n_gaps);
    for (size_t i = 0; outcome && i < outcome->n_degradations; i++) {
        buffer_print(page->out, "<p>");
        html_escape_text(page->out, outcome->degradations[i]->reason);
        buffer_print(page->out, "</p>\n");
    }
    buffer_init(&figures, PLAIN_MAX);
    research_put_figures(&figures, page->words, page->result);
    buffer_print(page->out, "<p>");
    html_escape_text(page->out, buffer_text(&figures));
    buffer_print(page->out, "</p>\n</footer>\n");
    buffer_fini(&figures);
}

void research_put_html(struct buffer *out, const struct research_words *words,
                       const Renga__V1__DeepResearchResult *result)
{
    struct page page = {.out = out, .words = words, .result = result};
    research_sources_init(&page.sources, result);
    research_marks_init(&page.marks, &page.sources);
    buffer_printf(out,
                  "<!doctype html>\n<html lang=\"%s\">\n<head>\n<meta charset=\"utf-8\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
                  "'unsafe-inline'\">\n<title>",
                  words->tag);
    html_escape_text(out, result->question);
    buffer_printf(out, "</title>\n<style>%s</style>\n</head>\n<body>\n<article>\n", style);
    html_put_report(&page);
    buffer_print(out, "</article>\n");
    if (page.sources.count)
        html_put_sources(&page);
    html_put_footer(&page);
    buffer_print(out, "</body>\n</html>\n");
    research_marks_fini(&page.marks);
    research_sources_fini(&page.sources);
}
