/* The figures over all questions. A figure is a row of the table: the share of one question, and the way to combine the
 * shares. */
#include "eval.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUPS_MAX 16 /* languages that get figures of their own */

/* ---- the share of a question ------------------------------------------------------------------------------------- */

static bool eval_add(double part, double whole, double *over, double *under)
{
    *over = part;
    *under = whole;
    return true;
}

static bool eval_is_answerable(const struct eval_row *row)
{
    return row->question->class == EVAL_ANSWERABLE;
}

static bool eval_is_judged(const struct eval_row *row)
{
    return row->score.why != EVAL_FAILED;
}

static bool eval_value_right(const struct eval_row *row, double *over, double *under)
{
    return eval_add(row->score.why == EVAL_RIGHT, 1, over, under);
}

static bool eval_value_answered(const struct eval_row *row, double *over, double *under)
{
    return eval_is_answerable(row) && eval_add(row->score.answered, 1, over, under);
}

static bool eval_value_contained(const struct eval_row *row, double *over, double *under)
{
    return row->score.contained != EVAL_UNKNOWN && eval_add(row->score.contained, 1, over, under);
}

static bool eval_value_first_sentence(const struct eval_row *row, double *over, double *under)
{
    return row->score.first_sentence != EVAL_UNKNOWN && eval_add(row->score.first_sentence, 1, over, under);
}

static bool eval_value_first_file(const struct eval_row *row, double *over, double *under)
{
    return row->score.first_file != EVAL_UNKNOWN && eval_add(row->score.first_file, 1, over, under);
}

static bool eval_value_rank(const struct eval_row *row, double *over, double *under)
{
    int rank = row->score.rank;
    return rank != EVAL_UNKNOWN && eval_add(rank ? 1.0 / rank : 0, 1, over, under);
}

static bool eval_value_words_at_5(const struct eval_row *row, double *over, double *under)
{
    return row->score.words_at_5 != EVAL_UNKNOWN && eval_add(row->score.words_at_5, 1, over, under);
}

static bool eval_value_sentences(const struct eval_row *row, double *over, double *under)
{
    return eval_is_answerable(row) && row->score.answered && eval_add(row->score.sentences, 1, over, under);
}

static bool eval_value_carrying(const struct eval_row *row, double *over, double *under)
{
    return row->score.contained != EVAL_UNKNOWN && row->score.answered &&
           eval_add(row->score.carrying, row->score.sentences, over, under);
}

static bool eval_value_other_file(const struct eval_row *row, double *over, double *under)
{
    return row->score.first_file != EVAL_UNKNOWN && row->score.citations &&
           eval_add(row->score.other_file, row->score.citations, over, under);
}

static bool eval_value_quotes(const struct eval_row *row, double *over, double *under)
{
    return row->score.quotes && eval_add(row->score.quotes_standing, row->score.quotes, over, under);
}

static bool eval_value_absent(const struct eval_row *row, double *over, double *under)
{
    return row->question->class == EVAL_ABSENT && eval_is_judged(row) && eval_add(row->score.answered, 1, over, under);
}

static bool eval_value_near(const struct eval_row *row, double *over, double *under)
{
    return row->question->class == EVAL_NEAR && eval_is_judged(row) && eval_add(row->score.answered, 1, over, under);
}

static bool eval_value_failed(const struct eval_row *row, double *over, double *under)
{
    return eval_add(!eval_is_judged(row), 1, over, under);
}

static bool eval_value_latency(const struct eval_row *row, double *over, double *under)
{
    return eval_is_judged(row) && eval_add((double)row->score.latency_us / 1000, 1, over, under);
}

static bool eval_value_tokens(const struct eval_row *row, double *over, double *under)
{
    double tokens = (double)(row->score.input_tokens + row->score.output_tokens);
    return row->score.model_calls && !row->score.no_model && eval_add(tokens, 1, over, under);
}

/* A question with calls to a model without a price has no cost that is known. */
static bool eval_value_cost(const struct eval_row *row, double *over, double *under)
{
    bool known = row->score.cost_micros && !row->score.unpriced_calls;
    return known && eval_add((double)row->score.cost_micros / 1e6, 1, over, under);
}

static bool eval_value_unpriced(const struct eval_row *row, double *over, double *under)
{
    return row->score.unpriced_calls && eval_add((double)row->score.unpriced_calls, 1, over, under);
}

#define LESS true
const struct eval_figure eval_figures[] = {
    {"right", {"right, all questions", "正解（全問）"}, EVAL_SHARE, false, 0, "", eval_value_right},
    {"answered", {"answered", "回答した"}, EVAL_SHARE, false, 0, "", eval_value_answered},
    {"contained", {"words in the answer", "答えの語句が回答にある"}, EVAL_SHARE, false, 0, "", eval_value_contained},
    {"first_sentence",
     {"words in its first sentence", "答えの語句が最初の文にある"},
     EVAL_SHARE,
     false,
     0,
     "",
     eval_value_first_sentence},
    {"first_file",
     {"right file cited first", "正しい文書を最初に引用"},
     EVAL_SHARE,
     false,
     0,
     "",
     eval_value_first_file},
    {"words_at_5",
     {"search: words in five hits", "検索: 語句が上位5件にある"},
     EVAL_SHARE,
     false,
     0,
     "",
     eval_value_words_at_5},
    {"mrr", {"search: MRR@10 of the file", "検索: 文書の MRR@10"}, EVAL_MEAN, false, 0, "", eval_value_rank},
    {"sentences", {"sentences of an answer", "回答の文の数"}, EVAL_MEAN, LESS, 0, "", eval_value_sentences},
    {"carrying", {"sentences carrying the words", "語句を含む文の割合"}, EVAL_RATIO, false, 0, "", eval_value_carrying},
    {"other_file", {"citations of another file", "別の文書の引用"}, EVAL_RATIO, LESS, 0, "", eval_value_other_file},
    {"quotes", {"quotes standing at their lines", "引用が示した行にある"}, EVAL_RATIO, false, 0, "", eval_value_quotes},
    {"absent_answered",
     {"not in here, yet answered", "載っていないのに回答"},
     EVAL_SHARE,
     LESS,
     0,
     "",
     eval_value_absent},
    {"near_answered",
     {"near-misses, yet answered", "似た話題だけなのに回答"},
     EVAL_SHARE,
     LESS,
     0,
     "",
     eval_value_near},
    {"failed", {"failed calls", "呼び出しの失敗"}, EVAL_SHARE, LESS, 0, "", eval_value_failed},
    {"latency_p50", {"latency, p50", "応答時間 p50"}, EVAL_QUANTILE, LESS, 0.5, " ms", eval_value_latency},
    {"latency_p95", {"latency, p95", "応答時間 p95"}, EVAL_QUANTILE, LESS, 0.95, " ms", eval_value_latency},
    {"tokens", {"tokens a question", "1問のトークン"}, EVAL_MEAN, LESS, 0, "", eval_value_tokens},
    {"cost", {"cost a question, USD", "1問の費用（USD）"}, EVAL_MEAN, LESS, 0, "", eval_value_cost},
    {"unpriced", {"calls without a price", "価格のない呼び出し"}, EVAL_MEAN, LESS, 0, "", eval_value_unpriced},
};
const size_t eval_figure_count = sizeof eval_figures / sizeof *eval_figures;

void eval_put_value(const struct eval_figure *figure, double value, char *out, size_t room)
{
    if (figure->kind == EVAL_SHARE || figure->kind == EVAL_RATIO)
        snprintf(out, room, "%.1f %%", 100 * value);
    else if (figure->value == eval_value_rank)
        snprintf(out, room, "%.3f", value);
    else if (figure->value == eval_value_cost)
        snprintf(out, room, "%.5f", value);
    else
        snprintf(out, room, value > -100 && value < 100 ? "%.2f%s" : "%.0f%s", value, figure->unit);
}

/* ---- over the questions ------------------------------------------------------------------------------------------ */

static struct interval eval_interval(const struct eval_figure *figure, double *over, const double *under, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += over[i];
    if (figure->kind == EVAL_SHARE)
        return interval_of_share((int64_t)sum, (int64_t)count);
    if (figure->kind == EVAL_QUANTILE)
        return interval_of_quantile(over, count, figure->share);
    return interval_of_ratio(over, under, count);
}

static bool eval_measure_one(struct eval_result *result, const struct eval_rows *rows, double *over, double *under)
{
    for (size_t i = 0; i < rows->count; i++) {
        const struct eval_row *row = &rows->list[i];
        bool in_group = !result->group || strcmp(row->question->language, result->group) == 0;
        if (row->asked && in_group && result->figure->value(row, &over[result->count], &under[result->count]))
            result->count++;
    }
    if (!result->count)
        return false;
    result->interval = eval_interval(result->figure, over, under, result->count);
    result->group = result->group ? result->group : "all";
    return true;
}

static size_t eval_languages(const struct eval_rows *rows, const char *languages[GROUPS_MAX])
{
    size_t count = 0;
    for (size_t i = 0; i < rows->count; i++) {
        size_t j = 0;
        while (j < count && strcmp(languages[j], rows->list[i].question->language) != 0)
            j++;
        if (j == count && count < GROUPS_MAX && rows->list[i].asked)
            languages[count++] = rows->list[i].question->language;
    }
    return count;
}

struct eval_result *eval_measure(const struct eval_rows *rows, struct arena *arena, size_t *count)
{
    const char *languages[GROUPS_MAX];
    size_t groups = eval_languages(rows, languages);
    double *over = calloc(rows->count + 1, sizeof *over), *under = calloc(rows->count + 1, sizeof *under);
    struct eval_result *results = arena_zalloc(arena, (eval_figure_count * (groups + 1) + 1) * sizeof *results);
    if (!over || !under || !results)
        abort();
    *count = 0;
    for (size_t i = 0; i < eval_figure_count; i++)
        for (size_t group = 0; group <= (groups > 1 ? groups : 0); group++) {
            results[*count] =
                (struct eval_result){.figure = &eval_figures[i], .group = group ? languages[group - 1] : NULL};
            *count += eval_measure_one(&results[*count], rows, over, under);
        }
    free(over);
    free(under);
    return results;
}
