/* "Bob told Ann" is not carried by "Ann told Bob". A sentence that is one of the quote letter by letter, but for two
 * parts that have changed places, says something else: its names or its numbers are exchanged. Parts that only stand
 * side by side in a list may change places. */
#include "words/claims_priv.h"

#include "words/fold.h"
#include "words/sentences.h"

#include <string.h>

#define ORDER_MAX 320 /* characters between the two ends that are equal; with more, no exchange is looked for */
#define TEXT_MAX  1024
#define JOINT_MAX 32 /* characters between two parts that may join a list */

struct order_text {
    uint32_t codes[TEXT_MAX];
    size_t count;
};

/* Letters and digits alone. False: there are too many. */
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

/* Words between two parts of a list. */
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

/* Characters from `one` on that are those from `other` on, at most `most`. */
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

/* Whether [from, to) of the text, between two parts that change places, joins a list. The parts may reach into it: they
 * were taken without the letters that both end or begin with, which also stand behind `end` or before `begin`. */
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

/* Whether [begin, end) of the text is X B Y and of the quote Y B X, where B does more than to join a list. */
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
