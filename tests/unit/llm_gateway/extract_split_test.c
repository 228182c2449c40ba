#include "extractive/extract.h"

#include "words/words.h"

#include <stdio.h>

#include "unit.h"

#define MEMORY_MAX ((size_t)16 << 20)

/* The parts, with a bar between them. */
static void expect_parts_of(const char *question, size_t limit, const char *wanted)
{
    static char found[16384];
    struct text parts[EXTRACT_PARTS_MAX];
    struct arena arena;
    size_t used = 0, length = strlen(question);
    arena_init(&arena, NULL, 0, MEMORY_MAX);
    bool japanese = strcmp(words_language(question, length), "ja") == 0;
    size_t count = extract_split(&arena, (struct text){question, length}, japanese, limit, parts);
    assert_true(count >= 1 && count <= limit);
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(found + used, sizeof found - used, "%s%.*s", i ? "|" : "", (int)parts[i].length,
                                 parts[i].bytes);
    assert_string_equal(found, wanted);
    arena_fini(&arena);
}

static void expect_parts(const char *question, const char *wanted)
{
    expect_parts_of(question, EXTRACT_PARTS_MAX, wanted);
}

static void one_question_stays_one(void **state)
{
    static const char *const questions[] = {
        "設定方法は？",
        "XYZシステムのポート番号を教えてください。",
        "AとBの違いは？",
        "RedisとSQLiteはどちらが速いですか？",
        "連歌とは何ですか？",
        "「設定と運用」の章はどこですか？",
        "必要と判断されるのはどんなときですか？",
        "How do I reset the password?",
        "What is the difference between Redis and SQLite?",
        "What does \"save and close\" do?",
        "Which option is used?",
        "Compare the memory store and the SQLite store.",
    };
    for (size_t i = 0; i < COUNT(questions); i++)
        expect_parts(questions[i], questions[i]);
}

static void japanese_coordination_is_taken_apart(void **state)
{
    expect_parts("XとYの設定方法は？", "Xの設定方法は？|Yの設定方法は？");
    expect_parts("XYZシステムのインストール方法と設定方法を教えてください。",
                 "XYZシステムのインストール方法を教えてください。|XYZシステムの設定方法を教えてください。");
    expect_parts("Redis、SQLiteおよびメモリの上限は？", "Redisの上限は？|SQLiteの上限は？|メモリの上限は？");
    expect_parts("ログとバックアップを設定するには？", "ログを設定するには？|バックアップを設定するには？");
    expect_parts("「AとB」と「C」の意味は？", "「AとB」の意味は？|「C」の意味は？");
}

static void several_japanese_questions_are_several(void **state)
{
    expect_parts("ポート番号は何番ですか？ログはどこにありますか？",
                 "ポート番号は何番ですか？|ログはどこにありますか？");
    expect_parts("XYZの設定方法は？料金は？", "XYZの設定方法は？|XYZの料金は？");
    expect_parts("XYZはどこで買えますか？その保証期間は？", "XYZはどこで買えますか？|XYZの保証期間は？");
    expect_parts("ログはどこにありますか、また、バックアップは毎日取られますか？",
                 "ログはどこにありますか|バックアップは毎日取られますか？");
    expect_parts("XYZシステムを使っています。再起動の手順は？", "XYZシステムを使っています。再起動の手順は？");
    expect_parts("次の点を教えてください：\n- 料金\n- 保証期間",
                 "次の点を教えてください：料金|次の点を教えてください：保証期間");
}

static void english_clauses_are_taken_apart(void **state)
{
    expect_parts("What does E-1024 mean and on which port does the license service listen?",
                 "What does E-1024 mean?|On which port does the license service listen?");
    expect_parts("Where are backups kept and for how long?", "Where are backups kept and for how long?");
    expect_parts("How do I install the server and how do I configure backups?",
                 "How do I install the server?|How do I configure backups?");
    expect_parts("How do I install the server and configure backups?",
                 "How do I install the server?|How do I configure backups?");
    expect_parts("What is Renga? How do I install it?", "What is Renga?|How do I install Renga?");
    expect_parts("Which port does the gateway use, and where are the logs?",
                 "Which port does the gateway use?|Where are the logs?");
    expect_parts("I run the XYZ system. How do I restart it?", "I run the XYZ system. How do I restart it?");
}

static void english_things_are_taken_apart(void **state)
{
    expect_parts("What are the default port and the timeout of the server?",
                 "What are the default port of the server?|What are the timeout of the server?");
    expect_parts("How do I configure logging and backups?", "How do I configure logging?|How do I configure backups?");
    expect_parts("Tell me:\n1. the price\n2. the warranty", "Tell me: the price|Tell me: the warranty");
}

static void more_than_the_limit_is_kept_together(void **state)
{
    expect_parts_of("Aは何？Bは何？Cは何？Dは何？", 2, "Aは何？|Bは何？ Cは何？ Dは何？");
    expect_parts_of("AとBの設定は？", 1, "Aの設定は？ Bの設定は？");
}

static void anything_is_split_within_bounds(void **state)
{
    static const char *const fills[] = {
        "AとBの", "「",    "\"",  "and ", "A and ", "。",    "、", "? ", "how do i set x and ",
        "と",     "\n- a", "1. ", "\xFF", "(",      "また、"};
    static char question[EXTRACT_ASKED_MAX];
    for (size_t i = 0; i < COUNT(fills); i++) {
        struct text parts[EXTRACT_PARTS_MAX];
        struct arena arena;
        size_t size = strlen(fills[i]), length = sizeof question / size * size;
        for (size_t at = 0; at < length; at += size)
            memcpy(question + at, fills[i], size);
        arena_init(&arena, NULL, 0, MEMORY_MAX);
        for (int japanese = 0; japanese < 2; japanese++) {
            size_t count = extract_split(&arena, (struct text){question, length}, japanese, 5, parts);
            assert_true(count >= 1 && count <= 5);
        }
        assert_false(arena.exhausted);
        arena_fini(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_question_stays_one),
        cmocka_unit_test(japanese_coordination_is_taken_apart),
        cmocka_unit_test(several_japanese_questions_are_several),
        cmocka_unit_test(english_clauses_are_taken_apart),
        cmocka_unit_test(english_things_are_taken_apart),
        cmocka_unit_test(more_than_the_limit_is_kept_together),
        cmocka_unit_test(anything_is_split_within_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
