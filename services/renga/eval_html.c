/* The report as a page of its own: all text is escaped, there is no script and no address to load from. */
#include "eval.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

#define ITEM_MAX ((size_t)128 << 10) /* bytes that a question takes at most, escaped */
#define TEXT_CUT ((size_t)600)       /* bytes of a question, and of its right answers together */

static const char eval_style[] =
    ":root{color-scheme:light dark}"
    "body{font:1rem/1.6 system-ui,-apple-system,\"Hiragino Kaku Gothic ProN\",\"Noto Sans JP\",\"Yu "
    "Gothic\",sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;overflow-wrap:anywhere}"
    "table{border-collapse:collapse}td,th{border-bottom:1px solid #8886;padding:.2rem .7rem;text-align:left}"
    "td.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}"
    "summary{font-weight:600;margin:1rem 0 .4rem}h1,h2{line-height:1.3}"
    "article{border-left:3px solid #8886;padding:.1rem 0 .1rem .8rem;margin:0 0 1.2rem}article h3{font-size:1rem;"
    "margin:0}dl{display:grid;grid-template-columns:6rem 1fr;gap:.1rem .6rem;margin:.2rem 0;font-size:.92rem}"
    "dd{margin:0}dt{opacity:.7}small{opacity:.7}"
    "@media print{body{max-width:none;margin:0;color:#000;background:#fff}article{break-inside:avoid}}";

/* ---- text -------------------------------------------------------------------------------------------------------- */

static void eval_html_text(struct buffer *out, const char *text, size_t most)
{
    size_t length = strlen(text), fits = text_cut(text, length, most);
    for (size_t i = 0; i < fits; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '&')
            buffer_print(out, "&amp;");
        else if (c == '<')
            buffer_print(out, "&lt;");
        else if (c == '>')
            buffer_print(out, "&gt;");
        else if (c == '"')
            buffer_print(out, "&quot;");
        else if (c == '\'')
            buffer_print(out, "&#39;");
        else
            buffer_put(out, c < 0x20 || c == 0x7f ? ' ' : (char)c);
    }
    buffer_print(out, fits < length ? "…" : "");
}

static void eval_html_number(struct buffer *out, const char *text)
{
    buffer_print(out, "<td class=\"n\">");
    eval_html_text(out, text, TEXT_CUT);
    buffer_print(out, "</td>");
}

static void eval_html_value(struct buffer *out, const struct eval_figure *figure, double value)
{
    char text[32];
    eval_put_value(figure, value, text, sizeof text);
    eval_html_number(out, text);
}

static void eval_html_interval(struct buffer *out, const struct eval_figure *figure, const struct interval *interval)
{
    char low[32], high[32], both[80];
    eval_put_value(figure, interval->low, low, sizeof low);
    eval_put_value(figure, interval->high, high, sizeof high);
    snprintf(both, sizeof both, "%s – %s", low, high);
    eval_html_number(out, both);
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

static void eval_html_results(struct buffer *out, const struct eval *eval)
{
    buffer_print(out, "<table>\n<tr><th>Figure</th><th>Of</th><th>Value</th><th>95 %</th><th>Questions</th></tr>\n");
    for (size_t i = 0; i < eval->result_count; i++) {
        const struct eval_result *result = &eval->results[i];
        char count[32];
        snprintf(count, sizeof count, "%zu", result->count);
        buffer_printf(out, "<tr><td>%s</td><td>", result->figure->title);
        eval_html_text(out, result->group, TEXT_CUT);
        buffer_print(out, "</td>");
        eval_html_value(out, result->figure, result->interval.value);
        eval_html_interval(out, result->figure, &result->interval);
        eval_html_number(out, count);
        buffer_print(out, "</tr>\n");
    }
    buffer_print(out, "</table>\n");
}

static void eval_html_change(struct buffer *out, const struct eval_change *change)
{
    buffer_printf(out, "<tr><td>%s</td>", change->figure->title);
    eval_html_value(out, change->figure, change->before);
    eval_html_value(out, change->figure, change->after);
    if (change->figure->kind == EVAL_SHARE)
        buffer_printf(out, "<td class=\"n\">%zu better, %zu worse, p = %.3f</td>", change->better, change->worse,
                      change->chance);
    else if (change->figure->kind != EVAL_QUANTILE)
        eval_html_interval(out, change->figure, &change->change);
    else
        buffer_print(out, "<td></td>");
    buffer_print(out, "</tr>\n");
}

static void eval_html_turned(struct buffer *out, const struct eval *eval, const char *title, const size_t *rows,
                             size_t count)
{
    if (!count)
        return;
    buffer_printf(out, "<details><summary>%s (%zu)</summary>\n<ul>\n", title, count);
    for (size_t i = 0; i < count && out->length + 2 * ITEM_MAX < EVAL_REPORT_MAX; i++) {
        const struct eval_question *question = eval->rows.list[rows[i]].question;
        buffer_printf(out, "<li>line %zu: ", question->line);
        eval_html_text(out, question->text, TEXT_CUT);
        buffer_print(out, "</li>\n");
    }
    buffer_print(out, "</ul>\n</details>\n");
}

static void eval_html_against(struct buffer *out, const struct eval *eval)
{
    const struct eval_against *against = &eval->against;
    buffer_print(out, "<h2>Against ");
    eval_html_text(out, against->path, TEXT_CUT);
    buffer_printf(out,
                  "</h2>\n<p>%zu questions of both. p is McNemar&#39;s exact test; an interval is that of the "
                  "change.</p>\n<table>\n<tr><th>Figure</th><th>Before</th><th>After</th><th>Change</th></tr>\n",
                  against->common);
    for (size_t i = 0; i < against->change_count; i++)
        eval_html_change(out, &against->changes[i]);
    buffer_print(out, "</table>\n");
    eval_html_turned(out, eval, "Became right", against->better, against->better_count);
    eval_html_turned(out, eval, "Are not right any more", against->worse, against->worse_count);
}

/* ---- failures ---------------------------------------------------------------------------------------------------- */

static void eval_html_expected(struct buffer *out, const struct eval_question *question)
{
    buffer_print(out, "<dt>Expected</dt><dd>");
    if (question->class != EVAL_ANSWERABLE)
        buffer_print(out, "no answer, as the documents do not say it");
    for (size_t i = 0, used = 0; i < question->answer_count && used < TEXT_CUT; i++) {
        buffer_print(out, i ? " / " : "");
        eval_html_text(out, question->answers[i], TEXT_CUT - used);
        used += strlen(question->answers[i]);
    }
    if (question->file) {
        buffer_print(out, question->answer_count ? " <small>" : "an answer from <small>");
        eval_html_text(out, question->file, TEXT_CUT);
        buffer_print(out, "</small>");
    }
    buffer_print(out, "</dd>\n");
}

static void eval_html_row(struct buffer *out, const struct eval_row *row)
{
    buffer_print(out, "<article>\n<h3>");
    eval_html_text(out, row->question->text, TEXT_CUT);
    buffer_printf(out, " <small>line %zu</small></h3>\n<dl>\n", row->question->line);
    eval_html_expected(out, row->question);
    buffer_print(out, *row->error ? "<dt>Failed</dt><dd>" : "<dt>Answer</dt><dd>");
    eval_html_text(out, *row->error ? row->error : row->answer, SIZE_MAX);
    buffer_print(out, "</dd>\n");
    for (size_t i = 0; i < row->citation_count; i++) {
        buffer_print(out, row->nearest ? "<dt>Nearest</dt><dd><small>" : "<dt>Cited</dt><dd><small>");
        eval_html_text(out, row->citations[i].uri, TEXT_CUT);
        buffer_printf(out, row->citations[i].line_from ? ":%d</small> " : "</small> ", row->citations[i].line_from);
        eval_html_text(out, row->citations[i].quote, SIZE_MAX);
        buffer_print(out, "</dd>\n");
    }
    if (*row->run) {
        buffer_print(out, "<dt>Run</dt><dd><small>");
        eval_html_text(out, row->run, TEXT_CUT);
        buffer_print(out, "</small></dd>\n");
    }
    buffer_print(out, "</dl>\n</article>\n");
}

static void eval_html_failures(struct buffer *out, const struct eval *eval, enum eval_why why)
{
    size_t count = 0, shown = 0;
    for (size_t i = 0; i < eval->rows.count; i++)
        count += eval->rows.list[i].asked && eval->rows.list[i].score.why == why;
    if (!count)
        return;
    buffer_printf(out, "<details open><summary>%s (%zu)</summary>\n", eval_why_titles[why], count);
    for (size_t i = 0; i < eval->rows.count && out->length + ITEM_MAX < EVAL_REPORT_MAX; i++)
        if (eval->rows.list[i].asked && eval->rows.list[i].score.why == why) {
            eval_html_row(out, &eval->rows.list[i]);
            shown++;
        }
    if (shown < count)
        buffer_printf(out, "<p>%zu more are in the results as JSON.</p>\n", count - shown);
    buffer_print(out, "</details>\n");
}

void eval_put_html(struct buffer *out, const struct eval *eval)
{
    buffer_print(out, "<!doctype html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n"
                      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
                      "'unsafe-inline'\">\n<title>Evaluation: ");
    eval_html_text(out, eval->path, TEXT_CUT);
    buffer_printf(out, "</title>\n<style>%s</style>\n</head>\n<body>\n<h1>Evaluation: ", eval_style);
    eval_html_text(out, eval->path, TEXT_CUT);
    buffer_printf(out, "</h1>\n<p>%zu of %zu questions were asked, %zu are right, %zu failed", eval->asked,
                  eval->questions.count, eval->right, eval->failed);
    if (eval->questions.bad)
        buffer_printf(out, "; %zu lines of the file could not be used", eval->questions.bad);
    buffer_print(out, eval->interrupted ? "; it was interrupted.</p>\n" : ".</p>\n");
    eval_html_results(out, eval);
    if (eval->against.path)
        eval_html_against(out, eval);
    buffer_print(out, eval->right < eval->asked ? "<h2>Not right</h2>\n" : "");
    for (int why = EVAL_NOT_FOUND; why < EVAL_WHYS; why++)
        eval_html_failures(out, eval, (enum eval_why)why);
    buffer_print(out, "</body>\n</html>\n");
}
