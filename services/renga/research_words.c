/* The fixed texts of `renga research`, and the figures of a report. */
#include "research.h"

#include "words/words.h"

#include <string.h>

static const struct research_words english = {
    .tag = "en",
    .planning = "Planning",
    .searching = "Searching and summarizing",
    .writing = "Writing the report",
    .answering = "Answering from the notes",
    .cycle = {"Cycle ", ""},
    .results = {" results", " result"},
    .nothing = "no results",
    .note = {"Note ", ""},
    .sources = "Sources",
    .gaps = "Not known",
    .nothing_known = "the sources do not answer the question",
    .queries = "Searched for",
    .quoted = {"“", "”"},
    .lines = {"line ", ""},
    .seconds = " s",
    .further = "A further question",
    .figures = {{" cycles", " searches", " sources", " model calls", " tokens"},
                {" cycle", " search", " source", " model call", " token"}},
    .no_model = "no model was asked",
    .colon = ": ",
    .list = ", ",
};

static const struct research_words japanese = {
    .tag = "ja",
    .planning = "計画を立てています",
    .searching = "検索して要約しています",
    .writing = "報告書を書いています",
    .answering = "メモから回答しています",
    .cycle = {"", "回目"},
    .results = {"件", "件"},
    .nothing = "該当なし",
    .note = {"メモ", ""},
    .sources = "出典",
    .gaps = "わかっていないこと",
    .nothing_known = "出典には質問への答えがありません",
    .queries = "検索した語句",
    .quoted = {"「", "」"},
    .lines = {"", "行目"},
    .seconds = "秒",
    .further = "続けて質問する",
    .figures = {{"回の検索サイクル", "件の検索", "件の出典", "回のモデル呼び出し", "トークン"},
                {"回の検索サイクル", "件の検索", "件の出典", "回のモデル呼び出し", "トークン"}},
    .no_model = "モデルは使っていません",
    .colon = "：",
    .list = "、",
};

const struct research_words *research_words(const char *language, const char *question)
{
    if (!language)
        language = words_language(question, strlen(question));
    return strncmp(language, "ja", 2) == 0 ? &japanese : &english;
}

/* ---- the cost ---------------------------------------------------------------------------------------------------- */

static size_t words_count_documents(const Renga__V1__DeepResearchResult *result)
{
    size_t count = 0;
    for (size_t i = 0; i < result->n_citations; i++) {
        size_t before = 0;
        while (before < i && strcmp(result->citations[before]->uri, result->citations[i]->uri) != 0)
            before++;
        count += before == i;
    }
    return count;
}

/* The embedded extractive model alone: it is free, and no request is without a price. */
static bool words_asked_no_model(const Renga__V1__AgentOutcome *outcome)
{
    for (size_t i = 0; i < outcome->n_degradations; i++)
        if (outcome->degradations[i]->kind == RENGA__V1__DEGRADATION_KIND__DEGRADATION_KIND_EXTRACTIVE)
            return !outcome->usage->cost_micros && !outcome->usage->unpriced_calls;
    return !outcome->usage->model_calls;
}

void research_put_figures(struct buffer *out, const struct research_words *words,
                          const Renga__V1__DeepResearchResult *result)
{
    const Renga__V1__Usage *usage = result->outcome ? result->outcome->usage : NULL;
    bool asked = usage && !words_asked_no_model(result->outcome);
    long long tokens = asked ? usage->input_tokens + usage->output_tokens : 0;
    const long long figures[] = {result->cycles, (long long)result->n_queries, (long long)words_count_documents(result),
                                 asked ? usage->model_calls : 0, tokens};
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        if (figures[i] || i == 2)
            buffer_printf(out, "%s%lld%s", out->length ? words->list : "", figures[i],
                          words->figures[figures[i] == 1][i]);
    if (!asked)
        buffer_printf(out, "%s%s", words->list, words->no_model);
    if (usage && usage->cost_micros)
        buffer_printf(out, "%s%sUSD %.4f", words->list, usage->unpriced_calls ? "> " : "",
                      (double)usage->cost_micros / 1e6);
}
