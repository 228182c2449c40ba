/* The language of a question as far as its ways to compare go, and greetings. */
#include "split_priv.h"

#include "words/words.h"

#include <string.h>
#include <strings.h>

LIST(stops, "、", "，", ",", "。", "！", "!", ".", "♪", "^_^", ":)", ";");

/* Short questions have few function words, by which a language is recognised: "Parkett oder Laminat?". */
static const struct {
    enum language found_as, language;
    const char *words[5];
} joints[] = {
    {LANGUAGE_EN, LANGUAGE_DE, {" oder ", " als ", " und ", NULL}},
    {LANGUAGE_EN, LANGUAGE_FR, {" ou ", " est-", " et ", NULL}},
    {LANGUAGE_EN, LANGUAGE_ES, {"¿", " y ", NULL}},
    {LANGUAGE_FR, LANGUAGE_ES, {"¿", "ción ", NULL}},
    {LANGUAGE_ES, LANGUAGE_FR, {" et ", " ou ", NULL}},
};

static bool split_has_kana(struct text text)
{
    for (size_t i = 0; i + 1 < text.length; i++)
        if ((unsigned char)text.bytes[i] == 0xE3 && (unsigned char)text.bytes[i + 1] >= 0x81 &&
            (unsigned char)text.bytes[i + 1] <= 0x83)
            return true;
    return false;
}

enum language split_language(struct text question, bool japanese)
{
    static const char *const chinese[] = {"吗", "哪", "还是", "谁", "没有", "是不是", "是否", "比", "与", "和", NULL};
    static const char *const asks[] = {"どちら", "どっち", "いずれ", NULL}, *const ends[] = {"か", "か？", "か?", NULL};
    enum language language = language_of(question.bytes, question.length);
    struct text trimmed = split_trim(question, stops);
    bool whole = split_has(question, asks) || split_match_before(trimmed, trimmed.length, ends);
    if (language == LANGUAGE_EN &&
        whole) /* an English name in a Japanese question: "The BeatlesとThe Doorsはどちらが…" */
        return LANGUAGE_JA;
    language = language == LANGUAGE_EN && japanese ? LANGUAGE_JA : language;
    if (language == LANGUAGE_JA && !split_has_kana(question) && split_has(question, chinese))
        return LANGUAGE_ZH;
    for (size_t i = 0; i < sizeof joints / sizeof joints[0]; i++)
        if (joints[i].found_as == language && split_has(question, joints[i].words))
            return joints[i].language;
    return language;
}

/* ---- subjects ---------------------------------------------------------------------------------------------------- */

LIST(chinese_leaning, "它", "他", "她", "那", "这", "這", "其");
LIST(chinese_bare, "面积", "人口", "历史", "海拔", "高度", "长度", "价格", "时间", "地点", "什么", "哪", "谁", "怎么",
     "多", "为什么", "在哪", "何时", "需要", "可以", "能", "还", "会", "要", "是");
LIST(korean_leaning, "그 ", "그것", "그는", "그녀", "거기", "이것", "여기", "그들", "그곳", "저것");
LIST(korean_bare, "면적", "인구", "높이", "길이", "가격", "시간", "언제", "어디", "누가", "무엇", "왜", "어떻게",
     "얼마", "어느", "몇", "어떤");
LIST(european_leaning, "er", "sie", "es", "ihn", "ihm", "ihr", "ihre", "ihren", "sein", "seine", "seinen", "dort",
     "dabei", "danach", "dieser", "diese", "dieses", "il", "elle", "ils", "elles", "son", "sa", "ses", "leur", "leurs",
     "y", "ce", "cette", "él", "ella", "ellos", "ellas", "su", "sus", "allí", "este", "esta", "lo", "se");

/* Two words at least: what is asked, and of what. */
static bool korean_names(struct text question)
{
    size_t words = 0;
    for (size_t i = 0; i + 1 < question.length; i++)
        words += question.bytes[i] == ' ' && question.bytes[i + 1] != ' ';
    return words >= 2 || !split_match_any(question, 0, korean_bare);
}

static bool european_names(struct text question)
{
    struct tokens tokens;
    bool named = false;
    tokens_read(question, &tokens);
    for (size_t i = 0; i < tokens.count; i++) {
        struct text word = tokens_between(&tokens, i, i + 1);
        if (token_is(&tokens, i, european_leaning) || split_has(word, (const char *const[]){"-il", "-elle", NULL}))
            return false;
        named |= i > 0 && token_is_name(&tokens, i);
    }
    return named;
}

bool split_has_subject(struct text question, enum language language)
{
    if (language == LANGUAGE_ZH)
        return !split_has(question, chinese_leaning) && !split_match_any(question, 0, chinese_bare);
    if (language == LANGUAGE_KO)
        return !split_has(question, korean_leaning) && !split_match_any(question, 0, korean_bare) &&
               korean_names(question);
    return european_names(question);
}

/* ---- choices ----------------------------------------------------------------------------------------------------- */

#define CHOICE_MAX ((size_t)80) /* bytes of "A oder B?" */

LIST(choices, " oder ", " ou ", " o ", " u ", "还是", "인가요 ", "인가요, ", " 아니면 ");
LIST(choice_askers, "was", "wer", "welche", "wo ", "wann", "wie ", "quel", "qui ", "quand", "combien", "où", "cuál",
     "qué", "quién", "dónde", "cuándo", "哪", "谁", "什么", "어느", "누가", "무엇", "어디", "ist ", "est ", "es ",
     "比");

bool contrast_is_choice(struct text question, enum language language)
{
    bool latin = language == LANGUAGE_DE || language == LANGUAGE_FR || language == LANGUAGE_ES;
    bool spaced = latin || language == LANGUAGE_KO || language == LANGUAGE_ZH;
    return spaced && question.length <= CHOICE_MAX && split_has(question, choices) &&
           !split_has(question, choice_askers);
}

/* ---- greetings --------------------------------------------------------------------------------------------------- */

LIST(greetings, "ありがとうございました", "ありがとうございます", "ありがとう", "いつもお世話になっております",
     "いつもお世話になっています", "お世話になっております", "お世話になります", "お世話様です", "お疲れ様です",
     "おつかれさまです", "よろしくお願いいたします", "よろしくお願い致します", "よろしくお願いします",
     "宜しくお願いいたします", "宜しくお願いします", "宜しくお願い致します", "どうぞ", "どうか", "以上", "はじめまして",
     "初めまして", "こんにちは", "こんにちわ", "こんばんは", "おはようございます", "おはよう", "もしもし", "失礼します",
     "失礼いたします", "お忙しいところ", "恐れ入りますが", "恐れ入ります", "すみませんが", "すみません", "すいませんが",
     "すいません", "質問があります", "質問です", "質問させてください", "質問ですが", "教えてください", "教えて下さい",
     "教えて", "お願いします", "お願いいたします", "お願い致します", "助かります", "です", "good morning",
     "good afternoon", "good evening", "good day", "hello there", "hello", "hi there", "hi", "hey", "dear all",
     "dear team", "dear sir or madam", "thank you very much in advance", "thank you very much", "thank you in advance",
     "thank you so much", "thank you for your help", "thanks for your help", "thank you", "thanks in advance",
     "many thanks", "thanks a lot", "thanks", "please help me", "please help", "i have a question",
     "i have two questions", "quick question", "best regards", "kind regards", "regards", "cheers", "excuse me",
     "sorry to bother you", "everyone", "team", "all", "please", "你好", "您好", "谢谢", "謝謝", "请问", "請問",
     "안녕하세요", "감사합니다", "hallo", "guten tag", "guten morgen", "guten abend", "danke schön", "danke sehr",
     "danke", "vielen dank", "bonjour", "bonsoir", "merci beaucoup", "merci", "hola", "muchas gracias", "gracias",
     "buenos días");

/* Words of a greeting that alone may be a subject to look up. */
LIST(subjects, "everyone", "team", "all", "regards", "cheers", "please", "です");
LIST(leading, "こんにちは", "こんばんは", "おはようございます", "はじめまして", "お世話になっております",
     "お世話になります", "お疲れ様です", "すみませんが", "すみません", "すいません", "恐れ入りますが",
     "ありがとうございます", "質問ですが", "质问", "good morning", "good afternoon", "good evening", "hello there",
     "hello", "hi there", "hi", "hey", "thanks", "thank you", "excuse me", "你好", "您好", "请问", "請問", "안녕하세요",
     "hallo", "guten tag", "bonjour", "hola");

static size_t match_folded(struct text text, const char *const *list)
{
    for (; *list; list++) {
        size_t length = strlen(*list);
        bool latin = (unsigned char)**list < 0x80;
        if (length > text.length || strncasecmp(text.bytes, *list, length) != 0)
            continue;
        char next = length < text.length ? text.bytes[length] : ' ';
        if (!latin || !((next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z') || next == '-' || next == '\''))
            return length;
    }
    return 0;
}

bool split_is_greeting(struct text text)
{
    size_t length;
    text = split_trim(text, stops);
    while (text.length && (length = match_folded(text, greetings)))
        text = split_trim(split_part(text, length, text.length), stops);
    return !text.length;
}

bool extract_asks(struct text question)
{
    struct term_reader reader;
    struct term term;
    struct text said = split_trim(question, stops);
    terms_begin(&reader, question.bytes, question.length);
    return terms_next(&reader, &term) && (match_folded(said, subjects) || !split_is_greeting(said));
}

struct text split_without_greeting(struct text text)
{
    size_t length = match_folded(text, leading);
    struct text rest = split_part(text, length, text.length);
    bool stopped = length && split_match_any(rest, 0, stops);
    rest = split_trim(rest, (const char *const[]){"、", "，", ",", "！", "!", NULL});
    return stopped && rest.length ? rest : text;
}
