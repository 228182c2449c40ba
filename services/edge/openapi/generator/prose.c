#include "prose.h"

#include "base/buffer.h"
#include "base/status.h"

#include <stdbool.h>
#include <string.h>

#define PROSE_BYTES_MAX (256u << 10)
#define LIST_INDENT     2  /* blanks in front of a row of errors, at least */
#define CODE_NAME_MAX   24 /* bytes of the longest name of a code */

static const char *prose_skip_blanks(const char *text)
{
    return text + strspn(text, " ");
}

/* The code whose name begins the text, which then moves behind it; -1 if it begins with no such name. */
static int code_take(const char **text)
{
    char name[CODE_NAME_MAX];
    size_t length = strspn(*text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_");
    if (length == 0 || length >= sizeof name)
        return -1;
    memcpy(name, *text, length);
    name[length] = '\0';
    int code = status_code_parse(name);
    if (code > 0)
        *text += length;
    return code > 0 ? code : -1;
}

/* The codes at the beginning of a row ("NOT_FOUND, OUT_OF_RANGE  as GetPlaybook"); the text moves behind them. */
static uint32_t codes_take(const char **text)
{
    uint32_t codes = 0;
    for (const char *at = *text;;) {
        int code = code_take(&at);
        if (code < 0)
            return codes;
        codes |= 1u << code;
        *text = prose_skip_blanks(at);
        if (at[0] != ',')
            return codes;
        at = prose_skip_blanks(at + 1);
    }
}

static void text_join(struct arena *arena, struct prose_item *item, const char *text, size_t length)
{
    const char *between = item->text[0] == '\0' ? "" : item->codes && text[0] == '"' ? "; " : " ";
    item->text = arena_printf(arena, "%s%s%.*s", item->text, between, (int)length, text);
}

size_t prose_split(struct arena *arena, const char *comment, struct prose_item items[PROSE_ITEMS_MAX])
{
    size_t count = 0;
    bool open = false; /* whether the next line may belong to the last item */
    for (const char *line = comment; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const char *text = prose_skip_blanks(line), *end = line + strcspn(line, "\n");
        bool listed = text - line >= LIST_INDENT;
        if (text == end) {
            open = false;
            continue;
        }
        uint32_t codes = listed ? codes_take(&text) : 0;
        bool continues = open && !codes && (listed || !items[count - 1].codes);
        if (!continues && count < PROSE_ITEMS_MAX)
            items[count++] = (struct prose_item){.codes = codes, .text = ""};
        text_join(arena, &items[count - 1], text, (size_t)(end - text));
        open = true;
    }
    return count;
}

static void row_print(struct buffer *out, const struct prose_item *item)
{
    const char *between = "- ";
    for (int code = 0; code < STATUS_CODES_COUNT; code++) {
        if (item->codes & 1u << code) {
            buffer_printf(out, "%s`%s`", between, status_code_name(code));
            between = ", ";
        }
    }
    buffer_printf(out, ": %s", item->text);
}

const char *prose_markdown(struct arena *arena, const char *comment)
{
    struct prose_item items[PROSE_ITEMS_MAX];
    size_t count = prose_split(arena, comment, items);
    struct buffer out;
    buffer_init(&out, PROSE_BYTES_MAX);
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            buffer_print(&out, items[i].codes && items[i - 1].codes ? "\n" : "\n\n");
        if (items[i].codes)
            row_print(&out, &items[i]);
        else
            buffer_print(&out, items[i].text);
    }
    const char *text = arena_strdup(arena, buffer_text(&out));
    buffer_fini(&out);
    return text;
}

/* Whether the text before this mark is a summary already. */
static bool summary_ends(const char *at)
{
    return (*at == '.' && (at[1] == ' ' || at[1] == '\0')) || ((*at == ':' || *at == ';') && at[1] == ' ');
}

const char *prose_summary(struct arena *arena, const char *comment)
{
    struct prose_item items[PROSE_ITEMS_MAX];
    const char *text = prose_split(arena, comment, items) > 0 ? items[0].text : "", *end = text;
    while (*end && !summary_ends(end))
        end++;
    return arena_strndup(arena, text, (size_t)(end - text));
}
