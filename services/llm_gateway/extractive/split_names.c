/* Names and fixed pairs with a conjunction inside, which are never taken apart. */
#include "split_priv.h"

#include "words/words.h"

#include <string.h>
#include <strings.h>

struct pair {
    const char *left, *right;
};

/* Works, groups and proverbs; Japanese ones with と. */
static const struct pair japanese[] = {
    {"ロミオ", "ジュリエット"},
    {"ハンセル", "グレーテル"},
    {"ヘンゼル", "グレーテル"},
    {"トム", "ジェリー"},
    {"美女", "野獣"},
    {"罪", "罰"},
    {"戦争", "平和"},
    {"赤", "黒"},
    {"老人", "海"},
    {"高慢", "偏見"},
    {"自負", "偏見"},
    {"分別", "多感"},
    {"千", "千尋"},
    {"ライ麦畑", "捕手"},
    {"アリ", "キリギリス"},
    {"うさぎ", "かめ"},
    {"ウサギ", "カメ"},
    {"兎", "亀"},
    {"月", "六ペンス"},
    {"存在", "時間"},
    {"春", "修羅"},
    {"狼", "香辛料"},
    {"王様", "私"},
    {"王子", "乞食"},
    {"王子", "こじき"},
    {"魔女", "魔法"},
    {"剣", "魔法"},
    {"夢", "魔法"},
    {"氷", "炎"},
    {"光", "影"},
    {"愛", "青春"},
    {"愛", "哀しみ"},
    {"愛", "死"},
    {"知", "愛"},
    {"静", "動"},
    {"生", "死"},
    {"水", "油"},
    {"飴", "鞭"},
    {"アメ", "ムチ"},
    {"表", "裏"},
    {"心", "体"},
    {"父", "暮せば"},
    {"父", "子"},
    {"母", "子"},
    {"二十日鼠", "人間"},
    {"ハツカネズミ", "人間"},
    {"怒り", "響き"},
    {"響き", "怒り"},
    {"息子", "恋人"},
    {"裸者", "死者"},
    {"神", "仏"},
    {"チップ", "デール"},
    {"ジキル博士", "ハイド"},
    {"ボニー", "クライド"},
    {"サムソン", "デリラ"},
    {"アダム", "イヴ"},
    {"アダム", "イブ"},
    {"カイン", "アベル"},
    {"トリスタン", "イゾルデ"},
    {"オルフェウス", "エウリュディケ"},
    {"ペレアス", "メリザンド"},
    {"ダフニス", "クロエ"},
    {"アントニー", "クレオパトラ"},
    {"ヴィーナス", "アドニス"},
    {"トロイラス", "クレシダ"},
    {"サイモン", "ガーファンクル"},
    {"ピーター", "狼"},
    {"ピーター", "おおかみ"},
    {"フィリップ", "仲間"},
    {"ライオン", "魔女"},
    {"長靴下", "ピッピ"},
    {"ぐり", "ぐら"},
    {"ルパン三世", "カリオストロ"},
    {"崖の上", "ポニョ"},
    {"わたしと小鳥", "すず"},
    {"私と小鳥", "鈴"},
    {"聖アントニウス", "隠者"},
    {"ダビデ", "ゴリアテ"},
    {"サウンド", "フューリー"},
    {"喜び", "悲しみ"},
    {"ゴッド", "モンスター"},
    {"アクション", "アドベンチャー"},
    {"君", "僕"},
    {"僕", "君"},
    {"君", "100回目"},
    {"嘘", "カメレオン"},
    {"マルクス", "エンゲルス"},
    {NULL, NULL},
};

/* 「ハリー・ポッターと賢者の石」: series with titles that continue behind と. */
static const struct pair series[] = {
    {"ハリー・ポッター", "賢者の石"},         {"ハリー・ポッター", "秘密の部屋"},
    {"ハリー・ポッター", "アズカバンの囚人"}, {"ハリー・ポッター", "炎のゴブレット"},
    {"ハリー・ポッター", "不死鳥の騎士団"},   {"ハリー・ポッター", "謎のプリンス"},
    {"ハリー・ポッター", "死の秘宝"},         {"ハリー・ポッター", "呪いの子"},
    {"インディ・ジョーンズ", "魔宮の伝説"},   {"インディ・ジョーンズ", "最後の聖戦"},
    {"チャーリー", "チョコレート工場"},       {"パイレーツ", "海賊"},
    {"ナルニア国物語", "ライオン"},           {NULL, NULL},
};

/* Pairs of an organisation or of a field: they have one answer. */
static const struct pair japanese_pairs[] = {
    {"研究", "開発"},
    {"教育", "研究"},
    {"需要", "供給"},
    {"原因", "結果"},
    {"質問", "回答"},
    {"作用", "反作用"},
    {"権利", "義務"},
    {"自由", "平等"},
    {"設計", "施工"},
    {"文化", "芸術"},
    {"科学", "技術"},
    {"政治", "経済"},
    {"健康", "安全"},
    {"安全", "安心"},
    {"安心", "安全"},
    {"規約", "条件"},
    {"利用規約", "プライバシーポリシー"},
    {"ID", "パスワード"},
    {"日付", "時刻"},
    {"日", "時間"},
    {"日時", "場所"},
    {"名前", "住所"},
    {"氏名", "住所"},
    {"読み", "書き"},
    {"起承", "転結"},
    {"右", "左"},
    {"上", "下"},
    {"男", "女"},
    {"男性", "女性"},
    {"昼", "夜"},
    {"朝", "夕"},
    {"陰", "陽"},
    {"善", "悪"},
    {"天", "地"},
    {"過去", "未来"},
    {"入力", "出力"},
    {"送信", "受信"},
    {"開始", "終了"},
    {"出発", "到着"},
    {"バックアップ", "復元"},
    {"コピー", "ペースト"},
    {"インストール", "設定"},
    {NULL, NULL},
};

static const struct pair english_names[] = {
    {"pride", "prejudice"},
    {"sense", "sensibility"},
    {"war", "peace"},
    {"crime", "punishment"},
    {"romeo", "juliet"},
    {"antony", "cleopatra"},
    {"troilus", "cressida"},
    {"tristan", "isolde"},
    {"hansel", "gretel"},
    {"tom", "jerry"},
    {"beauty", "the beast"},
    {"lady", "the tramp"},
    {"the lion, the witch", "the wardrobe"},
    {"the old man", "the sea"},
    {"of mice", "men"},
    {"the prince", "the pauper"},
    {"the sound", "the fury"},
    {"sons", "lovers"},
    {"the red", "the black"},
    {"the naked", "the dead"},
    {"the power", "the glory"},
    {"the master", "margarita"},
    {"fathers", "sons"},
    {"north", "south"},
    {"being", "time"},
    {"being", "nothingness"},
    {"dungeons", "dragons"},
    {"angels", "demons"},
    {"fast", "furious"},
    {"lilo", "stitch"},
    {"thelma", "louise"},
    {"bonnie", "clyde"},
    {"turner", "hooch"},
    {"starsky", "hutch"},
    {"mork", "mindy"},
    {"will", "grace"},
    {"law", "order"},
    {"parks", "recreation"},
    {"rick", "morty"},
    {"beavis", "butt-head"},
    {"penn", "teller"},
    {"simon", "garfunkel"},
    {"hall", "oates"},
    {"ike", "tina turner"},
    {"sonny", "cher"},
    {"earth, wind", "fire"},
    {"guns n' roses", "metallica"},
    {"crosby, stills", "nash"},
    {"emerson, lake", "palmer"},
    {"blood, sweat", "tears"},
    {"florence", "the machine"},
    {"marks", "spencer"},
    {"johnson", "johnson"},
    {"procter", "gamble"},
    {"barnes", "noble"},
    {"smith", "wesson"},
    {"black", "decker"},
    {"dolce", "gabbana"},
    {"rolls", "royce"},
    {"ben", "jerry's"},
    {"ernst", "young"},
    {"standard", "poor's"},
    {"harley", "davidson"},
    {"bosnia", "herzegovina"},
    {"trinidad", "tobago"},
    {"antigua", "barbuda"},
    {"saint kitts", "nevis"},
    {"turks", "caicos"},
    {"sao tome", "principe"},
    {"são tomé", "príncipe"},
    {"newfoundland", "labrador"},
    {"tyne", "wear"},
    {"england", "wales"},
    {"mason", "dixon"},
    {"lewis", "clark"},
    {"adam", "eve"},
    {"cain", "abel"},
    {"david", "goliath"},
    {"samson", "delilah"},
    {"romulus", "remus"},
    {"castor", "pollux"},
    {"jekyll", "hyde"},
    {"jekyll", "mr. hyde"},
    {"jekyll", "mr hyde"},
    {"wallace", "gromit"},
    {"calvin", "hobbes"},
    {"chip", "dale"},
    {NULL, NULL},
};

static const struct pair english_pairs[] = {
    {"install", "configure"},
    {"installing", "configuring"},
    {"installation", "configuration"},
    {"research", "development"},
    {"terms", "conditions"},
    {"health", "safety"},
    {"health", "wellness"},
    {"input", "output"},
    {"backup", "restore"},
    {"back up", "restore"},
    {"backups", "restores"},
    {"drag", "drop"},
    {"copy", "paste"},
    {"cut", "paste"},
    {"username", "password"},
    {"user name", "password"},
    {"login", "password"},
    {"users", "groups"},
    {"users", "roles"},
    {"start", "stop"},
    {"read", "write"},
    {"black", "white"},
    {"questions", "answers"},
    {"pros", "cons"},
    {"trial", "error"},
    {"date", "time"},
    {"name", "address"},
    {"rules", "regulations"},
    {"policies", "procedures"},
    {"supply", "demand"},
    {"command", "control"},
    {"arts", "crafts"},
    {"arts", "sciences"},
    {"bed", "breakfast"},
    {"search", "rescue"},
    {"search", "replace"},
    {"find", "replace"},
    {"import", "export"},
    {"science", "technology"},
    {"rock", "roll"},
    {"salt", "pepper"},
    {"bread", "butter"},
    {"fish", "chips"},
    {"mother", "father"},
    {"husband", "wife"},
    {"men", "women"},
    {"boys", "girls"},
    {"day", "night"},
    {"life", "death"},
    {"time", "place"},
    {"time", "date"},
    {"sex", "age"},
    {"age", "sex"},
    {"cause", "effect"},
    {"causes", "effects"},
    {"mergers", "acquisitions"},
    {"oil", "gas"},
    {"food", "drink"},
    {"food", "beverage"},
    {"board", "lodging"},
    {"wear", "tear"},
    {"profit", "loss"},
    {"peace", "quiet"},
    {"track", "field"},
    {"hide", "seek"},
    {"hit", "run"},
    {"hardware", "software"},
    {"sales", "marketing"},
    {"shipping", "handling"},
    {"checks", "balances"},
    {"crime", "violence"},
    {"colleges", "universities"},
    {"art", "architecture"},
    {"arts", "culture"},
    {"arts", "humanities"},
    {"truth", "reconciliation"},
    {"law", "justice"},
    {"trade", "industry"},
    {"commerce", "industry"},
    {"agriculture", "fisheries"},
    {"first", "last"},
    {"first", "second"},
    {"north", "south"},
    {"east", "west"},
    {NULL, NULL},
};

static bool split_names_is_letter(struct text text, size_t at)
{
    unsigned char c = at < text.length ? (unsigned char)text.bytes[at] : ' ';
    return c >= 0x80 || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Whether a Han or Katakana character ends at `at`: a single character behind it is the end of a longer word. */
static bool split_names_ends_noun(struct text text, size_t at)
{
    size_t end;
    enum script script = at ? script_of(utf8_read(text.bytes, text.length, split_back(text, at), &end)) : SCRIPT_NONE;
    return script == SCRIPT_HAN || script == SCRIPT_KATAKANA;
}

static bool split_names_stands_at(struct text text, size_t at, const char *word, bool latin)
{
    size_t length = strlen(word);
    return at + length <= text.length &&
           (latin ? strncasecmp(text.bytes + at, word, length) : memcmp(text.bytes + at, word, length)) == 0;
}

static bool pair_is_in(const struct pair *pairs, struct text text, size_t at, size_t end, bool latin, size_t *left,
                       size_t *right)
{
    for (; pairs->left; pairs++) {
        *left = strlen(pairs->left);
        *right = strlen(pairs->right);
        if (*left > at || !split_names_stands_at(text, at - *left, pairs->left, latin) ||
            !split_names_stands_at(text, end, pairs->right, latin))
            continue;
        bool whole = !latin || ((at == *left || !split_names_is_letter(text, at - *left - 1)) &&
                                !split_names_is_letter(text, end + *right));
        bool single = latin || *left > 3 || !split_names_ends_noun(text, at - *left);
        if (whole && single)
            return true;
    }
    return false;
}

bool split_is_pair(struct text text, size_t at, size_t end, size_t *left, size_t *right)
{
    bool latin = (unsigned char)text.bytes[at] < 0x80;
    if (latin && memchr(text.bytes + at, '&', end - at)) { /* "AT&T", "Marks & Spencer": one name */
        *left = *right = 0;
        while (*left < at && split_names_is_letter(text, at - *left - 1))
            ++*left;
        while (split_names_is_letter(text, end + *right))
            ++*right;
        return true;
    }
    if (latin)
        return pair_is_in(english_names, text, at, end, true, left, right) ||
               pair_is_in(english_pairs, text, at, end, true, left, right);
    return pair_is_in(japanese, text, at, end, false, left, right) ||
           pair_is_in(series, text, at, end, false, left, right) ||
           pair_is_in(japanese_pairs, text, at, end, false, left, right);
}
