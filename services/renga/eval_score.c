/* Scores one question: compares its answer with the known answer. */
#include "eval.h"

#include "base/text.h"
#include "words/sentences.h"

#include <string.h>

#define HITS_MAX      10 /* of the reciprocal rank */
#define HITS_TOP      5
#define SENTENCES_MAX 200  /* of an answer that are looked at */
#define QUOTES_MAX    64   /* of an answer that are looked up */
#define ANSWER_KEPT   2000 /* bytes, for the report */
#define QUOTE_KEPT    400
#define ERROR_KEPT    1024

const char *const eval_why_names[EVAL_WHYS] = {"right",          "not_found",     "abstained", "wrong_file",
                                               "wrong_sentence", "not_abstained", "failed"};
const char *const eval_class_names[3] = {"answerable", "absent", "near"};

/* ---- sentences of the answer ------------------------------------------------------------------------------------- */

static bool eval_is_heading(const char *text, size_t begin)
{
    size_t line = begin;
    while (line > 0 && text[line - 1] != '\n')
        line--;
    return text[line] == '#';
}

static void eval_score_sentences(struct eval_score *score, const struct eval_question *question, const char *answer)
{
    struct sentence_reader reader;
    struct span span;
    bool known = question->answer_count > 0;
    sentences_begin(&reader, answer, strlen(answer));
    while (score->sentences < SENTENCES_MAX && sentences_next(&reader, &span)) {
        if (eval_is_heading(answer, span.begin))
            continue;
        bool has = known && eval_text_has(answer + span.begin, span.end - span.begin, question);
        score->sentences++;
        score->carrying += has;
        if (known && score->sentences == 1)
            score->first_sentence = has;
    }
}

/* ---- citations --------------------------------------------------------------------------------------------------- */

static void eval_score_citations(struct eval_score *score, const struct eval_question *question,
                                 const Renga__V1__AgentResult *result, struct eval_quotes *quotes)
{
    for (size_t i = 0; i < result->n_citations; i++) {
        int stands = i < QUOTES_MAX ? eval_quote_stands(quotes, result->citations[i]) : EVAL_UNKNOWN;
        score->citations++;
        score->other_file += question->file && !eval_file_is(result->citations[i]->uri, question->file);
        score->quotes += stands != EVAL_UNKNOWN;
        score->quotes_standing += stands == 1;
    }
    if (question->file && result->n_citations)
        score->first_file = eval_file_is(result->citations[0]->uri, question->file);
}

/* ---- hits of the search ------------------------------------------------------------------------------------------ */

static int eval_rank(const Renga__V1__SubtaskToolResult *found, const char *file)
{
    for (size_t i = 0; i < found->n_results && i < HITS_MAX; i++)
        if (eval_file_is(found->results[i]->uri, file))
            return (int)i + 1;
    return 0;
}

static bool eval_hits_have(const Renga__V1__SubtaskToolResult *found, const struct eval_question *question)
{
    for (size_t i = 0; i < found->n_results && i < HITS_TOP; i++)
        if (eval_text_has(found->results[i]->snippet, strlen(found->results[i]->snippet), question))
            return true;
    return false;
}

/* A tool that gave hits, or that failed to; other tools, for example a calculator, have texts alone. */
static bool eval_is_search(const Renga__V1__SubtaskToolResult *result)
{
    return result->n_results || strstr(result->tool_name, "search");
}

/* Of the first try of each subtask, as later tries depend on the answer. The best of several searches counts. */
static void eval_score_hits(struct eval_score *score, const struct eval_question *question,
                            const Renga__V1__AgentResult *result)
{
    for (size_t i = 0; i < result->n_subtasks; i++) {
        const Renga__V1__Subtask *subtask = result->subtasks[i];
        const Renga__V1__SubtaskToolResults *first = subtask->n_tool_results ? subtask->tool_results[0] : NULL;
        for (size_t j = 0; first && j < first->n_results; j++) {
            if (!eval_is_search(first->results[j]))
                continue;
            if (question->file) {
                int rank = eval_rank(first->results[j], question->file);
                score->rank = score->rank <= 0 || (rank && rank < score->rank) ? rank : score->rank;
            }
            if (question->answer_count && score->words_at_5 != 1)
                score->words_at_5 = eval_hits_have(first->results[j], question);
        }
    }
}

/* ---- the verdict ------------------------------------------------------------------------------------------------- */

static enum eval_why eval_judge(const struct eval_score *score, const struct eval_question *question)
{
    bool found = score->words_at_5 == 1 || (score->words_at_5 == EVAL_UNKNOWN && score->rank > 0);
    bool in_file = !question->file || score->other_file < score->citations;
    if (question->class != EVAL_ANSWERABLE)
        return score->answered ? EVAL_NOT_ABSTAINED : EVAL_RIGHT;
    if (!score->answered)
        return found ? EVAL_ABSTAINED : EVAL_NOT_FOUND;
    if (question->answer_count ? score->contained == 1 : score->first_file == 1)
        return EVAL_RIGHT;
    return in_file && question->answer_count ? EVAL_WRONG_SENTENCE : EVAL_WRONG_FILE;
}

static void eval_score_usage(struct eval_score *score, const Renga__V1__AgentResult *result)
{
    const Renga__V1__Usage *usage = result->outcome ? result->outcome->usage : NULL;
    if (!usage)
        return;
    score->input_tokens = usage->input_tokens;
    score->output_tokens = usage->output_tokens;
    score->model_calls = usage->model_calls;
    score->cost_micros = usage->cost_micros;
    score->unpriced_calls = usage->unpriced_calls;
}

/* The initial score: unknown figures; for a question with a known answer, wrong ones. */
static void eval_score_begin(struct eval_score *score, const struct eval_question *question)
{
    int64_t latency_us = score->latency_us;
    bool answerable = question->class == EVAL_ANSWERABLE;
    *score = (struct eval_score){.latency_us = latency_us, .rank = EVAL_UNKNOWN, .words_at_5 = EVAL_UNKNOWN};
    score->contained = score->first_sentence = answerable && question->answer_count ? 0 : EVAL_UNKNOWN;
    score->first_file = answerable && question->file ? 0 : EVAL_UNKNOWN;
}

void eval_score_result(struct eval_score *score, const struct eval_question *question,
                       const Renga__V1__AgentResult *result, struct eval_quotes *quotes)
{
    eval_score_begin(score, question);
    score->answered = result->found;
    if (question->class == EVAL_ANSWERABLE)
        eval_score_hits(score, question, result);
    if (score->answered) {
        eval_score_sentences(score, question, result->answer);
        eval_score_citations(score, question, result, quotes);
        if (question->answer_count)
            score->contained = eval_text_has(result->answer, strlen(result->answer), question);
    }
    eval_score_usage(score, result);
    score->why = eval_judge(score, question);
}

void eval_score_error(struct eval_score *score, const struct eval_question *question)
{
    eval_score_begin(score, question);
    score->why = EVAL_FAILED;
}

/* ---- kept for the report ----------------------------------------------------------------------------------------- */

static const char *eval_keep(struct arena *arena, const char *text, size_t most)
{
    size_t length = strlen(text), fits = text_cut(text, length, most);
    const char *kept = arena_printf(arena, "%.*s%s", (int)fits, text, fits < length ? "…" : "");
    return kept ? kept : "";
}

static void eval_keep_nearest(struct eval_row *row, const Renga__V1__NotFound *not_found, struct arena *arena)
{
    row->nearest = true;
    for (size_t i = 0; not_found && i < not_found->n_nearest && i < EVAL_CITATIONS_MAX; i++) {
        const Renga__V1__SearchHit *hit = not_found->nearest[i];
        row->citations[row->citation_count++] = (struct eval_citation){
            eval_keep(arena, hit->uri, ERROR_KEPT),
            eval_keep(arena, *hit->quote ? hit->quote : hit->snippet, QUOTE_KEPT), hit->line_from, hit->line_to};
    }
}

void eval_row_keep(struct eval_row *row, const Renga__V1__AgentResult *result, struct arena *arena)
{
    row->answer = eval_keep(arena, result->answer, ANSWER_KEPT);
    row->run = eval_keep(arena, result->outcome ? result->outcome->run_id : "", ERROR_KEPT);
    if (!result->found) {
        eval_keep_nearest(row, result->not_found, arena);
        return;
    }
    row->citation_count = result->n_citations < EVAL_CITATIONS_MAX ? result->n_citations : EVAL_CITATIONS_MAX;
    for (size_t i = 0; i < row->citation_count; i++) {
        const Renga__V1__Citation *citation = result->citations[i];
        row->citations[i] = (struct eval_citation){eval_keep(arena, citation->uri, ERROR_KEPT),
                                                   eval_keep(arena, citation->quote, QUOTE_KEPT), citation->line_from,
                                                   citation->line_to};
    }
}
