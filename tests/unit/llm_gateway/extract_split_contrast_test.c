/* Comparisons in many forms over pairs of names: the parts isolate both things. %A and %B stand for the names. */
#include "extractive/extract.h"

#include "words/words.h"

#include <stdio.h>

#include "unit.h"

#define MEMORY_MAX ((size_t)1 << 20)
#define ENOUGH     0.97 /* of the questions of a language */
#define SHOWN_MAX  12   /* failures that are printed */

static const char *const japanese[] = {
    "%AとBではどちらの面積が広いですか？",
    "%AとBでは、どちらが先に生まれましたか",
    "%AとBのどちらが人口が多いですか？",
    "%AとBはどちらが古いですか？",
    "%AとB、どちらが有名ですか？",
    "%AとBどっちが大きい？",
    "%AとBのうち、先に公開されたのはどちらですか？",
    "%AとBのうち、どちらが長いですか。",
    "%A、Bのうち面積が広いのはどちら？",
    "%AとBの中で、より早く設立されたのはどちらでしょうか",
    "%AとBを比べると、どちらが標高が高いですか",
    "%AとBを比較した場合、人口が多いのはどちらですか？",
    "%AとBでは、人口はどちらが多いですか",
    "%AとBの人口はどちらが多いですか？",
    "%AとBとでは、どちらのほうが歴史が古いですか",
    "面積が広いのは%AとBのどちらですか？",
    "先に生まれたのは、%AとBのどちらですか",
    "先に作られたのは%AとBのどっち？",
    "人口の多いのは%AかBか、どちらですか",
    "どちらが先に生まれましたか、%AかBか。",
    "どちらが高いですか？%AとB",
    "どちらが先に発表されましたか、%Aですか、それともBですか？",
    "%AとBで、設立が早いのはどちらか",
    "%AとBで人気があるのはどちらですか？",
    "%AはBより面積が広いですか？",
    "%AのほうがBより先に公開されましたか？",
    "Bより%Aの方が古いですか？",
    "%Aと比べてBは人口が多いですか？",
    "%AとBならどちらが安いですか",
    "%Aおよび%Bのうち、標高が高いのはどちらか答えてください",
    "%AまたはBのどちらが先に始まりましたか？",
    "%AとBのうち、ノーベル賞を受賞したのはどちらですか？",
    "%AとBの二つのうち、作品数が多いのはどちらですか",
    "%AとBではどちらに多くの人が住んでいますか？",
    "%AとBではどちらの方が長く続きましたか？",
    "こんにちは。%AとBではどちらが新しいですか？",
    "%AとBのうち、海に面しているのはどちらですか？",
    "%AとB、先に亡くなったのはどちら？",
    "%AとBはどっちの方が値段が高いんですか？",
    "%AとBって、どちらが先にできたの？",
    "標高は%AとBのどちらが高いですか？",
    "「%A」と「%B」ではどちらが先に出版されましたか？",
    "%AとBとどちらが重いですか？",
    "%AとBのうち、より多くの観客を集めたのはどちらでしょうか？",
    "%AとB、年上なのはどちらですか？",
    "%AとBのどちらが日本に近いですか。",
    "%AとBではどちらの方が早く建てられましたか？",
    "%AとBのいずれが先に成立したか。",
    "%Aの人口と%Bの人口ではどちらが多いですか？",
    "人口が多いのは%Aですか、それともBですか？",
    "%AとB、先に生まれたのはどちらの人物ですか？",
    "%AとBが始まったのはどちらが先ですか？",
    "%AとBの間では、どちらが広いですか？",
    "%Aもしくは%B、どちらがより安価ですか？",
    "%AとB、より高いのは？",
    "%AとBのうち、面積が広いのは？",
    NULL,
};

static const char *const japanese_pairs[][2] = {
    {"東京タワー", "エッフェル塔"},
    {"夏目漱石", "森鷗外"},
    {"風の谷のナウシカ", "天空の城ラピュタ"},
    {"となりのトトロ", "もののけ姫"},
    {"おしん", "あまちゃん"},
    {"富士山", "キリマンジャロ山"},
    {"琵琶湖", "カスピ海"},
    {"ソフィア (ブルガリア)", "ブカレスト"},
    {"レオナルド・ダ・ヴィンチ", "ミケランジェロ・ブオナローティ"},
    {"2010年バンクーバーオリンピック", "2006年トリノオリンピック"},
    {"ハンセルとグレーテル", "白雪姫"},
    {"赤ずきん", "ロミオとジュリエット"},
    {"Linux", "FreeBSD"},
    {"Windows 95", "Mac OS X"},
    {"The Beatles", "The Rolling Stones"},
    {"君の名は。", "天気の子"},
    {"鎌倉時代", "室町時代"},
    {"関ヶ原の戦い", "大坂の陣"},
    {"徳川家康", "豊臣秀吉"},
    {"N700系新幹線", "E5系"},
    {"水素", "ヘリウム"},
    {"西遊記", "水滸伝"},
    {"ニホンオオカミ", "エゾオオカミ"},
    {"イギリス", "フランス"},
    {"アメリカ合衆国", "カナダ"},
    {"東京大学", "京都大学"},
    {"聖ソフィア大聖堂", "ノートルダム大聖堂"},
    {"鉄腕アトム", "リボンの騎士"},
    {"はやぶさ", "ひてん"},
    {"ひらがな", "カタカナ"},
    {"1973年のピンボール", "ノルウェイの森"},
    {"キングコング対ゴジラ", "モスラ"},
    {"ドラゴンクエストIII", "ファイナルファンタジーVII"},
    {"万里の長城", "アンコール・ワット"},
    {"お茶の水女子大学", "日本女子大学"},
    {"吾輩は猫である", "坊っちゃん"},
    {"ジョン・F・ケネディ", "リチャード・ニクソン"},
    {"ヤマト運輸", "佐川急便"},
    {"きりたんぽ", "たこ焼き"},
    {"さいたま市", "つくば市"},
    {"プランA", "プランB"},
    {"サグラダ・ファミリア", "ピサの斜塔"},
    {"メモリストア", "SQLite"},
    {"いろは坂", "箱根峠"},
    {"三井と三菱", "住友"},
    {"千と千尋の神隠し", "ハウルの動く城"},
    {NULL, NULL},
};

static const char *const english[] = {
    "Which is older, %A or %B?",
    "Which has a larger population, %A or %B?",
    "Who was born first, %A or %B?",
    "Which of %A and %B is larger?",
    "Which of %A or %B has more members?",
    "Which of the two, %A or %B, is taller?",
    "Between %A and %B, which is older?",
    "Between %A and %B, which one was founded first?",
    "%A or %B: which is faster?",
    "%A vs %B, which is bigger?",
    "Is %A older than %B?",
    "Is %A or %B older?",
    "Was %A founded before %B?",
    "Which came first, %A or %B?",
    "Which was founded earlier: %A or %B?",
    "Who died first, %A or %B?",
    "Which one is more expensive, %A or %B?",
    "Which city is larger, %A or %B?",
    "Which film was released first, %A or %B?",
    "Who lived longer, %A or %B?",
    "Does %A have more employees than %B?",
    "Does %A or %B have more people?",
    "What is higher, %A or %B?",
    "Whose population is larger, %A or %B?",
    "Which is located further north, %A or %B?",
    "Which magazine was started first, %A or %B?",
    "Of %A and %B, which is heavier?",
    "Which uses less memory, %A or %B?",
    "Which won more medals, %A or %B?",
    "Compared with %A, is %B larger?",
    "Which opened first - %A or %B?",
    "Which is the larger of the two, %A or %B?",
    "Hello, which is newer, %A or %B?",
    "Can you tell me which is older, %A or %B?",
    "Who is older, %A or %B?",
    "Did %A or %B come first?",
    "Comparing %A and %B, which has the longer history?",
    "Out of %A and %B, who was born earlier?",
    "Which is the oldest, %A or %B?",
    "Which of these two is higher, %A or %B?",
    "In terms of area, which is larger, %A or %B?",
    "Which between %A and %B is older?",
    "Is the population of %A larger than the population of %B?",
    "Which has been around longer, %A or %B?",
    "Was %A born earlier than %B?",
    "Which costs more, %A or %B?",
    "Which one of %A and %B was published first?",
    "Tell me which is larger, %A or %B.",
    "Do more people live in %A or in %B?",
    "Are there more students at %A or %B?",
    "Please tell me whether %A or %B is larger.",
    "Was %A published earlier or later than %B?",
    "Which came out later, %A or %B?",
    NULL,
};

static const char *const english_pairs[][2] = {
    {"Tokyo Tower", "the Eiffel Tower"},
    {"Charles Dickens", "Jane Austen"},
    {"Pride and Prejudice", "Sense and Sensibility"},
    {"Simon and Garfunkel", "The Beatles"},
    {"Marks & Spencer", "Harrods"},
    {"the Amazon River", "the Nile"},
    {"Linux", "FreeBSD"},
    {"Windows 95", "Mac OS X"},
    {"Leonardo da Vinci", "Michelangelo"},
    {"The Lord of the Rings", "Harry Potter"},
    {"New York City", "Los Angeles"},
    {"Barack Obama", "George W. Bush"},
    {"the 2008 Summer Olympics", "the 2012 Summer Olympics"},
    {"University of Oxford", "University of Cambridge"},
    {"War and Peace", "Anna Karenina"},
    {"Bosnia and Herzegovina", "Croatia"},
    {"Mount Everest", "K2"},
    {"Gone with the Wind", "Casablanca"},
    {"the Battle of Hastings", "the Battle of Waterloo"},
    {"São Paulo", "Rio de Janeiro"},
    {"Norfolk Island", "Christmas Island"},
    {"Albert Einstein", "Isaac Newton"},
    {"Venus", "Mars"},
    {"Harvard", "Yale"},
    {"Notre-Dame de Paris", "Westminster Abbey"},
    {"Plan A", "Plan B"},
    {"Ludwig van Beethoven", "Wolfgang Amadeus Mozart"},
    {"SQLite", "the memory store"},
    {"IBM", "Microsoft"},
    {"American Idol", "The X Factor"},
    {"Beyoncé", "Lady Gaga"},
    {"Sony PlayStation 2", "Nintendo 64"},
    {"Hurricane Katrina", "Hurricane Sandy"},
    {"Genghis Khan", "Kublai Khan"},
    {"Queen Victoria", "Queen Elizabeth II"},
    {"Trinidad and Tobago", "Jamaica"},
    {"the French Revolution", "the American Revolution"},
    {"Python", "Java"},
    {"Portugal", "Spain"},
    {"Lake Superior", "Lake Victoria"},
    {"Romeo and Juliet", "Hamlet"},
    {NULL, NULL},
};

static const char *const others[] = {
    "%A和%B哪个更大？",
    "%A与%B相比，哪个面积更大？",
    "%A和%B，谁更早成立？",
    "哪个更高，%A还是%B？",
    "%A和%B中哪一个历史更长？",
    "Was ist größer, %A oder %B?",
    "Welche Stadt hat mehr Einwohner, %A oder %B?",
    "Wer wurde zuerst geboren, %A oder %B?",
    "Ist %A größer als %B?",
    "%A oder %B: was ist älter?",
    "Quelle ville est la plus grande, %A ou %B ?",
    "Qui est né le premier, %A ou %B ?",
    "¿Qué ciudad es más grande, %A o %B?",
    "¿Quién nació primero, %A o %B?",
    "%A와 %B 중 어느 것이 더 큰가요?",
    "%A와 %B 중 누가 먼저 태어났나요?",
    "%A는 %B보다 더 큰가요?",
    "어느 것이 더 큰가요, %A인가요 %B인가요?",
    "%A还是%B更大？",
    "%A比%B大吗？",
    "Hat %A mehr Einwohner als %B?",
    "Ist %A oder %B größer?",
    "Quel pays a le plus d'habitants : %A ou %B ?",
    "Entre %A et %B, lequel est plus grand ?",
    "%A est-il plus grand que %B ?",
    "Entre %A y %B, ¿cuál es más grande?",
    "¿Es %A más grande que %B?",
    "先成立的是%A还是%B？",
    "%A와 %B 중에서 인구가 더 많은 곳은 어디인가요?",
    "%A와 %B 중 먼저 설립된 것은 무엇인가요?",
    "Wurde %A vor %B gebaut?",
    "Est-ce que %A est plus grand que %B ?",
    "%A有没有%B大？",
    "%A有%B那么高吗？",
    "与%B相比，%A是否更便宜？",
    "%A和%B当中，谁获得过诺贝尔奖？",
    "%A同%B相比，哪一个更快？",
    "%A的面积和%B的面积哪个大？",
    "%A比%B更早被发现吗？",
    "相比%B，%A的价格更高吗？",
    "%A和%B中，较高的是哪一个？",
    "%B보다 %A가 더 비싼가요?",
    "%B에 비해 %A는 더 무거운가요?",
    "먼저 설립된 것은 %A인가요, %B인가요?",
    "어느 나라가 더 큰가요, %A 아니면 %B?",
    "%A와 %B 중 더 높은 산은 어느 것입니까?",
    "%A의 인구와 %B의 인구 중 어느 쪽이 많습니까?",
    "%A와 %B 중 노벨상을 받은 사람은 누구인가요?",
    "더 먼저 발견된 것은 %A와 %B 중 어느 것인가요?",
    "Ist %A älter als %B?",
    "Hat %A eine größere Fläche als %B?",
    "Leben in %A mehr Menschen als in %B?",
    "Im Vergleich zu %B: Ist %A schneller?",
    "%A und %B: Welche Stadt ist größer?",
    "Wo leben mehr Menschen, in %A oder in %B?",
    "Wer von %A und %B wurde zuerst geboren?",
    "Ist die Einwohnerzahl von %A größer als die von %B?",
    "Ist %A oder ist %B älter?",
    "De %A et %B, lequel est le plus ancien ?",
    "%A est-il né avant %B ?",
    "Y a-t-il plus d'habitants à %A qu'à %B ?",
    "La superficie de %A est-elle plus grande que celle de %B ?",
    "Par rapport à %B, %A est-il plus rapide ?",
    "Où fait-il plus chaud, à %A ou à %B ?",
    "Qui de %A ou de %B est né le premier ?",
    "De %A y %B, ¿quién nació primero?",
    "¿%A es más grande que %B?",
    "¿Nació %A antes que %B?",
    "¿Viven más personas en %A que en %B?",
    "¿Es la población de %A mayor que la de %B?",
    "Comparado con %B, ¿es %A más barato?",
    "¿Dónde vive más gente, en %A o en %B?",
    "Was ist der Unterschied zwischen %A und %B?",
    "Welche Unterschiede gibt es zwischen %A und %B, wenn man mehr Platz braucht?",
    "Combien d'habitants ont %A et %B ?",
    NULL,
};

static const char *const other_pairs[][2] = {
    {"Berlin", "Paris"}, {"London", "Madrid"}, {"Tokyo", "Oslo"}, {"Einstein", "Newton"}, {NULL, NULL},
};

/* Whether one part has `name`, and not `other`. */
static bool isolates(const struct text *parts, size_t count, const char *name, const char *other)
{
    for (size_t i = 0; i < count; i++)
        if (memmem(parts[i].bytes, parts[i].length, name, strlen(name)) &&
            !memmem(parts[i].bytes, parts[i].length, other, strlen(other)))
            return true;
    return false;
}

static void fill(char *question, size_t size, const char *form, const char *one, const char *other)
{
    bool marked = strstr(form, "%B") != NULL; /* a Japanese form may write B without a mark */
    size_t length = 0;
    question[0] = '\0';
    for (const char *c = form; *c && length + 1 < size; c++) {
        const char *name = NULL;
        if (*c == '%')
            continue;
        if (c > form && c[-1] == '%')
            name = *c == 'A' ? one : other;
        else if (!marked && *c == 'B')
            name = other;
        length += (size_t)(name ? snprintf(question + length, size - length, "%s", name)
                                : snprintf(question + length, size - length, "%c", *c));
    }
}

struct tally {
    size_t asked, isolated, shown;
};

static void ask(const char *form, const char *one, const char *other, struct tally *tally)
{
    char question[1024];
    struct text parts[EXTRACT_PARTS_MAX];
    struct arena arena;
    fill(question, sizeof question, form, one, other);
    size_t length = strlen(question);
    arena_init(&arena, NULL, 0, MEMORY_MAX);
    bool in_japanese = strcmp(words_language(question, length), "ja") == 0;
    size_t count = extract_split(&arena, (struct text){question, length}, in_japanese, 8, parts);
    bool good = isolates(parts, count, one, other) && isolates(parts, count, other, one);
    tally->asked++;
    tally->isolated += good;
    if (!good && tally->shown++ < SHOWN_MAX)
        print_message("not isolated: %s → %.*s\n", question, (int)parts[0].length, parts[0].bytes);
    arena_fini(&arena);
}

static double isolated(const char *const *forms, const char *const pairs[][2])
{
    struct tally tally = {0};
    for (; *forms; forms++)
        for (size_t i = 0; pairs[i][0]; i++)
            ask(*forms, pairs[i][0], pairs[i][1], &tally);
    print_message("%zu of %zu comparisons isolate both things\n", tally.isolated, tally.asked);
    return (double)tally.isolated / (double)tally.asked;
}

static void japanese_comparisons_isolate_both_things(void **state)
{
    assert_true(isolated(japanese, japanese_pairs) >= ENOUGH);
}

static void english_comparisons_isolate_both_things(void **state)
{
    assert_true(isolated(english, english_pairs) >= ENOUGH);
}

static void comparisons_in_other_languages_isolate_both_things(void **state)
{
    assert_true(isolated(others, other_pairs) >= ENOUGH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(japanese_comparisons_isolate_both_things),
        cmocka_unit_test(english_comparisons_isolate_both_things),
        cmocka_unit_test(comparisons_in_other_languages_isolate_both_things),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
