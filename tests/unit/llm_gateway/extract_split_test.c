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
    expect_parts("フランスとドイツとイタリアの首都はどこですか？",
                 "フランスの首都はどこですか？|ドイツの首都はどこですか？|イタリアの首都はどこですか？");
    expect_parts("夏目漱石と森鷗外はそれぞれどこで生まれましたか？",
                 "夏目漱石はどこで生まれましたか？|森鷗外はどこで生まれましたか？");
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
    expect_parts("受付時間は何時からですか？それと、駐車場はありますか？",
                 "受付時間は何時からですか？|駐車場はありますか？");
    expect_parts("XYZシステムを使っています。再起動の手順は？", "XYZシステムを使っています。再起動の手順は？");
    expect_parts("次の点を教えてください：\n- 料金\n- 保証期間",
                 "次の点を教えてください：料金|次の点を教えてください：保証期間");
}

static void a_clause_in_the_continuative_form_is_a_question_if_it_asks(void **state)
{
    expect_parts("データは何日保存され、誰が承認しますか？", "データは何日保存されますか？|データは誰が承認しますか？");
    expect_parts("夏目漱石はどこで生まれ、いつ亡くなりましたか？",
                 "夏目漱石はどこで生まれましたか？|夏目漱石はいつ亡くなりましたか？");
    expect_parts("バックアップはいつ作成されて、どこに保存されますか",
                 "バックアップはいつ作成されますか？|バックアップはどこに保存されますか");
    static const char *const whole[] = {"申請書は紙で作成し、どこに提出しますか？",
                                        "誰が書き、いつ出版された本ですか？", "データは何日、どこに保存されますか？",
                                        "東京は何年に首都となり、人口は何人になりましたか？"};
    for (size_t i = 0; i < COUNT(whole); i++)
        expect_parts(whole[i], whole[i]);
}

static void several_sentences_are_several_questions_in_other_languages(void **state)
{
    expect_parts("备份保存多长时间？备份存放在哪里？", "备份保存多长时间？|备份存放在哪里？");
    expect_parts("会话多久后超时？默认端口是多少？", "会话多久后超时？|默认端口是多少？");
    expect_parts("公园位于哪里？面积有多大？", "公园位于哪里？面积有多大？");
    expect_parts("谁写了红楼梦？那本书是什么时候出版的？", "谁写了红楼梦？那本书是什么时候出版的？");
    expect_parts("누가 전화를 발명했나요? 전화는 언제 발명되었나요?",
                 "누가 전화를 발명했나요?|전화는 언제 발명되었나요?");
    expect_parts("공원은 어디에 있습니까? 면적은 얼마입니까?", "공원은 어디에 있습니까? 면적은 얼마입니까?");
    expect_parts("Wer schrieb den Faust? Wann wurde Goethe geboren?",
                 "Wer schrieb den Faust?|Wann wurde Goethe geboren?");
    expect_parts("Wie lange werden Backups aufbewahrt? Wo werden sie gespeichert?",
                 "Wie lange werden Backups aufbewahrt? Wo werden sie gespeichert?");
    expect_parts("¿Cuánto tiempo se guardan las copias? ¿Dónde se guardan?",
                 "¿Cuánto tiempo se guardan las copias? ¿Dónde se guardan?");
}

static void european_questions_behind_and_are_taken_apart(void **state)
{
    expect_parts("Wann wurde das Rathaus gebaut und wo steht es?",
                 "Wann wurde das Rathaus gebaut?|Wo steht das Rathaus?");
    expect_parts("Wann werden die Daten gesichert und wo werden die Kopien gespeichert?",
                 "Wann werden die Daten gesichert?|Wo werden die Kopien gespeichert?");
    expect_parts("Wann und wo wurde Johann Sebastian Bach geboren?",
                 "Wann wurde Johann Sebastian Bach geboren?|Wo wurde Johann Sebastian Bach geboren?");
    expect_parts("Quand et où est né Victor Hugo ?", "Quand est né Victor Hugo ?|Où est né Victor Hugo ?");
    expect_parts("¿Cuándo nació Miguel de Cervantes y dónde murió?",
                 "¿Cuándo nació Miguel de Cervantes?|¿Dónde murió Miguel de Cervantes?");
    static const char *const whole[] = {"Wie heißt der Ort, wo Goethe lebte und wo Schiller starb?",
                                        "Wer schrieb Krieg und Frieden?",
                                        "Wann wurde der Verein gegründet und wo liegt sein Sitz?",
                                        "Quand Victor Hugo est-il né et où est-il mort ?",
                                        "¿Quién escribió la novela y la obra?",
                                        "Quand a été construite la tour et qui l'a construite ?",
                                        "Où puis-je me garer et combien ça coûte ?",
                                        "¿Cuándo se construyó el puente y quién lo diseñó?",
                                        "Was ist der Unterschied zwischen wann und wo?"};
    for (size_t i = 0; i < COUNT(whole); i++)
        expect_parts(whole[i], whole[i]);
}

static void a_comparison_asks_for_the_attribute_of_each(void **state)
{
    expect_parts("日本とドイツではどちらの面積が広いですか？", "日本の面積は？|ドイツの面積は？");
    expect_parts("先に生まれたのは、漱石と鷗外のどちらですか？",
                 "漱石はいつ生まれたのですか？|鷗外はいつ生まれたのですか？");
    expect_parts("RedisとSQLiteはどちらが速いですか？",
                 "Redisの速さはどのくらいですか？|SQLiteの速さはどのくらいですか？");
    expect_parts("Which is older, Pride and Prejudice or Hamlet?",
                 "How old is Pride and Prejudice?|How old is Hamlet?");
    expect_parts("Was Paris founded before London?", "When was Paris founded?|When was London founded?");
    expect_parts("哪个更高，泰山还是华山？", "泰山有多高？|华山有多高？");
    expect_parts("Was ist größer, Bonn oder Köln?", "Ist Bonn größer?|Ist Köln größer?");
    expect_parts("Welche Stadt ist größer? Bonn oder Köln?", "Ist Bonn größer?|Ist Köln größer?");
    expect_parts("、珈琲が安いですか、紅茶が安いですか", "珈琲が安いです？|紅茶が安いです？"); /* a mark in front */
}

static void english_comparisons_without_a_form_are_read_by_the_grammar(void **state)
{
    expect_parts("Why is silver cheaper than gold?", "Why is silver cheaper?|Why is gold cheaper?");
    expect_parts("Is petrol cheaper in Poland than in Hungary?",
                 "Is petrol cheaper in Poland?|Is petrol cheaper in Hungary?");
    expect_parts("How much does licence A cost? And licence B?",
                 "How much does licence A cost?|How much does licence B cost?");
    expect_parts("Compared to Germany, how high are taxes in Austria?",
                 "How high are taxes in Austria?|How high are taxes in Germany?");
    expect_parts("Should I go to Rome or Paris?", "Should I go to Rome?|Should I go to Paris?");
    expect_parts("Is the larger room available in May or June?", "Is the larger room available in May or June?");
    expect_parts("Is it known which of", "Is it known which of"); /* ends before its items */
    expect_parts("Do I have to pay more than the deposit?", "Do I have to pay more than the deposit?");
}

static void a_comparison_asks_by_the_plain_form_of_its_degree(void **state)
{
    expect_parts("Between the Cyclo V3 and the Cyclo V5, which is quieter?",
                 "How quiet is the Cyclo V3?|How quiet is the Cyclo V5?");
    expect_parts("Which river is shallower, the Po or the Arno?", "How shallow is the Po?|How shallow is the Arno?");
}

static void the_particle_kara_does_not_join_two_items(void **state)
{
    expect_parts("空港から市内へはバス・電車のうちどちらが安いですか",
                 "空港から市内へはバスはどのくらい安いですか？|電車はどのくらい安いですか？");
}

static void a_connective_without_an_item_beside_it_leaves_a_question_whole(void **state)
{
    static const char *const questions[] = {
        "上海，比北京大吗？",
        "价格，比北京贵吗？",
        "Starb Anna vor in?",
        "A est-il mort avant à ?",
        "What is the price in A, and in?",
    };
    for (size_t i = 0; i < COUNT(questions); i++)
        expect_parts(questions[i], questions[i]);
}

static void the_difference_in_an_attribute_is_asked_of_both(void **state)
{
    expect_parts("What is the difference in charging time between the Hare and the Owl?",
                 "What is the charging time of the Hare?|What is the charging time of the Owl?");
    expect_parts("What is the difference between gold and silver in price?",
                 "What is the price of gold?|What is the price of silver?");
    expect_parts("Basic vs Premium: how do the prices differ?",
                 "What are the prices of Basic?|What are the prices of Premium?");
    expect_parts("How does the depth of the Aral compare with that of the Baikal?",
                 "What is the depth of the Aral?|What is the depth of the Baikal?");
    expect_parts("How do Oslo and Turin differ in size?", "What is the size of Oslo?|What is the size of Turin?");
    expect_parts("基本プランと特別プランの保証期間の違いは何ですか？",
                 "基本プランの保証期間は？|特別プランの保証期間は？");
    static const char *const whole[] = {"What is the difference between gold and silver?", "金と銀の違いは何ですか？",
                                        "使い方の違いを教えてください。", "フランスとスペインの間の違いは？",
                                        "How do I compare two files in Word and Excel?"};
    for (size_t i = 0; i < COUNT(whole); i++)
        expect_parts(whole[i], whole[i]);
}

static void of_more_than_two_items_each_is_asked_for(void **state)
{
    expect_parts("Which of the Hare, the Owl and the Fox is the cheapest?",
                 "How cheap is the Hare?|How cheap is the Owl?|How cheap is the Fox?");
    expect_parts("Of these two cities, Rome and Oslo, which is older?", "How old is Rome?|How old is Oslo?");
    expect_parts("Of Oslo, Turin and Rome, which is the oldest?",
                 "How old is Oslo?|How old is Turin?|How old is Rome?");
    expect_parts("Which is larger, Paris, Texas or Rome, Georgia?",
                 "How large is Paris, Texas?|How large is Rome, Georgia?");
    expect_parts("WHICH IS HEAVIER, THE HARE OR THE OWL?", "How heavy is THE HARE?|How heavy is THE OWL?");
    expect_parts("松、竹、梅の三つのうち、一番重いのはどれですか。",
                 "松の重さはどのくらいですか？|竹の重さはどのくらいですか？|梅の重さはどのくらいですか？");
    expect_parts("東京と大阪と名古屋の中で人口が一番多いのはどこですか？",
                 "東京の人口は？|大阪の人口は？|名古屋の人口は？");
    expect_parts("三井と三菱と住友ではどちらが古いですか？", "三井と三菱はいつのものですか？|住友はいつのものですか？");
}

static void a_choice_within_a_phrase_is_no_comparison(void **state)
{
    static const char *const questions[] = {
        "How long is leave after the death of a spouse, parent or child?",
        "Is it true that bookings can be changed or cancelled before departure?",
        "Is it possible to pay or register before the course?",
        "How much is the fee for adults, students or children?",
        "問題は本館と別館のどこにありますか",
        "この三つのうち、どれが一番安いですか",
    };
    for (size_t i = 0; i < COUNT(questions); i++)
        expect_parts(questions[i], questions[i]);
    expect_parts("Was Rome or Paris founded before?", "When was Rome founded?|When was Paris founded?");
}

static void a_town_on_a_river_is_one_name(void **state)
{
    static const char oder[] = "Ist Frankfurt an der Oder größer?|Ist Berlin größer?";
    expect_parts("Was ist größer, Frankfurt an der Oder oder Berlin?", oder);
    expect_parts("Ist Frankfurt an der Oder größer als Berlin?", oder);
    expect_parts("Ist Frankfurt an der Oder oder Berlin größer?", oder);
    expect_parts("Was ist älter, Frankfurt an der Oder oder Rothenburg ob der Tauber?",
                 "Ist Frankfurt an der Oder älter?|Ist Rothenburg ob der Tauber älter?");
    expect_parts("Leben in Frankfurt an der Oder mehr Menschen als in Bonn?",
                 "Leben in Frankfurt an der Oder mehr Menschen?|Leben in Bonn mehr Menschen?");
    expect_parts("Wann wurde Frankfurt an der Oder gegründet und wo liegt es?",
                 "Wann wurde Frankfurt an der Oder gegründet?|Wo liegt Frankfurt an der Oder?");
}

static void a_part_that_cannot_stand_alone_keeps_the_question_whole(void **state)
{
    expect_parts("What do I do when my phone is lost? And when a receipt is lost?",
                 "What do I do when my phone is lost? And when a receipt is lost?");
    expect_parts("誰が来ますか？なぜですか？", "誰が来ますか？なぜですか？");
}

static void greetings_are_no_parts(void **state)
{
    expect_parts("こんにちは。ポート番号は何番ですか？ありがとうございます。", "ポート番号は何番ですか？");
    expect_parts("Hello, which port is open? Thanks in advance!", "which port is open?");
    expect_parts("Thank you!", "Thank you!");
}

static void greetings_and_marks_alone_ask_nothing(void **state)
{
    static const char *const nothing[] = {"hello",
                                          "Hello!",
                                          "Thank you! Best regards,",
                                          "ありがとう",
                                          "你好",
                                          "Danke schön.",
                                          "こんにちは。お願いします。",
                                          "? !!! ...",
                                          "Merci 안녕하세요"};
    static const char *const something[] = {
        "team", "All", "hello world", "Hi, which port is open?", "the of and", "XYZ-5008", "C++", "教育", "hi-hat"};
    for (size_t i = 0; i < COUNT(nothing); i++)
        assert_false(extract_asks(text_of(nothing[i])));
    for (size_t i = 0; i < COUNT(something); i++)
        assert_true(extract_asks(text_of(something[i])));
}

static void english_clauses_are_taken_apart(void **state)
{
    expect_parts("What does E-1024 mean and on which port does the license service listen?",
                 "What does E-1024 mean?|On which port does the license service listen?");
    expect_parts("Where are backups kept and for how long?", "Where are backups kept?|For how long are backups kept?");
    expect_parts("When was X built and by whom?", "When was X built?|By whom was X built?");
    expect_parts("Who founded X and when did it open?", "Who founded X?|When did X open?");
    expect_parts("Who founded Marks & Spencer, and when?",
                 "Who founded Marks & Spencer?|When was Marks & Spencer founded?");
    expect_parts("How do I install the server and how do I configure backups?",
                 "How do I install the server?|How do I configure backups?");
    expect_parts("How do I install the server and configure backups?",
                 "How do I install the server?|How do I configure backups?");
    expect_parts("What is Renga? How do I install it?", "What is Renga?|How do I install Renga?");
    expect_parts("When did the war begin and when did it end?", "When did the war begin?|When did the war end?");
    expect_parts("How long are backups kept and who checks them?", "How long are backups kept?|Who checks backups?");
    expect_parts("What is the name of the river and how long is it?",
                 "What is the name of the river?|How long is the river?");
    expect_parts("Who is the president of France and when was he elected?",
                 "Who is the president of France?|When was the president of France elected?");
    expect_parts("How many days of leave do I get, and how do I apply for them?",
                 "How many days of leave do I get, and how do I apply for them?");
    expect_parts("Which came out later, Hamlet or Faust?", "When did Hamlet come out?|When did Faust come out?");
    expect_parts("Is Oslo bigger or smaller than Bergen?", "How big is Oslo?|How big is Bergen?");
    expect_parts("Which port does the gateway use, and where are the logs?",
                 "Which port does the gateway use?|Where are the logs?");
    expect_parts("I run the XYZ system. How do I restart it?", "I run the XYZ system. How do I restart it?");
}

static void english_things_are_taken_apart(void **state)
{
    expect_parts("What are the default port and the timeout of the server?",
                 "What is the default port of the server?|What is the timeout of the server?");
    expect_parts("How do I configure logging and backups?", "How do I configure logging?|How do I configure backups?");
    expect_parts("What are the capitals of France, Germany and Italy?",
                 "What is the capitals of France?|What is the capitals of Germany?|What is the capitals of Italy?");
    expect_parts("Who wrote Faust and Hamlet respectively?", "Who wrote Faust?|Who wrote Hamlet?");
    expect_parts("Tell me:\n1. the price\n2. the warranty", "Tell me: the price|Tell me: the warranty");
}

static void more_than_the_limit_is_kept_together(void **state)
{
    expect_parts_of("Aは何？Bは何？Cは何？Dは何？", 2, "Aは何？|Bは何？ Cは何？ Dは何？");
    expect_parts_of("AとBの設定は？", 1, "AとBの設定は？");
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
        cmocka_unit_test(a_clause_in_the_continuative_form_is_a_question_if_it_asks),
        cmocka_unit_test(several_sentences_are_several_questions_in_other_languages),
        cmocka_unit_test(european_questions_behind_and_are_taken_apart),
        cmocka_unit_test(a_comparison_asks_for_the_attribute_of_each),
        cmocka_unit_test(english_comparisons_without_a_form_are_read_by_the_grammar),
        cmocka_unit_test(a_comparison_asks_by_the_plain_form_of_its_degree),
        cmocka_unit_test(the_particle_kara_does_not_join_two_items),
        cmocka_unit_test(a_connective_without_an_item_beside_it_leaves_a_question_whole),
        cmocka_unit_test(the_difference_in_an_attribute_is_asked_of_both),
        cmocka_unit_test(of_more_than_two_items_each_is_asked_for),
        cmocka_unit_test(a_choice_within_a_phrase_is_no_comparison),
        cmocka_unit_test(a_town_on_a_river_is_one_name),
        cmocka_unit_test(a_part_that_cannot_stand_alone_keeps_the_question_whole),
        cmocka_unit_test(greetings_are_no_parts),
        cmocka_unit_test(greetings_and_marks_alone_ask_nothing),
        cmocka_unit_test(english_clauses_are_taken_apart),
        cmocka_unit_test(english_things_are_taken_apart),
        cmocka_unit_test(more_than_the_limit_is_kept_together),
        cmocka_unit_test(anything_is_split_within_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
