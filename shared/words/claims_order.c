/* "Ann told Bob" does not support "Bob told Ann". If a sentence equals a sentence of the quote letter by letter, except
 * for two exchanged parts, its meaning differs: its names or its numbers are exchanged. Two parts that are only joined
 * in a list may be exchanged. */
#include "words/claims_priv.h"

#include "words/fold.h"
#include "words/sentences.h"

#include <string.h>

#define ORDER_MAX 320 /* characters between the equal ends; if there are more, exchanges are not searched */
#define TEXT_MAX  1024
#define JOINT_MAX 32 /* characters between two parts that may join a list */

struct order_text {
    uint32_t codes[TEXT_MAX];
    size_t count;
};

/* Reads only letters and digits. False if there are too many. */
static bool order_read(struct claim text, struct order_text *order)
{
    struct fold fold;
    struct folded c;
    order->count = 0;
    fold_begin(&fold, text.text, text.length);
    while (fold_next(&fold, &c)) {
        enum script script = script_of(c.code);
        if (script == SCRIPT_NONE || script == SCRIPT_SPACE)
            continue;
        if (order->count == TEXT_MAX)
            return false;
        order->codes[order->count++] = c.code;
    }
    return true;
}

static bool order_is_same(const uint32_t *one, const uint32_t *other, size_t count)
{
    return memcmp(one, other, count * sizeof *one) == 0;
}

/* Whether the characters are a word that joins two parts of a list, or are empty. */
static bool order_is_list(const uint32_t *codes, size_t count)
{
    static const char *const words[] = {"",     "and",    "or",     "と",   "や",    "か",
                                        "及び", "および", "または", "又は", "並びに"};
    char text[32];
    size_t length = 0;
    if (count > sizeof text / 4 - 1)
        return false;
    for (size_t i = 0; i < count; i++)
        length += utf8_write(text + length, codes[i]);
    text[length] = '\0';
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], text) == 0)
            return true;
    return false;
}

/* The number of equal characters from `one` on and from `other` on, at most `most`. */
static size_t order_run(const struct order_text *text, size_t one, size_t other, size_t most)
{
    size_t run = 0;
    while (run < most && other + run < text->count && text->codes[one + run] == text->codes[other + run])
        run++;
    return run;
}

static size_t order_run_back(const struct order_text *text, size_t one, size_t other, size_t most)
{
    size_t run = 0;
    while (run < most && run < other && text->codes[one - run - 1] == text->codes[other - run - 1])
        run++;
    return run;
}

/* Whether [from, to) of the text, between two exchanged parts, joins a list. The parts may extend into this range: they
 * were found without their common first and last letters, which are also before `begin` or after `end`. */
static bool order_joins(const struct order_text *text, size_t begin, size_t from, size_t to, size_t end)
{
    size_t most = to - from < JOINT_MAX ? to - from : JOINT_MAX;
    size_t shared = order_run(text, from, end, most), opened = order_run_back(text, to, begin, most);
    for (size_t i = 0; i <= shared; i++)
        for (size_t j = 0; j <= opened && i + j <= to - from; j++)
            if (order_is_list(text->codes + from + i, to - from - i - j))
                return true;
    return false;
}

/* Whether [begin, end) is X B Y in the text and Y B X in the quote, and B does more than join a list. */
static bool order_is_exchanged(const struct order_text *text, const struct order_text *quote, size_t begin, size_t end)
{
    const uint32_t *one = text->codes + begin, *other = quote->codes + begin;
    size_t count = end - begin;
    for (size_t x = 1; x < count; x++) {
        if (!order_is_same(one, other + count - x, x))
            continue;
        for (size_t y = 1; x + y < count; y++)
            if (order_is_same(one + count - y, other, y) && order_is_same(one + x, other + y, count - x - y))
                return !order_joins(text, begin, begin + x, end - y, end);
    }
    return false;
}

static bool order_differs(const struct order_text *said, struct claim quoted)
{
    struct order_text quote;
    size_t begin = 0, end = said->count;
    if (!order_read(quoted, &quote) || quote.count != said->count)
        return false;
    while (begin < end && said->codes[begin] == quote.codes[begin])
        begin++;
    while (end > begin && said->codes[end - 1] == quote.codes[end - 1])
        end--;
    return end - begin <= ORDER_MAX && order_is_exchanged(said, &quote, begin, end);
}

bool claims_order_agrees(struct claim sentence, struct claim quote)
{
    struct order_text said;
    struct sentence_reader reader;
    struct span span;
    bool agrees = order_read(sentence, &said) || said.count == TEXT_MAX;
    sentences_begin(&reader, quote.text, quote.length);
    for (int looked = 0; agrees && said.count < TEXT_MAX && looked < QUOTED_MOST && sentences_next(&reader, &span);
         looked++)
        agrees = !order_differs(&said, (struct claim){quote.text + span.begin, span.end - span.begin});
    return agrees;
}
