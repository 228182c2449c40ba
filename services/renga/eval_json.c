/* The results as JSON: a line for each question that was asked, and a last line with the figures. An earlier run is
 * read back from it (eval_against.c). */
#include "eval.h"

#include "json/writer.h"

#include <string.h>

static void eval_write_known(struct json_writer *out, const char *key, int value)
{
    if (value != EVAL_UNKNOWN)
        json_write_bool(out, key, value);
}

static void eval_write_score(struct json_writer *out, const struct eval_score *score)
{
    json_write_string(out, "why", eval_why_names[score->why]);
    eval_write_known(out, "answered", score->answered);
    eval_write_known(out, "contained", score->contained);
    eval_write_known(out, "first_sentence", score->first_sentence);
    eval_write_known(out, "first_file", score->first_file);
    eval_write_known(out, "words_at_5", score->words_at_5);
    if (score->rank != EVAL_UNKNOWN)
        json_write_int(out, "rank", score->rank);
    json_write_int(out, "sentences", score->sentences);
    json_write_int(out, "carrying", score->carrying);
    json_write_int(out, "cited", score->citations);
    json_write_int(out, "other_file", score->other_file);
    json_write_int(out, "quotes", score->quotes);
    json_write_int(out, "quotes_standing", score->quotes_standing);
    json_write_int(out, "latency_us", score->latency_us);
    json_write_int(out, "input_tokens", score->input_tokens);
    json_write_int(out, "output_tokens", score->output_tokens);
    json_write_int(out, "model_calls", score->model_calls);
    json_write_int(out, "cost_micros", score->cost_micros);
    json_write_int(out, "unpriced_calls", score->unpriced_calls);
    if (score->no_model)
        json_write_bool(out, "no_model", true);
}

static void eval_write_question(struct json_writer *out, const struct eval_question *question)
{
    json_write_string(out, "id", question->id);
    json_write_int(out, "line", (int64_t)question->line);
    json_write_string(out, "question", question->text);
    json_write_string(out, "language", question->language);
    json_write_string(out, "class", eval_class_names[question->class]);
    if (question->file)
        json_write_string(out, "file", question->file);
    if (!question->answer_count)
        return;
    json_write_array(out, "answers");
    for (size_t i = 0; i < question->answer_count; i++)
        json_write_string(out, NULL, question->answers[i]);
    json_write_end(out);
}

static void eval_write_row(struct json_writer *out, const struct eval_row *row)
{
    json_write_object(out, NULL);
    eval_write_question(out, row->question);
    eval_write_score(out, &row->score);
    if (*row->error)
        json_write_string(out, "error", row->error);
    json_write_string(out, "run", row->run);
    json_write_string(out, "answer", row->answer);
    json_write_array(out, row->nearest ? "nearest" : "citations");
    for (size_t i = 0; i < row->citation_count; i++) {
        json_write_object(out, NULL);
        json_write_string(out, "uri", row->citations[i].uri);
        json_write_int(out, "line_from", row->citations[i].line_from);
        json_write_int(out, "line_to", row->citations[i].line_to);
        json_write_string(out, "quote", row->citations[i].quote);
        json_write_end(out);
    }
    json_write_end(out);
    json_write_end(out);
}

static void eval_write_interval(struct json_writer *out, const struct interval *interval)
{
    json_write_double(out, "value", interval->value);
    json_write_double(out, "low", interval->low);
    json_write_double(out, "high", interval->high);
}

static void eval_write_results(struct json_writer *out, const struct eval *eval)
{
    json_write_array(out, "figures");
    for (size_t i = 0; i < eval->result_count; i++) {
        json_write_object(out, NULL);
        json_write_string(out, "figure", eval->results[i].figure->name);
        json_write_string(out, "group", eval->results[i].group);
        json_write_int(out, "count", (int64_t)eval->results[i].count);
        eval_write_interval(out, &eval->results[i].interval);
        json_write_end(out);
    }
    json_write_end(out);
}

static void eval_write_ids(struct json_writer *out, const char *key, const struct eval *eval, const size_t *rows,
                           size_t count)
{
    json_write_array(out, key);
    for (size_t i = 0; i < count; i++)
        json_write_string(out, NULL, eval->rows.list[rows[i]].question->id);
    json_write_end(out);
}

static void eval_write_changes(struct json_writer *out, const struct eval *eval)
{
    const struct eval_against *against = &eval->against;
    json_write_object(out, "against");
    json_write_int(out, "common", (int64_t)against->common);
    eval_write_ids(out, "better", eval, against->better, against->better_count);
    eval_write_ids(out, "worse", eval, against->worse, against->worse_count);
    json_write_array(out, "changes");
    for (size_t i = 0; i < against->change_count; i++) {
        const struct eval_change *change = &against->changes[i];
        json_write_object(out, NULL);
        json_write_string(out, "figure", change->figure->name);
        json_write_int(out, "count", (int64_t)change->count);
        json_write_double(out, "before", change->before);
        json_write_double(out, "after", change->after);
        if (change->figure->kind == EVAL_SHARE) {
            json_write_int(out, "better", (int64_t)change->better);
            json_write_int(out, "worse", (int64_t)change->worse);
            json_write_double(out, "p", change->chance);
        } else if (change->figure->kind != EVAL_QUANTILE) {
            eval_write_interval(out, &change->change);
        }
        json_write_end(out);
    }
    json_write_end(out);
    json_write_end(out);
}

void eval_put_json(struct buffer *out, const struct eval *eval)
{
    struct json_writer writer;
    for (size_t i = 0; i < eval->rows.count; i++) {
        if (!eval->rows.list[i].asked)
            continue;
        json_writer_init(&writer, out);
        eval_write_row(&writer, &eval->rows.list[i]);
        buffer_put(out, '\n');
    }
    json_writer_init(&writer, out);
    json_write_object(&writer, NULL);
    json_write_int(&writer, "asked", (int64_t)eval->asked);
    json_write_int(&writer, "not_asked", (int64_t)(eval->questions.count - eval->asked));
    json_write_int(&writer, "lines_left_out", (int64_t)eval->questions.bad);
    eval_write_results(&writer, eval);
    if (eval->against.path)
        eval_write_changes(&writer, eval);
    json_write_end(&writer);
    buffer_put(out, '\n');
}
