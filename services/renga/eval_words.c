/* The fixed texts of an evaluation, in Japanese and English. */
#include "eval.h"

#include <string.h>

static const struct eval_words english = {
    .tag = "en",
    .whys = {"Right", "Not found by the search", "Found by the search, but not answered", "Answered from another file",
             "Answered from the right file, with another sentence", "Answered although the documents do not say it",
             "Failed"},
    .title = "Evaluation: ",
    .asked = "asked",
    .right = "right",
    .failed = "failed",
    .unusable = "lines left out",
    .interrupted = "interrupted",
    .columns = {"figure", "of", "value", "95 %", "questions"},
    .changes = {"figure", "before", "after", "change"},
    .all = "all",
    .against = "Against ",
    .common = "questions of both",
    .test = "p is McNemar's exact test; an interval is that of the change.",
    .better = "better",
    .worse = "worse",
    .became = "Became right",
    .lost = "Not right any more",
    .line = {"line ", ""},
    .expected = "expected",
    .from = "an answer from ",
    .none = "no answer, as the documents do not say it",
    .answer = "answer",
    .cited = "cited",
    .nearest = "nearest",
    .run = "run",
    .more = "more, in the results as JSON",
};

static const struct eval_words japanese = {
    .tag = "ja",
    .whys = {"正解", "検索で見つからなかった", "検索では見つかったのに回答しなかった", "別の文書から回答した",
             "正しい文書の別の文で回答した", "文書に載っていないのに回答した", "呼び出しに失敗した"},
    .title = "評価: ",
    .asked = "質問した数",
    .right = "正解",
    .failed = "失敗",
    .unusable = "使えなかった行",
    .interrupted = "途中で中断",
    .columns = {"指標", "対象", "値", "95 %", "問"},
    .changes = {"指標", "前回", "今回", "変化"},
    .all = "全体",
    .against = "比較: ",
    .common = "問が共通",
    .test = "p は McNemar の正確検定、区間は変化量の 95 % 区間です。",
    .better = "改善",
    .worse = "悪化",
    .became = "正解になった",
    .lost = "正解でなくなった",
    .line = {"", "行目"},
    .expected = "期待",
    .from = "次の文書からの回答: ",
    .none = "回答なし（文書に載っていない）",
    .answer = "回答",
    .cited = "引用",
    .nearest = "近い箇所",
    .run = "実行",
    .more = "件は JSON の結果にあります",
};

const struct eval_words *eval_words(const char *language, const struct eval_questions *questions)
{
    size_t japanese_questions = 0;
    if (language && *language)
        return strncmp(language, "ja", 2) == 0 ? &japanese : &english;
    for (size_t i = 0; i < questions->count; i++)
        japanese_questions += strncmp(questions->list[i].language, "ja", 2) == 0;
    return 2 * japanese_questions > questions->count ? &japanese : &english;
}

const char *eval_title(const struct eval_words *words, const struct eval_figure *figure)
{
    return figure->titles[words == &japanese];
}
