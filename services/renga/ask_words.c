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
};

const struct ask_words *ask_words(const char *language, const char *question)
{
    if (!language)
        language = words_language(question, strlen(question));
    return strncmp(language, "ja", 2) == 0 ? &japanese : &english;
}
