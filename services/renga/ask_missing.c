/* The nearest passages for the parts without an answer, marked as unconfirmed, and the way to connect a model. */
#include "ask.h"
#include "outcome.h"

#include <stdio.h>

static const struct missing_words {
    const char *nearest; /* above passages that do not answer */
    const char *connect; /* how a model is connected */
} missing_words[LANGUAGES] = {
    [LANGUAGE_EN] = {"Nearest passages, which do not answer it:",
                     "To have a model read the documents, set OPENAI_API_KEY (and OPENAI_BASE_URL, OPENAI_MODEL) where "
                     "Renga runs."},
    [LANGUAGE_JA] = {"最も近い箇所(答えではありません):",
                     "モデルに文書を読ませるには、Renga を動かす環境で OPENAI_API_KEY (と OPENAI_BASE_URL、"
                     "OPENAI_MODEL) を設定してください。"},
    [LANGUAGE_ZH] =
        {"最接近的段落(并非答案):",
         "要让模型阅读文档,请在运行 Renga 的环境中设置 OPENAI_API_KEY(以及 OPENAI_BASE_URL、OPENAI_MODEL)。"},
    [LANGUAGE_KO] = {"가장 가까운 대목(답은 아닙니다):",
                     "모델이 문서를 읽게 하려면 Renga를 실행하는 환경에 OPENAI_API_KEY(와 OPENAI_BASE_URL, "
                     "OPENAI_MODEL)를 설정하세요."},
    [LANGUAGE_DE] = {"Die nächsten Stellen, die nicht antworten:",
                     "Damit ein Modell die Dokumente liest, setzen Sie OPENAI_API_KEY (und OPENAI_BASE_URL, "
                     "OPENAI_MODEL), wo Renga läuft."},
    [LANGUAGE_FR] = {"Passages les plus proches, qui n'y répondent pas :",
                     "Pour qu'un modèle lise les documents, définissez OPENAI_API_KEY (et OPENAI_BASE_URL, "
                     "OPENAI_MODEL) là où Renga s'exécute."},
    [LANGUAGE_ES] = {"Los pasajes más cercanos, que no responden:",
                     "Para que un modelo lea los documentos, defina OPENAI_API_KEY (y OPENAI_BASE_URL, OPENAI_MODEL) "
                     "donde se ejecuta Renga."},
};

static bool no_model_answered(const Renga__V1__AgentOutcome *outcome)
{
    for (size_t i = 0; outcome && i < outcome->n_degradations; i++)
        if (outcome->degradations[i]->kind == RENGA__V1__DEGRADATION_KIND__DEGRADATION_KIND_EXTRACTIVE)
            return true;
    return false;
}

static Renga__V1__Citation citation_of(const Renga__V1__SearchHit *hit)
{
    Renga__V1__Citation citation = RENGA__V1__CITATION__INIT;
    citation.uri = hit->uri;
    citation.line_from = hit->line_from;
    citation.line_to = hit->line_to;
    citation.heading_path = hit->heading_path;
    citation.n_heading_path = hit->n_heading_path;
    citation.quote = hit->quote;
    return citation;
}

void ask_show_missing(const struct ask *ask, const Renga__V1__AgentResult *result, size_t width)
{
    const Renga__V1__NotFound *missing = result->not_found;
    if (!missing)
        return;
    if (missing->n_nearest) {
        putchar('\n');
        outcome_line(stdout, &ask->client, width, DIM, "", missing_words[ask->language].nearest);
    }
    for (size_t i = 0; i < missing->n_nearest; i++) {
        const Renga__V1__Citation citation = citation_of(missing->nearest[i]);
        ask_show_place(ask, &citation, "~ ", width);
    }
}

void ask_show_connect(const struct ask *ask, const Renga__V1__AgentResult *result, size_t width)
{
    if (!result->not_found || ask->no_documents || !no_model_answered(result->outcome))
        return;
    putchar('\n');
    outcome_line(stdout, &ask->client, width, DIM, "", missing_words[ask->language].connect);
}
