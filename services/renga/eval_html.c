/* The report as a page of its own: all text is escaped, there is no script and no address to load from. */
#include "eval.h"
#include "html.h"

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
    html_escape(out, text, fits);
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

static void eval_html_head(struct buffer *out, const char *const *titles, size_t count)
{
    buffer_print(out, "<table>\n<tr>");
    for (size_t i = 0; i < count; i++)
        buffer_printf(out, "<th>%s</th>", titles[i]);
    buffer_print(out, "</tr>\n");
}

static void eval_html_results(struct buffer *out, const struct eval *eval)
{
    eval_html_head(out, eval->words->columns, 5);
    for (size_t i = 0; i < eval->result_count; i++) {
        const struct eval_result *result = &eval->results[i];
        char count[32];
        snprintf(count, sizeof count, "%zu", result->count);
        buffer_printf(out, "<tr><td>%s</td><td>", eval_title(eval->words, result->figure));
        eval_html_text(out, strcmp(result->group, "all") == 0 ? eval->words->all : result->group, TEXT_CUT);
        buffer_print(out, "</td>");
        eval_html_value(out, result->figure, result->interval.value);
        eval_html_interval(out, result->figure, &result->interval);
        eval_html_number(out, count);
        buffer_print(out, "</tr>\n");
    }
    buffer_print(out, "</table>\n");
}

static void eval_html_change(struct buffer *out, const struct eval_words *words, const struct eval_change *change)
{
    buffer_printf(out, "<tr><td>%s</td>", eval_title(words, change->figure));
    eval_html_value(out, change->figure, change->before);
    eval_html_value(out, change->figure, change->after);
    if (change->figure->kind == EVAL_SHARE)
        buffer_printf(out, "<td class=\"n\">%s %zu, %s %zu, p = %.3f</td>", words->better, change->better, words->worse,
                      change->worse, change->chance);
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
        buffer_printf(out, "<li>%s%zu%s: ", eval->words->line[0], question->line, eval->words->line[1]);
        eval_html_text(out, question->text, TEXT_CUT);
        buffer_print(out, "</li>\n");
    }
    buffer_print(out, "</ul>\n</details>\n");
}

static void eval_html_against(struct buffer *out, const struct eval *eval)
{
    const struct eval_against *against = &eval->against;
    buffer_printf(out, "<h2>%s", eval->words->against);
    eval_html_text(out, against->path, TEXT_CUT);
    buffer_printf(out, "</h2>\n<p>%zu %s. ", against->common, eval->words->common);
    eval_html_text(out, eval->words->test, SIZE_MAX);
    buffer_print(out, "</p>\n");
    eval_html_head(out, eval->words->changes, 4);
    for (size_t i = 0; i < against->change_count; i++)
        eval_html_change(out, eval->words, &against->changes[i]);
    buffer_print(out, "</table>\n");
    eval_html_turned(out, eval, eval->words->became, against->better, against->better_count);
    eval_html_turned(out, eval, eval->words->lost, against->worse, against->worse_count);
}

/* ---- failures ---------------------------------------------------------------------------------------------------- */

static void eval_html_expected(struct buffer *out, const struct eval_words *words, const struct eval_question *question)
{
    buffer_printf(out, "<dt>%s</dt><dd>", words->expected);
    if (question->class != EVAL_ANSWERABLE)
        buffer_print(out, words->none);
    for (size_t i = 0, used = 0; i < question->answer_count && used < TEXT_CUT; i++) {
        buffer_print(out, i ? " / " : "");
        eval_html_text(out, question->answers[i], TEXT_CUT - used);
        used += strlen(question->answers[i]);
    }
    if (question->file) {
        buffer_printf(out, "%s<small>", question->answer_count ? " " : words->from);
        eval_html_text(out, question->file, TEXT_CUT);
        buffer_print(out, "</small>");
    }
    buffer_print(out, "</dd>\n");
}

static void eval_html_row(struct buffer *out, const struct eval_words *words, const struct eval_row *row)
{
    buffer_print(out, "<article>\n<h3>");
    eval_html_text(out, row->question->text, TEXT_CUT);
    buffer_printf(out, " <small>%s%zu%s</small></h3>\n<dl>\n", words->line[0], row->question->line, words->line[1]);
    eval_html_expected(out, words, row->question);
    buffer_printf(out, "<dt>%s</dt><dd>", *row->error ? words->failed : words->answer);
    eval_html_text(out, *row->error ? row->error : row->answer, SIZE_MAX);
    buffer_print(out, "</dd>\n");
    for (size_t i = 0; i < row->citation_count; i++) {
        buffer_printf(out, "<dt>%s</dt><dd><small>", row->nearest ? words->nearest : words->cited);
        eval_html_text(out, row->citations[i].uri, TEXT_CUT);
        buffer_printf(out, row->citations[i].line_from ? ":%d</small> " : "</small> ", row->citations[i].line_from);
        eval_html_text(out, row->citations[i].quote, SIZE_MAX);
        buffer_print(out, "</dd>\n");
    }
    if (*row->run) {
        buffer_printf(out, "<dt>%s</dt><dd><small>", words->run);
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
    buffer_printf(out, "<details open><summary>%s (%zu)</summary>\n", eval->words->whys[why], count);
    for (size_t i = 0; i < eval->rows.count && out->length + ITEM_MAX < EVAL_REPORT_MAX; i++)
        if (eval->rows.list[i].asked && eval->rows.list[i].score.why == why) {
            eval_html_row(out, eval->words, &eval->rows.list[i]);
            shown++;
        }
    if (shown < count)
        buffer_printf(out, "<p>%zu %s</p>\n", count - shown, eval->words->more);
    buffer_print(out, "</details>\n");
}

void eval_put_html(struct buffer *out, const struct eval *eval)
{
    const struct eval_words *words = eval->words;
    buffer_printf(out,
                  "<!doctype html>\n<html lang=\"%s\">\n<head>\n<meta charset=\"utf-8\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
                  "'unsafe-inline'\">\n<title>%s",
                  words->tag, words->title);
    eval_html_text(out, eval->path, TEXT_CUT);
    buffer_printf(out, "</title>\n<style>%s</style>\n</head>\n<body>\n<h1>%s", eval_style, words->title);
    eval_html_text(out, eval->path, TEXT_CUT);
    buffer_print(out, "</h1>\n<p>");
    eval_put_counts(out, eval);
    buffer_print(out, "</p>\n");
    eval_html_results(out, eval);
    if (eval->against.path)
        eval_html_against(out, eval);
    for (int why = EVAL_NOT_FOUND; why < EVAL_WHYS; why++)
        eval_html_failures(out, eval, (enum eval_why)why);
    buffer_print(out, "</body>\n</html>\n");
}
