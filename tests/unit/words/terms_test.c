#include "words/words.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>

#include "unit.h"

/* Every term as "kind:text", stop words in parentheses. */
static const char *terms_of(const char *text, size_t length)
{
    static const char *const kinds[] = {"w", "n", "i", "p", "c", "k"};
    static char found[65536];
    struct term_reader reader;
    struct term term;
    size_t used = 0;
    found[0] = '\0';
    terms_begin(&reader, text, length);
    while (terms_next(&reader, &term) && used + 600 < sizeof(found)) {
        assert_int_equal(strlen(term.text), term.length);
        assert_true(term.begin < term.end && term.end <= length);
        used += (size_t)snprintf(found + used, sizeof(found) - used, term.stop_word ? "%s(%s:%s)" : "%s%s:%s",
                                 used > 0 ? " " : "", kinds[term.kind], term.text);
    }
    return found;
}

static void expect_terms(const char *text, const char *wanted)
{
    assert_string_equal(terms_of(text, strlen(text)), wanted);
}

static void english_words_are_folded_and_stemmed(void **state)
{
    expect_terms("Installing the Servers", "w:instal (w:the) w:server");
    expect_terms("ＩＮＳＴＡＬＬＳ ﬁles", "w:instal w:file");
    expect_terms("user's users’ don't", "w:user w:user (w:don't)");
    expect_terms("Café CAFÉ Cafe\xCC\x81", "w:cafe w:cafe w:cafe");
    expect_terms("", "");
    expect_terms(" \t…!?「」", "");
}

static void identifiers_are_kept_whole_and_in_parts(void **state)
{
    expect_terms("E-1024", "i:e-1024 (w:e) n:1024");
    expect_terms("config.yaml.", "i:config.yaml w:config w:yaml");
    expect_terms("v2.1", "i:v2.1 (w:v) n:2 n:1");
    expect_terms("max_retries=5GB", "i:max_retries w:max w:retri i:5gb n:5 w:gb");
    expect_terms("a@b.co", "i:a@b.co (w:a) (w:b) w:co");
    expect_terms("1,000 12,34 １，０００，０００", "n:1000 i:12,34 n:12 n:34 n:1000000");
    expect_terms("/etc/renga", "w:etc w:renga");
}

static void japanese_is_read_in_pairs(void **state)
{
    expect_terms("設定方法", "p:設定 p:定方 p:方法");
    expect_terms("設定を", "p:設定 (p:定を)");
    expect_terms("これは", "(p:これ) (p:れは)");
    expect_terms("鍵を変える", "c:鍵 (p:鍵を) (p:を変) c:変 p:変え (p:える)");
    expect_terms("鍵", "c:鍵");
    expect_terms("は", "(c:は)");
    expect_terms("Redisの設定", "w:redi (p:の設) p:設定");
    expect_terms("時々", "p:時時");
}

static void katakana_words_are_also_whole(void **state)
{
    expect_terms("サーバー", "k:サーバ p:サー p:ーバ");
    expect_terms("ｻｰﾊﾞ", "k:サーバ p:サー p:ーバ");
    expect_terms("キー", "p:キー");
    expect_terms("ログ・ファイル", "p:ログ k:フアイル p:フア p:アイ p:イル");
    expect_terms("らーめん", "(p:らー) (p:ーめ) (p:めん)");
}

static void spans_are_bytes_of_the_original(void **state)
{
    static const char text[] = "ｻｰﾊﾞの㌔ Ｅ－1024";
    struct term_reader reader;
    struct term term;
    terms_begin(&reader, text, strlen(text));
    assert_true(terms_next(&reader, &term));
    assert_string_equal(term.text, "サーバ");
    assert_int_equal(term.begin, 0);
    assert_int_equal(term.end, 12); /* ﾞ is a character of its own there */
    while (terms_next(&reader, &term) && term.kind != TERM_IDENTIFIER)
        assert_true(term.end <= 18);
    assert_string_equal(term.text, "e-1024");
    assert_int_equal(term.begin, 19);
    assert_int_equal(term.end, 29);
}

static void long_words_are_cut_and_no_pair_is_lost(void **state)
{
    char text[3 * 1000 + 1];
    for (int i = 0; i < 1000; i++)
        memcpy(text + 3 * i, "語", 3);
    struct term_reader reader;
    struct term term;
    size_t pairs = 0, last = 0;
    terms_begin(&reader, text, 3000);
    for (; terms_next(&reader, &term); pairs++) {
        assert_int_equal(term.kind, TERM_PAIR);
        assert_int_equal(term.begin, last);
        last += 3;
    }
    assert_int_equal(pairs, 999);
    memset(text, 'x', 1000);
    terms_begin(&reader, text, 1000);
    for (pairs = 0; terms_next(&reader, &term); pairs++)
        assert_true(term.length <= TERM_CHARACTERS_MAX);
    assert_int_equal(pairs, 8);
}

static void broken_bytes_are_passed_over(void **state)
{
    expect_terms("a1\xFF\xE8\xAA server\x80", "i:a1 (w:a) n:1 w:server");
    assert_string_equal(terms_of("ab\0cd", 5), "w:ab w:cd");
}

static void *read_many(void *unused)
{
    for (int i = 0; i < 200; i++) {
        struct term_reader reader;
        struct term term;
        terms_begin(&reader, "connections サーバー", 24);
        if (!terms_next(&reader, &term) || strcmp(term.text, "connect") != 0)
            return &errno;
    }
    return NULL;
}

static void threads_read_at_once(void **state)
{
    pthread_t threads[4];
    for (size_t i = 0; i < COUNT(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_many, NULL), 0);
    for (size_t i = 0; i < COUNT(threads); i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
}

static void the_language_is_that_of_the_script(void **state)
{
    static const struct {
        const char *text, *language;
    } cases[] = {
        {"設定方法は？", "ja"},
        {"How do I install it?", "en"},
        {"Redisの設定方法は？", "ja"},
        {"Kubernetes Deployment ConfigMapの設定", "ja"},
        {"What does 連歌 mean?", "en"},
        {"What does ありがとう mean?", "en"},
        {"「The Beatles are the best」の曲は？", "ja"},
        {"Where does the manual say 「設定ファイルは自動的に保存されます」?", "en"},
        {"「設定ファイル」", "ja"},
        {"\"unclosed 設定", "ja"},
        {"", "en"},
        {"E-1024", "en"},
        {"AとBは？", "ja"},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_string_equal(words_language(cases[i].text, strlen(cases[i].text)), cases[i].language);
}

static void the_normal_form_compares(void **state)
{
    static const struct {
        const char *text, *normal;
    } cases[] = {
        {"  Ｈｅｌｌｏ\n\t　World  ", "hello world"},
        {"ｻｰﾊﾞｰ ガ", "サーバー ガ"},
        {"it’s ‐ – −", "it's - - -"},
        {"か\xE3\x82\x99", "が"},
        {"①㌔", "1キロ"},
        {"so\xC2\xAD"
         "ft",
         "soft"},
        {"", ""},
        {"Straße", "strasse"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct buffer out;
        buffer_init(&out, 1000);
        words_normalize(&out, cases[i].text, strlen(cases[i].text));
        assert_string_equal(buffer_text(&out), cases[i].normal);
        buffer_fini(&out);
    }
}

static void function_words_are_found(void **state)
{
    static const char *const some[] = {"a", "the", "yours", "which", "aren't", "through", "to", "without"};
    for (size_t i = 0; i < COUNT(some); i++)
        assert_true(words_function_word(some[i], strlen(some[i])));
    assert_false(words_function_word("server", 6));
    assert_false(words_function_word("notwithstanding", 15));
}

static void what_overlaps_or_crosses_words_counts_for_less(void **state)
{
    static const struct {
        const char *text;
        double shares[8];
    } cases[] = {
        {"port 8080", {1, 1}},
        {"config.yaml", {0.7, 1, 1}},
        {"設定画面", {0.6, 0.6, 0.6}},
        {"消える前", {0.5, 0.3, 0.3, 0.2, 0.5}}, /* 消, 消え, える, る前, 前 */
        {"サーバの", {0.7, 0.3, 0.3, 0.3}},
        {"\xF0\xA0\xAE\xB7野", {0.6}},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct term_reader reader;
        struct term term;
        size_t katakana_end = 0, at = 0;
        terms_begin(&reader, cases[i].text, strlen(cases[i].text));
        while (terms_next(&reader, &term))
            assert_float_equal(term_share(&term, &katakana_end), cases[i].shares[at++], 1e-9);
        assert_true(at > 0 && cases[i].shares[at] == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(english_words_are_folded_and_stemmed),
        cmocka_unit_test(identifiers_are_kept_whole_and_in_parts),
        cmocka_unit_test(japanese_is_read_in_pairs),
        cmocka_unit_test(katakana_words_are_also_whole),
        cmocka_unit_test(spans_are_bytes_of_the_original),
        cmocka_unit_test(long_words_are_cut_and_no_pair_is_lost),
        cmocka_unit_test(broken_bytes_are_passed_over),
        cmocka_unit_test(threads_read_at_once),
        cmocka_unit_test(the_language_is_that_of_the_script),
        cmocka_unit_test(the_normal_form_compares),
        cmocka_unit_test(function_words_are_found),
        cmocka_unit_test(what_overlaps_or_crosses_words_counts_for_less),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
