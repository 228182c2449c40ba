/* The report as Markdown: figures, the comparison with an earlier run, and every question that was not right. */
#include "eval.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

#define ITEM_MAX ((size_t)128 << 10) /* bytes that a question takes at most, escaped */
#define TEXT_CUT ((size_t)600)       /* bytes of a question, and of its right answers together */

/* ---- text -------------------------------------------------------------------------------------------------------- */

/* Marks of Markdown and HTML lose their meaning; a text stays on its line. */
static void eval_md_text(struct buffer *out, const char *text, size_t most)
{
    size_t length = strlen(text), fits = text_cut(text, length, most);
    for (size_t i = 0; i < fits; i++) {
        char c = text[i];
        if (c == '<' || c == '>' || c == '&')
            buffer_print(out, c == '<' ? "&lt;" : c == '>' ? "&gt;" : "&amp;");
        else if ((unsigned char)c < 0x20 || c == 0x7f)
            buffer_put(out, ' ');
        else
            buffer_printf(out, strchr("\\`*_[]|#~!", c) ? "\\%c" : "%c", c);
    }
    buffer_print(out, fits < length ? "…" : "");
}

static void eval_md_interval(struct buffer *out, const struct eval_figure *figure, const struct interval *interval)
{
    char low[32], high[32];
    eval_put_value(figure, interval->low, low, sizeof low);
    eval_put_value(figure, interval->high, high, sizeof high);
    buffer_printf(out, "%s – %s", low, high);
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

static void eval_md_results(struct buffer *out, const struct eval *eval)
{
    buffer_print(out, "| figure | of | value | 95 % | questions |\n|---|---|--:|--:|--:|\n");
    for (size_t i = 0; i < eval->result_count; i++) {
        const struct eval_result *result = &eval->results[i];
        char value[32];
        eval_put_value(result->figure, result->interval.value, value, sizeof value);
        buffer_printf(out, "| %s | ", result->figure->title);
        eval_md_text(out, result->group, TEXT_CUT);
        buffer_printf(out, " | **%s** | ", value);
        eval_md_interval(out, result->figure, &result->interval);
        buffer_printf(out, " | %zu |\n", result->count);
    }
}

static void eval_md_change(struct buffer *out, const struct eval_change *change)
{
    char before[32], after[32];
    eval_put_value(change->figure, change->before, before, sizeof before);
    eval_put_value(change->figure, change->after, after, sizeof after);
    buffer_printf(out, "| %s | %s | %s | ", change->figure->title, before, after);
    if (change->figure->kind == EVAL_SHARE)
        buffer_printf(out, "%zu better, %zu worse, p = %.3f", change->better, change->worse, change->chance);
    else if (change->figure->kind != EVAL_QUANTILE)
        eval_md_interval(out, change->figure, &change->change);
    buffer_print(out, " |\n");
}

static void eval_md_turned(struct buffer *out, const struct eval *eval, const char *title, const size_t *rows,
                           size_t count)
{
    if (!count)
        return;
    buffer_printf(out, "\n%s (%zu):\n\n", title, count);
    for (size_t i = 0; i < count && out->length + 2 * ITEM_MAX < EVAL_REPORT_MAX; i++) {
        const struct eval_question *question = eval->rows.list[rows[i]].question;
        buffer_printf(out, "- line %zu: ", question->line);
        eval_md_text(out, question->text, TEXT_CUT);
        buffer_put(out, '\n');
    }
}

static void eval_md_against(struct buffer *out, const struct eval *eval)
{
    const struct eval_against *against = &eval->against;
    buffer_print(out, "\n## Against ");
    eval_md_text(out, against->path, TEXT_CUT);
    buffer_printf(out,
                  "\n\n%zu questions of both. p is McNemar's exact test; an interval is that of the change.\n\n"
                  "| figure | before | after | change |\n|---|--:|--:|---|\n",
                  against->common);
    for (size_t i = 0; i < against->change_count; i++)
        eval_md_change(out, &against->changes[i]);
    eval_md_turned(out, eval, "Became right", against->better, against->better_count);
    eval_md_turned(out, eval, "Are not right any more", against->worse, against->worse_count);
}

/* ---- failures ---------------------------------------------------------------------------------------------------- */

static void eval_md_expected(struct buffer *out, const struct eval_question *question)
{
    buffer_print(out, "  - expected: ");
    if (question->class != EVAL_ANSWERABLE)
        buffer_print(out, "no answer, as the documents do not say it");
    for (size_t i = 0, used = 0; i < question->answer_count && used < TEXT_CUT; i++) {
        buffer_print(out, i ? " / " : "");
        eval_md_text(out, question->answers[i], TEXT_CUT - used);
        used += strlen(question->answers[i]);
    }
    if (question->file) {
        buffer_print(out, question->answer_count ? ", in " : "an answer from ");
        eval_md_text(out, question->file, TEXT_CUT);
    }
    buffer_put(out, '\n');
}

static void eval_md_row(struct buffer *out, const struct eval_row *row)
{
    buffer_printf(out, "- **line %zu: ", row->question->line);
    eval_md_text(out, row->question->text, TEXT_CUT);
    buffer_print(out, "**\n");
    eval_md_expected(out, row->question);
    buffer_print(out, *row->error ? "  - failed: " : "  - answer: ");
    eval_md_text(out, *row->error ? row->error : row->answer, SIZE_MAX);
    buffer_put(out, '\n');
    for (size_t i = 0; i < row->citation_count; i++) {
        buffer_print(out, row->nearest ? "  - nearest: " : "  - cited: ");
        eval_md_text(out, row->citations[i].uri, TEXT_CUT);
        buffer_printf(out, row->citations[i].line_from ? ":%d — " : " — ", row->citations[i].line_from);
        eval_md_text(out, row->citations[i].quote, SIZE_MAX);
        buffer_put(out, '\n');
    }
    if (*row->run) {
        buffer_print(out, "  - run: ");
        eval_md_text(out, row->run, TEXT_CUT);
        buffer_put(out, '\n');
    }
}

static void eval_md_failures(struct buffer *out, const struct eval *eval, enum eval_why why)
{
    size_t count = 0, shown = 0;
    for (size_t i = 0; i < eval->rows.count; i++)
        count += eval->rows.list[i].asked && eval->rows.list[i].score.why == why;
    if (!count)
        return;
    buffer_printf(out, "\n## %s (%zu)\n\n", eval_why_titles[why], count);
    for (size_t i = 0; i < eval->rows.count && out->length + ITEM_MAX < EVAL_REPORT_MAX; i++)
        if (eval->rows.list[i].asked && eval->rows.list[i].score.why == why) {
            eval_md_row(out, &eval->rows.list[i]);
            shown++;
        }
    if (shown < count)
        buffer_printf(out, "\n%zu more are in the results as JSON.\n", count - shown);
}

void eval_put_markdown(struct buffer *out, const struct eval *eval)
{
    buffer_print(out, "# Evaluation: ");
    eval_md_text(out, eval->path, TEXT_CUT);
    buffer_printf(out, "\n\n%zu of %zu questions were asked, %zu are right, %zu failed", eval->asked,
                  eval->questions.count, eval->right, eval->failed);
    if (eval->questions.bad)
        buffer_printf(out, "; %zu lines of the file could not be used", eval->questions.bad);
    buffer_print(out, eval->interrupted ? "; it was interrupted.\n\n" : ".\n\n");
    eval_md_results(out, eval);
    if (eval->against.path)
        eval_md_against(out, eval);
    for (int why = EVAL_NOT_FOUND; why < EVAL_WHYS; why++)
        eval_md_failures(out, eval, (enum eval_why)why);
}
