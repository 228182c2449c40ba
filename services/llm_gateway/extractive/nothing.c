/* The answer of the extractive provider without a finding. */
#include "extract.h"

#define SHOWN_MAX ((size_t)300) /* bytes of a question that is repeated */

static struct text nothing_shown(struct text text)
{
    const char *line = memchr(text.bytes, '\n', text.length);
    size_t length = line ? (size_t)(line - text.bytes) : text.length;
    size_t cut = length;
    while (cut > SHOWN_MAX || (cut < length && cut > 0 && (text.bytes[cut] & 0xC0) == 0x80))
        cut--;
    return (struct text){text.bytes, cut};
}

/* Around the question, and before the words that were looked for: without sources and with sources. */
static const char *const nothing[LANGUAGES][2][2] = {
    [LANGUAGE_EN] = {{"I have no sources to answer \"", "\" from. I looked for: "},
                     {"I found nothing that answers \"", "\" in what was searched. I looked for: "}},
    [LANGUAGE_JA] = {{"「", "」については、裏付けとなる資料がないため答えられません。探した語: "},
                     {"「", "」に答える記述は、調べた範囲では見つかりませんでした。探した語: "}},
    [LANGUAGE_ZH] = {{"没有可以用来回答“", "”的资料。查找的词: "},
                     {"在查找的范围内没有找到回答“", "”的内容。查找的词: "}},
    [LANGUAGE_KO] = {{"'", "'에 답할 자료가 없습니다. 찾아본 말: "},
                     {"'", "'에 대한 답을 찾아본 범위에서 찾지 못했습니다. 찾아본 말: "}},
    [LANGUAGE_DE] = {{"Zu „", "“ gibt es keine Quellen, die antworten könnten. Gesucht wurde: "},
                     {"Auf „", "“ wurde im Durchsuchten keine Antwort gefunden. Gesucht wurde: "}},
    [LANGUAGE_FR] = {{"Il n'y a pas de source pour répondre à « ", " ». Mots cherchés : "},
                     {"Rien de ce qui a été consulté ne répond à « ", " ». Mots cherchés : "}},
    [LANGUAGE_ES] = {{"No hay fuentes para responder a «", "». Se buscó: "},
                     {"Nada de lo consultado responde a «", "». Se buscó: "}},
};

void extract_say_nothing(const struct extract *extract, struct buffer *out, struct finding *finding)
{
    bool looked = extract->passage_count || extract->result_count;
    const char *const *around = nothing[extract->language][looked];
    struct text question = nothing_shown(extract->written);
    finding->looked_for = extract_keywords(extract->arena, question, (struct text){NULL, 0});
    buffer_print(out, around[0]);
    text_print(out, question);
    buffer_print(out, around[1]);
    text_print(out, finding->looked_for);
}
