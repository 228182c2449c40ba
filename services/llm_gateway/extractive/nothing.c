/* The answer of the extractive provider if nothing was found. */
#include "extract.h"

#include <string.h>

#define SHOWN_MAX ((size_t)300) /* bytes of a question that is repeated */

static struct text shown(struct text text)
{
    const char *line = memchr(text.bytes, '\n', text.length);
    size_t length = line ? (size_t)(line - text.bytes) : text.length;
    size_t cut = length;
    while (cut > SHOWN_MAX || (cut < length && cut > 0 && (text.bytes[cut] & 0xC0) == 0x80))
        cut--;
    return (struct text){text.bytes, cut};
}

/* Around the question, and before the words that were looked for: in Japanese and English, with and without sources. */
static const char *const nothing[2][2][2] = {
    {{"I have no sources to answer \"", "\" from. I looked for: "},
     {"I found nothing that answers \"", "\" in what was searched. I looked for: "}},
    {{"「", "」については、裏付けとなる資料がないため答えられません。探した語: "},
     {"「", "」に答える記述は、調べた範囲では見つかりませんでした。探した語: "}},
};

void text_print(struct buffer *out, struct text text)
{
    if (text.length)
        buffer_append(out, text.bytes, text.length);
}

void extract_say_nothing(const struct extract *extract, struct buffer *out, struct finding *finding)
{
    bool looked = extract->passage_count || extract->result_count;
    const char *const *around = nothing[extract->japanese][looked];
    struct text question = shown(extract->asked);
    finding->looked_for = extract_keywords(extract->arena, question, (struct text){NULL, 0});
    buffer_print(out, around[0]);
    text_print(out, question);
    buffer_print(out, around[1]);
    text_print(out, finding->looked_for);
}
