#include "model_task/texts.h"

#include "base/buffer.h"
#include "base/text.h"

#include <string.h>
#include <strings.h>

#define LINES_MAX  ((size_t)1 << 20)
#define LIST_SHOWN ((size_t)256 << 10) /* bytes of a list that a model is shown: each text has its share */
#define BLANKS     " \t\r\n"
#define WIDE_BLANK "\u3000"

static const struct note NOTHING = {.ja = "なし", .en = "none"};

/* ---- in ---------------------------------------------------------------------------------------------------------- */

static const char *trim(const char *text, size_t *length)
{
    const size_t wide = strlen(WIDE_BLANK);
    for (;;) {
        size_t blanks = strspn(text, BLANKS);
        blanks += strncmp(text + blanks, WIDE_BLANK, wide) == 0 ? wide : 0;
        if (!blanks)
            break;
        text += blanks;
    }
    for (*length = strlen(text); *length;) {
        if (strchr(BLANKS, text[*length - 1]))
            --*length;
        else if (*length >= wide && memcmp(text + *length - wide, WIDE_BLANK, wide) == 0)
            *length -= wide;
        else
            break;
    }
    return text;
}

char *text_read(struct model_task *task, const cJSON *text, size_t max)
{
    size_t length = 0;
    const char *given = cJSON_GetStringValue(text);
    given = trim(given ? given : "", &length);
    char *copy = arena_strndup(rpc_call_arena(task->call), given, text_cut(given, length, max));
    return copy ? copy : model_task_text(task, "", 0);
}

static bool texts_is_among(char *const *list, size_t count, const char *text)
{
    for (size_t i = 0; i < count; i++)
        if (strcasecmp(list[i], text) == 0)
            return true;
    return false;
}

struct texts texts_read(struct model_task *task, const cJSON *array, size_t max, size_t each_max, char *const *except,
                        size_t except_count)
{
    struct texts texts = {.list = model_task_alloc(task, max * sizeof(*texts.list))};
    const cJSON *item;
    cJSON_ArrayForEach(item, array)
    {
        if (!texts.list || texts.count == max)
            break;
        char *text = text_read(task, item, each_max);
        if (*text && !texts_is_among(texts.list, texts.count, text) && !texts_is_among(except, except_count, text))
            texts.list[texts.count++] = text;
    }
    return texts;
}

/* ---- out --------------------------------------------------------------------------------------------------------- */

void text_describe(const struct model_task *task, cJSON *values, const char *name, const char *text)
{
    cJSON_AddStringToObject(values, name, *text ? text : model_task_note_text(task, &NOTHING));
}

void texts_describe(const struct model_task *task, cJSON *values, const char *name, char *const *list, size_t count)
{
    struct buffer lines;
    buffer_init(&lines, LINES_MAX);
    for (size_t i = 0; i < count; i++)
        buffer_printf(&lines, "%s- %.*s", i ? "\n" : "", (int)text_cut(list[i], strlen(list[i]), LIST_SHOWN / count),
                      list[i]);
    text_describe(task, values, name, buffer_text(&lines));
    buffer_fini(&lines);
}
