/* Whether two bullets say the same: pairs of our own. */
#include "playbook/playbook_similar.h"

#include "playbook/playbook_value.h"

#include <stdio.h>

#include "unit.h"

enum kind { SAME, NEGATED, NUMBER, ORDER, NAME, OTHER };

struct pair {
    enum kind kind;
    bool merged; /* expected: of SAME alone */
    const char *one, *other;
};

static const struct pair pairs[] = {
    /* The same, in other words or letters. */
    {SAME, true, "Check the token before each call.", "check the token before each call"},
    {SAME, true, "Don't retry a request that was refused.", "Do not retry a request that was refused."},
    {SAME, true, "Never cache answers of a failed call.", "NEVER cache answers of a failed call!"},
    {SAME, true, "Please read the schema first.", "Read the schema first."},
    {SAME, true, "Use the field `user_id` of the answer.", "Use the field user_id of the answer."},
    {SAME, true, "Verify the signature of the webhook.", "Check the signature of the webhook."},
    {SAME, true, "You can't page backwards.", "You cannot page backwards."},
    {SAME, true, "Sort  by date,\nthen by name.", "Sort by date, then by name."},
    {SAME, true, "Close the cursor. Then commit.", "Close the cursor. Then commit"},
    {SAME, true, "Ｕse UTF-8 for all files.", "Use UTF-8 for all files."},
    {SAME, true, "Normalise the vectors.", "Normalize the vectors."},
    {SAME, true, "トークンを確認する。", "トークンを確認してください。"},
    {SAME, true, "単位を円に統一すること。", "単位を円に統一してください"},
    {SAME, true, "結果をキャッシュしない", "結果をキャッシュしない。"},
    {SAME, true, "ｻｰﾊﾞｰのログを確認する", "サーバーのログを確認する"},
    {SAME, true, "サーバーのログを確認する", "サーバのログを確認します。"},
    {SAME, true, "全てのページを取得する。", "すべてのページを取得します。"},
    {SAME, true, "APIの制限は必須である。", "APIの制限は必須です。"},
    {SAME, true, "再試行の前に待機すること", "再試行の前に待機しましょう"},
    {SAME, true, "１０件ずつ取得する", "10件ずつ取得する"},
    {SAME, false, "Wait a second before the next call.", "Pause for a second ahead of the next call."},
    {SAME, false, "Log every request.", "Every request is to be logged."},
    {SAME, false, "Split long texts at sentences.", "Long texts are cut at the ends of sentences."},
    {SAME, false, "Use a lock around the counter.", "Use the lock around the counter."},
    {SAME, false, "検索結果は日付順に並べる。", "検索の結果を日付の順に並べ替える。"},
    {SAME, false, "失敗したら再試行する。", "失敗した場合はもう一度試す。"},
    {SAME, false, "表の単位を先に見る。", "先に表の単位を見る。"},
    {SAME, false, "入力を検証してから保存する。", "保存の前に入力を検証する。"},
    /* One denies. */
    {NEGATED, false, "Retry the request after a timeout.", "Do not retry the request after a timeout."},
    {NEGATED, false, "Always check the token of the caller before you answer the request of a client.",
     "Always check the token of the caller before you do not answer the request of a client."},
    {NEGATED, false, "You can page backwards through the list.", "You can't page backwards through the list."},
    {NEGATED, false, "Cache the answers of the search.", "Never cache the answers of the search."},
    {NEGATED, false, "Send the header with the key.", "Send the header without the key."},
    {NEGATED, false, "The field is required in each request.", "The field is not required in each request."},
    {NEGATED, false, "The value of x must be valid.", "The value of x must be invalid."},
    {NEGATED, false, "Return if !valid is set in the form.", "Return if valid is set in the form."},
    {NEGATED, false, "Use recursion for trees.", "Avoid recursion for trees."},
    {NEGATED, false, "There are results on the last page.", "There are no results on the last page."},
    {NEGATED, false, "Do, not only say.", "Do not only say."},
    {NEGATED, false, "Stop, now retry the failed call.", "Stop now, retry the failed call."},
    {NEGATED, false, "結果をキャッシュする。", "結果をキャッシュしない。"},
    {NEGATED, false, "再試行してください。", "再試行しないでください。"},
    {NEGATED, false, "この項目は必須です。", "この項目は必須ではありません。"},
    {NEGATED, false, "外部のAPIの呼び出しを許可する。", "外部のAPIの呼び出しを不許可にする。"},
    {NEGATED, false, "値が有効なら保存する。", "値が無効なら保存する。"},
    {NEGATED, false, "確認しない。場合は中止する。", "確認しない場合は中止する。"},
    {NEGATED, false, "公開の資料を引用する。", "未公開の資料を引用する。"},
    {NEGATED, false, "ログに鍵を書くこと。", "ログに鍵を書くな。"},
    {NEGATED, false, "並列に呼び出せる。", "並列に呼び出せない。"},
    {NEGATED, false, "管理者は承認できる。", "管理者は承認できません。"},
    {NEGATED, false, "Errors must be shown to the user.", "Errors mustn't be shown to the user."},
    {NEGATED, false, "Either of both keys is accepted.", "Neither of both keys is accepted."},
    /* Another number. */
    {NUMBER, false, "Retry 3 times with a pause of a second between the calls.",
     "Retry 5 times with a pause of a second between the calls."},
    {NUMBER, false, "A page has 50 rows.", "A page has 500 rows."},
    {NUMBER, false, "Version 1.5 of the API is needed.", "Version 15 of the API is needed."},
    {NUMBER, false, "The offset is -5.", "The offset is 5."},
    {NUMBER, false, "Wait two seconds before the call.", "Wait ten seconds before the call."},
    {NUMBER, false, "The rate is 10%.", "The rate is 10."},
    {NUMBER, false, "The area is 10 m².", "The area is 10 m2."},
    {NUMBER, false, "Scale by 10² before adding.", "Scale by 102 before adding."},
    {NUMBER, false, "Add ½ of the fee.", "Add 1/2 of the fee, twice."},
    {NUMBER, false, "Status 404 means that it is missing.", "Status 403 means that it is missing."},
    {NUMBER, false, "Use chapter Ⅳ of the manual.", "Use chapter Ⅵ of the manual."},
    {NUMBER, false, "The limit is 1,000 calls.", "The limit is 1,0000 calls."},
    {NUMBER, false, "Run it once a day.", "Run it twice a day."},
    {NUMBER, false, "Compute 5! for the count.", "Compute 5 for the count."},
    {NUMBER, false, "三回まで再試行する。", "五回まで再試行する。"},
    {NUMBER, false, "10件ずつ取得する。", "100件ずつ取得する。"},
    {NUMBER, false, "消費税は8%である。", "消費税は10%である。"},
    {NUMBER, false, "期限は3日である。", "期限は3か月である。"},
    {NUMBER, false, "①の手順に従う。", "②の手順に従う。"},
    {NUMBER, false, "2024年度の値を使う。", "2025年度の値を使う。"},
    {NUMBER, false, "単位は百万円である。", "単位は千円である。"},
    {NUMBER, false, "上位一件を返す。", "上位二件を返す。"},
    /* Before or after, more or less. */
    {ORDER, false, "Check the token before the call.", "Check the token after the call."},
    {ORDER, false, "Convert pounds to kilograms.", "Convert kilograms to pounds."},
    {ORDER, false, "Sort the rows in ascending order.", "Sort the rows in descending order."},
    {ORDER, false, "Keep at least five copies of the log.", "Keep at most five copies of the log."},
    {ORDER, false, "Commit first, close last.", "Close first, commit last."},
    {ORDER, false, "Read from the cache, write to the store.", "Read from the store, write to the cache."},
    {ORDER, false, "Use values over the limit.", "Use values under the limit."},
    {ORDER, false, "Ask until the answer comes.", "Ask since the answer comes."},
    {ORDER, false, "Is the key valid", "The key is valid"},
    {ORDER, false, "x > 5 holds for all rows.", "x < 5 holds for all rows."},
    {ORDER, false, "Use a == b in the filter.", "Use a != b in the filter."},
    {ORDER, false, "Let a be b.", "Let b be a."},
    {ORDER, false, "保存の前に検証する。", "保存の後に検証する。"},
    {ORDER, false, "5月まで有効である。", "5月から有効である。"},
    {ORDER, false, "昇順に並べる。", "降順に並べる。"},
    {ORDER, false, "10以上なら通知する。", "10以下なら通知する。"},
    {ORDER, false, "AをBに変換する。", "BをAに変換する。"},
    {ORDER, false, "親から子へ渡す。", "子から親へ渡す。"},
    {ORDER, false, "最初の行を見出しとする。", "最後の行を見出しとする。"},
    {ORDER, false, "上限を増やす。", "上限を減らす。"},
    {ORDER, false, "Sort by date and, if equal, by name.", "Sort by name and, if equal, by date."},
    /* Another name. */
    {NAME, false, "Ask the calendar of Alice for free slots in the week.",
     "Ask the calendar of Bob for free slots in the week."},
    {NAME, false, "Use GET for the list of users.", "Use POST for the list of users."},
    {NAME, false, "Read the table users.", "Read the table orders."},
    {NAME, false, "Call the endpoint user for the list.", "Call the endpoint users for the list."},
    {NAME, false, "Set Content-Type in the request.", "Set Content-Length in the request."},
    {NAME, false, "Send it to US customers.", "Send it to us customers."},
    {NAME, false, "The file config.yaml has the key.", "The file config.json has the key."},
    {NAME, false, "Call getUser with the id.", "Call getuser with the id."},
    {NAME, false, "Return \"null\" for none.", "Return null for none."},
    {NAME, false, "Pass *args to the function.", "Pass args to the function."},
    {NAME, false, "Pick option A for Linux.", "Pick option a for Linux."},
    {NAME, false, "Use f(x) for the score.", "Use f for the score."},
    {NAME, false, "東京支社の表を使う。", "大阪支社の表を使う。"},
    {NAME, false, "ユーザのAPIを呼ぶ。", "グループのAPIを呼ぶ。"},
    {NAME, false, "売上の列を使う。", "利益の列を使う。"},
    {NAME, false, "ハハの予定を見る。", "パパの予定を見る。"},
    {NAME, false, "田中さんに承認を求める。", "中田さんに承認を求める。"},
    {NAME, false, "C++のコードを直す。", "Cのコードを直す。"},
    {NAME, false, "Use C# for the add-in.", "Use C for the add-in."},
    {NAME, false, "Call verify before the commit.", "Call check before the commit."},
    {NAME, false, "Set the field colour of the box.", "Set the field color of the box."},
    {NAME, false, "Send it to NO in the list of countries.", "Send it to no in the list of countries."},
    {NUMBER, false, "The count of orders is n!", "The count of orders is n."},
    {NUMBER, false, "Write 2ª in the form.", "Write 2a in the form."},
    {OTHER, false, "ここで、はきものを脱ぐ。", "ここでは、きものを脱ぐ。"},
    {OTHER, false, "これは確認する。", "これは確認です。"},
    {OTHER, false, "停止するようにする。", "停止する。"},
    {OTHER, false, "You must lock it.", "You should lock it."},
    {NAME, false, "Filter with a.b of the row.", "Filter with ab of the row."},
    /* Something else. */
    {OTHER, false, "Read the organ of the donor.", "Read the organization of the donor."},
    {OTHER, false, "The caller is blocking.", "The caller is blocked."},
    {OTHER, false, "Users may delete files.", "Users must delete files."},
    {OTHER, false, "All rows are checked.", "Some rows are checked."},
    {OTHER, false, "Is it checked?", "Is it checked"},
    {OTHER, false, "部分的に一致する。", "完全に一致する。"},
    {OTHER, false, "確認が必要である。", "確認が十分である。"},
    {OTHER, false, "", "x"},
};

static struct arena arena;

static int similar_test_begin(void **state)
{
    arena_init(&arena, NULL, 0, 64 << 20);
    return 0;
}

static int similar_test_end(void **state)
{
    arena_fini(&arena);
    return 0;
}

static struct playbook_similarity compare(const char *one, const char *other)
{
    struct playbook_similarity similarity, back;
    playbook_compare(&arena, one, other, &similarity);
    playbook_compare(&arena, other, one, &back);
    assert_true(similarity.difference == back.difference);
    assert_true(similarity.similarity >= 0 && similarity.similarity <= 1.000001);
    assert_true(similarity.similarity - back.similarity < 1e-6 && back.similarity - similarity.similarity < 1e-6);
    assert_int_equal(similarity.reason[0] == '\0', similarity.difference == PLAYBOOK_SAME);
    return similarity;
}

static void no_pair_with_another_meaning_is_the_same(void **state)
{
    int wrong = 0;
    for (size_t i = 0; i < COUNT(pairs); i++) {
        const struct pair *pair = &pairs[i];
        struct playbook_similarity similarity = compare(pair->one, pair->other);
        if (pair->kind == SAME || similarity.difference != PLAYBOOK_SAME)
            continue;
        wrong++;
        print_error("'%s' and '%s' are merged\n", pair->one, pair->other);
    }
    assert_true(COUNT(pairs) >= 100);
    assert_int_equal(wrong, 0);
}

static void pairs_that_differ_in_form_alone_are_the_same(void **state)
{
    int same = 0, merged = 0, wrong = 0, near = 0;
    for (size_t i = 0; i < COUNT(pairs); i++) {
        const struct pair *pair = &pairs[i];
        struct playbook_similarity similarity = compare(pair->one, pair->other);
        near += pair->kind != SAME && similarity.similarity >= PLAYBOOK_SIMILAR_ENOUGH;
        if (pair->kind != SAME)
            continue;
        same++;
        merged += similarity.difference == PLAYBOOK_SAME;
        if ((similarity.difference == PLAYBOOK_SAME) == pair->merged)
            continue;
        wrong++;
        print_error("'%s' and '%s': %.2f %s\n", pair->one, pair->other, similarity.similarity, similarity.reason);
    }
    print_message("%zu pairs: of %d with the same meaning %d are merged; of %d others %d go to a person\n",
                  COUNT(pairs), same, merged, (int)COUNT(pairs) - same, near);
    assert_int_equal(wrong, 0);
}

static void a_long_text_with_one_other_word_is_similar_and_not_the_same(void **state)
{
    const char *begin =
        "When the calendar of a customer is asked for free slots, the service answers with times in "
        "UTC, so convert them to the zone of the customer, show the date with the day of the week, and ";
    static const struct {
        const char *one, *other, *reason;
        enum playbook_difference difference;
    } cases[] = {
        {"keep 3 slots", "keep 4 slots", "a number differs: one has '3', the other has '4'", PLAYBOOK_OTHER_NUMBER},
        {"do show busy ones", "do not show busy ones",
         "one denies what the other says: one has nothing, the other has "
         "'not'",
         PLAYBOOK_OTHER_NEGATION},
        {"ask before booking", "ask after booking", "the order or the direction differs: one has 'before'",
         PLAYBOOK_OTHER_ORDER},
        {"write to Alice", "write to Bob", "a name differs: one has 'Alice'", PLAYBOOK_OTHER_NAME},
        {"keep free slots", "keep open slots", "words differ: one has 'free', the other has 'open'",
         PLAYBOOK_OTHER_WORDS},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char *one = arena_printf(&arena, "%s%s.", begin, cases[i].one);
        char *other = arena_printf(&arena, "%s%s.", begin, cases[i].other);
        struct playbook_similarity similarity = compare(one, other);
        assert_true(similarity.similarity >= PLAYBOOK_SIMILAR_ENOUGH);
        assert_int_equal(similarity.difference, cases[i].difference);
        playbook_compare(&arena, one, other, &similarity);
        assert_contains(similarity.reason, cases[i].reason);
    }
}

static void unrelated_texts_are_not_similar(void **state)
{
    assert_true(compare("Read the table first.", "Never cache a failure of the search.").similarity < 0.3);
    assert_true(compare("単位を確かめる。", "期限を延ばす。").similarity < 0.3);
    assert_true(compare("", "").difference == PLAYBOOK_SAME);
}

static void a_long_reason_is_cut_at_a_character(void **state)
{
    char one[8000], other[8000];
    one[0] = other[0] = '\0';
    for (int i = 0; i < 300; i++) {
        strcat(one, "前");
        strcat(other, "後x");
    }
    struct playbook_similarity similarity = compare(one, other);
    assert_true(strlen(similarity.reason) < PLAYBOOK_WHY_MAX - 1);
    assert_contains(similarity.reason, "…");
}

/* ---- value ------------------------------------------------------------------------------------------------------- */

static Renga__V1__Bullet bullet_of(const char *id, int helpful, int harmful, int64_t updated_ms)
{
    Renga__V1__Bullet bullet = RENGA__V1__BULLET__INIT;
    bullet.id = (char *)(uintptr_t)id;
    bullet.helpful = helpful;
    bullet.harmful = harmful;
    bullet.updated_ms = updated_ms;
    return bullet;
}

static void harmful_bullets_leave_first_and_proven_ones_last(void **state)
{
    const int64_t day = INT64_C(86400000), now = 1000 * day;
    Renga__V1__Bullet proven = bullet_of("proven", 20, 1, day), harmful = bullet_of("harmful", 1, 9, now),
                      fresh = bullet_of("fresh", 0, 0, now), old = bullet_of("old", 0, 0, day),
                      older = bullet_of("a-older", 0, 0, day), used = bullet_of("used", 2, 0, day);
    Renga__V1__Bullet *bullets[] = {&proven, &fresh, &harmful, &old, &used, &older};
    playbook_sort_by_value(bullets, 6, now);
    static const char *const order[] = {"harmful", "a-older", "old", "fresh", "used", "proven"};
    for (int i = 0; i < 6; i++)
        assert_string_equal(bullets[i]->id, order[i]);
    playbook_sort_by_value(bullets, 0, now);
}

static void the_weight_of_a_search_is_never_zero(void **state)
{
    Renga__V1__Bullet worst = bullet_of("w", 0, 1000000000, 0), best = bullet_of("b", 1000000000, 0, 0),
                      none = bullet_of("n", 0, 0, 0);
    assert_true(playbook_search_weight(&worst) > 0 && playbook_search_weight(&worst) < 1e-6);
    assert_true(playbook_search_weight(&best) > 1.2 && playbook_search_weight(&best) <= 1.25);
    assert_true(playbook_search_weight(&none) > 0.999 && playbook_search_weight(&none) < 1.001);
}

#define SIMILAR_CASE(body) cmocka_unit_test_setup_teardown(body, similar_test_begin, similar_test_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SIMILAR_CASE(no_pair_with_another_meaning_is_the_same),
        SIMILAR_CASE(pairs_that_differ_in_form_alone_are_the_same),
        SIMILAR_CASE(a_long_text_with_one_other_word_is_similar_and_not_the_same),
        SIMILAR_CASE(unrelated_texts_are_not_similar),
        SIMILAR_CASE(a_long_reason_is_cut_at_a_character),
        SIMILAR_CASE(harmful_bullets_leave_first_and_proven_ones_last),
        SIMILAR_CASE(the_weight_of_a_search_is_never_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
