/* Orders of a page to a model that reads it: "ignore all previous instructions". They are no facts, so no text is taken
 * from there on. */
#include "report_text.h"

#include "words/sentences.h"

#include <string.h>

/* In small letters. */
static const char *const order_phrases[] = {
    "ignore all",
    "ignore everything",
    "ignore previous",
    "ignore any",
    "ignore the above",
    "disregard your",
    "disregard all",
    "disregard the",
    "disregard any",
    "new instruction",
    "instruction to the",
    "instructions to the",
    "you must state",
    "you are now",
    "system prompt",
    "system:",
    "if you are an ai",
    "note to ai",
    "to ai systems",
    "to the language model",
    "overwrite other",
    "attention assistant",
    "attention, assistant",
    "assistant, ",
    "your api key",
    "指示に従",
    "指示を無視",
    "指示をすべて無視",
    "前の指示",
    "以前の指示",
    "これまでの指示",
    "次の指示",
    "重要な指示",
    "指示:",
    "指示：",
    "への指示",
    "命令を優先",
    "aiの方へ",
    "aiは次",
    "処理するai",
    "生成aiはこ",
    "読み取った言語モデル",
    "システム:",
    "システム：",
    "システムプロンプト",
};

static bool order_is_in(const char *text, size_t length)
{
    char small[SENTENCE_MAX];
    if (length > sizeof small)
        length = sizeof small;
    for (size_t i = 0; i < length; i++)
        small[i] = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] + ('a' - 'A')) : text[i];
    for (size_t i = 0; i < sizeof order_phrases / sizeof *order_phrases; i++)
        if (memmem(small, length, order_phrases[i], strlen(order_phrases[i])))
            return true;
    return false;
}

size_t report_orders_begin(const char *text, size_t length)
{
    struct sentence_reader reader;
    struct span span;
    sentences_begin(&reader, text, length);
    while (sentences_next(&reader, &span))
        if (order_is_in(text + span.begin, span.end - span.begin))
            return span.begin;
    return length;
}
