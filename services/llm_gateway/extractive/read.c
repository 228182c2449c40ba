/* Reads the question and its evidence from a conversation. */
#include "extract.h"

#include "base/text.h"
#include "words/words.h"

#include <string.h>

static bool is_role(const Renga__V1__ChatRequest *request, size_t index, Renga__V1__ChatRole role)
{
    return request->messages[index]->role == role;
}

/* The last text between these tags that a user has said, and in which turn. */
static struct text last_fenced(const Renga__V1__ChatRequest *request, const char *tag, size_t *turn)
{
    for (size_t i = request->n_messages; i-- > 0;) {
        if (!is_role(request, i, RENGA__V1__CHAT_ROLE__CHAT_ROLE_USER))
            continue;
        struct text found = text_trimmed(fence_find(request->messages[i]->content, tag));
        *turn = i;
        if (found.length)
            return found;
    }
    return (struct text){NULL, 0};
}

static struct text read_last_said(const Renga__V1__ChatRequest *request, size_t *turn)
{
    for (size_t i = request->n_messages; i-- > 0;) {
        *turn = i;
        if (is_role(request, i, RENGA__V1__CHAT_ROLE__CHAT_ROLE_USER))
            return text_trimmed(text_of(request->messages[i]->content));
    }
    return (struct text){"", 0};
}

static struct text find_asked(const Renga__V1__ChatRequest *request, size_t *turn)
{
    struct text asked = last_fenced(request, "subtask", turn);
    if (!asked.length)
        asked = last_fenced(request, "question", turn);
    if (!asked.length)
        asked = read_last_said(request, turn);
    asked.length = text_cut(asked.bytes, asked.length, EXTRACT_ASKED_MAX);
    return asked;
}

static bool read_is_japanese(struct text text)
{
    return strcmp(words_language(text.bytes, text.length), "ja") == 0;
}

static void find_evidence(struct extract *extract, size_t from)
{
    const Renga__V1__ChatRequest *request = extract->request;
    for (size_t i = from; i < request->n_messages; i++) {
        const Renga__V1__ChatMessage *turn = request->messages[i];
        bool tool = turn->role == RENGA__V1__CHAT_ROLE__CHAT_ROLE_TOOL;
        if (tool && !turn->tool_failed && !turn->tool_found_nothing)
            passages_add(extract, text_of(turn->content));
        if (turn->role == RENGA__V1__CHAT_ROLE__CHAT_ROLE_USER)
            passages_add(extract, fence_find(turn->content, "results"));
        extract->tools_answered =
            tool || (extract->tools_answered && turn->role != RENGA__V1__CHAT_ROLE__CHAT_ROLE_USER);
    }
}

struct extract *extract_read(struct arena *arena, const Renga__V1__ChatRequest *request)
{
    struct extract *extract = arena_zalloc(arena, sizeof *extract);
    size_t turn = 0, asked = 0;
    if (!extract)
        return NULL;
    extract->arena = arena;
    extract->request = request;
    extract->least_confidence = EXTRACT_ENOUGH;
    extract->asked = find_asked(request, &asked);
    extract->japanese = read_is_japanese(extract->asked);
    extract->language = language_of(extract->asked.bytes, extract->asked.length);
    extract->answer = last_fenced(request, "answer", &turn);
    extract->advice = last_fenced(request, "advice", &turn);
    extract->findings = last_fenced(request, "findings", &turn);
    find_evidence(extract, asked);
    extract->written = extract->asked;
    extract->asked = extract_spelled(arena, extract->passages, extract->passage_count, extract->asked);
    return extract;
}
