/* Variants of kana: small and large characters, ヴ, long vowels, and rows for frequent words. */
#include "words/variants_rows.h"

#include <pthread.h>

#define LONG_VOWEL    0x30FC
#define VU            0x30F4
#define SEGMENT_LEAST 3 /* a shorter word keeps its long vowels and its イ */
#define OU_LEAST      5 /* ボウリング, but ソウル stays */
#define LONG_LEAST    4 /* サーバー is サーバ, but キー stays */

/* Katakana in large characters, as map_kana leaves them. */
static const char katakana_text[] =
    "テイツク=チツク テイケツト=チケツト テイーム=チーム デイジタル=デジタル デイレンマ=ジレンマ "
    "ビルデイング=ビルジング "
    "フオン=ホン プラツトフオ=プラツトホ ユニフオーム=ユニホーム シユミレ=シミユレ コミニユケ=コミユニケ "
    "アボガド=アボカド テインメント=テイメント メインテ=メンテ メーンテ=メンテ スウエー=スエー リポート=レポート "
    "リポジ=レポジ "
    "ジヤンバー=ジヤンパー ブルドツク=ブルドツグ ハンドバツク=ハンドバツグ ビツクデータ=ビツグデータ "
    "ネツイヤ=ネチヤ パゲツテ=パゲテ ギプス=ギブス ナルシシスト=ナルシスト スムース=スムーズ リラクセー=リラクゼー "
    "テクスト=テキスト ニユーム=ニウム ウオトカ=ウオツカ シヤンペン=シヤンパン バトミントン=バドミントン "
    "フイーチヤー=フイチヤー ウエヴ=ウエブ ドツヂ=ドツジ フアクシミリ=フアツクス";

/* Words that are written in Han characters or in kana. */
static const char words_text[] =
    "子ども=子供 こども=子供 出来=でき くださ=下さ すべて=全て 総て=全て さまざま=様様 いろいろ=色色 "
    "判る=分る 解る=分る 友だち=友達 ともだち=友達 附属=付属 附近=付近 附録=付録 寄附=寄付 沈澱=沈殿 障碍=障害 "
    "障がい=障害 抛物=放物 日蝕=日食 月蝕=月食 掲示版=掲示板 年令=年齢 行なう=行う 行なわ=行わ 行ない=行い "
    "行なっ=行っ 行なえ=行え 現わ=現 表わ=表 断わ=断 賜わ=賜 ひっこし=引越 てつづき=手続 うけつけ=受付 もうしこみ=申込 "
    "もうしこむ=申込む とりけし=取消 みつもり=見積 しめきり=締切 といあわせ=問合 うちあわせ=打合 めがね=眼鏡 "
    "りんご=林檎 "
    "たばこ=煙草 ねずみ=鼠 うさぎ=兎";

static struct variant_rows katakana_rows, words_rows;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void variants_kana_read_rows(void)
{
    variant_rows_read(&katakana_rows, katakana_text);
    variant_rows_read(&words_rows, words_text);
}

static uint32_t large_of(uint32_t code)
{
    switch (code) {
    case 0x30A1: /* ァィゥェォッャュョ */
    case 0x30A3:
    case 0x30A5:
    case 0x30A7:
    case 0x30A9:
    case 0x30C3:
    case 0x30E3:
    case 0x30E5:
    case 0x30E7:
    case 0x30EE:
        return code + 1;
    case 0x30C2: /* ヂ, ヅ: ジ, ズ */
        return 0x30B8;
    case 0x30C5:
        return 0x30BA;
    case 0x30F0: /* ヰ, ヱ, ヲ */
        return 0x30A4;
    case 0x30F1:
        return 0x30A8;
    case 0x30F2:
        return 0x30AA;
    default:
        return code;
    }
}

/* バ to ボ for ヴァ to ヴォ, or 0. */
static uint32_t voiced_of(uint32_t small)
{
    switch (small) {
    case 0x30A1:
        return 0x30D0;
    case 0x30A3:
        return 0x30D3;
    case 0x30A7:
        return 0x30D9;
    case 0x30A9:
        return 0x30DC;
    default:
        return 0;
    }
}

/* Characters one by one. After a character in i, ア is ヤ: ギリシア and ギリシャ, タイア and タイヤ. */
static unsigned map_kana(struct run_character *run, unsigned length)
{
    unsigned written = 0;
    for (unsigned i = 0; i < length; i++) {
        struct run_character c = run[i];
        if (c.script != SCRIPT_KATAKANA) {
            run[written++] = c;
            continue;
        }
        uint32_t next = i + 1 < length ? run[i + 1].code : 0, voiced = c.code == VU ? voiced_of(next) : 0;
        uint32_t before = written > 0 ? run[written - 1].code : 0;
        if (voiced != 0)
            c.end = run[++i].end;
        else if (c.code == VU)
            voiced = next == 0x30E5 ? 0x30D3 : 0x30D6; /* ヴュ: ビュ */
        else if (c.code == 0x30A2 && variants_one_of(before, "イキシチニヒミリギジビピ"))
            voiced = 0x30E4;
        variants_put(run, &written, c, voiced != 0 ? voiced : large_of(c.code));
    }
    return written;
}

/* メイン is メーン, ボウリング is ボーリング. */
static void lengthen(struct run_character *run, unsigned length)
{
    for (unsigned i = 1; i < length; i++) {
        bool ei = run[i].code == 0x30A4 && variants_one_of(run[i - 1].code, "エケセテネヘメレゲゼデベペ");
        bool ou = run[i].code == 0x30A6 && length >= OU_LEAST &&
                  variants_one_of(run[i - 1].code, "オコソトノホモヨロゴゾドボポ");
        if (ei || ou)
            run[i].code = LONG_VOWEL;
    }
}

/* The long vowel within a longer word that ends a part of it: インターフェース, プリンターケーブル. */
static bool is_optional(const struct run_character *run, unsigned length, unsigned at)
{
    if (at < 2 || at + 1 >= length)
        return false;
    uint32_t before = run[at - 1].code, after = run[at + 1].code;
    if (variants_one_of(before, "サバ"))
        return variants_one_of(run[at - 2].code, "ンツキイー");
    return variants_one_of(before, "タダザラヤナ") && !variants_one_of(after, "ミゲビンクツメジハ");
}

/* A word of Katakana, moved to run[*written]. */
static void put_word(struct run_character *run, unsigned *written, unsigned from, unsigned to)
{
    unsigned length = to - from, tail = to;
    if (length >= SEGMENT_LEAST)
        lengthen(run + from, length);
    while (length >= LONG_LEAST && tail > from && run[tail - 1].code == LONG_VOWEL)
        tail--;
    bool optional[TERM_CHARACTERS_MAX];
    for (unsigned i = from; i < to; i++)
        optional[i] = run[i].code == LONG_VOWEL && (i >= tail || is_optional(run + from, length, i - from));
    for (unsigned i = from, first = *written; i < to; i++) {
        if (optional[i] && *written > first)
            variants_drop(run, *written, &run[i]);
        else
            run[(*written)++] = run[i];
    }
}

static unsigned shorten(struct run_character *run, unsigned length)
{
    unsigned written = 0;
    for (unsigned at = 0; at < length;) {
        unsigned end = at;
        while (end < length && run[end].script == SCRIPT_KATAKANA)
            end++;
        if (end == at)
            run[written++] = run[at++];
        else
            put_word(run, &written, at, end);
        at = end > at ? end : at;
    }
    return written;
}

unsigned variants_kana(struct run_character *run, unsigned length)
{
    pthread_once(&once, variants_kana_read_rows);
    length = map_kana(run, length);
    length = variant_rows_replace(&katakana_rows, run, length);
    return shorten(run, length);
}

unsigned variants_words(struct run_character *run, unsigned length)
{
    pthread_once(&once, variants_kana_read_rows);
    return variant_rows_replace(&words_rows, run, length);
}
