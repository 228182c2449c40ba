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
    const char *const *columns = eval->words->columns;
    buffer_printf(out, "| %s | %s | %s | %s | %s |\n|---|---|--:|--:|--:|\n", columns[0], columns[1], columns[2],
                  columns[3], columns[4]);
    for (size_t i = 0; i < eval->result_count; i++) {
        const struct eval_result *result = &eval->results[i];
        char value[32];
        eval_put_value(result->figure, result->interval.value, value, sizeof value);
        buffer_printf(out, "| %s | ", eval_title(eval->words, result->figure));
        eval_md_text(out, strcmp(result->group, "all") == 0 ? eval->words->all : result->group, TEXT_CUT);
        buffer_printf(out, " | **%s** | ", value);
        eval_md_interval(out, result->figure, &result->interval);
        buffer_printf(out, " | %zu |\n", result->count);
    }
}

static void eval_md_change(struct buffer *out, const struct eval_words *words, const struct eval_change *change)
{
    char before[32], after[32];
    eval_put_value(change->figure, change->before, before, sizeof before);
    eval_put_value(change->figure, change->after, after, sizeof after);
    buffer_printf(out, "| %s | %s | %s | ", eval_title(words, change->figure), before, after);
    if (change->figure->kind == EVAL_SHARE)
        buffer_printf(out, "%s %zu, %s %zu, p = %.3f", words->better, change->better, words->worse, change->worse,
                      change->chance);
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
        buffer_printf(out, "- %s%zu%s: ", eval->words->line[0], question->line, eval->words->line[1]);
        eval_md_text(out, question->text, TEXT_CUT);
        buffer_put(out, '\n');
    }
}

static void eval_md_against(struct buffer *out, const struct eval *eval)
{
    const struct eval_against *against = &eval->against;
    const char *const *titles = eval->words->changes;
    buffer_printf(out, "\n## %s", eval->words->against);
    eval_md_text(out, against->path, TEXT_CUT);
    buffer_printf(out, "\n\n%zu %s. %s\n\n| %s | %s | %s | %s |\n|---|--:|--:|---|\n", against->common,
                  eval->words->common, eval->words->test, titles[0], titles[1], titles[2], titles[3]);
    for (size_t i = 0; i < against->change_count; i++)
        eval_md_change(out, eval->words, &against->changes[i]);
    eval_md_turned(out, eval, eval->words->became, against->better, against->better_count);
    eval_md_turned(out, eval, eval->words->lost, against->worse, against->worse_count);
}

/* ---- failures ---------------------------------------------------------------------------------------------------- */

static void eval_md_expected(struct buffer *out, const struct eval_words *words, const struct eval_question *question)
{
    buffer_printf(out, "  - %s: ", words->expected);
    if (question->class != EVAL_ANSWERABLE)
        buffer_print(out, words->none);
    for (size_t i = 0, used = 0; i < question->answer_count && used < TEXT_CUT; i++) {
        buffer_print(out, i ? " / " : "");
        eval_md_text(out, question->answers[i], TEXT_CUT - used);
        used += strlen(question->answers[i]);
    }
    if (question->file) {
        buffer_print(out, question->answer_count ? " (" : words->from);
        eval_md_text(out, question->file, TEXT_CUT);
        buffer_print(out, question->answer_count ? ")" : "");
    }
    buffer_put(out, '\n');
}

static void eval_md_row(struct buffer *out, const struct eval_words *words, const struct eval_row *row)
{
    buffer_printf(out, "- **%s%zu%s: ", words->line[0], row->question->line, words->line[1]);
    eval_md_text(out, row->question->text, TEXT_CUT);
    buffer_print(out, "**\n");
    eval_md_expected(out, words, row->question);
    buffer_printf(out, "  - %s: ", *row->error ? words->failed : words->answer);
    eval_md_text(out, *row->error ? row->error : row->answer, SIZE_MAX);
    buffer_put(out, '\n');
    for (size_t i = 0; i < row->citation_count; i++) {
        buffer_printf(out, "  - %s: ", row->nearest ? words->nearest : words->cited);
        eval_md_text(out, row->citations[i].uri, TEXT_CUT);
        buffer_printf(out, row->citations[i].line_from ? ":%d — " : " — ", row->citations[i].line_from);
        eval_md_text(out, row->citations[i].quote, SIZE_MAX);
        buffer_put(out, '\n');
    }
    if (*row->run) {
        buffer_printf(out, "  - %s: ", words->run);
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
    buffer_printf(out, "\n## %s (%zu)\n\n", eval->words->whys[why], count);
    for (size_t i = 0; i < eval->rows.count && out->length + ITEM_MAX < EVAL_REPORT_MAX; i++)
        if (eval->rows.list[i].asked && eval->rows.list[i].score.why == why) {
            eval_md_row(out, eval->words, &eval->rows.list[i]);
            shown++;
        }
    if (shown < count)
        buffer_printf(out, "\n%zu %s\n", count - shown, eval->words->more);
}

/* "asked: 12 / 12 · right: 10 · failed: 0" */
void eval_put_counts(struct buffer *out, const struct eval *eval)
{
    const struct eval_words *words = eval->words;
    buffer_printf(out, "%s: %zu / %zu · %s: %zu · %s: %zu", words->asked, eval->asked, eval->questions.count,
                  words->right, eval->right, words->failed, eval->failed);
    if (eval->questions.bad)
        buffer_printf(out, " · %s: %zu", words->unusable, eval->questions.bad);
    if (eval->interrupted)
        buffer_printf(out, " · %s", words->interrupted);
}

void eval_put_markdown(struct buffer *out, const struct eval *eval)
{
    buffer_printf(out, "# %s", eval->words->title);
    eval_md_text(out, eval->path, TEXT_CUT);
    buffer_print(out, "\n\n");
    eval_put_counts(out, eval);
    buffer_print(out, "\n\n");
    eval_md_results(out, eval);
    if (eval->against.path)
        eval_md_against(out, eval);
    for (int why = EVAL_NOT_FOUND; why < EVAL_WHYS; why++)
        eval_md_failures(out, eval, (enum eval_why)why);
}
