#include "words/asked.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define FITS_LEAST 0.4
#define GAP_LEAST  0.15

static double fits(const struct asked *asked, const char *question, const char *sentence)
{
    return asked_fits(asked, question, strlen(question), sentence, strlen(sentence)).type;
}

static void a_sentence_that_offers_the_asked_type_fits_better(void **state)
{
    static const struct {
        const char *question, *answers, *does_not;
    } rows[] = {
        {"掃除機の高さはどのくらいですか", "価格は49,800円です。", "運転時間は70分です。"},
        {"ミニはどのくらい安いですか", "月額は990円です。", "容量は3GBです。"},
        {"箱はどのくらい軽いですか", "重さは1.4kgです。", "幅は40cmです。"},
        {"電車の速さはどのくらいですか", "所要時間は35分です。", "料金は1,860円です。"},
        {"How cheap is the kettle?", "It costs 59 euros.", "It weighs 1.1 kg."},
        {"橋の長さは何メートルですか", "橋の長さは394メートルである。", "橋は1998年に開通した。"},
        {"会社の創業者は誰ですか", "会社は田中一郎が創業した。", "会社は東に位置する。"},
        {"有給休暇は何日もらえますか", "有給休暇は20日間付与される。", "有給休暇は翌年に繰り越せる。"},
        {"開館時間は何時からですか", "開館時間は午前9時からである。", "開館時間は季節により変わる。"},
        {"何歳から利用できますか", "12歳以上の方が利用できます。", "利用には登録が必要です。"},
        {"参加者は何名でしたか", "参加者は120名だった。", "参加者は3月に集まった。"},
        {"返品はいつまでにすればよいですか", "返品は到着後7日、つまり5月10日までに行う。", "返品は箱に入れる。"},
        {"本社はどこにありますか", "本社は大阪市にある。", "本社は5階建てである。"},
        {"なぜ試合は中止されたのですか", "大雨のため試合は中止された。", "試合は1980年に中止された。"},
        {"この装置は何と呼ばれていますか", "この装置は「クレプシドラ」と呼ばれる。", "この装置は重い。"},
        {"送料は何円ですか", "送料は500円です。", "送料は2023年に変わった。"},
        {"何割の人が賛成しましたか", "人々の7割が賛成した。", "人々は5回集まった。"},
        {"彼は何番目の大統領ですか", "彼は第16代大統領である。", "彼は大統領として働いた。"},
        {"祭りは何月に行われますか", "祭りは8月に行われる。", "祭りは山で行われる。"},
        {"州都はどこですか", "州都はラシュトである。", "州都の面積は136平方キロメートルである。"},
        {"最高気温は何度でしたか", "最高気温は35度に達した。", "最高気温は2001年に更新された。"},
        {"軍艦の艦長は誰でしたか", "軍艦の艦長はゴロヴニンであった。", "軍艦は1811年に着いた。"},
        {"予約はどうやって取り消しますか", "画面の「取消」を押して予約を取り消す。", "予約がある。"},
        {"どの賞を受賞しましたか", "彼はブルーリボン賞を受賞した。", "彼は受賞した。"},
        {"How do I restore a backup?", "Run `xyzctl restore` with the time of the backup.",
         "With the option restored data of a backup can be looked at."},
        {"How do I clean the pump?", "If the pump is dirty, rinse it under the tap.", "By now the pump is clean."},
        {"How can I name a deputy?", "A deputy is named under \"My settings > Deputy\".",
         "A deputy is named to help with work."},
        {"バックアップはどうやって復元しますか", "「管理 > 復元」でバックアップを選びます。",
         "バックアップは別の場所で復元されません。"},
        {"平成何年に完成しましたか", "平成十年に完成した。", "完成には石を用いた。"},
        {"何人の子どもがいましたか", "三人の子どもがいた。", "子どもがいた。"},
        {"温室効果ガスとは何ですか", "温室効果ガスとは、熱を吸収する気体のことである。", "温室効果ガスが増えた。"},
        {"『白蛇伝』を製作したのはどこですか", "東映動画が『白蛇伝』を製作した。", "『白蛇伝』を観た。"},
        {"何年間続きましたか", "戦争は13年間続いた。", "戦争は1560年に続いた。"},
        {"視聴率は何%でしたか", "視聴率は26.9%だった。", "視聴率は1974年に測られた。"},
        {"入場した後に切符を変えられますか", "入場した後の切符は変更できません。", "切符は入場の日に配ります。"},
        {"登録には印鑑が必要ですか", "登録に印鑑は不要です。", "登録は印鑑の窓口です。"},
        {"関白とは何ですか", "関白は、天皇を補佐する官職である。", "これを関白の政治という。"},
        {"計画はどこに投稿しますか", "計画は plan@example.org に投稿します。", "計画は投稿します。"},
        {"ログはどこに残りますか", "ログは /var/log/app に残ります。", "ログは残ります。"},
        {"球団の翌年の順位は？", "球団は翌年最下位だった。", "球団は翌年に売られた。"},
        {"古い写真はいつまで戻せますか", "古い写真は30日間戻せます。", "古い写真は2枚戻せます。"},
        {"切符の期限はいつ切れますか", "切符は発行から90日で切れます。", "切符は2枚切れます。"},
        {"鍵はどのくらいの期間使えますか", "鍵は180日使えます。", "鍵は5月10日に切れます。"},
        {"鍵は何日で切れますか", "鍵は180日で切れます。", "鍵は5月10日に切れます。"},
        {"仮の申請は何日前までに出しますか", "申請は出発の14日前に出します。", "申請は6月14日に出します。"},
        {"回答には何日かかりますか", "回答には5営業日かかります。", "回答には5種かかります。"},
        {"届は年に何度出せますか", "届は年に3回出せます。", "届は3月から出せます。"},
        {"この記号の意味は何ですか", "この記号は上下の入れ替えを示します。", "この記号が増えました。"},
        {"Who is the mayor of Osaka?", "The mayor is Hideyuki Yokoyama.", "The mayor is elected by the people."},
        {"When does the contract end?", "The contract ends on 31 March 2026.", "The contract ends without notice."},
        {"How tall is the tower?", "The tower is 333 meters tall.", "The tower was built in 1958."},
        {"How many floors does the tower have?", "The tower has 12 floors.", "The tower opened in 1990."},
        {"How much does a ticket cost?", "A ticket costs $25.", "A ticket is valid since 2020."},
        {"What percentage of users pay?", "About 12 percent of users pay.", "Most users pay in 2 parts."},
        {"Which country hosted the games?", "The games were held in Brazil.", "The games were held again."},
        {"Where is the head office located?", "The head office is in Osaka.", "The head office has 200 desks."},
        {"Why did sales fall?", "Sales fell because of the strike.", "Sales fell in 2010."},
        {"What is the river called?", "The river is called the Thames.", "The river is wide."},
        {"How long did the war last?", "The war lasted four years.", "The war began in 1914."},
        {"How often is the report sent?", "The report is sent three times a month.",
         "The report is sent in March 2020."},
        {"What is photosynthesis?", "Photosynthesis is a process of plants.", "Photosynthesis happens at noon."},
        {"How can I cancel my subscription?", "To cancel, open the account page and click Cancel.",
         "My subscription was cancelled."},
        {"What year was the bridge built?", "The bridge was built in 1894.", "The bridge is 240 metres long."},
        {"How far is the station from the hotel?", "The station is 2 km from the hotel.",
         "The station opened in 1987."},
        {"At what temperature does copper melt?", "Copper melts at 1085 degrees.", "Copper melts in 3 steps."},
        {"What company makes the engine?", "The engine is made by Rolls Royce.", "The engine is made of steel."},
        {"How old was he when he died?", "He died when he was 64 years old.", "He died in 1950."},
        {"What language do they speak?", "They speak Quechua there.", "They speak loudly."},
        {"Who wrote the song?", "The song was written by John Lennon.", "The song was written in 1971."},
        {"On which day does the shop close?", "The shop closes on Monday 3 May.", "The shop closes at night."},
        {"How much memory is needed?", "At least 16 GB of memory is needed.", "Memory was added in 2019."},
        {"What is the name of the ship?", "The name of the ship is Beagle.", "The name of the ship is short."},
        {"Since when has the museum been open?", "The museum has been open since 1987.", "The museum is open to all."},
        {"他是哪一年出生的？", "他1921年出生。", "他出生在山里。"},
        {"这座桥有多长？", "这座桥长120米。", "这座桥在1950年建成。"},
        {"比赛为什么取消？", "因为下雨，比赛取消了。", "比赛在八月取消了。"},
        {"Wann wurde die Brücke gebaut?", "Die Brücke wurde 1894 gebaut.", "Die Brücke wurde aus Stahl gebaut."},
        {"Wie lange dauert die Fahrt?", "Die Fahrt dauert 20 Minuten.", "Die Fahrt kostet 20 Euro."},
        {"Warum fiel das Spiel aus?", "Das Spiel fiel aus, weil es regnete.", "Das Spiel fiel 1980 aus."},
        {"직원은 몇 명인가요?", "직원은 120명이다.", "직원은 2010년에 왔다."},
        {"Quand commence la réunion ?", "La réunion commence le 5 mai 2021.", "La réunion commence bien."},
        {"¿Cuándo empieza la feria?", "La feria empieza el 3 de mayo.", "La feria es grande."},
        {"Combien de temps dure le trajet ?", "Le trajet dure 20 minutes.", "Le trajet existe depuis 1990."},
        {"¿Por qué se canceló el vuelo?", "El vuelo se canceló porque llovía.", "El vuelo se canceló en 1990."},
        {"Was ist ein Reiher?", "Ein Reiher ist ein Vogel.", "Im Teich sind heute viele Fische."},
        {"Was ist emotionale Bindung?", "Emotionale Bindung beschreibt die Nähe zweier Menschen.",
         "Viele sind ohne emotionale Bindung."},
        {"Was bedeutet AVK?", "AVK (Anlage zur Versorgung mit Kälte) steht im Keller.", "Im Keller steht eine AVK."},
        {"Wer hat den Turm entworfen?", "Der Turm wurde von Gustav Lindner entworfen.",
         "Der Turm bekam durch den Entwurf eine neue Gestaltung."},
        {"Wo wurde der Maler geboren?", "Der Maler wurde in Lübeck geboren.",
         "Die Ausbildung des Malers begann mit der Malerei."},
        {"Wie viele Schiffe hat die Flotte?", "Die Flotte hat 12 große Schiffe.", "Die Flotte hat 80 Meter Kai."},
        {"Wie viel Prozent der Wähler stimmten zu?", "Gut 62 Prozent der Wähler stimmten zu.",
         "Es stimmten 3 Millionen Euro zu."},
        {"Wie viele Menschen kamen?", "Es kamen 3 Millionen Menschen.", "Es kamen 3 Millionen Euro."},
        {"Warum ist der Betrieb befreit?", "Der Betrieb ist befreit, da er sonst schließen müsste.",
         "Der Betrieb ist seit 1990 befreit."},
        {"Qu'est-ce qu'un héron ?", "Le héron désigne un oiseau.", "Au lac on voit le héron."},
        {"Où est né le peintre ?", "Le peintre est né à Rouen.", "Le peintre aimait Claire."},
        {"Combien de navires compte la flotte ?", "La flotte compte 12 grands navires.",
         "La flotte compte 80 mètres de quai."},
        {"¿Dónde nació el pintor?", "El pintor nació en Sevilla.", "El pintor pintaba flores."},
        {"贴布的含义是什么？", "贴布（英语：tape）是一种治疗方法。", "在治疗中是要用贴布的。"},
        {"这个规格有几种模式？", "这个规格有两种模式。", "这个规格由公司在1994年11月发表。"},
        {"新城由哪个公司开发？", "新城由东华实业开发。", "开发后新城的学校合并了。"},
        {"校区位于哪里？", "校区位于甘肃省东南部。", "校区的学生很快乐。"},
        {"这种酶是如何构成的？", "这种酶由两个相同的部分构成。", "这种酶是必不可少的。"},
        {"手塚治虫が東京に移り住んだのは何年?", "1952年に宝塚から東京に移住した。", "手塚は東京に住んでいた。"},
        {"消防救助隊の車両は何台出動しましたか?", "部隊の全車両5台が出動した。", "15時25分ごろ、通報が入った。"},
        {"1963年に始まった番組は何ですか", "『鉄腕アトム』の番組が始まった。", "番組は1963年に始まった。"},
        {"When was the library finished?", "It was finished in 1963.", "The library was finished by students."},
        {"Who founded Notre Dame?", "The school was founded by Edward Sorin.", "Notre Dame was founded in 1842."},
        {"On what day does the market open?", "The market opens on Saturday.", "The market opens in 12 halls."},
        {"Which month is the wettest?", "The wettest month is July.", "The wettest month brings 90 mm."},
        {"How many monks lived there?", "There lived 87 monks.", "Monks lived there with the abbot (1952–87)."},
        {"How many monks lived there?", "There lived 87.", "Monks lived there for 35 years."},
        {"Who painted the hall?", "The hall was painted by Erik.", "The hall was painted on a Monday."},
        {"How long are backups kept?", "Backups are kept for 30 days.", "Backups are kept in 2 places."},
    };
    size_t wrong = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct asked asked;
        assert_true(asked_read(rows[i].question, strlen(rows[i].question), &asked));
        double good = fits(&asked, rows[i].question, rows[i].answers);
        double bad = fits(&asked, rows[i].question, rows[i].does_not);
        if (good < FITS_LEAST || bad > good - GAP_LEAST) {
            wrong++;
            print_error("%s: %.2f and %.2f\n", rows[i].question, good, bad);
        }
    }
    assert_int_equal(wrong, 0);
}

static void what_the_question_has_itself_is_no_answer(void **state)
{
    static const char *const questions[] = {"Was it founded in 1842 by Edward Sorin? When was it founded?",
                                            "1952年に東京へ移ったのはいつですか"};
    static const char *const sentences[] = {"It was founded in 1842 by Edward Sorin.", "1952年に東京へ移った。"};
    for (size_t i = 0; i < 2; i++) {
        struct asked asked;
        assert_true(asked_read(questions[i], strlen(questions[i]), &asked));
        assert_true(fits(&asked, questions[i], sentences[i]) <= 0.3);
    }
}

static void a_question_without_a_type_fits_every_sentence_alike(void **state)
{
    struct asked asked;
    const char *question = "What did he say?";
    assert_true(asked_read(question, strlen(question), &asked));
    assert_true(fits(&asked, question, "He said no in 1990.") == fits(&asked, question, ""));
}

static double identifies(const char *question, const char *sentence)
{
    struct asked asked;
    assert_true(asked_read(question, strlen(question), &asked));
    return asked_fits(&asked, question, strlen(question), sentence, strlen(sentence)).identifier;
}

static void a_command_or_a_file_is_answered_by_a_new_identifier(void **state)
{
    static const struct {
        const char *question, *answers, *does_not;
    } rows[] = {
        {"Which command adds a revision?", "A revision is added by dch(1) or git-dch.", "The command adds a revision."},
        {"Which file configures the mail server?", "Its configuration is in /etc/postfix/main.cf.",
         "The mail server is configured by a file."},
        {"Which option enables colours?", "Colours are enabled by --color.", "This option is not needed."},
        {"In which directories are plugins stored?", "They are stored below ~/.local/share.", "Plugins are stored."},
        {"グループを調べるコマンドは何ですか", "確認するには groups を実行します。",
         "このコマンドはグループを調べます。"},
        {"設定が書かれるファイルは何ですか", "設定は /etc/fstab に書かれます。", "設定はファイルに書かれます。"},
        {"Which file replaces main.cf?", "The file master.cf replaces it.", "The file main.cf is replaced."},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double good = identifies(rows[i].question, rows[i].answers);
        double bad = identifies(rows[i].question, rows[i].does_not);
        if (good < FITS_LEAST || bad > 0)
            fail_msg("%s: %.2f and %.2f", rows[i].question, good, bad);
    }
    assert_true(identifies("Which country hosted the games?", "They were held in /dev/null.") == 0.5);
    assert_true(identifies("Which profile is used?", "It is in /etc/profile.") == 0.5); /* no file */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sentence_that_offers_the_asked_type_fits_better),
        cmocka_unit_test(what_the_question_has_itself_is_no_answer),
        cmocka_unit_test(a_question_without_a_type_fits_every_sentence_alike),
        cmocka_unit_test(a_command_or_a_file_is_answered_by_a_new_identifier),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
