/* The fixed texts of `renga ask`. */
#include "ask.h"

#include "words/words.h"

#include <string.h>

static const struct ask_words english = {
    .tag = "en",
    .planning = "Planning",
    .answering = "Writing the answer",
    .try = {"try ", ""},
    .space = " ",
    .seconds = " s",
    .stages = {"waiting", "choosing tools", "searching", "answering", "reflecting", "reflected", "done", "broke off"},
    .incomplete = "not found",
    .nearest = "Nearest passages, which do not answer it:",
    .connect = "To have a model read the documents, set OPENAI_API_KEY (and OPENAI_BASE_URL, OPENAI_MODEL) where Renga "
               "runs.",
};

static const struct ask_words japanese = {
    .tag = "ja",
    .planning = "計画を立てています",
    .answering = "回答を書いています",
    .try = {"", "回目"},
    .space = "",
    .seconds = "秒",
    .stages = {"待機", "ツール選択", "検索", "回答作成", "見直し", "見直し済み", "完了", "中断"},
    .incomplete = "見つかりません",
    .nearest = "最も近い箇所(答えではありません):",
    .connect = "モデルに文書を読ませるには、Renga を動かす環境で OPENAI_API_KEY (と OPENAI_BASE_URL、OPENAI_MODEL) を"
               "設定してください。",
};

const struct ask_words *ask_words(const char *language, const char *question)
{
    if (!language)
        language = words_language(question, strlen(question));
    return strncmp(language, "ja", 2) == 0 ? &japanese : &english;
}
