#include "words/asked.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* NULL for a focus or a subject that does not matter. */
struct asked_row {
    const char *question;
    enum asked_type type;
    const char *focus, *subject;
};

static bool asked_span_is(const char *question, struct span span, const char *text)
{
    return strlen(text) == span.end - span.begin && memcmp(question + span.begin, text, strlen(text)) == 0;
}

static void assert_rows(const struct asked_row *rows, size_t count)
{
    size_t wrong = 0;
    for (size_t i = 0; i < count; i++) {
        struct asked asked;
        asked_read(rows[i].question, strlen(rows[i].question), &asked);
        if (asked.type != rows[i].type) {
            wrong++;
            print_error("%s: %s, not %s\n", rows[i].question, asked_type_name(asked.type),
                        asked_type_name(rows[i].type));
        }
        if (rows[i].focus && !asked_span_is(rows[i].question, asked.focus, rows[i].focus)) {
            wrong++;
            print_error("%s: focus '%.*s'\n", rows[i].question, (int)(asked.focus.end - asked.focus.begin),
                        rows[i].question + asked.focus.begin);
        }
        if (rows[i].subject && !asked_span_is(rows[i].question, asked.subject, rows[i].subject)) {
            wrong++;
            print_error("%s: subject '%.*s'\n", rows[i].question, (int)(asked.subject.end - asked.subject.begin),
                        rows[i].question + asked.subject.begin);
        }
    }
    assert_int_equal(wrong, 0);
}

static void japanese_questions_are_read(void **state)
{
    static const struct asked_row rows[] = {
        {"オランダの首都はどこですか", ASKED_PLACE, "首都", "オランダ"},
        {"日本の面積はどれくらいですか", ASKED_QUANTITY, "面積", "日本"},
        {"何気団が日本の冬に影響しますか", ASKED_NAME, "気団", "日本の冬"},
        {"バックアップは何日で消えますか", ASKED_DURATION, "", "バックアップ"},
        {"バックアップはどれくらい保存されますか", ASKED_DURATION, "", "バックアップ"},
        {"パスワードの変更方法を教えてください", ASKED_HOW, "変更方法", "パスワード"},
        {"パスワードを変更するにはどうすればいいですか", ASKED_HOW, NULL, NULL},
        {"東京タワーとは何ですか", ASKED_DEFINITION, "", "東京タワー"},
        {"東京タワーとは？", ASKED_DEFINITION, "", "東京タワー"},
        {"REST APIって何？", ASKED_DEFINITION, NULL, NULL},
        {"富士山と北岳ではどちらが高いですか", ASKED_COMPARISON, NULL, NULL},
        {"UDPとTCPの違いは何ですか", ASKED_COMPARISON, "違い", NULL},
        {"この機能は無料ですか", ASKED_YES_NO, NULL, NULL},
        {"この国の公用語は何語ですか", ASKED_NAME, "語", NULL},
        {"会議に誰かを招待できますか", ASKED_YES_NO, NULL, NULL},
        {"対応しているブラウザは何がありますか", ASKED_LIST, "ブラウザ", NULL},
        {"手塚治虫の出身地は？", ASKED_PLACE, "出身地", "手塚治虫"},
        {"日本の首都の人口は何人ですか", ASKED_QUANTITY, "人口", "日本の首都"},
        {"どの国が最も広い面積を持ちますか", ASKED_PLACE, "国", NULL},
        {"第二次世界大戦には何か国が参戦しましたか", ASKED_QUANTITY, "", "第二次世界大戦"},
        {"申請の締め切りはいつですか", ASKED_DATE, NULL, "申請"},
        {"料金はいくらですか", ASKED_QUANTITY, NULL, NULL},
        {"メモリは何 GB 必要ですか", ASKED_QUANTITY, "", "メモリ"},
        {"ログインできないのはなぜですか", ASKED_WHY, "", "ログイン"},
        {"ログの保存期間を教えて", ASKED_DURATION, "保存期間", "ログ"},
    };
    assert_rows(rows, sizeof rows / sizeof *rows);
}

static void english_questions_are_read(void **state)
{
    static const struct asked_row rows[] = {
        {"What is the capital of the Netherlands?", ASKED_PLACE, "capital", "Netherlands"},
        {"How long are backups kept?", ASKED_DURATION, "", NULL},
        {"How do I reset my password?", ASKED_HOW, "", NULL},
        {"What is Super Bowl 50?", ASKED_DEFINITION, "", "Super Bowl 50"},
        {"Which NFL team represented the AFC at Super Bowl 50?", ASKED_PERSON, "NFL team", "Super Bowl 50"},
        {"What is the boiling point of ethanol?", ASKED_QUANTITY, "boiling point", "ethanol"},
        {"What is the difference between TCP and UDP?", ASKED_COMPARISON, "difference", NULL},
        {"Is it free of charge?", ASKED_YES_NO, "", NULL},
        {"Which is larger, Tokyo or Osaka?", ASKED_COMPARISON, "", NULL},
        {"What does API stand for?", ASKED_DEFINITION, "", "API"},
        {"Who wrote the book?", ASKED_PERSON, "", NULL},
        {"Why was the event cancelled?", ASKED_WHY, "", NULL},
        {"Name two cities in Montana.", ASKED_LIST, NULL, "Montana"},
        {"What was needed to replace an iPod Nano battery?", ASKED_ANYTHING, NULL, NULL},
        {"How long is the river Thames?", ASKED_QUANTITY, "", "Thames"},
        {"What's the maximum file size?", ASKED_QUANTITY, NULL, NULL},
        {"When it rains, what happens to the match?", ASKED_ANYTHING, NULL, NULL},
        {"What is Japan's population?", ASKED_QUANTITY, "population", "Japan"},
        {"In which country was Chopin born?", ASKED_PLACE, "country", "Chopin"},
        {"The court is located in what city?", ASKED_PLACE, "city", NULL},
        {"What caused the fire?", ASKED_WHY, NULL, NULL},
        {"How many yards did he run?", ASKED_QUANTITY, "yards", NULL},
    };
    assert_rows(rows, sizeof rows / sizeof *rows);
}

static void a_text_that_asks_for_nothing_is_no_question(void **state)
{
    static const char *const texts[] = {"", "Thanks!", "こんにちは。", "\xff\xe3", "?"};
    struct asked asked;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        asked_read(texts[i], strlen(texts[i]), &asked);
        assert_int_equal(asked.type, ASKED_ANYTHING);
        assert_int_equal(asked.subject.end, 0);
    }
}

static void the_asked_kind_of_answer_must_be_new_in_the_sentence(void **state)
{
    static const struct {
        const char *question, *fits, *fails;
    } rows[] = {
        {"手塚治虫が東京に移り住んだのは何年?", "1952年に宝塚から東京に移住した。", "手塚は東京に住んでいた。"},
        {"消防救助隊の車両は何台出動しましたか?", "部隊の全車両5台が出動した。", "15時25分ごろ、通報が入った。"},
        {"1963年に始まった番組は何ですか", "『鉄腕アトム』が始まった。", "番組は1963年に始まった。"},
        {"空港が閉鎖されたのはなぜですか", "大雪のため閉鎖された。", "空港は1980年に閉鎖された。"},
        {"アイオワ州の州都はどこ?", "デモインはアイオワ州の州都である。", "アイオワ州の州都である。"},
        {"When was the library finished?", "It was finished in 1963.", "The library was finished by students."},
        {"How many people live in Montana?", "About 1,050,000 people live there.", "Montana lies in the west."},
        {"Who founded Notre Dame?", "The school was founded by Edward Sorin.", "Notre Dame was founded in 1842."},
        {"Where was Chopin born?", "He was born in Warsaw.", "Chopin was born to a teacher."},
        {"How long are backups kept?", "Backups are kept for 30 days.", "Backups are kept in 2 places."},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct asked asked;
        const char *question = rows[i].question;
        assert_true(asked_read(question, strlen(question), &asked));
        double fits = asked_fits(&asked, question, strlen(question), rows[i].fits, strlen(rows[i].fits));
        double fails = asked_fits(&asked, question, strlen(question), rows[i].fails, strlen(rows[i].fails));
        if (fits < 0.7 || fails > 0.5)
            print_error("%s: %.2f, %.2f\n", question, fits, fails);
        assert_true(fits >= 0.7 && fails <= 0.5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(japanese_questions_are_read),
        cmocka_unit_test(english_questions_are_read),
        cmocka_unit_test(a_text_that_asks_for_nothing_is_no_question),
        cmocka_unit_test(the_asked_kind_of_answer_must_be_new_in_the_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
