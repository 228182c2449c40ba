#include "words/sentences.h"

#include <stdio.h>

#include "unit.h"

/* The sentences, one in each pair of brackets. */
static const char *split(const char *text)
{
    static char found[8192];
    struct sentence_reader reader;
    struct span span;
    size_t used = 0;
    found[0] = '\0';
    sentences_begin(&reader, text, strlen(text));
    while (sentences_next(&reader, &span) && used < 6000)
        used += (size_t)snprintf(found + used, sizeof(found) - used, "<%.*s>", (int)(span.end - span.begin),
                                 text + span.begin);
    return found;
}

static void sentences_end_where_they_do(void **state)
{
    static const struct {
        const char *text, *sentences;
    } cases[] = {
        {"", ""},
        {" \n\n", ""},
        {"One. Two! Three?", "<One.><Two!><Three?>"},
        {"Dr. Smith met Mr. Jones. He left.", "<Dr. Smith met Mr. Jones.><He left.>"},
        {"Use e.g. Redis vs. SQLite. It works.", "<Use e.g. Redis vs. SQLite.><It works.>"},
        {"Die Technik bzw. Pneumolyse, z. B. mit Kreuz, ggf. Fehler usw. Die Ziele.",
         "<Die Technik bzw. Pneumolyse, z. B. mit Kreuz, ggf. Fehler usw.><Die Ziele.>"},
        {"Vgl. Artikel 3, ca. 20 usw. Einzelheiten.", "<Vgl. Artikel 3, ca. 20 usw. Einzelheiten.>"},
        {"Il vit en 52 av. J.-C. à Rome, p. ex. Ostie. Il part.",
         "<Il vit en 52 av. J.-C. à Rome, p. ex. Ostie.><Il part.>"},
        {"La Sra. Ruiz y el Sr. Paz de EE. UU. en la pág. 3. Todos.",
         "<La Sra. Ruiz y el Sr. Paz de EE. UU. en la pág. 3.><Todos.>"},
        {"The default is no. It can be changed.", "<The default is no.><It can be changed.>"},
        {"See no. 5 and No. 7 of it.", "<See no. 5 and No. 7 of it.>"},
        {"Set it in the env. The server reads it.", "<Set it in the env.><The server reads it.>"},
        {"She is his ex. He left. It was built ca. 1900.", "<She is his ex.><He left.><It was built ca. 1900.>"},
        {"It holds 20 hl. This is enough. Wait 30 sec. Then go on.",
         "<It holds 20 hl.><This is enough.><Wait 30 sec.><Then go on.>"},
        {"It costs env. 30 euros, p. ex. Paris.", "<It costs env. 30 euros, p. ex. Paris.>"},
        {"She works for Acme Inc. La Jolla is near. Use Foo Co. Los Angeles.",
         "<She works for Acme Inc. La Jolla is near.><Use Foo Co. Los Angeles.>"},
        {"He said \"Stop.\" They did.", "<He said \"Stop.\"><They did.>"},
        {"Open config.yaml. `renga` reads it.", "<Open config.yaml.><`renga` reads it.>"},
        {"It ended in 1999. 2000 began.", "<It ended in 1999.><2000 began.>"},
        {"Wait... What is it?", "<Wait...><What is it?>"},
        {"Am 27. August 1820 kam er. Er blieb.", "<Am 27. August 1820 kam er.><Er blieb.>"},
        {"(* 9. März 1861) im 19. Jahrhundert.", "<(* 9. März 1861) im 19. Jahrhundert.>"},
        {"Es sind 12. Mainz hat 127. August kam.", "<Es sind 12.><Mainz hat 127.><August kam.>"},
        {"一つ。二つ！三つ？", "<一つ。><二つ！><三つ？>"},
        {"彼は「はい。そうです。」と言った。次。", "<彼は「はい。そうです。」と言った。><次。>"},
        {"「はい。」彼は答えた。", "<「はい。」><彼は答えた。>"},
        {"「はい。」と彼は答えた。", "<「はい。」と彼は答えた。>"},
        {"（注。）本文。", "<（注。）><本文。>"},
        {"「閉じない。次です。", "<「閉じない。><次です。>"},
        {"OK?次へ。config.yamlを開く。", "<OK?><次へ。><config.yamlを開く。>"},
        {"再起動します。Then log in. 完了。", "<再起動します。><Then log in.><完了。>"},
        {"これは父の\n家です。", "<これは父の\n家です。>"},
        {"# Title\nText goes\non. More.", "<Title><Text goes\non.><More.>"},
        {"- one item\n- two items\n  go on\n* three", "<one item><two items\n  go on><three>"},
        {"1. 保存する\n2. 閉じる", "<1. 保存する><2. 閉じる>"},
        {"1. One 2. Two 3. Three", "<1. One><2. Two><3. Three>"},
        {"• One • Two", "<• One><• Two>"},
        {"• 1. One\n• 2. Two", "<• 1. One><• 2. Two>"},
        {"• • • Three", "<•><•><• Three>"},
        {"> quoted line\n> another\n\nplain", "<quoted line><another><plain>"},
        {"| a | b |\n|---|---|\n| 1 | 2 |", "<| a | b |><|---|---|><| 1 | 2 |>"},
        {"Run:\n```\nmake all\nmake test\n```\nDone.", "<Run:><make all><make test><Done.>"},
        {"a paragraph\n\nanother", "<a paragraph><another>"},
        {"　全角の空白。　次。", "<全角の空白。><次。>"},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_string_equal(split(cases[i].text), cases[i].sentences);
}

static void what_never_ends_is_cut(void **state)
{
    static char text[100000];
    struct sentence_reader reader;
    struct span span;
    static const char *const fills[] = {"語", "「", "a ", "aaaaa", "\xFF", ". ", "1. ", "\xF0\x9F\x98\x80", "（"};
    for (size_t i = 0; i < COUNT(fills); i++) {
        size_t size = strlen(fills[i]), length = sizeof(text) / size * size, last = 0, count = 0;
        for (size_t at = 0; at < length; at += size)
            memcpy(text + at, fills[i], size);
        sentences_begin(&reader, text, length);
        while (sentences_next(&reader, &span)) {
            assert_true(span.begin >= last && span.end > span.begin && span.end - span.begin <= SENTENCE_MAX);
            assert_true(size < 2 || (text[span.begin] & 0xC0) != 0x80);
            last = span.end;
            count++;
        }
        assert_true(count >= 1);
        assert_true(length - last <= SENTENCE_MAX);
    }
}

/* Each was read by a call of its own once, which 50,000 of them ended the process with. */
static void any_number_of_bullets_may_stand_in_a_row(void **state)
{
    static char text[4 * 200000 + 1];
    struct sentence_reader reader;
    struct span span;
    size_t count = 0;
    for (size_t at = 0; at < sizeof text - 1; at += 4)
        memcpy(text + at, "• ", 4);
    sentences_begin(&reader, text, sizeof text - 1);
    while (sentences_next(&reader, &span))
        count++;
    assert_int_equal(count, 200000);
}

static void whole_sentences_end_before_a_bound(void **state)
{
    const char *text = "One is here. Two is there. Three is cut";
    assert_int_equal(sentences_whole(text, strlen(text), strlen(text)), strlen("One is here. Two is there."));
    assert_int_equal(sentences_whole(text, strlen(text), strlen("One is here. Two is there.") - 1),
                     strlen("One is here."));
    assert_int_equal(sentences_whole(text, strlen(text), 5), 0);
    text = "月は遠い。火星は赤い。";
    assert_int_equal(sentences_whole(text, strlen(text), strlen(text)), strlen(text));
    assert_int_equal(sentences_whole("", 0, 0), 0);
}

static void whole_sentences_are_appended_as_far_as_they_fit(void **state)
{
    struct buffer out;
    buffer_init(&out, 1000);
    sentences_append(&out, "月は遠い。星も遠い。", 5);
    assert_string_equal(buffer_text(&out), "月は遠い。");
    sentences_append(&out, "太陽は近い。", 11);
    assert_string_equal(buffer_text(&out), "月は遠い。");
    sentences_append(&out, "太陽は近い。空は青い。", 12);
    assert_string_equal(buffer_text(&out), "月は遠い。\n太陽は近い。");
    sentences_append(&out, "", 100);
    sentences_append(&out, "no end", 100);
    assert_string_equal(buffer_text(&out), "月は遠い。\n太陽は近い。\nno end");
    buffer_fini(&out);
}

static void the_number_of_a_list_item_is_told_from_other_numbers(void **state)
{
    static const struct {
        const char *text, *rest;
        uint32_t number;
    } cases[] = {
        {"3. Press Enter.", "Press Enter.", 3},
        {"12) 保存を押します。", "保存を押します。", 12},
        {"3.5 GB are needed.", "3.5 GB are needed.", 0},
        {"2026. It was so.", "2026. It was so.", 0},
        {"a. Press Enter.", "a. Press Enter.", 0},
        {"Press 3. Enter", "Press 3. Enter", 0},
        {"", "", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t behind = 99;
        assert_int_equal(sentences_item_number(cases[i].text, strlen(cases[i].text), &behind), cases[i].number);
        assert_string_equal(cases[i].text + behind, cases[i].rest);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sentences_end_where_they_do),
        cmocka_unit_test(what_never_ends_is_cut),
        cmocka_unit_test(any_number_of_bullets_may_stand_in_a_row),
        cmocka_unit_test(whole_sentences_end_before_a_bound),
        cmocka_unit_test(whole_sentences_are_appended_as_far_as_they_fit),
        cmocka_unit_test(the_number_of_a_list_item_is_told_from_other_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
