#include "search/answer.h"

#include "base/text.h"

#include <string.h>

void search_answer_init(struct search_answer *answer)
{
    memset(answer, 0, sizeof *answer);
    arena_init(&answer->arena, NULL, 0, SEARCH_ARENA_MAX);
    answer->lists = 1;
}

void search_answer_fini(struct search_answer *answer)
{
    arena_fini(&answer->arena);
}

static bool answer_is_blank(char c)
{
    return (unsigned char)c <= ' ' || c == 0x7f;
}

/* Length of a character that reverses the direction of the following text, so that "moc.knab" is read as a bank; 0:
 * another character. */
static size_t answer_turns(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    if (c[0] == 0xD8 && c[1] == 0x9C)
        return 2;
    bool marks = c[0] == 0xE2 && c[1] == 0x80 && (c[2] == 0x8E || c[2] == 0x8F || (c[2] >= 0xAA && c[2] <= 0xAE));
    return marks || (c[0] == 0xE2 && c[1] == 0x81 && c[2] >= 0xA6 && c[2] <= 0xA9) ? 3 : 0;
}

/* Text of `room` bytes at most, its blanks tidied. NULL: the arena is out. */
static const char *search_answer_copy(struct search_answer *answer, const char *text, size_t room)
{
    const char *from = text ? text : "";
    size_t used = 0, clean = text_clean_length(from, strnlen(from, 4 * room));
    char *copy = arena_alloc(&answer->arena, clean + 1);
    if (!copy)
        return NULL;
    for (size_t i = 0; i < clean;) {
        size_t turn = answer_turns(from + i);
        if (!turn && !answer_is_blank(from[i]))
            copy[used++] = from[i];
        else if (!turn && used && copy[used - 1] != ' ')
            copy[used++] = ' ';
        i += turn ? turn : 1;
    }
    used = text_cut(copy, used, room);
    while (used && copy[used - 1] == ' ')
        used--;
    copy[used] = '\0';
    return copy;
}

static bool answer_has_turns(const char *text)
{
    while (*text && !answer_turns(text))
        text++;
    return *text != '\0';
}

static bool answer_has_address(const char *uri)
{
    return uri && *uri && strlen(uri) <= SEARCH_URI_MAX && text_is_clean(uri, strlen(uri)) &&
           !uri[strcspn(uri, "\t\r\n\x7f")] && !answer_has_turns(uri);
}

/* Without "user:password@", which leads nowhere else, and makes https://bank.example@evil.example look like a bank. */
static const char *answer_address(struct search_answer *answer, const char *uri)
{
    const char *host = strstr(uri, "://");
    host = host ? host + 3 : uri;
    const char *at = memrchr(host, '@', strcspn(host, "/\\?#"));
    if (host == uri || !at)
        return arena_strdup(&answer->arena, uri);
    return arena_printf(&answer->arena, "%.*s%s", (int)(host - uri), uri, at + 1);
}

void search_answer_add(struct search_answer *answer, const struct search_result *result)
{
    if (answer->count == SEARCH_RESULTS_MAX || !answer_has_address(result->uri)) {
        answer->left_out++;
        return;
    }
    struct search_result *copy = &answer->results[answer->count];
    copy->uri = answer_address(answer, result->uri);
    copy->title = search_answer_copy(answer, result->title, SEARCH_TITLE_MAX);
    copy->snippet = search_answer_copy(answer, result->snippet, SEARCH_SNIPPET_MAX);
    copy->published_date = search_answer_copy(answer, result->published_date, SEARCH_DATE_MAX);
    copy->score = result->score;
    if (!copy->uri || !copy->title || !copy->snippet || !copy->published_date) {
        answer->left_out++;
        return;
    }
    bool goes_on = answer->count && answer->list[answer->count - 1] == answer->lists - 1;
    answer->rank[answer->count] = goes_on ? answer->rank[answer->count - 1] + 1 : 1;
    answer->list[answer->count++] = answer->lists - 1;
}

void search_answer_next_list(struct search_answer *answer)
{
    if (answer->lists < SEARCH_LISTS_MAX)
        answer->lists++;
}

void search_answer_partial(struct search_answer *answer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (!answer->partial)
        answer->partial = arena_vprintf(&answer->arena, format, arguments);
    va_end(arguments);
}
