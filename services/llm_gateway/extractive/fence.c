/* Data in a prompt stands between tags. Tags inside a fenced text are plain text. */
#include "extract.h"

#include <string.h>

static const char *const tags[] = {"question", "subtask", "plan", "results", "answer", "advice", "tools", "findings"};

struct fence {
    const char *tag;
    struct text inside;
    const char *behind;
};

#define TAGS (sizeof tags / sizeof tags[0])

/* The tag that opens here; TAGS: no tag. */
static size_t tag_at(const char *at, size_t *length)
{
    size_t i = 0;
    for (; i < TAGS; i++) {
        if (at[1] != tags[i][0]) /* nearly always: a text may be full of '<' */
            continue;
        *length = strlen(tags[i]);
        if (strncmp(at + 1, tags[i], *length) == 0 && at[1 + *length] == '>')
            break;
    }
    return i;
}

static const char *find_close(const char *from, const char *tag, size_t length)
{
    for (const char *at = from; (at = strstr(at, "</")); at += 2)
        if (strncmp(at + 2, tag, length) == 0 && at[2 + length] == '>')
            return at;
    return NULL;
}

/* The next fence from `from` on that is closed. Tags that are not stay text, and are looked for no second time. */
static bool next_fence(const char *from, unsigned *unclosed, struct fence *fence)
{
    for (const char *at = from; (at = strchr(at, '<')); at++) {
        size_t length;
        size_t tag = tag_at(at, &length);
        if (tag == TAGS || *unclosed & 1u << tag)
            continue;
        const char *inside = at + length + 2, *close = find_close(inside, tags[tag], length);
        if (!close) {
            *unclosed |= 1u << tag;
            continue;
        }
        *fence = (struct fence){
            .tag = tags[tag], .inside = {inside, (size_t)(close - inside)}, .behind = close + length + 3};
        return true;
    }
    return false;
}

struct text fence_find(const char *content, const char *tag)
{
    struct text found = {NULL, 0};
    struct fence fence;
    unsigned unclosed = 0;
    for (const char *at = content; next_fence(at, &unclosed, &fence); at = fence.behind)
        if (strcmp(fence.tag, tag) == 0)
            found = fence.inside;
    return found;
}
