/* The language of a question, as far as its way to compare and to greet goes. */
#include "split_priv.h"

#include "words/words.h"

#include <string.h>
#include <strings.h>

#define LIST(name, ...) static const char *const name[] = {__VA_ARGS__, NULL}
LIST(stops, "、", "，", ",", "。", "！", "!", ".", "♪", "^_^", ":)", ";");
LIST(chinese, "哪", "谁", "吗", "嗎", "什么", "什麼", "的", "与", "是", "呢", "几", "还", "還", "这", "為何", "和");
LIST(german, "oder", "ist", "der", "die", "das", "wer", "was", "welche", "welcher", "welches", "wurde", "und", "als",
     "wie", "wann", "wo", "hat", "war", "sind", "zwischen", "von", "eine", "ein", "den", "dem", "zuerst");
LIST(french, "ou", "est", "quel", "quelle", "lequel", "laquelle", "le", "la", "les", "des", "qui", "plus", "entre",
     "et", "un", "une", "du", "est-ce", "où", "comment", "fut");
LIST(spanish, "o", "es", "qué", "cuál", "quién", "el", "la", "los", "las", "más", "que", "entre", "y", "un", "una",
     "fue", "tiene", "dónde", "cómo", "cuándo", "¿qué", "¿cuál", "¿quién", "¿cuándo", "¿dónde", "¿cómo", "¿es");
LIST(english, "or", "is", "which", "who", "what", "the", "was", "of", "has", "does", "did", "were", "are", "and",
     "than", "when", "how", "where", "between", "first", "a", "in", "to", "do", "why", "for", "on", "can", "be", "by",
     "you", "me", "i", "tell");

static size_t count_words(const struct tokens *tokens, const char *const *list)
{
    size_t count = 0;
    for (size_t i = 0; i < tokens->count; i++)
        count += token_is(tokens, i, list);
    return count;
}

static enum split_language latin_language(struct text question)
{
    struct tokens tokens;
    tokens_read(question, &tokens);
    size_t most = count_words(&tokens, english);
    enum split_language language = SPLIT_ENGLISH;
    const struct {
        const char *const *words;
        enum split_language language;
    } others[] = {{german, SPLIT_GERMAN}, {french, SPLIT_FRENCH}, {spanish, SPLIT_SPANISH}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        size_t count = count_words(&tokens, others[i].words);
        language = count > most ? others[i].language : language;
        most = count > most ? count : most;
    }
    return language;
}

enum split_language split_language(struct text question, bool japanese)
{
    size_t kana = 0, han = 0, hangul = 0, letters = 0;
    for (size_t at = 0, end; at < question.length; at = end) {
        uint32_t code = utf8_read(question.bytes, question.length, at, &end);
        enum script script = script_of(code);
        kana += script == SCRIPT_HIRAGANA || script == SCRIPT_KATAKANA;
        han += script == SCRIPT_HAN;
        hangul += code >= 0xAC00 && code <= 0xD7A3;
        letters += code < 0x250 && script == SCRIPT_LETTER;
    }
    if (hangul > kana + han && 2 * hangul > letters)
        return SPLIT_KOREAN;
    if (!kana && han && (japanese || 2 * han > letters) && split_has(question, chinese))
        return SPLIT_CHINESE;
    question = split_trim(question, stops);
    if (kana && (split_has(question, (const char *const[]){"どちら", "どっち", "いずれ", NULL}) ||
                 split_match_before(question, question.length, (const char *const[]){"か", "か？", "か?", NULL})))
        return SPLIT_JAPANESE;
    return japanese ? SPLIT_JAPANESE : latin_language(question);
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
     "안녕하세요", "감사합니다", "hallo", "guten tag", "danke", "vielen dank", "bonjour", "merci", "hola", "gracias",
     "buenos días");
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

struct text split_without_greeting(struct text text)
{
    size_t length = match_folded(text, leading);
    struct text rest = split_part(text, length, text.length);
    bool stopped = length && split_match_any(rest, 0, stops);
    rest = split_trim(rest, (const char *const[]){"、", "，", ",", "！", "!", NULL});
    return stopped && rest.length ? rest : text;
}
