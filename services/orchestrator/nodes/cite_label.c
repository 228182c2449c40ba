/* The label that a model writes before an answer: "Answer:", "**Final answer:**", 回答：, 【回答】. No source has it.
 */
#include "cite_text.h"

#include <string.h>
#include <strings.h>

static const char *const labels[] = {
    "answer", "final answer", "short answer", "the answer", "response", "回答",    "最終回答", "答え",
    "お答え", "解答",         "答案",         "답변",       "답",       "antwort", "réponse",  "respuesta",
};

static size_t label_skip(const char *text, size_t at, size_t end, const char *bytes)
{
    while (at < end && text[at] && strchr(bytes, text[at]))
        at++;
    return at;
}

/* Behind the mark, or `at`. */
static size_t label_take(const char *text, size_t at, size_t end, const char *mark)
{
    size_t length = strlen(mark);
    return end - at >= length && strncasecmp(text + at, mark, length) == 0 ? at + length : at;
}

size_t cite_label_end(const char *line, size_t length)
{
    size_t begin = label_skip(line, 0, length, " \t*_"), within = label_take(line, begin, length, "【");
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++) {
        size_t at = label_take(line, within, length, labels[i]);
        if (at == within)
            continue;
        if (within > begin) {
            size_t closed = label_take(line, at, length, "】");
            if (closed > at)
                return label_skip(line, closed, length, " \t*_");
            continue;
        }
        size_t marks = label_skip(line, at, length, " *_"), colon = label_take(line, marks, length, ":");
        colon = colon > marks ? colon : label_take(line, marks, length, "：");
        if (colon > marks)
            return label_skip(line, colon, length, " \t*_");
    }
    return 0;
}
