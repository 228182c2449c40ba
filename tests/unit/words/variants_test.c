/* Spellings of one word have the same strong terms, and similar words do not. */
#include "words/words.h"

#include <stdio.h>

#include "unit.h"

/* The strong terms of a text, separated by spaces. */
static const char *strong_terms(const char *text, char *found, size_t room)
{
    struct term_reader reader;
    struct term term;
    size_t used = 0, length = strlen(text), begin = 0;
    found[0] = '\0';
    terms_begin(&reader, text, length);
    while (terms_next(&reader, &term)) {
        assert_true(term.begin >= begin && term.begin < term.end && term.end <= length);
        begin = term.begin;
        if (!term.stop_word)
            used += (size_t)snprintf(found + used, room - used, "%s ", term.text);
    }
    return found;
}

static bool are_same(const char *one, const char *other)
{
    char first[1000], second[1000];
    return strcmp(strong_terms(one, first, sizeof first), strong_terms(other, second, sizeof second)) == 0;
}

/* Texts separated by spaces; all have the terms of the first. */
static void expect_same(const char *texts)
{
    char copy[1000], found[1000], wanted[1000] = "", *rest = copy;
    snprintf(copy, sizeof copy, "%s", texts);
    for (char *text; (text = strtok_r(rest, " ", &rest)) != NULL;) {
        if (wanted[0] == '\0')
            assert_true(strong_terms(text, wanted, sizeof wanted)[0] != '\0');
        else if (strcmp(strong_terms(text, found, sizeof found), wanted) != 0)
            fail_msg("%s: '%s', not '%s'", text, found, wanted);
    }
}

static void okurigana_may_be_left_out(void **state)
{
    static const char *const words[] = {
        "引っ越し 引越し 引越",
        "申し込み 申込み 申込",
        "取り消し 取消し 取消",
        "受け付け 受付け 受付",
        "打ち合わせ 打合わせ 打合せ 打ち合せ 打合",
        "見積もり 見積り 見積",
        "問い合わせ 問合わせ 問合せ 問い合せ",
        "払い戻し 払戻し 払戻",
        "買い物 買物",
        "貸し出し 貸出し 貸出",
        "繰り返し 繰返し",
        "組み合わせ 組合せ 組み合せ",
        "切り替え 切替え 切替",
        "書き込み 書込み 書込",
        "読み込み 読込み 読込",
        "支払い 支払",
        "売り上げ 売上げ 売上",
        "手続き 手続",
        "締め切り 締切り 締切",
        "乗り換え 乗換え 乗換",
        "割り引き 割引き 割引",
        "持ち込み 持込み 持込",
        "積み立て 積立て 積立",
        "取り扱い 取扱い 取扱",
        "届け出 届出",
        "入れ替え 入替え",
        "振り込み 振込み 振込",
        "振り替え 振替",
        "呼び出し 呼出し 呼出",
        "割り当て 割当て 割当",
        "売り場 売場",
        "乗り場 乗場",
        "置き場 置場",
        "受け取り 受取り 受取",
        "借り入れ 借入れ 借入",
        "立ち入り 立入り 立入",
        "引き渡し 引渡し 引渡",
        "引き出し 引出し",
        "申し込み書 申込み書 申込書",
        "取り扱い説明書 取扱い説明書 取扱説明書",
        "受け付けの 受付の",
        "日当たり 日当り",
        "終わり 終り",
        "終わる 終る",
        "変わる 変る",
        "生まれる 生れる",
        "行なう 行う",
        "表わす 表す",
        "断わる 断る",
    };
    for (size_t i = 0; i < COUNT(words); i++)
        expect_same(words[i]);
}

static void kana_of_loanwords_vary(void **state)
{
    static const char *const words[] = {
        "サーバー サーバ ｻｰﾊﾞｰ",
        "コンピューター コンピュータ",
        "インターフェース インタフェース インターフェイス インタフェイス",
        "ユーザー ユーザ",
        "プリンター プリンタ",
        "ブラウザー ブラウザ",
        "パーティー パーティ",
        "セキュリティー セキュリティ",
        "メモリー メモリ",
        "フォルダー フォルダ",
        "ウェブサイト ウエブサイト",
        "ソフトウェア ソフトウエア",
        "ウィンドウ ウインドウ ウィンドー",
        "フィルム フイルム",
        "キャノン キヤノン",
        "クォリティ クオリティー",
        "ヴァイオリン バイオリン",
        "ベートーヴェン ベートーベン",
        "レヴュー レビュー",
        "サーヴィス サービス",
        "ヴェネツィア ベネチア",
        "プラスティック プラスチック",
        "ロマンティック ロマンチック",
        "ディジタル デジタル",
        "スマートフォン スマートホン",
        "プラットフォーム プラットホーム",
        "ギリシア ギリシャ",
        "ペルシア ペルシャ",
        "ダイアモンド ダイヤモンド",
        "イアホン イヤホン イヤフォン",
        "メインテナンス メンテナンス",
        "エンターテインメント エンターテイメント エンタテインメント",
        "ボウリング ボーリング",
        "シュミレーション シミュレーション",
        "コミニュケーション コミュニケーション",
        "リポート レポート",
        "スウェーデン スエーデン",
        "アルミニューム アルミニウム",
    };
    for (size_t i = 0; i < COUNT(words); i++)
        expect_same(words[i]);
}

static void characters_have_old_and_new_forms(void **state)
{
    static const char *const words[] = {
        "國立大學 国立大学",
        "學校法人 学校法人",
        "澤田 沢田",
        "渡邊 渡辺 渡邉",
        "齋藤 斎藤",
        "廣島 広島",
        "鐵道 鉄道 铁道",
        "圖書館 図書館 图书馆",
        "電話 电话",
        "漢語 汉语",
        "說明書 説明書 说明书",
        "發展 発展 发展",
        "經濟 経済 经济",
        "台灣 台湾",
        "佐々木 佐佐木",
        "3ヶ月間 3か月間 3カ月間 3ケ月間 3箇月間",
        "三ヶ国語 三か国語 三カ国語",
        "関ヶ原 関ケ原 関が原",
        "茅ヶ崎市 茅ケ崎市 茅が崎市",
        "霞ヶ関駅 霞が関駅",
        "子ども 子供 こども",
        "すべて 全て 総て",
        "障害者 障碍者 障がい者",
        "附属 付属",
    };
    for (size_t i = 0; i < COUNT(words); i++)
        expect_same(words[i]);
}

static void korean_particles_are_left_out(void **state)
{
    static const char *const words[] = {
        "서울은 서울이 서울을 서울의 서울에서 서울에서는 서울",
        "대통령은 대통령이 대통령에게 대통령",
        "학교까지 학교에 학교",
        "1989년에 1989년",
        "평양축전에 평양축전",
    };
    for (size_t i = 0; i < COUNT(words); i++)
        expect_same(words[i]);
    char found[100];
    assert_string_equal(strong_terms("대통령", found, sizeof found), "대통령 대통 통령 ");
    assert_string_equal(strong_terms("무엇인가 그리고 때문에", found, sizeof found), "");
}

/* Texts of the same language: a sentence with a word, and a sentence with another form of it. */
static void european_words_are_stemmed_by_the_language_of_the_text(void **state)
{
    static const char *const texts[][2] = {
        {"das Haus ist alt", "die Häuser sind alt"},
        {"wo ist die Müllerstraße", "wo ist die Muellerstrasse"},
        {"der Fluss und die Straße", "der Fluß und die Strasse"},
        {"le hérisson est dans la ville", "les herissons sont dans les villes"},
        {"l'eau de la rivière", "les eaux des rivières"},
        {"qu'est-ce que le fromage", "où sont les fromages"},
        {"la canción del siglo", "las canciones de los siglos"},
        {"¿Cuántos países hay?", "el pais es"},
        {"a naïve café", "the naive cafe"},
    };
    for (size_t i = 0; i < COUNT(texts); i++) {
        char first[1000], second[1000];
        if (strcmp(strong_terms(texts[i][0], first, sizeof first), strong_terms(texts[i][1], second, sizeof second)) !=
            0)
            fail_msg("%s: '%s', not '%s'", texts[i][0], first, second);
    }
    char found[100];
    assert_int_equal(words_latin_language("Wie viele gibt es?", 18), LATIN_GERMAN);
    assert_int_equal(words_latin_language("The end of the war in the west", 30), LATIN_ENGLISH);
    assert_int_equal(words_latin_language("London 2024", 11), LATIN_UNKNOWN);
    assert_int_equal(words_latin_language("Team: 10 users, e-mail", 22), LATIN_UNKNOWN);
    assert_int_equal(words_latin_language("y axis: plan A or B", 19), LATIN_ENGLISH);
    assert_string_equal(strong_terms("Qu'est-ce que c'est?", found, sizeof found), "");
    assert_string_equal(strong_terms("Wie viele gibt es in der", found, sizeof found), "");
}

static void chinese_function_words_are_weak(void **state)
{
    char found[200];
    assert_string_equal(strong_terms("公园是哪一天对外开放的？", found, sizeof found),
                        strong_terms("公園是哪一天對外開放的？", (char[200]){0}, 200));
    assert_string_equal(strong_terms("这是什么", found, sizeof found), "");
    assert_string_equal(strong_terms("目的を", found, sizeof found), "目的 "); /* Japanese */
    assert_string_equal(strong_terms("在庫目的", found, sizeof found), "在庫 庫目 目的 ");
}

static void other_words_stay_apart(void **state)
{
    static const char *const words[][2] = {
        {"ビール", "ビル"},   {"スキー", "スキ"},   {"ホール", "ホル"},     {"カード", "カド"},
        {"コーラ", "コラ"},   {"データ", "デタ"},   {"機械", "机械を"},     {"後ろ", "后ろ"},
        {"引用", "引っ越し"}, {"申請", "申し込み"}, {"受験", "受け付け"},   {"私が原因", "私原因"},
        {"ソウル", "ソール"}, {"구름", "구두"},     {"ベルト", "ベット"},   {"製造", "制造を"},
        {"支店", "支払い"},   {"見学", "見積もり"}, {"ハードル", "ハドル"}, {"銀行など", "銀など"},
    };
    for (size_t i = 0; i < COUNT(words); i++)
        if (are_same(words[i][0], words[i][1]))
            fail_msg("%s and %s are the same", words[i][0], words[i][1]);
}

/* A run of 128 characters is folded like a short one, and what is cut there loses no pair. */
static void long_runs_are_folded(void **state)
{
    char text[3 * 400 + 1], found[8000];
    for (int i = 0; i < 400; i++)
        memcpy(text + (ptrdiff_t)3 * i, i % 2 ? "ー" : "カ", 3);
    text[sizeof text - 1] = '\0';
    strong_terms(text, found, sizeof found);
    for (int i = 0; i < 400; i++)
        memcpy(text + (ptrdiff_t)3 * i, "國", 3);
    strong_terms(text, found, sizeof found);
    assert_int_equal(strlen(found), 399 * 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(okurigana_may_be_left_out),
        cmocka_unit_test(kana_of_loanwords_vary),
        cmocka_unit_test(characters_have_old_and_new_forms),
        cmocka_unit_test(korean_particles_are_left_out),
        cmocka_unit_test(european_words_are_stemmed_by_the_language_of_the_text),
        cmocka_unit_test(chinese_function_words_are_weak),
        cmocka_unit_test(other_words_stay_apart),
        cmocka_unit_test(long_runs_are_folded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
