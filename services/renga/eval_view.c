/* An evaluation as it goes, on a terminal a line that is drawn anew, and its figures at the end. */
#include "eval.h"

#include "base/clock.h"
#include "wrap.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LINE_SIZE    512
#define LISTED       10 /* questions that got better or worse, on a terminal */
#define LISTED_WIDTH 70 /* columns of a listed question */
#define JSON_MAX     ((size_t)256 << 20)
#define TITLE_WIDTH  30
#define GROUP_WIDTH  3
#define VALUE_WIDTH  8
#define BOUNDS_WIDTH 20

/* ---- as it goes -------------------------------------------------------------------------------------------------- */

static void eval_view_line(const struct eval_row *row)
{
    char time[32];
    live_time(time, sizeof time, " s", row->score.latency_us * 1000);
    fprintf(stderr, "line %zu: %s, %s: ", row->question->line, eval_why_names[row->score.why], time);
    show_text_on(stderr, *row->error ? row->error : row->question->text);
    fputc('\n', stderr);
}

static void eval_view_draw(struct eval *eval)
{
    char line[LINE_SIZE], time[32];
    size_t width = live_back(&eval->live);
    live_time(time, sizeof time, " s", clock_now_ns() - eval->began_ns);
    snprintf(line, sizeof line, "%zu of %zu questions, %zu right, %zu failed, %s; Ctrl-C stops with what is done",
             eval->asked, eval->questions.count, eval->right, eval->failed, time);
    fputs(colour(&eval->client, DIM), stdout);
    size_t columns = live_print(line, width);
    fputs(colour(&eval->client, PLAIN), stdout);
    live_end_line(&eval->live, columns);
    fflush(stdout);
}

static void eval_view_erase(struct eval *eval)
{
    if (eval->live.count)
        live_erase(&eval->live);
    eval->live.count = 0;
    fflush(stdout);
}

void eval_view_progress(struct eval *eval, const struct eval_row *row)
{
    if (row && eval->verbose) {
        eval_view_erase(eval);
        eval_view_line(row);
    }
    if (!row)
        eval_view_erase(eval);
    else if (eval->client.terminal && !eval->quiet)
        eval_view_draw(eval);
}

/* ---- at the end -------------------------------------------------------------------------------------------------- */

static void eval_view_cell(const char *text, size_t width, bool right)
{
    size_t columns = wrap_columns(text);
    for (size_t i = columns; right && i < width; i++)
        putchar(' ');
    show_text(text);
    for (size_t i = columns; !right && i < width; i++)
        putchar(' ');
    fputs("  ", stdout);
}

static void eval_put_bounds(const struct eval_figure *figure, const struct interval *interval, char *out, size_t room)
{
    char low[32], high[32];
    eval_put_value(figure, interval->low, low, sizeof low);
    eval_put_value(figure, interval->high, high, sizeof high);
    snprintf(out, room, "[%s, %s]", low, high);
}

static void eval_view_results(const struct eval *eval)
{
    for (size_t i = 0; i < eval->result_count; i++) {
        const struct eval_result *result = &eval->results[i];
        char value[32], bounds[80];
        bool all = strcmp(result->group, "all") == 0;
        eval_put_value(result->figure, result->interval.value, value, sizeof value);
        eval_put_bounds(result->figure, &result->interval, bounds, sizeof bounds);
        eval_view_cell(all ? eval_title(eval->words, result->figure) : "", TITLE_WIDTH, false);
        eval_view_cell(all ? eval->words->all : result->group, GROUP_WIDTH, false);
        fputs(colour(&eval->client, all ? BOLD : PLAIN), stdout);
        eval_view_cell(value, VALUE_WIDTH, true);
        fputs(colour(&eval->client, PLAIN), stdout);
        eval_view_cell(bounds, BOUNDS_WIDTH, false);
        printf("%zu\n", result->count);
    }
}

static void eval_view_whys(const struct eval *eval)
{
    size_t counts[EVAL_WHYS] = {0};
    for (size_t i = 0; i < eval->rows.count; i++)
        if (eval->rows.list[i].asked)
            counts[eval->rows.list[i].score.why]++;
    putchar('\n');
    for (int why = EVAL_RIGHT; why < EVAL_WHYS; why++)
        if (counts[why])
            printf("%6zu  %s\n", counts[why], eval->words->whys[why]);
}

static void eval_view_change(const struct eval *eval, const struct eval_change *change)
{
    char before[32], after[32], moves[96] = "";
    eval_put_value(change->figure, change->before, before, sizeof before);
    eval_put_value(change->figure, change->after, after, sizeof after);
    if (change->figure->kind == EVAL_SHARE)
        snprintf(moves, sizeof moves, "%s %zu, %s %zu, p = %.3f", eval->words->better, change->better,
                 eval->words->worse, change->worse, change->chance);
    else if (change->figure->kind != EVAL_QUANTILE)
        eval_put_bounds(change->figure, &change->change, moves, sizeof moves);
    bool sure = change->figure->kind == EVAL_SHARE      ? change->chance < 0.05
                : change->figure->kind != EVAL_QUANTILE ? change->change.low > 0 || change->change.high < 0
                                                        : false;
    bool good = (change->after > change->before) != change->figure->lower_is_better;
    eval_view_cell(eval_title(eval->words, change->figure), TITLE_WIDTH, false);
    eval_view_cell(before, VALUE_WIDTH, true);
    fputs("→ ", stdout);
    fputs(colour(&eval->client, !sure ? PLAIN : good ? GREEN : RED), stdout);
    eval_view_cell(after, VALUE_WIDTH, true);
    fputs(colour(&eval->client, PLAIN), stdout);
    puts(moves);
}

static void eval_view_turned(const struct eval *eval, const char *title, const size_t *rows, size_t count)
{
    if (!count)
        return;
    printf("%s: %zu\n", title, count);
    for (size_t i = 0; i < count && i < LISTED; i++) {
        const struct eval_question *question = eval->rows.list[rows[i]].question;
        printf("  %s%zu%s: ", eval->words->line[0], question->line, eval->words->line[1]);
        live_print(question->text, LISTED_WIDTH);
        putchar('\n');
    }
    if (count > LISTED)
        printf("  … +%zu\n", count - LISTED);
}

static void eval_view_against(const struct eval *eval)
{
    const struct eval_against *against = &eval->against;
    printf("\n%s%s: %zu %s\n", eval->words->against, against->path, against->common, eval->words->common);
    for (size_t i = 0; i < against->change_count; i++)
        eval_view_change(eval, &against->changes[i]);
    eval_view_turned(eval, eval->words->became, against->better, against->better_count);
    eval_view_turned(eval, eval->words->lost, against->worse, against->worse_count);
}

static void eval_view_notes(const struct eval *eval)
{
    size_t left = eval->questions.count - eval->asked;
    if (eval->questions.bad)
        fprintf(stderr, EVAL ": %zu %s left out, see above\n", eval->questions.bad,
                eval->questions.bad == 1 ? "line of the file is" : "lines of the file are");
    if (eval->questions.cut && !config_integer(eval->client.config, "limit"))
        fprintf(stderr, EVAL ": the file has more than %zu questions; the first ones were asked\n",
                eval->questions.count);
    if (eval->given_up)
        fputs(EVAL ": the suite failed time after time, so no more questions were asked\n", stderr);
    if (left)
        fprintf(stderr, EVAL ": %zu of %zu questions were not asked\n", left, eval->questions.count);
}

static void eval_view_json(const struct eval *eval)
{
    struct buffer out;
    buffer_init(&out, JSON_MAX);
    eval_put_json(&out, eval);
    if (out.failed)
        fputs(EVAL ": the results are too large for --json; ask fewer questions (--limit)\n", stderr);
    else
        fwrite(out.data, 1, out.length, stdout);
    buffer_fini(&out);
}

void eval_view_end(struct eval *eval)
{
    eval_view_erase(eval);
    if (eval->json) {
        eval_view_json(eval);
    } else if (eval->asked) {
        eval_view_results(eval);
        eval_view_whys(eval);
        if (eval->against.path)
            eval_view_against(eval);
    }
    fflush(stdout);
    eval_view_notes(eval);
}
