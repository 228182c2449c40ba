/* Japanese questions. The question word decides the type together with the word behind it (何年, どの国) or, in a
 * question like 首都は何ですか, with the noun before は. The last question word of the sentence counts. */
#include "words/asked_ja_priv.h"

#include <stddef.h>
#include <string.h>

enum ja_kind {
    JA_TYPE,   /* the type of the row */
    JA_TOPIC,  /* the type of the row, unless the noun before は tells more: どこ, いくら */
    JA_WHAT,   /* 何 */
    JA_WHICH,  /* a noun follows: どの */
    JA_SORT,   /* a noun follows: どのような */
    JA_AMOUNT, /* どれくらい */
    JA_SIDE,   /* どちら: a comparison, or a polite どこ */
};

struct ja_word {
    const char *word;
    enum ja_kind kind;
    enum asked_type type;
};

/* Of two words with the same beginning the longer one comes first. */
static const struct ja_word ja_words[] = {
    {"何のために", JA_TYPE, ASKED_WHY},
    {"なんのために", JA_TYPE, ASKED_WHY},
    {"何が原因", JA_TYPE, ASKED_WHY},
    {"何がきっかけ", JA_TYPE, ASKED_WHY},
    {"何故", JA_TYPE, ASKED_WHY},
    {"何処", JA_TOPIC, ASKED_PLACE},
    {"何時頃", JA_TYPE, ASKED_DATE},
    {"何者", JA_TYPE, ASKED_PERSON},
    {"何という", JA_WHICH, ASKED_NAME},
    {"何といい", JA_TYPE, ASKED_NAME},
    {"何といっ", JA_TYPE, ASKED_NAME},
    {"何と言", JA_TYPE, ASKED_NAME},
    {"何と呼", JA_TYPE, ASKED_NAME},
    {"何とよ", JA_TYPE, ASKED_NAME},
    {"何と称", JA_TYPE, ASKED_NAME},
    {"何と名", JA_TYPE, ASKED_NAME},
    {"何て呼", JA_TYPE, ASKED_NAME},
    {"何ていう", JA_WHICH, ASKED_NAME},
    {"何に改", JA_TYPE, ASKED_NAME},
    {"何に変", JA_TYPE, ASKED_NAME},
    {"何の", JA_WHICH, ASKED_NAME},
    {"何", JA_WHAT, ASKED_ANYTHING},
    {"なんという", JA_WHICH, ASKED_NAME},
    {"なんと呼", JA_TYPE, ASKED_NAME},
    {"なんと言", JA_TYPE, ASKED_NAME},
    {"なんですか", JA_WHAT, ASKED_ANYTHING},
    {"なんでしょう", JA_WHAT, ASKED_ANYTHING},
    {"なんでした", JA_WHAT, ASKED_ANYTHING},
    {"なんで", JA_TYPE, ASKED_WHY},
    {"なに", JA_WHAT, ASKED_ANYTHING},
    {"なぜ", JA_TYPE, ASKED_WHY},
    {"どうして", JA_TYPE, ASKED_WHY},
    {"どうやって", JA_TYPE, ASKED_HOW},
    {"どうやり", JA_TYPE, ASKED_HOW},
    {"どうすれば", JA_TYPE, ASKED_HOW},
    {"どうすると", JA_TYPE, ASKED_HOW},
    {"どうしたら", JA_TYPE, ASKED_HOW},
    {"どうしま", JA_TYPE, ASKED_HOW},
    {"どうします", JA_TYPE, ASKED_HOW},
    {"どう違", JA_TYPE, ASKED_COMPARISON},
    {"どういった", JA_SORT, ASKED_NAME},
    {"どういう", JA_SORT, ASKED_NAME},
    {"どういうふうに", JA_TYPE, ASKED_HOW},
    {"どう", JA_TYPE, ASKED_ANYTHING},
    {"どのようにして", JA_TYPE, ASKED_HOW},
    {"どのように", JA_TYPE, ASKED_HOW},
    {"どのような", JA_SORT, ASKED_NAME},
    {"どのくらい", JA_AMOUNT, ASKED_QUANTITY},
    {"どのぐらい", JA_AMOUNT, ASKED_QUANTITY},
    {"どの程度", JA_AMOUNT, ASKED_QUANTITY},
    {"どの", JA_WHICH, ASKED_NAME},
    {"どれくらい", JA_AMOUNT, ASKED_QUANTITY},
    {"どれぐらい", JA_AMOUNT, ASKED_QUANTITY},
    {"どれほど", JA_AMOUNT, ASKED_QUANTITY},
    {"どれだけ", JA_AMOUNT, ASKED_QUANTITY},
    {"どれ", JA_TYPE, ASKED_NAME},
    {"どんな", JA_SORT, ASKED_NAME},
    {"どこの", JA_WHICH, ASKED_PLACE},
    {"どこ", JA_TOPIC, ASKED_PLACE},
    {"どちらの", JA_TYPE, ASKED_COMPARISON},
    {"どちら", JA_SIDE, ASKED_COMPARISON},
    {"どっち", JA_TYPE, ASKED_COMPARISON},
    {"どなた", JA_TYPE, ASKED_PERSON},
    {"誰", JA_TYPE, ASKED_PERSON},
    {"だれ", JA_TYPE, ASKED_PERSON},
    {"いつ頃", JA_TYPE, ASKED_DATE},
    {"いつ", JA_TYPE, ASKED_DATE},
    {"いくつ", JA_TOPIC, ASKED_QUANTITY},
    {"いくら", JA_TOPIC, ASKED_QUANTITY},
    {"幾つ", JA_TOPIC, ASKED_QUANTITY},
    {"幾ら", JA_TOPIC, ASKED_QUANTITY},
    {"いずれ", JA_TYPE, ASKED_NAME},
};

/* ---- the question word ------------------------------------------------------------------------------------------- */

/* True for 何か and 誰も, which do not ask: か ends a sentence only after a question word that asks. */
static bool ja_indefinite(const struct asked_letters *letters, size_t at, size_t end)
{
    static const char *const goes_on[] = {"教",   "を教", "答",     "を答", "説明",   "を説明", "知り", "を知", "分か",
                                          "わか", "述べ", "を述べ", "調べ", "を調べ", "示",     "を示", NULL};
    uint32_t code = ja_code(letters, at);
    if (at >= end)
        return false;
    if (code == 0x3082) /* も, but not 何のもの */
        return ja_code(letters, at - 1) != JA_NO;
    if (code == 0x3067 && ja_code(letters, at + 1) == 0x3082) /* でも */
        return true;
    static const char *const counted[] = {"か国", "か月", "か所", "か年", "か条", "か村", "か寺", "か店", "か町", NULL};
    if (code != 0x304B || asked_stands_any(letters, at, end, counted)) /* か */
        return false;
    uint32_t after = at + 1 < end ? ja_code(letters, at + 1) : 0;
    if (after == 0x304B) /* どのくらいかかりますか */
        return false;
    bool from = after == 0x3089; /* から */
    bool ends = from || after == 0 || after == '?' || after == 0x3002 || after == 0x306A || after == 0x3001;
    return !ends && !asked_stands_any(letters, at + 1, end, goes_on);
}

static const struct ja_word *ja_word_at(const struct asked_letters *letters, size_t at, size_t end, size_t *taken)
{
    for (size_t i = 0; i < sizeof ja_words / sizeof *ja_words; i++)
        if ((*taken = asked_stands(letters, at, end, ja_words[i].word)))
            return &ja_words[i];
    return NULL;
}

/* いつ is not part of いつつ; どの is not part of ほどの, nor どう of ぶどう. */
static bool ja_word_begins(const struct ja_sentence *in, size_t at)
{
    uint32_t before = at > in->begin ? ja_code(in->letters, at - 1) : 0;
    return !(script_of(ja_code(in->letters, at)) == SCRIPT_HIRAGANA &&
             (before == 0x307B || before == 0x3076 || before == 0x3051 || before == 0x3061));
}

static const struct ja_word *ja_find(struct ja_sentence *in)
{
    const struct ja_word *found = NULL;
    for (size_t at = in->begin; at < in->end;) {
        size_t taken, next = ja_after_bracket(in->letters, at, in->end);
        const struct ja_word *word = next == at ? ja_word_at(in->letters, at, in->end, &taken) : NULL;
        if (!word || !ja_word_begins(in, at) || ja_indefinite(in->letters, at + taken, in->end)) {
            at = next > at ? next : at + 1;
            continue;
        }
        bool vague = found && word->type == ASKED_ANYTHING && word->kind == JA_TYPE; /* どう after another word */
        if (!vague) {
            found = word;
            in->word = (struct asked_part){at, at + taken};
        }
        at += taken;
        if (word->kind == JA_WHAT && ja_code(in->letters, at) && ja_is_noun(ja_code(in->letters, at)))
            while (at < in->end && (ja_is_noun(ja_code(in->letters, at)))) /* 何時何分 is one word */
                at++;
    }
    return found;
}

/* ---- types ------------------------------------------------------------------------------------------------------- */

/* Whether the sentence ends behind the question word: 何ですか, いつ. */
static bool ja_is_copular(const struct ja_sentence *in, size_t at)
{
    static const char *const tails[] = {"です",   "でし", "でしょ", "だ",   "か",   "?",  "。", "なの",
                                        "である", "にな", "を教",   "なん", "であ", "ね", NULL};
    static const char *const goes_on[] = {"から", NULL};
    return at >= in->end ||
           (asked_stands_any(in->letters, at, in->end, tails) && !asked_stands_any(in->letters, at, in->end, goes_on));
}

/* Whether と quotes the question word, which asks for a name then: 何と追記しますか, 何として参照されますか. */
static bool ja_quotes(const struct ja_sentence *in, size_t at)
{
    static const char *const others[] = {"とか", "とも", "と何", "とな", "とい", NULL};
    return asked_stands(in->letters, at, in->end, "と") && at + 1 < in->end &&
           !asked_stands_any(in->letters, at, in->end, others);
}

/* Whether た ends a verb: 消えましたか, 建てられたのは. */
static bool ja_is_past(const struct ja_sentence *in)
{
    static const char *const ends[] = {"たか", "たの", "た年", "た時", "た日", "た。", "た?", "たで", NULL};
    for (size_t at = in->begin; at < in->end; at++)
        if (asked_stands_any(in->letters, at, in->end, ends) ||
            (at + 1 == in->end && asked_stands(in->letters, at, in->end, "た")))
            return true;
    return false;
}

/* どこまで深く and どこまで拡大できる ask for an extent; どこまで行く for a place. */
static bool ja_is_extent(const struct ja_sentence *in, size_t at)
{
    size_t after = at + asked_stands(in->letters, at, in->end, "まで");
    if (after == at)
        return false;
    while (after < in->end && ja_is_noun(ja_code(in->letters, after)))
        after++;
    static const char *const degrees[] = {"く", "でき", "しく", NULL};
    return asked_stands_any(in->letters, after, in->end, degrees) && !asked_stands(in->letters, after, in->end, "くか");
}

static void ja_take(struct asked *asked, const struct asked_word *word)
{
    asked->type = word->type;
    asked->unit = word->unit;
}

/* 年 in 何年前 and 何年がかり is a duration; 何日で消えますか and 何日保存されますか ask for one, too. A particle
 * stands before the verb of a date: 何日に残しますか. */
static bool ja_is_span_of_time(const struct ja_sentence *in, size_t at)
{
    static const char *const tails[] = {
        "間",   "がかり", "かか", "掛",     "かけ", "前",     "ぶり", "続",   "後",   "ほど", "もの", "経", "以上",
        "以内", "もら",   "生き", "にわた", "にも", "足らず", "過ご", "保",   "有効", "必要", "滞在", "残", "待",
        "使",   "維持",   "継続", "猶予",   "住",   "働",     "勤",   "在籍", "在任", "休め", "延",   "分", NULL};
    static const char *const dates[] = {"でし", "です", "であ", "でしょ", NULL};
    return asked_stands_any(in->letters, at, in->end, tails) ||
           (ja_code(in->letters, at) == 0x3067 && !asked_stands_any(in->letters, at, in->end, dates));
}

/* 何度使えますか, 年に何度: a verb behind 度, or a span of time before it, asks for times, not degrees. */
static bool ja_is_often(const struct ja_sentence *in, size_t at)
{
    static const char *const spans[] = {"年に", "月に", "日に", "週に", NULL};
    static const char *const degrees[] = {"以", "上", "下", "前", "目", NULL};
    size_t begin = in->word.begin;
    return (begin >= in->begin + 2 && asked_stands_any(in->letters, begin - 2, begin, spans)) ||
           (script_of(ja_code(in->letters, at)) == SCRIPT_HAN && !asked_stands_any(in->letters, at, in->end, degrees));
}

/* 何 with a counter or a noun behind it. False if neither follows. */
static bool ja_read_counted(struct ja_sentence *in, struct asked *asked)
{
    const struct asked_letters *letters = in->letters;
    size_t at = in->word.end, taken;
    while (at < in->end && script_of(ja_code(letters, at)) == SCRIPT_SPACE)
        at++;
    const struct asked_word *counter = asked_longest(asked_counters_ja, letters, at, in->end, &taken);
    size_t noun = at;
    while (noun < in->end && ja_is_noun(ja_code(letters, noun)))
        noun++;
    bool hiragana = counter && script_of(ja_code(letters, at)) == SCRIPT_HIRAGANA;
    if (hiragana && taken == 1 && ja_code(letters, at) == 0x304B && !ja_is_noun(ja_code(letters, at + 1)))
        return false; /* 何か */
    if (counter && asked_stands(letters, at, in->end, "時代"))
        counter = NULL;
    if (counter) {
        ja_take(asked, counter);
        if (asked_stands(letters, at, in->end, "度") == taken && ja_is_often(in, at + taken))
            asked->unit = ASKED_UNIT_TIMES;
        asked->counter = asked_span(letters, (struct asked_part){at, at + taken});
        if (counter->type == ASKED_DATE && counter->unit != ASKED_UNIT_MONTH && taken == 1 &&
            ja_is_span_of_time(in, at + taken)) {
            asked->type = ASKED_DURATION;
            asked->unit = ASKED_UNIT_TIME;
        }
        bool rank = ja_code(letters, at + taken) == 0x76EE; /* 目 */
        if (rank)
            asked->unit = ASKED_UNIT_RANK;
        in->word.end = at + taken;
        return true;
    }
    if (noun == at)
        return false;
    bool katakana = script_of(ja_code(letters, at)) == SCRIPT_KATAKANA;
    const struct asked_word *class = asked_ending(asked_nouns_ja, letters, at, noun);
    asked->type = class ? class->type : katakana ? ASKED_QUANTITY : ASKED_NAME;
    asked->unit = class ? class->unit : katakana ? ASKED_UNIT_THINGS : ASKED_UNIT_NONE;
    in->noun = (struct asked_part){at, noun};
    if (asked->type == ASKED_QUANTITY)
        asked->counter = asked_span(letters, in->noun);
    return true;
}

/* The noun behind どの and どんな decides. */
static void ja_read_class(struct ja_sentence *in, const struct ja_word *word, struct asked *asked)
{
    const struct asked_letters *letters = in->letters;
    size_t at = in->word.end, end = at;
    while (end < in->end && ja_is_noun(ja_code(letters, end)))
        end++;
    if (script_of(ja_code(letters, end)) == SCRIPT_HIRAGANA && ja_code(letters, end + 1) == 0x65B9) /* 使い方 */
        end = end + 2 <= in->end ? end + 2 : end;
    if (word->kind == JA_SORT && asked_stands(letters, at, in->end, "もの")) {
        asked->type = asked_stands(letters, at, in->end, "ものがあ") ? ASKED_LIST : ASKED_DEFINITION;
        return;
    }
    const struct asked_word *class = asked_ending(asked_nouns_ja, letters, at, end);
    asked->type = class ? class->type : end > at ? word->type : ASKED_ANYTHING;
    asked->unit = class ? class->unit : ASKED_UNIT_NONE;
    if (end == at && word->type == ASKED_PLACE)
        asked->type = ASKED_PLACE;
    if (end == at && word->type == ASKED_NAME && word->kind == JA_WHICH)
        asked->type = ASKED_NAME;
    in->noun = (struct asked_part){at, end};
}

static void ja_read_amount(const struct ja_sentence *in, struct asked_part focus, struct asked *asked)
{
    static const struct asked_word after[] = {
        {"の期間", ASKED_DURATION, ASKED_UNIT_TIME},    {"の間", ASKED_DURATION, ASKED_UNIT_TIME},
        {"の時間", ASKED_DURATION, ASKED_UNIT_TIME},    {"時間", ASKED_DURATION, ASKED_UNIT_TIME},
        {"かか", ASKED_DURATION, ASKED_UNIT_TIME},      {"で届", ASKED_DURATION, ASKED_UNIT_TIME},
        {"前", ASKED_DURATION, ASKED_UNIT_TIME},        {"続", ASKED_DURATION, ASKED_UNIT_TIME},
        {"冷蔵庫", ASKED_DURATION, ASKED_UNIT_TIME},    {"保存", ASKED_DURATION, ASKED_UNIT_TIME},
        {"の人", ASKED_QUANTITY, ASKED_UNIT_PEOPLE},    {"の高さ", ASKED_QUANTITY, ASKED_UNIT_LENGTH},
        {"の長さ", ASKED_QUANTITY, ASKED_UNIT_LENGTH},  {"の距離", ASKED_QUANTITY, ASKED_UNIT_LENGTH},
        {"の広さ", ASKED_QUANTITY, ASKED_UNIT_AREA},    {"の面積", ASKED_QUANTITY, ASKED_UNIT_AREA},
        {"の重さ", ASKED_QUANTITY, ASKED_UNIT_MASS},    {"の速", ASKED_QUANTITY, ASKED_UNIT_SPEED},
        {"の割合", ASKED_QUANTITY, ASKED_UNIT_PERCENT}, {"の頻度", ASKED_QUANTITY, ASKED_UNIT_TIMES},
        {"離れ", ASKED_QUANTITY, ASKED_UNIT_LENGTH},    {"の費用", ASKED_QUANTITY, ASKED_UNIT_MONEY},
        {"の大きさ", ASKED_QUANTITY, ASKED_UNIT_NONE},  {"安い", ASKED_QUANTITY, ASKED_UNIT_MONEY},
        {"高い", ASKED_QUANTITY, ASKED_UNIT_LENGTH},    {"深い", ASKED_QUANTITY, ASKED_UNIT_LENGTH},
        {"遠い", ASKED_QUANTITY, ASKED_UNIT_LENGTH},    {"近い", ASKED_QUANTITY, ASKED_UNIT_LENGTH},
        {"広い", ASKED_QUANTITY, ASKED_UNIT_AREA},      {"狭い", ASKED_QUANTITY, ASKED_UNIT_AREA},
        {"重い", ASKED_QUANTITY, ASKED_UNIT_MASS},      {"軽い", ASKED_QUANTITY, ASKED_UNIT_MASS},
        {"速い", ASKED_QUANTITY, ASKED_UNIT_SPEED},     {.word = NULL},
    };
    size_t taken;
    const struct asked_word *word = asked_longest(after, in->letters, in->word.end, in->end, &taken);
    if (!word && !ja_part_is_empty(focus))
        word = asked_ending(asked_nouns_ja, in->letters, focus.begin, focus.end);
    if (!word)
        word = asked_ending(asked_nouns_ja, in->letters, in->topic.begin, in->topic.end);
    asked->type = ASKED_QUANTITY;
    if (word && (word->type == ASKED_QUANTITY || word->type == ASKED_DURATION))
        ja_take(asked, word);
}

/* Whether what is before は and before 何 may be defined: not 見たのは何, すべきことは何, それは花の何 and 略すと何. */
static bool ja_names_thing(const struct ja_sentence *in)
{
    static const char *const vague[] = {"の", "こと", "もの", NULL};
    size_t end = in->topic.end;
    if (in->word.begin >= in->begin + 2 && asked_stands(in->letters, in->word.begin - 2, in->end, "って"))
        return true;
    bool empty = ja_part_is_empty(in->topic) || asked_stands_any(in->letters, end - 1, end, vague) ||
                 (end > in->topic.begin + 1 && asked_stands_any(in->letters, end - 2, end, vague));
    return !empty && ja_code(in->letters, in->word.begin - 1) != JA_NO;
}

/* 首都は何ですか, 大学はどこですか: the noun before は tells the type. */
static void ja_read_by_focus(const struct ja_sentence *in, const struct ja_word *word, struct asked_part focus,
                             struct asked_part subject, struct asked *asked)
{
    struct asked_part noun = ja_part_is_empty(focus) ? subject : focus;
    const struct asked_word *class = asked_ending(asked_nouns_ja, in->letters, noun.begin, noun.end);
    bool copular = ja_is_copular(in, in->word.end);
    if (word->kind == JA_WHAT && ja_quotes(in, in->word.end)) {
        asked->type = ASKED_NAME;
        return;
    }
    if (word->kind == JA_WHAT) {
        bool list = asked_stands(in->letters, in->word.end, in->end, "があ") > 0;
        bool alone = ja_part_is_empty(focus) && ja_names_thing(in);
        asked->type = list ? ASKED_LIST : !copular ? ASKED_ANYTHING : alone ? ASKED_DEFINITION : ASKED_NAME;
        if (copular && class && !ja_part_is_empty(noun))
            ja_take(asked, class);
        return;
    }
    asked->type = word->type;
    asked->unit = strcmp(word->word, "いくら") == 0 ? ASKED_UNIT_MONEY : ASKED_UNIT_NONE;
    if (class && class->type == word->type)
        asked->unit = class->unit;
    if (class && copular && word->type == ASKED_PLACE && class->type == ASKED_PERSON)
        asked->type = ASKED_PERSON;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static void ja_read_type(struct ja_sentence *in, const struct ja_word *word, struct asked_part focus,
                         struct asked_part subject, struct asked *asked)
{
    asked->type = word->type;
    switch (word->kind) {
    case JA_WHAT:
        if (!ja_read_counted(in, asked))
            ja_read_by_focus(in, word, focus, subject, asked);
        break;
    case JA_TOPIC:
        if (word->type == ASKED_PLACE && ja_is_extent(in, in->word.end))
            asked->type = ASKED_QUANTITY;
        else
            ja_read_by_focus(in, word, focus, subject, asked);
        break;
    case JA_WHICH:
    case JA_SORT:
        ja_read_class(in, word, asked);
        break;
    case JA_AMOUNT:
        ja_read_amount(in, focus, asked);
        break;
    case JA_SIDE:
        if (!ja_part_is_empty(focus) && asked_ending(asked_nouns_ja, in->letters, focus.begin, focus.end) &&
            ja_is_copular(in, in->word.end))
            asked->type = ASKED_PLACE;
        break;
    case JA_TYPE:
        if (word->type == ASKED_DATE && !ja_is_past(in)) /* いつ消えますか: on a day, or after some days */
            asked->unit = ASKED_UNIT_TIME;
        break;
    }
}

bool asked_read_ja(const struct asked_letters *letters, struct asked_part sentence, struct asked *asked)
{
    struct ja_sentence in = {.letters = letters, .begin = sentence.begin, .end = sentence.end};
    struct asked_part focus = {0, 0}, subject = {0, 0};
    const struct ja_word *word = ja_find(&in);
    if (!word)
        return ja_read_request(&in, asked);
    ja_find_topic(&in, in.word.begin);
    if (!ja_part_is_empty(in.topic))
        ja_split_topic(letters, in.topic, &focus, &subject);
    ja_read_type(&in, word, focus, subject, asked);
    if (ja_part_is_empty(in.topic)) {
        size_t end = in.word.begin > in.begin ? in.word.begin : in.end;
        size_t begin = in.word.begin > in.begin ? in.begin : ja_part_is_empty(in.noun) ? in.word.end : in.noun.end;
        subject = ja_marked(letters, (struct asked_part){begin, end});
    }
    if (asked->type == ASKED_COMPARISON && !ja_part_is_empty(in.topic))
        ja_compared(letters, in.topic, &focus, &subject);
    if (!ja_part_is_empty(in.noun)) {
        if (!ja_part_is_empty(focus) && !ja_part_is_empty(subject) && subject.end < focus.begin)
            subject.end = focus.end; /* オランダの首都 of どの都市 */
        focus = in.noun;
    }
    asked->focus = asked_span(letters, focus);
    asked->subject = asked_span(letters, subject);
    asked_add_word(asked, letters, in.word);
    return true;
}
