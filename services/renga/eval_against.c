/* A comparison with an earlier run: the same questions, by their ids, then and now. */
#include "eval.h"

#include "base/file.h"
#include "json/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static int eval_read_known(struct json_reader *in, const cJSON *root, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(root, key);
    return item ? json_boolean(in, root, key) : EVAL_UNKNOWN;
}

static size_t eval_read_word(struct json_reader *in, const cJSON *root, const char *key, const char *const *words,
                             size_t count)
{
    const char *word = json_string(in, root, key);
    for (size_t i = 0; i < count; i++)
        if (strcmp(word, words[i]) == 0)
            return i;
    json_reader_fail(in, cJSON_GetObjectItemCaseSensitive(root, key), "'%.32s' is not known", word);
    return 0;
}

static int eval_read_count(struct json_reader *in, const cJSON *root, const char *key)
{
    return (int)json_integer_or(in, root, key, 0, 1000000, 0);
}

static void eval_read_score(struct eval_score *score, struct json_reader *in, const cJSON *root)
{
    score->why = (enum eval_why)eval_read_word(in, root, "why", eval_why_names, EVAL_WHYS);
    score->answered = eval_read_known(in, root, "answered");
    score->contained = eval_read_known(in, root, "contained");
    score->first_sentence = eval_read_known(in, root, "first_sentence");
    score->first_file = eval_read_known(in, root, "first_file");
    score->words_at_5 = eval_read_known(in, root, "words_at_5");
    score->rank = (int)json_integer_or(in, root, "rank", 0, 10, EVAL_UNKNOWN);
    score->sentences = eval_read_count(in, root, "sentences");
    score->carrying = eval_read_count(in, root, "carrying");
    score->citations = eval_read_count(in, root, "cited");
    score->other_file = eval_read_count(in, root, "other_file");
    score->quotes = eval_read_count(in, root, "quotes");
    score->quotes_standing = eval_read_count(in, root, "quotes_standing");
    score->latency_us = json_integer_or(in, root, "latency_us", 0, INT64_C(1) << 50, 0);
    score->input_tokens = json_integer_or(in, root, "input_tokens", 0, INT64_C(1) << 50, 0);
    score->output_tokens = json_integer_or(in, root, "output_tokens", 0, INT64_C(1) << 50, 0);
    score->model_calls = json_integer_or(in, root, "model_calls", 0, INT64_C(1) << 50, 0);
    score->cost_micros = json_integer_or(in, root, "cost_micros", 0, INT64_C(1) << 50, 0);
    score->unpriced_calls = json_integer_or(in, root, "unpriced_calls", 0, INT64_C(1) << 50, 0);
    score->no_model = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(root, "no_model"));
}

/* A line without "why", like the last one with the figures, is not a question. */
static bool eval_read_row(struct eval_rows *rows, const cJSON *root, struct arena *arena, struct status *st)
{
    struct json_reader in = json_reader_of(root, st);
    struct eval_row row = {.asked = true};
    if (!cJSON_IsObject(root))
        return fail(st, INVALID_ARGUMENT, "must be an object");
    if (!cJSON_GetObjectItemCaseSensitive(root, "why"))
        return true;
    struct eval_question question = {.language = ""};
    eval_read_score(&row.score, &in, root);
    question.class = (enum eval_class)eval_read_word(&in, root, "class", eval_class_names, 3);
    question.id = arena_strdup(arena, json_string(&in, root, "id"));
    row.question = in.failed || !question.id ? NULL : arena_copy(arena, &question, sizeof question);
    if (row.question)
        rows->list[rows->count++] = row;
    return row.question || in.failed ? !in.failed : fail(st, RESOURCE_EXHAUSTED, "no memory for an earlier run");
}

static bool eval_read_line(struct eval_rows *rows, const char *line, size_t size, struct arena *arena,
                           struct status *st)
{
    const struct json_limits limits = {.depth = 8, .bytes = EVAL_RUN_MAX};
    cJSON *root = json_parse(line, size, &limits, st);
    bool good = root && eval_read_row(rows, root, arena, st);
    cJSON_Delete(root);
    return good;
}

static bool eval_read_lines(struct eval_rows *rows, const char *path, const char *text, size_t length,
                            struct arena *arena, struct status *st)
{
    size_t number = 0;
    for (const char *line = text, *end = text + length; line < end; number++) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        size_t size = (size_t)((stop ? stop : end) - line);
        struct status why = {0};
        if (rows->count == EVAL_QUESTIONS_MAX && size)
            return true;
        if (strspn(line, " \t\r") < size && !eval_read_line(rows, line, size, arena, &why))
            return fail(st, INVALID_ARGUMENT, "--against %s:%zu: %s; give what 'renga eval --json' printed", path,
                        number + 1, why.text);
        line = stop ? stop + 1 : end;
    }
    return rows->count ||
           fail(st, INVALID_ARGUMENT, "--against %s has no question; give what 'renga eval --json' printed", path);
}

bool eval_against_read(struct eval_against *against, const char *path, struct arena *arena, struct status *st)
{
    struct buffer text;
    buffer_init(&text, EVAL_RUN_MAX);
    *against = (struct eval_against){.path = path};
    against->rows.list = arena_zalloc(arena, (EVAL_QUESTIONS_MAX + 1) * sizeof *against->rows.list);
    bool good = against->rows.list && file_read(path, &text, st) &&
                eval_read_lines(&against->rows, path, buffer_text(&text), text.length, arena, st);
    buffer_fini(&text);
    return good;
}

/* ---- pairs ------------------------------------------------------------------------------------------------------- */

static int eval_compare_rows(const void *one, const void *other)
{
    return strcmp(((const struct eval_row *)one)->question->id, ((const struct eval_row *)other)->question->id);
}

static void eval_pair(struct eval_against *against, const struct eval_rows *rows, struct arena *arena)
{
    against->before = arena_zalloc(arena, (rows->count + 1) * sizeof *against->before);
    against->better = arena_zalloc(arena, (rows->count + 1) * sizeof *against->better);
    against->worse = arena_zalloc(arena, (rows->count + 1) * sizeof *against->worse);
    if (!against->before || !against->better || !against->worse)
        abort();
    qsort(against->rows.list, against->rows.count, sizeof *against->rows.list, eval_compare_rows);
    for (size_t i = 0; i < rows->count; i++) {
        const struct eval_row *row = &rows->list[i];
        struct eval_row *before = row->asked ? bsearch(row, against->rows.list, against->rows.count,
                                                       sizeof *against->rows.list, eval_compare_rows)
                                             : NULL;
        if (!before)
            continue;
        bool was = before->score.why == EVAL_RIGHT, is = row->score.why == EVAL_RIGHT;
        against->before[i] = before;
        against->common++;
        if (is && !was)
            against->better[against->better_count++] = i;
        if (was && !is)
            against->worse[against->worse_count++] = i;
    }
}

/* ---- changes ----------------------------------------------------------------------------------------------------- */

/* over[side], under[side]: the values of the common questions, before and now. */
struct eval_sides {
    double *over[2], *under[2];
};

static double eval_side_value(const struct eval_figure *figure, const struct eval_sides *sides, int side, size_t count)
{
    double over = 0, under = 0;
    if (figure->kind == EVAL_QUANTILE)
        return interval_of_quantile(sides->over[side], count, figure->share).value;
    for (size_t i = 0; i < count; i++) {
        over += sides->over[side][i];
        under += sides->under[side][i];
    }
    return under != 0 ? over / under : 0;
}

static void eval_count_turns(struct eval_change *change, const struct eval_sides *sides)
{
    for (size_t i = 0; i < change->count; i++) {
        bool more = sides->over[1][i] > sides->over[0][i], less = sides->over[1][i] < sides->over[0][i];
        change->better += change->figure->lower_is_better ? less : more;
        change->worse += change->figure->lower_is_better ? more : less;
    }
    change->chance = interval_mcnemar((int64_t)change->better, (int64_t)change->worse);
}

static bool eval_compare_figure(struct eval_change *change, const struct eval_against *against,
                                const struct eval_rows *rows, const struct eval_sides *sides)
{
    const struct eval_figure *figure = change->figure;
    for (size_t i = 0; i < rows->count; i++) {
        size_t at = change->count;
        if (against->before[i] && figure->value(against->before[i], &sides->over[0][at], &sides->under[0][at]) &&
            figure->value(&rows->list[i], &sides->over[1][at], &sides->under[1][at]))
            change->count++;
    }
    if (!change->count)
        return false;
    const double *over[2] = {sides->over[0], sides->over[1]}, *under[2] = {sides->under[0], sides->under[1]};
    if (figure->kind == EVAL_SHARE)
        eval_count_turns(change, sides);
    else if (figure->kind != EVAL_QUANTILE)
        change->change = interval_of_change(over, under, change->count);
    change->before = eval_side_value(figure, sides, 0, change->count);
    change->after = eval_side_value(figure, sides, 1, change->count);
    return true;
}

void eval_against_compare(struct eval_against *against, const struct eval_rows *rows, struct arena *arena)
{
    size_t room = rows->count + 1;
    double *values = calloc(4 * room, sizeof *values);
    struct eval_sides sides = {{values, values + room}, {values + 2 * room, values + 3 * room}};
    against->changes = arena_zalloc(arena, eval_figure_count * sizeof *against->changes);
    if (!values || !against->changes)
        abort();
    eval_pair(against, rows, arena);
    for (size_t i = 0; i < eval_figure_count; i++) {
        struct eval_change *change = &against->changes[against->change_count];
        *change = (struct eval_change){.figure = &eval_figures[i]};
        against->change_count += eval_compare_figure(change, against, rows, &sides);
    }
    free(values);
}
