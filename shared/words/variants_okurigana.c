/* Okurigana that are optional. 引っ越し, 引越し and 引越 become 引越; 申し込みの becomes 申込の; 終わる becomes 終る.
 */
#include "words/variants_rows.h"

#include <pthread.h>

#define HAN_FIRST 0x4E00
#define HAN_COUNT 0x5200

/* A kana that may be left out before another Hiragana. */
static const char inner_text[] =
    "終わ 変わ 代わ 替わ 換わ 合わ 関わ 起こ 当た 生ま 分か 落と 聞こ 向か 捕ら 集ま 積も 済ま 交わ 始ま 止ま 泊ま "
    "決ま 定ま 下が 上が 少な 危な 押さ 助か 預か 授か 受か 掛か 架か 懸か 勤ま 務ま 向こ";

/* The first part of a compound, whose okurigana are left out before the Han character of a second part. */
static const char first_text[] =
    "引っ 引き 申し 取り 取っ 受け 打ち 打っ 問い 払い 買い 貸し 繰り 組み 切り 切っ 立ち 立て 書き 読み 売り 締め "
    "乗り 乗っ 割り 割っ 持ち 積み 届け 入れ 入り 備え 振り 呼び 追い 追っ 差し 突き 突っ 飛び 押し 落ち 落し 当て "
    "当り 焼き 煮 食べ 飲み 張り 貼り 掛け 掛り 聞き 言い 話し 使い 作り 造り 洗い 吹き 植え 釣り 編み 織り 染め "
    "刷り 踏み 投げ 抜き 巻き 折り 曲げ 並べ 並び 重ね 預け 預り 借り 返し 譲り 渡し 移り 移し 上り 上げ 下げ 下り "
    "降り 登り 歩き 走り 泣き 生き 起き 浮き 流れ 流し 溶け 混ぜ 合せ 合い 待ち 送り 迎え 置き 据え 付け 付き 着き "
    "絞り 決め 請け 試し 見せ 向き 向い 寄せ 寄り 回り 回し 巡り 戻り 戻し 残り 残し 消し 滑り 育て 覚え 思い 考え "
    "願い 遊び 遅れ 暮し 暮れ 明け 開け 閉じ 終り 始め 止め 止り 泊り 住み 働き 休み 勤め 締 見 手 支 居 寝 着 出 "
    "経 片 値 名 口 仕 日 気 裏 後 前 先 荷 目 腰 色 船 車 金 水 火 雨 雪 草 花 田 墓 種 山 川 糸 紙 道 宛 割 引 "
    "申 取 受 打 問 払 買 貸 繰 組 切 立 書 読 売 乗 持 積 届 入 備 振 呼 追 差 突 飛 押 落 当 焼 張 掛 聞 使 作 "
    "植 抜 巻 折 並 重 預 借 返 譲 渡 移 上 下 待 送 迎 置 据 付 決 請 試 向 寄 回 巡 戻 残 思 止 泊 住 建 建て "
    "折れ 乗せ 盛り 盛 詰め 詰 埋め 埋 言 話 語り 語 踊り 踊 祭り 祭 跳ね 蹴り 走 歩 割れ 漏れ 触れ 触 擦り 擦 "
    "塗り 塗 炒め 揚げ 蒸し 漬け 漬 干し 干 刺し 縫い 縫 束ね 結び 結 括り 絡み 溜め 貯め 溜 蓄え 蓄 狙い 扱い 願 "
    "考 行き 行 帰り 帰 来";

/* The second part of a compound with the okurigana that are left out at the end of the noun. A row without okurigana
 * is a noun. */
static const char second_text[] =
    "越し 込み 消し 付け 付き 合せ 合い 会い 積り 戻し 戻り 出し 返し 返り 替え 換え 代え 上げ 上り 下げ 下り 払い "
    "切り 続き 引き 迎え 持ち 立て 立ち 扱い 届け 入れ 入り 備え 振り 当て 抜き 抜け 取り 組み 掛け 張り 直し 直り "
    "回し 回り 渡し 落し 置き 止め 止り 留め 留り 起し 寄せ 寄り 放し 離し 離れ 崩し 壊し 外し 外れ 終り 始め 過ぎ "
    "損い 忘れ 残り 残し 決め 詰め 締め 絞り 縮め 集め 分け 分れ 別れ 割り 割れ 折り 曲げ 畳み 巻き 敷き 焼き 炊き "
    "煮 揚げ 漬け 干し 流し 流れ 浮き 沈み 揺れ 倒し 倒れ 破り 破れ 裂き 刻み 刺し 刷り 書き 読み 聞き 話し 言い "
    "渡り 通し 通り 歩き 走り 飛び 跳ね 乗せ 乗り 降り 降し 降ろし 下ろし 卸し 送り 開け 開き 閉じ 閉め 明け 暮し "
    "暮れ 足し 引け 行き 来 帰り 売り 買い 貸し 借り 請け 負い 受け 託し 預け 任せ 従い 遅れ 進み 進め 押し 突き "
    "打ち 叩き 継ぎ 接ぎ 繋ぎ 結び 縫い 編み 染め 塗り 拭き 洗い 磨き 掃き 植え 刈り 狩り 釣り 採り 拾い 捨て 落ち "
    "染み 滲み 積み 重ね 並べ 並び 増し 減り 抑え 押え 支え 控え 構え 整え 揃え 加え 伝え 教え 覚え 考え 思い 願い "
    "狙い 誘い 争い 戦い 競り 比べ 較べ 調べ 試し 計り 測り 違い 間 物 者 手 先 口 元 紙 帳 日 時 人 方 代 場 所 "
    "値 高 額 金 料 書 状 票 証 券 箱 袋 皿 板 棚 台 机 席 線 駅 道 橋 車 船 機 器 具 品 荷 米 味 粉 水 湯 火 油 "
    "家 屋 店 蔵 倉 庫 庭 畑 山 川 海 島 町 村 語り 踊り 祭り 働き 休み 住い 納め 見せ 崩れ 枯れ 晒し 晴れ 当り "
    "掛り 囲い 囲み 狂い 遊び";

static struct variant_rows inner, first, second;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static bool first_han[HAN_COUNT], second_han[HAN_COUNT]; /* the Han characters of the rows, by offset */

static void note_han(const struct variant_rows *rows, bool *han)
{
    for (unsigned i = 0; i < rows->count; i++)
        han[rows->rows[i].from[0] - HAN_FIRST] = true;
}

static void variants_okurigana_read_rows(void)
{
    variant_rows_read(&inner, inner_text);
    variant_rows_read(&first, first_text);
    variant_rows_read(&second, second_text);
    note_han(&first, first_han);
    note_han(&second, second_han);
}

static bool variants_okurigana_is_in(const bool *han, uint32_t code)
{
    return code >= HAN_FIRST && code < HAN_FIRST + HAN_COUNT && han[code - HAN_FIRST];
}

static bool has_script(const struct run_character *run, unsigned length, unsigned at, enum script script)
{
    return at < length && run[at].script == script;
}

static unsigned drop_inner(struct run_character *run, unsigned length)
{
    unsigned written = 0;
    for (unsigned at = 0; at < length;) {
        const struct variant_row *row = run[at].script == SCRIPT_HAN && has_script(run, length, at + 1, SCRIPT_HIRAGANA)
                                            ? variant_rows_find(&inner, run, length, at)
                                            : NULL;
        bool dropped = row != NULL && has_script(run, length, at + row->from_length, SCRIPT_HIRAGANA);
        run[written++] = run[at++];
        if (dropped)
            variants_drop(run, written, &run[at++]);
    }
    return written;
}

/* The number of kana after the Han character at `at` that the first part of a compound loses, or 0. */
static unsigned kana_of_first(const struct run_character *run, unsigned length, unsigned at)
{
    if (!variants_okurigana_is_in(first_han, run[at].code) || !has_script(run, length, at + 1, SCRIPT_HIRAGANA))
        return 0;
    const struct variant_row *row = variant_rows_find(&first, run, length, at);
    if (row == NULL || row->from_length == 1 || !has_script(run, length, at + row->from_length, SCRIPT_HAN))
        return 0;
    return variants_okurigana_is_in(second_han, run[at + row->from_length].code) ? row->from_length - 1U : 0;
}

static bool variants_okurigana_ends_noun(const struct run_character *run, unsigned length, unsigned at)
{
    return at >= length || run[at].script != SCRIPT_HIRAGANA ||
           variants_one_of(run[at].code, "のをがはにでともへやかな");
}

/* The same of the second part, whose first part ends right before it. */
static unsigned kana_of_second(const struct run_character *run, unsigned length, unsigned at)
{
    if (!variants_okurigana_is_in(second_han, run[at].code) || !has_script(run, length, at + 1, SCRIPT_HIRAGANA))
        return 0;
    const struct variant_row *row = variant_rows_find(&second, run, length, at);
    if (row == NULL || row->from_length == 1 || !variants_okurigana_ends_noun(run, length, at + row->from_length))
        return 0;
    return row->from_length - 1U;
}

unsigned variants_okurigana(struct run_character *run, unsigned length)
{
    pthread_once(&once, variants_okurigana_read_rows);
    length = drop_inner(run, length);
    unsigned written = 0;
    bool joined = false; /* the character before is the first part of a compound */
    for (unsigned at = 0; at < length;) {
        bool han = run[at].script == SCRIPT_HAN;
        unsigned kana = han ? kana_of_first(run, length, at) : 0;
        if (kana == 0 && han && joined)
            kana = kana_of_second(run, length, at);
        joined = han && variants_okurigana_is_in(first_han, run[at].code) &&
                 (kana > 0 || has_script(run, length, at + 1, SCRIPT_HAN));
        run[written++] = run[at++];
        for (; kana > 0; kana--)
            variants_drop(run, written, &run[at++]);
    }
    return written;
}
