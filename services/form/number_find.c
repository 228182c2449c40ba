/* Which numbers of an answer are its value. */
#include "form/numbers.h"

#include <string.h>

#define WORD_MAX 40 /* characters of a word behind a number that is compared with the label */

/* Units and counters that may follow a number; the value is kept without them. */
static const char *const units[] = {
    "円",        "万円",      "ドル",         "ユーロ",     "ポンド",  "人",       "名",
    "名様",      "個",        "コ",           "件",         "台",      "本",       "枚",
    "冊",        "匹",        "杯",           "軒",         "階",      "歳",       "才",
    "さい",      "回",        "度",           "点",         "セット",  "箱",       "袋",
    "足",        "着",        "席",           "部屋",       "部",      "室",       "社",
    "店",        "つ",        "キロ",         "キログラム", "グラム",  "メートル", "センチ",
    "ミリ",      "リットル",  "パーセント",   "kg",         "g",       "mg",       "km",
    "m",         "cm",        "mm",           "l",          "ml",      "gb",       "mb",
    "tb",        "%",         "usd",          "jpy",        "eur",     "gbp",      "yen",
    "dollar",    "dollars",   "bucks",        "euro",       "euros",   "pound",    "pounds",
    "cents",     "percent",   "per cent",     "people",     "persons", "person",   "guests",
    "adults",    "times",     "time",         "pieces",     "items",   "units",    "pcs",
    "years old", "year old",  "years of age", "yrs old",    "yo",      "y/o",      "kilos",
    "kilo",      "kilograms", "kilometers",   "kilometres", "meters",  "metres",   "miles",
    "feet",      "inches",    "lbs",          "lb",         "grams",   "liters",   "litres",
    "points",    "of them",   "in total",     "altogether", "in all",  "ひき",     "にん",
    "円くらい",  "円ほど",    "ひと",         NULL};

/* Units of time: dates and times have them too, so the form's own words must speak of them. */
static const struct {
    const char *unit, *words; /* the form's words, separated by '|' */
} timely[] = {
    {"年間", "年"},
    {"年", "年"},
    {"ヶ月", "月"},
    {"か月", "月"},
    {"カ月", "月"},
    {"ヵ月", "月"},
    {"箇月", "月"},
    {"週間", "週"},
    {"日間", "日"},
    {"日", "日数|何日|日間"},
    {"時間", "時間"},
    {"分間", "分"},
    {"分", "何分|分数|分間|時間(分)"},
    {"秒", "秒"},
    {"泊", "泊"},
    {"years", "year|long|age|experience"},
    {"year", "year|long|age|experience"},
    {"months", "month|long"},
    {"month", "month|long"},
    {"weeks", "week|long"},
    {"week", "week|long"},
    {"days", "day|long"},
    {"day", "day|long"},
    {"hours", "hour|long"},
    {"hour", "hour|long"},
    {"minutes", "minute|long"},
    {"nights", "night|long"},
    {"night", "night|long"},
};

/* Words behind a number that change its meaning. */
static const char *const bounds_after[] = {
    "以上",    "以下",      "未満",   "超",     "を超え",   "代",      "過ぎ",     "すぎ",
    "弱",      "強",        "番目",   "回目",   "人目",     "つ目",    "か",       "から",
    "〜",      "~",         "ないし", "か月後", "位",       "前後",    "or",       "to",
    "or more", "or less",   "or so",  "plus",   "+",        "and up",  "and over", "-ish",
    "ish",     "something", "odd",    "st",     "nd",       "rd",      "th",       "s",
    "より多",  "より少",    "より上", "より下", "台後半",   "分の",    "倍",       "割",
    "号",      "番",        "丁目",   "番地",   "or fewer", "at most", "at least", "and a quarter",
    "/",       ":",         NULL};
static const char *const bounds_before[] = {
    "more than",  "less than",  "over",   "under",      "at least", "at most",  "up to",        "above",
    "below",      "almost",     "nearly", "fewer than", "between",  "from",     "no more than", "no less than",
    "maximum of", "minimum of", "no.",    "number",     "room",     "floor",    "than",         "from about",
    "第",         "最大",       "最低",   "最高",       "最小",     "せいぜい", "少なくとも",   "多くて",
    "version",    "#",          "least",  "half of",    "half a",   "half",     "every",        "next",
    "last",       "section",    "step",   "question",   "page",     "that",     "this",         "another",
    "other",      "some",       "any",    "each",       "which",    NULL};

static bool form_says(const struct reading *in, const char *words)
{
    const char *label = in->spec->label, *intent = in->spec->intent;
    for (const char *at = words;;) {
        char word[32];
        size_t length = strcspn(at, "|");
        if (length < sizeof(word)) {
            memcpy(word, at, length);
            word[length] = '\0';
            if (strcasestr(label, word) || strcasestr(intent, word))
                return true;
        }
        if (at[length] == '\0')
            return false;
        at += length + 1;
    }
}

/* Whether the unit of time at `i` fits the field. *end is behind the unit, or `i` if there is no unit. */
static bool timely_at(const struct reading *in, size_t i, size_t *end)
{
    size_t longest = 0, which = 0;
    for (size_t unit = 0; unit < sizeof(timely) / sizeof(*timely); unit++) {
        size_t after = word_at(in, i, timely[unit].unit);
        which = after > longest ? unit : which;
        longest = after > longest ? after : longest;
    }
    *end = longest ? longest : i;
    return !longest || form_says(in, timely[which].words);
}

/* A word of the field's label: "5 laptops" of "How many laptops?". */
static bool label_has(const struct reading *in, size_t first, size_t end)
{
    char word[64];
    size_t length = in->in.at[end - 1].end - in->in.at[first].begin;
    if (length < 3 || length >= sizeof(word))
        return false;
    memcpy(word, in->in.text + in->in.at[first].begin, length);
    word[length] = '\0';
    if (strcasestr(in->spec->label, word) || strcasestr(in->spec->intent, word))
        return true;
    word[length - 1] = '\0'; /* "laptops" of "laptop" */
    return length > 4 && (strcasestr(in->spec->label, word) || strcasestr(in->spec->intent, word));
}

/* Whether a number may stand before the text at `i`: a unit, the end or grammar; not a noun that the field does not
 * count. *unit_end is behind the unit, or `i`. */
static bool may_be_followed(const struct reading *in, size_t i, enum number_kind kind, size_t *unit_end)
{
    size_t after;
    size_t at = skip_spaces(in, i), unit = words_at(in, at, units, NULL);
    if (!timely_at(in, at, &after))
        return false;
    after = unit > after ? unit : after;
    *unit_end = after > at ? after : i;
    if (after > at && words_at(in, skip_spaces(in, after), bounds_after, NULL))
        return false;
    if (after > at)
        return true;
    uint32_t next = code_at(in, at);
    size_t end = at, most = at + WORD_MAX;
    switch (script_of(next)) {
    case SCRIPT_LETTER:
        while (end < most && (script_of(code_at(in, end)) == SCRIPT_LETTER || code_at(in, end) == '\''))
            end++;
        return at > i && (reading_is_filler(in, at, end, NULL) || label_has(in, at, end) ||
                          word_at(in, at, "because") || word_at(in, at, "but"));
    case SCRIPT_HAN:
        while (end < most && script_of(code_at(in, end)) == SCRIPT_HAN)
            end++;
        return label_has(in, at, end);
    case SCRIPT_KATAKANA:
        while (end < most && script_of(code_at(in, end)) == SCRIPT_KATAKANA)
            end++;
        return label_has(in, at, end);
    case SCRIPT_HIRAGANA:
        return kind != NUMBER_HAN || words_at(in, at,
                                              (const char *const[]){"です", "だ", "で", "に", "でした", "ぐらい",
                                                                    "くらい", "ほど", "ね", "よ", "になり", NULL},
                                              NULL);
    default:
        return true;
    }
}

/* ひとつ, ふたり: numbers that are words of their own. */
static size_t kana_count_at(const struct reading *in, size_t i, int *value)
{
    static const char *const words[] = {"ゼロ",   "ひとつ", "ふたつ",   "みっつ", "よっつ", "いつつ", "むっつ",
                                        "ななつ", "やっつ", "ここのつ", "ひとり", "ふたり", NULL};
    static const int values[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2};
    size_t which, end = words_at(in, i, words, &which);
    if (end)
        *value = values[which];
    return end;
}

/* Whether the number stands by itself: no part of a word, a date, a telephone number or a range. */
static bool number_stands_alone(const struct reading *in, size_t first, size_t end)
{
    uint32_t before = first > 0 ? code_at(in, first - 1) : 0, after = code_at(in, end), next = code_at(in, end + 1);
    if (code_is_latin(before) || code_is_digit(before) || before == '/' || before == ':' || before == '.' ||
        before == '@' || before == '_')
        return false;
    if (before == '-' && first > 1 && !is_space(code_at(in, first - 2)))
        return false;
    if ((before == '~' || before == 0x301C) && first > 1)
        return false;
    return !((after == '-' || after == '/' || after == ':' || after == '.') &&
             (code_is_digit(next) || code_is_latin(next))) &&
           after != '~' && after != 0x301C && after != '@' && after != '_';
}

static bool number_han_stands_alone(const struct reading *in, size_t first)
{
    return first == 0 || script_of(code_at(in, first - 1)) != SCRIPT_HAN ||
           words_before(in, first, (const char *const[]){"約", "計", "合計", "税込", "金", "年収", "各", NULL}) !=
               SIZE_MAX;
}

void numbers_find(const struct reading *in, struct candidates *out)
{
    static const char *const money[] = {"$", "¥", "€", "£", NULL};
    for (size_t i = 0; i < in->in.count;) {
        int counted;
        char text[DECIMAL_TEXT_MAX];
        bool starts = i == 0 || !code_is_latin(code_at(in, i - 1)) || !code_is_latin(code_at(in, i));
        struct number number = starts ? number_at(in, i) : (struct number){.kind = NUMBER_NONE};
        size_t kana = number.kind == NUMBER_NONE ? kana_count_at(in, i, &counted) : 0;
        if (kana)
            number = (struct number){.kind = NUMBER_WORDS, .value = {.units = counted}, .end = kana};
        if (number.kind == NUMBER_NONE) {
            i++;
            continue;
        }
        size_t first = words_at(in, i, money, NULL) ? i + 1 : i;
        bool bad = number.kind == NUMBER_BAD || !number_stands_alone(in, first, number.end) ||
                   words_at(in, skip_spaces(in, number.end), bounds_after, NULL) ||
                   words_before(in, first, bounds_before) != SIZE_MAX;
        size_t end = number.end;
        bool other = !may_be_followed(in, number.end, number.kind, &end) ||
                     (number.kind == NUMBER_HAN && !number_han_stands_alone(in, first));
        decimal_print(number.value, text);
        if (bad && number.kind != NUMBER_WORDS)
            candidate_add(out, first, number.end, FORM_NOT_A_NUMBER, "");
        else if (!bad && !other)
            candidate_add(out, first, end, FORM_FINE, arena_strdup(in->arena, text));
        i = number.end;
        while (bad && (code_is_digit(code_at(in, i)) ||
                       ((code_at(in, i) == '.' || code_at(in, i) == ',') && code_is_digit(code_at(in, i + 1)))))
            i++;
    }
}
