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
        {"バックアップは何日保存されますか", ASKED_DURATION, "", NULL},
        {"保守の契約は何年有効ですか", ASKED_DURATION, "契約", "保守"},
        {"有給休暇は何日残っていますか", ASKED_DURATION, "", NULL},
        {"報告は何日に保存しますか", ASKED_DATE, "", NULL},
        {"彼は何日生まれですか", ASKED_DATE, "", NULL},
        {"ロックされたアカウントを解除するには？", ASKED_HOW, "", NULL},
        {"バックアップはどれくらい保存されますか", ASKED_DURATION, "", "バックアップ"},
        {"パスワードの変更方法を教えてください", ASKED_HOW, "変更方法", "パスワード"},
        {"パスワードを変更するにはどうすればいいですか", ASKED_HOW, "", "パスワードを変更する"},
        {"東京タワーとは何ですか", ASKED_DEFINITION, "", "東京タワー"},
        {"東京タワーとは？", ASKED_DEFINITION, "", "東京タワー"},
        {"REST APIって何？", ASKED_DEFINITION, "", NULL},
        {"富士山と北岳ではどちらが高いですか", ASKED_COMPARISON, "", "富士山と北岳"},
        {"UDPとTCPの違いは何ですか", ASKED_COMPARISON, "違い", "UDPとTCP"},
        {"この機能は無料ですか", ASKED_YES_NO, "", NULL},
        {"この国の公用語は何語ですか", ASKED_NAME, "語", NULL},
        {"会議に誰かを招待できますか", ASKED_YES_NO, "", "会議"},
        {"対応しているブラウザは何がありますか", ASKED_LIST, "ブラウザ", NULL},
        {"対応ブラウザを列挙してください", ASKED_LIST, "", "対応ブラウザ"},
        {"手塚治虫の出身地は？", ASKED_PLACE, "出身地", "手塚治虫"},
        {"日本の首都の人口は何人ですか", ASKED_QUANTITY, "人口", "日本の首都"},
        {"どの国が最も広い面積を持ちますか", ASKED_PLACE, "国", "広い面積"},
        {"レンガという名前の由来は何ですか", ASKED_WHY, "由来", NULL},
        {"彼は何を発明しましたか", ASKED_ANYTHING, "", "彼"},
        {"平均気温は何度ですか", ASKED_QUANTITY, "", "平均気温"},
        {"どのような理由で中止されましたか", ASKED_WHY, "理由", NULL},
        {"第二次世界大戦には何か国が参戦しましたか", ASKED_QUANTITY, "", "第二次世界大戦"},
        {"何年かけて完成しましたか", ASKED_DURATION, "", NULL},
        {"申請の締め切りはいつですか", ASKED_DATE, "", "申請"},
        {"料金はいくらですか", ASKED_QUANTITY, "", "料金"},
        {"メモリは何 GB 必要ですか", ASKED_QUANTITY, "", "メモリ"},
        {"どんな人が応募できますか", ASKED_PERSON, "人", NULL},
        {"予約の取り消しはどうやって行いますか", ASKED_HOW, "", NULL},
        {"この本を書いたのはどの出版社ですか", ASKED_PERSON, "出版社", NULL},
        {"日本で一番高い山は何という山ですか", ASKED_NAME, "山", "日本で一番高い山"},
        {"ログインできないのはなぜですか", ASKED_WHY, "", "ログイン"},
        {"振り子時計ができたのはいつですか", ASKED_DATE, "", "振り子時計"},
        {"ログの保存期間を教えて", ASKED_DURATION, "保存期間", "ログ"},
        {"この橋の長さは何メートルですか", ASKED_QUANTITY, "長さ", "橋"},
        {"会社の創業者は誰ですか", ASKED_PERSON, "創業者", "会社"},
        {"どの駅で乗り換えますか", ASKED_PLACE, "駅", NULL},
        {"有給休暇は年に何日もらえますか", ASKED_DURATION, "", "有給休暇"},
        {"開館時間は何時から何時までですか", ASKED_DATE, "", "開館時間"},
        {"何歳から利用できますか", ASKED_QUANTITY, "", "利用"},
        {"参加者は何名でしたか", ASKED_QUANTITY, "", "参加者"},
        {"返品はいつまでにすればよいですか", ASKED_DATE, "", "返品"},
        {"領収書はどこで発行できますか", ASKED_PLACE, "", "領収書"},
        {"メールの署名はどうやって設定しますか", ASKED_HOW, "署名", "メール"},
        {"なぜ売り上げが下がったのですか", ASKED_WHY, "", NULL},
        {"この装置は何と呼ばれていますか", ASKED_NAME, "", "装置"},
        {"彼が卒業した大学の名前は何ですか", ASKED_NAME, "名前", NULL},
        {"温室効果ガスとは何ですか", ASKED_DEFINITION, "", "温室効果ガス"},
        {"クラウドとオンプレミスはどう違いますか", ASKED_COMPARISON, "", "クラウドとオンプレミス"},
        {"AさんとBさんのどちらが年上ですか", ASKED_COMPARISON, "", NULL},
        {"申請に必要な書類をすべて教えてください", ASKED_LIST, "書類", "申請"},
        {"使い方を説明してください", ASKED_HOW, "", "使い方"},
        {"この薬は子どもでも飲めますか", ASKED_YES_NO, "", "薬"},
        {"退職金は支給されますか", ASKED_YES_NO, "", "退職金"},
        {"火山が噴火した原因は何ですか", ASKED_WHY, "原因", NULL},
        {"ディアナ号の艦長を務めたのは誰か", ASKED_PERSON, "", "ディアナ号の艦長"},
        {"日本で二番目に高い山は何という山ですか", ASKED_NAME, "山", NULL},
        {"第3章では何について述べていますか", ASKED_ANYTHING, "", "第3章"},
        {"送料は何円ですか", ASKED_QUANTITY, "", "送料"},
        {"何割の人が賛成しましたか", ASKED_QUANTITY, "", "人"},
        {"最高気温は何度でしたか", ASKED_QUANTITY, "", "最高気温"},
        {"どれくらいの頻度で更新されますか", ASKED_QUANTITY, "", "頻度"},
        {"契約期間はどのくらいですか", ASKED_DURATION, "", "契約期間"},
        {"ノーベル賞を何回受賞しましたか", ASKED_QUANTITY, "", "ノーベル賞"},
        {"彼は何番目の大統領ですか", ASKED_QUANTITY, "", "彼"},
        {"どんな料理が有名ですか", ASKED_NAME, "料理", "有名"},
        {"祭りは何曜日に行われますか", ASKED_DATE, "", NULL},
        {"会議室の予約はどうすればできますか", ASKED_HOW, "予約", "会議室"},
        {"本社の所在地を教えてください", ASKED_PLACE, "所在地", "本社"},
        {"ペンギンは鳥ですか", ASKED_YES_NO, "", "ペンギン"},
        {"何という船で渡りましたか", ASKED_NAME, "船", NULL},
        {"建物は何階建てですか", ASKED_QUANTITY, "", "建物"},
        {"この言葉の意味は何ですか", ASKED_DEFINITION, "意味", "言葉"},
        {"誰も知らない島はどこにありますか", ASKED_PLACE, "島", NULL},
        {"ローマ最初の日時計はどこからもたらされましたか?", ASKED_PLACE, NULL, NULL},
        {"この市の旧称は", ASKED_NAME, "旧称", "市"},
        {"主著を世界で初めて賞に挙げたものは", ASKED_NAME, NULL, NULL},
        {"二冠を挙げ新人賞を得たのは", ASKED_ANYTHING, NULL, NULL},
        {"石油に関して初めて出したものは", ASKED_NAME, NULL, NULL},
        {"申請できるのは本人と？", ASKED_NAME, NULL, NULL},
        {"彼の代表作を1つ答えよ", ASKED_ANYTHING, NULL, NULL},
        {"記録は何日分残りますか", ASKED_DURATION, "", "記録"},
        {"審査にはどのくらいかかりますか", ASKED_DURATION, "", "審査"},
        {"初めに確かめるべきことは何ですか", ASKED_NAME, NULL, NULL},
        {"正式に言うと何でしょうか", ASKED_NAME, NULL, NULL},
        {"画面の推奨サイズを教えてください", ASKED_QUANTITY, NULL, NULL},
        {"開港した西暦は", ASKED_DATE, NULL, NULL},
        {"管理者はどこから入ればよいですか", ASKED_PLACE, "", "管理者"},
        {"この数は何のものよりも小さいですか", ASKED_NAME, NULL, NULL},
        {"売店はどこも開きませんか", ASKED_YES_NO, NULL, NULL},
        {"変更履歴には何と書き足しますか", ASKED_NAME, "", "変更履歴"},
        {"その符号は規格では何として扱われますか", ASKED_NAME, NULL, NULL},
        {"部屋はどこまで広くできますか", ASKED_QUANTITY, NULL, NULL},
        {"電車はどこまで行きますか", ASKED_PLACE, "", "電車"},
        {"写真の最大値はいくつですか", ASKED_QUANTITY, "最大値", "写真"},
        {"窓口の営業時間は？", ASKED_DATE, "営業時間", "窓口"},
    };
    assert_rows(rows, sizeof rows / sizeof *rows);
}

static void english_questions_are_read(void **state)
{
    static const struct asked_row rows[] = {
        {"What is the capital of the Netherlands?", ASKED_PLACE, "capital", "Netherlands"},
        {"How long are backups kept?", ASKED_DURATION, "", NULL},
        {"How do I reset my password?", ASKED_HOW, "", "reset"},
        {"What are the steps to reset a password?", ASKED_HOW, "steps", NULL},
        {"What should I do if the pump fails?", ASKED_HOW, "", NULL},
        {"What is Super Bowl 50?", ASKED_DEFINITION, "", "Super Bowl 50"},
        {"Which NFL team represented the AFC at Super Bowl 50?", ASKED_PERSON, "NFL team", "Super Bowl 50"},
        {"What is the boiling point of ethanol?", ASKED_QUANTITY, "boiling point", "ethanol"},
        {"What is the difference between TCP and UDP?", ASKED_COMPARISON, "difference", "TCP"},
        {"Is it free of charge?", ASKED_YES_NO, "", "free"},
        {"Which is larger, Tokyo or Osaka?", ASKED_COMPARISON, "", "Tokyo"},
        {"What does API stand for?", ASKED_DEFINITION, "", "API"},
        {"Who wrote the book?", ASKED_PERSON, "", "wrote"},
        {"Why was the event cancelled?", ASKED_WHY, "", NULL},
        {"Name two cities in Montana.", ASKED_LIST, "", "Montana"},
        {"What are the ingredients of the sauce?", ASKED_LIST, "ingredients", "sauce"},
        {"What was needed to replace an iPod Nano battery?", ASKED_ANYTHING, "", "Nano"},
        {"How long is the river Thames?", ASKED_QUANTITY, "", "Thames"},
        {"How old was he when he died?", ASKED_QUANTITY, "", "died"},
        {"Steps to replace the filter?", ASKED_HOW, NULL, NULL},
        {"Price of the filter?", ASKED_QUANTITY, NULL, NULL},
        {"You sell filters?", ASKED_YES_NO, NULL, NULL},
        {"How often are backups made?", ASKED_QUANTITY, "", NULL},
        {"What's the maximum file size?", ASKED_QUANTITY, "maximum file size", ""},
        {"What time does the office open?", ASKED_DATE, "time", NULL},
        {"When it rains, what happens to the match?", ASKED_ANYTHING, "", "happens"},
        {"Can I invite others?", ASKED_YES_NO, "", NULL},
        {"What is microscopy used for?", ASKED_WHY, "", NULL},
        {"How much does a ticket cost?", ASKED_QUANTITY, "", NULL},
        {"What kind of animal is Fina?", ASKED_NAME, "animal", "Fina"},
        {"What is Japan's population?", ASKED_QUANTITY, "population", "Japan"},
        {"In which country was Chopin born?", ASKED_PLACE, "country", "Chopin"},
        {"The court is located in what city?", ASKED_PLACE, "city", ""},
        {"Who is taller, Anna or Bob?", ASKED_COMPARISON, "", "Anna"},
        {"Explain the refund policy.", ASKED_DEFINITION, "", NULL},
        {"What caused the fire?", ASKED_WHY, "", "caused"},
        {"What is the name of the king?", ASKED_NAME, "name", "king"},
        {"Whose album was released in 2011?", ASKED_PERSON, "", "album"},
        {"How many yards did he run?", ASKED_QUANTITY, "yards", "run"},
        {"Where is the head office located?", ASKED_PLACE, "", NULL},
        {"Who is the mayor of Osaka?", ASKED_PERSON, "", "Osaka"},
        {"When does the contract end?", ASKED_DATE, "", NULL},
        {"What year was the bridge built?", ASKED_DATE, "year", NULL},
        {"Which country hosted the 2016 games?", ASKED_PLACE, "country", NULL},
        {"How many floors does the tower have?", ASKED_QUANTITY, "floors", "tower"},
        {"How tall is the tower?", ASKED_QUANTITY, "", "tower"},
        {"How much memory is needed?", ASKED_QUANTITY, "memory", "needed"},
        {"What percentage of users pay?", ASKED_QUANTITY, "percentage", NULL},
        {"How far is the station from the hotel?", ASKED_QUANTITY, "", "station"},
        {"What is photosynthesis?", ASKED_DEFINITION, "", "photosynthesis"},
        {"What are the opening hours?", ASKED_LIST, "opening hours", ""},
        {"What is the name of the ship?", ASKED_NAME, "name", "ship"},
        {"What is the river called?", ASKED_NAME, "river", ""},
        {"What does the error E-1024 mean?", ASKED_DEFINITION, "", "E-1024"},
        {"How can I cancel my subscription?", ASKED_HOW, "", NULL},
        {"How often is the report sent?", ASKED_QUANTITY, "", NULL},
        {"Why did sales fall?", ASKED_WHY, "", NULL},
        {"For what reason was he dismissed?", ASKED_WHY, "reason", "dismissed"},
        {"Does the plan include support?", ASKED_YES_NO, "", NULL},
        {"Can a manager approve his own request?", ASKED_YES_NO, "", NULL},
        {"Are children allowed?", ASKED_YES_NO, "", NULL},
        {"Which of the two is cheaper, the red or the blue one?", ASKED_COMPARISON, "", NULL},
        {"What is the difference between a fork and a branch?", ASKED_COMPARISON, "difference", "fork"},
        {"List the members of the committee.", ASKED_LIST, "", "members"},
        {"Describe the approval process.", ASKED_DEFINITION, "", NULL},
        {"Compare the two plans.", ASKED_COMPARISON, "", NULL},
        {"To whom was the letter addressed?", ASKED_PERSON, "", NULL},
        {"By whom was the song written?", ASKED_PERSON, "", NULL},
        {"In what city was he born?", ASKED_PLACE, "city", "born"},
        {"What language do they speak?", ASKED_NAME, "language", "speak"},
        {"What company makes the engine?", ASKED_PERSON, "company", NULL},
        {"At what temperature does copper melt?", ASKED_QUANTITY, "temperature", NULL},
        {"How fast can a cheetah run?", ASKED_QUANTITY, "", NULL},
        {"What was the final score?", ASKED_QUANTITY, "final score", ""},
        {"What is the deadline for applications?", ASKED_DATE, "deadline", "applications"},
        {"What happened in 1989?", ASKED_ANYTHING, "", NULL},
        {"What did the committee decide?", ASKED_ANYTHING, "", NULL},
        {"Who was taller, Lincoln or Washington?", ASKED_COMPARISON, "", "Lincoln"},
        {"What kind of fuel does it use?", ASKED_NAME, "fuel", "use"},
        {"What is the population of Iceland?", ASKED_QUANTITY, "population", "Iceland"},
        {"How do I export a report as PDF?", ASKED_HOW, "", "PDF"},
        {"Since when has the museum been open?", ASKED_DATE, "", "museum"},
        {"On which day does the shop close?", ASKED_DATE, "day", NULL},
        {"What causes tides?", ASKED_WHY, "causes", "tides"},
        {"What is the meaning of the word?", ASKED_DEFINITION, "meaning", "word"},
        {"How long is the tunnel?", ASKED_QUANTITY, "", "tunnel"},
        {"How long did the war last?", ASKED_DURATION, "", NULL},
        {"Whose idea was it?", ASKED_PERSON, "", "idea"},
        {"What's the capital of Peru?", ASKED_PLACE, "capital", "Peru"},
        {"Name the largest planet.", ASKED_NAME, "", NULL},
        {"What is the time complexity of merge sort?", ASKED_ANYTHING, "time complexity", "merge sort"},
        {"Who plays Mr. Hinx in the film?", ASKED_PERSON, "", "Mr. Hinx"},
        {"What splits Montana into two regions?", ASKED_ANYTHING, NULL, "Montana"},
        {"What was the army named after?", ASKED_NAME, NULL, NULL},
        {"What does STAT stand for in the treatment of mice?", ASKED_DEFINITION, "", "STAT"},
        {"What are larger systems usually mounted on?", ASKED_ANYTHING, NULL, NULL},
        {"What was the resin used for during the siege?", ASKED_WHY, "", NULL},
        {"What is crop failure rate due to hail?", ASKED_QUANTITY, "crop failure rate", "hail"},
        {"What are two examples of mild symptoms?", ASKED_LIST, "examples", NULL},
        {"What is one potential problem with glue?", ASKED_ANYTHING, "potential problem", "glue"},
        {"In surveys, what is Bavaria considered?", ASKED_ANYTHING, "", "Bavaria"},
        {"What is the state flower", ASKED_ANYTHING, "state flower", NULL},
        {"What was the first synthetic dye?", ASKED_ANYTHING, "first synthetic dye", NULL},
        {"What is the Debian Policy?", ASKED_DEFINITION, "", NULL},
        {"What is a foreign key in a database?", ASKED_DEFINITION, "", NULL},
        {"What three ways are enzymes grouped?", ASKED_LIST, "ways", NULL},
        {"What besides old cars are magnets used for?", ASKED_ANYTHING, "", NULL},
        {"What also opened in 1939?", ASKED_ANYTHING, "", NULL},
        {"What was the likely cause of death for Mozart?", ASKED_ANYTHING, "likely cause", "Mozart"},
        {"Where does the city rank in the world?", ASKED_QUANTITY, "", NULL},
        {"What was the Mozart family's trade?", ASKED_ANYTHING, "trade", "Mozart"},
    };
    assert_rows(rows, sizeof rows / sizeof *rows);
}

static void questions_in_other_languages_are_read(void **state)
{
    static const struct asked_row rows[] = {
        {"荷兰的首都是哪里？", ASKED_PLACE, "", NULL},
        {"他是哪一年出生的？", ASKED_DATE, "", "他"},
        {"长城有多长？", ASKED_QUANTITY, "", "长城"},
        {"谁写了这本书？", ASKED_PERSON, "", ""},
        {"为什么会下雨？", ASKED_WHY, "", ""},
        {"如何重置密码？", ASKED_HOW, "", ""},
        {"什么是人工智能？", ASKED_DEFINITION, "", ""},
        {"这家公司有多少员工？", ASKED_QUANTITY, "", "这家公司"},
        {"这个功能免费吗？", ASKED_YES_NO, "", NULL},
        {"参加了哪些活动？", ASKED_LIST, "", NULL},
        {"备份保存多久？", ASKED_DURATION, "", NULL},
        {"他获得了什么奖？", ASKED_NAME, "奖", NULL},
        {"Wie viele Einwohner hat Wien?", ASKED_QUANTITY, "", "Wien"},
        {"Wann wurde die Brücke gebaut?", ASKED_DATE, "", "Brücke"},
        {"Wer hat das Buch geschrieben?", ASKED_PERSON, "", "Buch"},
        {"Wo liegt der Bahnhof?", ASKED_PLACE, "", "Bahnhof"},
        {"Warum fiel der Strom aus?", ASKED_WHY, "", "Strom"},
        {"Wie setze ich mein Passwort zurück?", ASKED_HOW, "", "Passwort"},
        {"Was ist ein Browser?", ASKED_DEFINITION, "", "Browser"},
        {"Wie lange werden Sicherungen aufbewahrt?", ASKED_DURATION, "", "Sicherungen"},
        {"Welche Stadt ist die Hauptstadt von Peru?", ASKED_PLACE, "Stadt", "Hauptstadt von Peru"},
        {"Was wird in Tirol angebaut?", ASKED_ANYTHING, "", "Tirol"},
        {"Was bedeutet Kaltgang?", ASKED_DEFINITION, "", "Kaltgang"},
        {"Was heißt Montenero?", ASKED_DEFINITION, "", "Montenero"},
        {"Was ist emotionale Bindung?", ASKED_DEFINITION, "", "Bindung"},
        {"Wie sehen Reiher aus?", ASKED_ANYTHING, "", "Reiher"},
        {"Wie unterscheiden sich Reiher und Störche?", ASKED_COMPARISON, "", "Reiher"},
        {"Wie heißt der höchste Berg?", ASKED_NAME, "", "Berg"},
        {"Ist die Nutzung kostenlos?", ASKED_YES_NO, "", NULL},
        {"Was ist der Unterschied zwischen TCP und UDP?", ASKED_COMPARISON, "Unterschied", "TCP"},
        {"브라질의 수도는 어디인가?", ASKED_PLACE, "", "브라질"},
        {"누가 이 책을 썼나요?", ASKED_PERSON, "", ""},
        {"언제 시작하나요?", ASKED_DATE, "", ""},
        {"왜 취소되었나요?", ASKED_WHY, "", ""},
        {"직원은 몇 명인가요?", ASKED_QUANTITY, "", "직원"},
        {"비밀번호를 어떻게 바꾸나요?", ASKED_HOW, "", "비밀번호"},
        {"Où se trouve le siège ?", ASKED_PLACE, "", NULL},
        {"Qui a écrit ce livre ?", ASKED_PERSON, "", NULL},
        {"Quand commence la réunion ?", ASKED_DATE, "", NULL},
        {"Pourquoi le vol est-il annulé ?", ASKED_WHY, "", NULL},
        {"Combien d'habitants compte Lyon ?", ASKED_QUANTITY, "", "Lyon"},
        {"Comment changer le mot de passe ?", ASKED_HOW, "", NULL},
        {"Quelle est la capitale du Pérou ?", ASKED_PLACE, "capitale", "Pérou"},
        {"¿Dónde está la oficina?", ASKED_PLACE, "", NULL},
        {"¿Quién escribió el libro?", ASKED_PERSON, "", NULL},
        {"¿Cuándo empieza la reunión?", ASKED_DATE, "", NULL},
        {"¿Por qué se canceló el vuelo?", ASKED_WHY, "", NULL},
        {"¿Cuántos empleados tiene la empresa?", ASKED_QUANTITY, "", NULL},
        {"¿Cómo se cambia la contraseña?", ASKED_HOW, "", NULL},
        {"¿Qué es un navegador?", ASKED_DEFINITION, "", NULL},
    };
    assert_rows(rows, sizeof rows / sizeof *rows);
}

static void the_counted_thing_is_read(void **state)
{
    static const char *const rows[][2] = {{"Wie viele Schiffe hat die Flotte?", "Schiffe"},
                                          {"舰队有几艘船？", "艘"},
                                          {"Wie viele Einwohner hat Lurien?", ""}}; /* the unit says it */
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct asked asked;
        assert_true(asked_read(rows[i][0], strlen(rows[i][0]), &asked));
        assert_true(asked_span_is(rows[i][0], asked.counter, rows[i][1]));
    }
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(japanese_questions_are_read),
        cmocka_unit_test(english_questions_are_read),
        cmocka_unit_test(questions_in_other_languages_are_read),
        cmocka_unit_test(the_counted_thing_is_read),
        cmocka_unit_test(a_text_that_asks_for_nothing_is_no_question),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
