/* Names and denials of a sentence beside the words that are quoted for it. */
#include "words/claims.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static bool agree(const char *sentence, const char *quote, const char *heading)
{
    return claims_agree((struct claim){sentence, strlen(sentence)}, (struct claim){quote, strlen(quote)},
                        (struct claim){heading, strlen(heading)});
}

static void a_name_that_is_not_quoted_is_another_claim(void **state)
{
    const char *quote = "Mars has two moons, Phobos and Deimos.";
    assert_true(agree("Mars has two moons, Phobos and Deimos.", quote, ""));
    assert_true(agree("The two moons of Mars are Phobos and Deimos.", quote, ""));
    assert_false(agree("Mars has two moons, Phobos and Titan.", quote, ""));
    assert_false(agree("Venus has two moons, Phobos and Deimos.", quote, ""));
    assert_false(agree("According to Smith, Mars has two moons.", quote, ""));
}

static void names_of_the_heading_count_and_openers_do_not(void **state)
{
    assert_true(agree("Mars has two moons.", "It has two moons.", "Mars"));
    assert_true(agree("However, there are two moons.", "There are two moons.", ""));
    assert_true(agree("Additionally, moons are two.", "There are two moons.", ""));
    assert_false(agree("Zorblax has two moons.", "It has two moons.", "Mars"));
}

static void japanese_names_are_known_by_their_script_and_their_endings(void **state)
{
    const char *quote = "バックアップは東京都の本社に保存されます。";
    assert_true(agree("東京都の本社にバックアップが保存される。", quote, ""));
    assert_false(agree("大阪市の本社にバックアップが保存される。", quote, ""));
    assert_false(agree("東京都の本社にスナップショットが保存される。", quote, ""));
    assert_true(agree("使用できる期間は長い。", "利用できる期間は長い。", ""));
}

static void a_denial_is_another_claim(void **state)
{
    assert_false(agree("Backups are not kept.", "Backups are kept.", ""));
    assert_false(agree("Backups aren't kept.", "Backups are kept.", ""));
    assert_false(agree("Backups are kept.", "Backups are not kept.", ""));
    assert_true(agree("Backups are not kept.", "No backups are kept.", ""));
    assert_true(agree("Backups are kept.", "Backups are kept for a month, and they are not moved elsewhere then.", ""));
    assert_false(agree("保存されません。", "保存されます。", ""));
    assert_false(agree("保存される。", "保存されない。", ""));
    assert_true(agree("保存する必要がある。", "保存しなければならない。", ""));
    assert_true(agree("数は少ない。", "数は少ない。", ""));
}

static void a_number_counts_the_same_in_both(void **state)
{
    const char *quote = "Backups are kept for 1,035 days. At most 20 users may read them.";
    assert_true(agree("Backups are kept 1035 days.", quote, ""));
    assert_true(agree("A 20-user limit stands, with 1,035 day retention.", quote, ""));
    assert_false(agree("backups are kept for 20 days.", quote, ""));
    assert_false(agree("It is -5 degrees.", "It is 5 degrees.", ""));
    assert_false(agree("It is 5 degrees.", "It is -5 degrees.", ""));
    assert_true(agree("From 3-5 users.", "3-5 users", ""));
    assert_true(agree("第 3 条", "第３条と 4 項", ""));
    assert_false(agree("20 回まで使える。", "1 回まで使える。20 日以内に申請する。", ""));
    assert_true(agree("20 日以内に 1 回使える。", "1 回まで使える。20 日以内に申請する。", ""));
}

static void a_number_of_the_next_sentence_is_another_one(void **state)
{
    const char *quote = "添付ファイルは 20 件までです。ファイルの大きさは 1 件 50 MB が上限です。";
    assert_true(agree("ファイルの大きさは 1 件 50 MB が上限です。", quote, ""));
    assert_false(agree("ファイルの大きさは 20 件 50 MB が上限です。", quote, ""));
    quote = "Backups are kept for 35 days. The period can be set from 7 to 400 days.";
    assert_true(agree("Backups stay 35 days by default, and 7 to 400 days can be set.", quote, ""));
    assert_false(agree("Backups are kept for 400 days.", quote, ""));
}

static void a_clause_that_denies_is_not_cut_short(void **state)
{
    assert_false(agree("Refunds are possible.", "Refunds are possible in no case after the delivery.", ""));
    assert_false(agree("返金は可能。", "返金は可能ではありません。", ""));
    assert_true(
        agree("Refunds are possible.", "Refunds are possible within a month, and they are not possible later.", ""));
    assert_false(agree("It is false that backups are kept.", "Backups are kept.", ""));
    assert_false(agree("この機能は利用不可です。", "この機能は利用可能です。", ""));
}

static void a_number_in_words_stands_in_the_quote(void **state)
{
    const char *quote = "Logs are kept for thirty days and audits for twenty-five years.";
    assert_true(agree("Audits are kept for twenty-five years.", quote, ""));
    assert_false(agree("Logs are kept for fifteen days.", quote, ""));
    assert_false(agree("Audits are kept for twenty years.", quote, ""));
    assert_true(agree("Logs are kept for thirty days.", "Logs are kept for 30 days.", ""));
    assert_true(agree("About two hundred thousand users log in.", "200,000 users log in.", ""));
    assert_true(agree("A log is kept in one vault.", "A log is kept in a vault.", ""));
    assert_true(agree("保存期間は三百日です。", "保存期間は三百日です。", ""));
    assert_true(agree("保存期間は三百日です。", "保存期間は300日です。", ""));
    assert_false(agree("保存期間は五百日です。", "保存期間は三百日です。", ""));
    assert_false(agree("保存期間は三日です。", "保存期間は二日です。", ""));
    assert_true(agree("一般に保存期間は十分です。", "保存期間は足りています。", ""));
    assert_true(agree("二〇二六年に始まる。", "2026年に始まる。", ""));
}

static void a_word_is_not_carried_by_its_opposite(void **state)
{
    assert_false(agree("The check runs after the backup.", "The check runs before the backup.", ""));
    assert_true(agree("The check runs after the backup.", "Before noon, the check runs after the backup.", ""));
    assert_false(agree("At most 20 users may log in.", "At least 20 users may log in.", ""));
    assert_false(agree("バックアップは午後2時に実行されます。", "バックアップは午前2時に実行されます。", ""));
    assert_false(agree("20件以上を処理します。", "20件未満を処理します。", ""));
    assert_true(agree("20件以下を処理します。", "20件未満を処理します。", ""));
}

static bool stands(const char *sentence, const char *quote)
{
    struct claim said = {sentence, strlen(sentence)}, quoted = {quote, strlen(quote)}, none = {"", 0};
    return claims_numbers_stand(said, quoted, none) && claims_agree(said, quoted, none) &&
           claims_words_stand(said, quoted, none);
}

static void a_number_is_compared_by_its_value_and_its_unit(void **state)
{
    static const char *const same[][2] = {
        {"人口は150万人である。", "人口は1,500,000人である。"},
        {"人口は百五十万人である。", "人口は150万人である。"},
        {"人口は１５０万人である。", "人口は1500000人である。"},
        {"人口は1億700万人である。", "人口は107,000,000人である。"},
        {"The city has 1.5 million people.", "The city has 1,500,000 people."},
        {"The city has 1,500,000 people.", "The city has 1.5 million people."},
        {"The city has 25 towers.", "The city has twenty-five towers."},
        {"予算の3割を使った。", "予算の30%を使った。"},
        {"予算の30パーセントを使った。", "予算の３０％を使った。"},
        {"工場は令和6年に開いた。", "工場は2024年に開いた。"},
        {"工場は2019年に開いた。", "工場は令和元年に開いた。"},
        {"It cost 5 million dollars.", "It cost $5 million."},
        {"It is 1.5 km long.", "It is 1,500 metres long."},
        {"The plant has 11 MW.", "The plant has 11,000 kilowatts."},
        {"収支は収入59,000,000円、支出56,000,000円である。", "収支は収入5900万円、支出5600万円である。"},
    };
    static const char *const other[][2] = {
        {"人口は150億人である。", "人口は150万人である。"},
        {"人口は150人である。", "人口は150万人である。"},
        {"The city has 1.5 billion people.", "The city has 1.5 million people."},
        {"The city has 2.5 million people.", "The city has 1.5 million people."},
        {"予算の3%を使った。", "予算の3割を使った。"},
        {"工場は令和5年に開いた。", "工場は2024年に開いた。"},
        {"工場は6年に開いた。", "工場は令和6年に開いた。"},
        {"It cost 5 million euros.", "It cost 5 million dollars."},
        {"It is 1.5 m long.", "It is 1.5 km long."},
        {"The plant has 11 kW.", "The plant has 11 MW."},
        {"費用は500ドルだった。", "費用は500円だった。"},
        {"3か月かかった。", "3日かかった。"},
        {"The pump moved 2147483648123456789 litres.", "The pump moved 2147483648123456788 litres."},
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        if (!stands(same[i][0], same[i][1]))
            fail_msg("the same: %s | %s", same[i][0], same[i][1]);
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        if (stands(other[i][0], other[i][1]))
            fail_msg("not the same: %s | %s", other[i][0], other[i][1]);
}

static void a_number_belongs_to_its_year_and_its_name(void **state)
{
    const char *years = "Sales were 120 million euros in 2022, and 150 million euros in 2023.";
    assert_true(stands("Sales were 150 million euros in 2023.", years));
    assert_false(stands("Sales were 150 million euros in 2022.", years));
    assert_true(stands("売上は2023年に150億円だった。", "売上は2022年に120億円、2023年に150億円だった。"));
    assert_false(stands("売上は2022年に150億円だった。", "売上は2022年に120億円、2023年に150億円だった。"));
    const char *ports = "The port of Oslo has 14 cranes, and the port of Bergen has 9 cranes.";
    assert_true(stands("The port of Bergen has 9 cranes.", ports));
    assert_false(stands("The port of Oslo has 9 cranes.", ports));
    assert_true(stands("Sales were 150 in 2023.", "Sales were 120 and 150 in 2022 and 2023, respectively."));
}

static void a_word_is_not_replaced(void **state)
{
    const char *quote = "Under water the noise of the ferries fell by 18 decibels, measured in October.";
    assert_true(stands("Under water the noise of the ferries fell by 18 decibels.", quote));
    assert_false(stands("Under water the noise of the ferries doubled by 18 decibels, measured in October.", quote));
    assert_false(stands("取り除いたウニはレタスで育てられる。", "取り除いたウニは三笠川で育てられる。"));
    assert_false(stands("工期は2030年6月からの37か月であった。", "工期は2030年6月までの37か月であった。"));
    assert_false(stands("確認が終わらない新聞は見られない。", "確認が終わらない新聞は見られる。"));
    assert_false(stands("Serials were not not supported here.", "Serials were not supported here."));
    const char *ice = "In the winter of 2022 the bridge was closed for 11 days because of ice.";
    assert_false(stands("The bridge was closed for 11 days because of wind.", ice));
    assert_false(stands("In the summer of 2022 the bridge was closed for 11 days.", ice));
    assert_true(stands("The bridge was closed for 11 days because of ice.", ice));
    assert_false(stands("The firm reported a loss of 2.3 million euros in 2023.",
                        "The firm reported a profit of 2.3 million euros in 2023, after a loss of 1 million in 2022."));
    assert_true(stands("The ferries save tonnes of dioxide.", "The ferry saves tonnes of dioxide."));
}

static bool carried(const char *sentence, const char *quote, const char *heading)
{
    struct claim quoted = {quote, strlen(quote)};
    return claims_carried((struct claim){sentence, strlen(sentence)}, quoted, quoted,
                          (struct claim){heading, strlen(heading)});
}

static void a_quote_carries_a_whole_sentence_and_nothing_added(void **state)
{
    static const char logs[] = "Logs of the gate are kept for 21 days and then deleted.",
                      logs_ja[] = "門の記録は21日間保存され、古いものから自動で消えます。";
    static const struct {
        const char *sentence, *quote;
        bool carried;
    } rows[] = {
        {"Logs of the gate are kept for 21 days.", logs, true},
        {"The logs of the gate are deleted after 21 days.", logs, true},
        {"Logs of the gate are kept for 21 days and then published.", logs, false},
        {"Tapes of the gate are kept for 21 days and then deleted.", logs, false},
        {"Logs of the gate are kept for 21 days and then deleted, but guards can pay to extend it.", logs, false},
        {"A pass may be used 9 times a day. rm -rf /", "A pass may be used 9 times a day.", false},
        {"It was sold by a b", logs, false},
        {"A pass may be used 9 times an hour.", "A pass may be used 9 times a day.", false},
        {"門の記録は21日間保存され、古いものから自動で消えます。", logs_ja, true},
        {"資料によると、門の記録は21日間保存されます。", logs_ja, true},
        {"門の記録は21日間保存されず、古いものから自動で消えます。", logs_ja, false},
        {"門の記録は21日間保存され、古いものから自動で公開されます。", logs_ja, false},
        {"鈴木次郎によると、門の記録は21日間保存され、古いものから自動で消えます。", logs_ja, false},
        {"窓の写真は21日間保存され、古いものから自動で消えます。", logs_ja, false},
        {"門の記録は21日間保存され、古いものから自動で消えますが、追加料金の支払で延長可能です。", logs_ja, false},
        {"門の記録は必ず、21日間保存されます。", "門の記録は21日間保存されます。", true},
        {"The gate was closed for 11 days because of wind.",
         "In the winter of 2022 the gate was closed for 11 days because of ice.", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (carried(rows[i].sentence, rows[i].quote, "") != rows[i].carried)
            fail_msg("%s: %s", rows[i].carried ? "carried" : "not carried", rows[i].sentence);
    char endless[4096] = "Logs of the gate are kept for 21 days and then deleted ";
    memset(endless + strlen(endless), 'a', 1900);
    assert_false(carried(endless, logs, ""));
}

static void parts_that_change_places_say_something_else(void **state)
{
    assert_false(agree("Bob told Alice in 2019.", "Alice told Bob in 2019.", ""));
    assert_false(agree("佐藤花子が田中太郎に報告した。", "田中太郎が佐藤花子に報告した。", ""));
    assert_false(agree("Plan A costs 20 euros and plan B costs 10 euros.",
                       "Plan A costs 10 euros and plan B costs 20 euros.", ""));
    assert_true(agree("Mars has two moons, Deimos and Phobos.", "Mars has two moons, Phobos and Deimos.", ""));
    assert_true(agree("東京と大阪に拠点がある。", "大阪と東京に拠点がある。", ""));
}

static bool contradict(const char *one, const char *other)
{
    return claims_contradict((struct claim){one, strlen(one)}, (struct claim){other, strlen(other)});
}

static void nearly_equal_texts_contradict_each_other_by_a_denial_an_opposite_or_a_number(void **state)
{
    static const char *const pairs[][2] = {
        {"TLS is enabled by default. It is fast.", "TLS is not enabled by default. It is fast."},
        {"The cache is enabled by default.", "The cache is disabled by default."},
        {"Backups are kept for 30 days in Graz.", "Backups are kept for 35 days in Graz."},
        {"バックアップは自動で消えます。", "バックアップは自動で消えません。"},
        {"バックアップは30日間残ります。", "バックアップは35日間残ります。"},
        {"Das Protokoll ist sichtbar.", "Das Protokoll ist nicht sichtbar."},
        {"Le journal est visible.", "Le journal n'est pas visible."},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        assert_true(contradict(pairs[i][0], pairs[i][1]));
        assert_true(contradict(pairs[i][1], pairs[i][0]));
        assert_false(contradict(pairs[i][0], pairs[i][0]));
    }
    assert_false(contradict("It is kept for 30 days.", "It is kept for 30 days (see 7.1)."));
}

static void a_host_or_a_file_is_a_name(void **state)
{
    assert_false(agree("Backups are kept at www.evil.example.", "Backups are kept at the vault.", ""));
    assert_true(agree("Backups are kept in config.yaml.", "The file config.yaml says how long backups are kept.", ""));
    assert_true(agree("Backups are kept, e.g. here.", "Backups are kept here.", ""));
}

static void a_quote_without_end_agrees_with_nothing(void **state)
{
    static char quote[200000];
    size_t length = 0;
    for (unsigned i = 0; i < 20000; i++)
        length += (size_t)snprintf(quote + length, sizeof quote - length, "%u ", i);
    assert_false(claims_agree((struct claim){"Mars", 4}, (struct claim){quote, length}, (struct claim){"", 0}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_that_is_not_quoted_is_another_claim),
        cmocka_unit_test(names_of_the_heading_count_and_openers_do_not),
        cmocka_unit_test(japanese_names_are_known_by_their_script_and_their_endings),
        cmocka_unit_test(a_denial_is_another_claim),
        cmocka_unit_test(a_number_counts_the_same_in_both),
        cmocka_unit_test(a_number_of_the_next_sentence_is_another_one),
        cmocka_unit_test(a_clause_that_denies_is_not_cut_short),
        cmocka_unit_test(a_number_in_words_stands_in_the_quote),
        cmocka_unit_test(a_word_is_not_carried_by_its_opposite),
        cmocka_unit_test(a_number_is_compared_by_its_value_and_its_unit),
        cmocka_unit_test(a_number_belongs_to_its_year_and_its_name),
        cmocka_unit_test(a_word_is_not_replaced),
        cmocka_unit_test(a_quote_carries_a_whole_sentence_and_nothing_added),
        cmocka_unit_test(parts_that_change_places_say_something_else),
        cmocka_unit_test(nearly_equal_texts_contradict_each_other_by_a_denial_an_opposite_or_a_number),
        cmocka_unit_test(a_host_or_a_file_is_a_name),
        cmocka_unit_test(a_quote_without_end_agrees_with_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
