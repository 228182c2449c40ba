/* The fixed texts of `renga research --autonomous`. */
#include "autonomous.h"

#include <string.h>

static const struct autonomous_words english = {
    .planning = "Planning",
    .searching = "Searching",
    .writing = "Writing the draft",
    .reviewing = "Reviewing the draft",
    .plan = "Plan",
    .points = "To be covered",
    .queries = "Queries",
    .sources = "Sources so far",
    .actions = {"?", "search", "write", "review", "end"},
    .step = "Step ",
    .fresh = " new",
    .coverage = "coverage ",
    .scores = {"overall ", "facts ", "completeness ", "logic ", "format "},
    .verdict = {"not approved", "approved"},
    .stopped = {"", "the draft is approved", "the limit of steps is reached; this is the best draft",
                "the budget is spent; this is the best draft", "no source was found",
                "the third rejection ended it; this is the best draft", "the supervisor ended it",
                "a person stopped it; this is the best draft", "no person answered in time; this is the best draft",
                "a step failed; this is the best draft by then"},
    .steps = {" steps", " step"},
    .before = {"Go on with this plan?", "Write a draft from these sources?", "Make a plan for this theme?"},
    .prompt = "[Enter] go on, e edit the plan, a advise, r reject, s stop, ? help > ",
    .help = "  Enter       go on; with a changed plan: go on with it\n"
            "  e           change the plan in $EDITOR\n"
            "  + QUERY     add a query            - N     drop query N\n"
            "  N > M       move query N to place M\n"
            "  a TEXT      go on, with advice for the supervisor and the writer\n"
            "  r REASON    reject: before the supervisor a new plan is made, before the writer more is searched for\n"
            "  s [REASON]  end with the best draft so far\n"
            "  Ctrl-C      leave; the run waits\n",
    .waits = "waits for a person",
    .go_on = "goes on with it",
    .answered = "another answer came first, and holds; watching on",
    .until = "without an answer until ",
    .defaults = {"", "it goes on as planned", "it ends with the best draft"},
};

static const struct autonomous_words japanese = {
    .planning = "計画を立てています",
    .searching = "検索しています",
    .writing = "下書きを書いています",
    .reviewing = "下書きを審査しています",
    .plan = "計画",
    .points = "調査の観点",
    .queries = "検索クエリ",
    .sources = "これまでの出典",
    .actions = {"?", "検索", "執筆", "審査", "終了"},
    .step = "ステップ",
    .fresh = "件が新規",
    .coverage = "網羅率 ",
    .scores = {"総合 ", "事実 ", "網羅性 ", "論理 ", "形式 "},
    .verdict = {"不承認", "承認"},
    .stopped = {"", "下書きが承認されました", "最大ステップ数に達しました。最良の下書きです",
                "予算を使い切りました。最良の下書きです", "出典が見つかりませんでした",
                "3回目の却下で終了しました。最良の下書きです", "監督役が終了を決めました",
                "人が停止しました。最良の下書きです", "時間内に回答がありませんでした。最良の下書きです",
                "失敗したステップがあります。それまでの最良の下書きです"},
    .steps = {"ステップ", "ステップ"},
    .before = {"この計画で進めますか?", "これらの出典から下書きを書きますか?", "このテーマの計画を立てますか?"},
    .prompt = "[Enter] 進む、e 計画を編集、a 助言、r 却下、s 停止、? ヘルプ > ",
    .help = "  Enter       進む（計画を変えたときは、その計画で進む）\n"
            "  e           $EDITOR で計画を編集する\n"
            "  + クエリ    クエリを追加する        - N     N 番目のクエリを外す\n"
            "  N > M       N 番目のクエリを M 番目に移す\n"
            "  a 文        監督役と執筆役に助言して進む\n"
            "  r 理由      却下する（監督役の前なら計画を立て直し、執筆役の前ならさらに検索する）\n"
            "  s [理由]    最良の下書きで終える\n"
            "  Ctrl-C      離れる（実行は待ち続ける）\n",
    .waits = "は人の回答を待っています",
    .go_on = "で続けられます",
    .answered = "別の回答が先に届き、それが有効です。続きを表示します",
    .until = "回答がない場合の期限 ",
    .defaults = {"", "計画どおりに進みます", "最良の下書きで終わります"},
};

const struct autonomous_words *autonomous_words(const struct research_words *words)
{
    return strcmp(words->tag, "ja") == 0 ? &japanese : &english;
}
