/* Reads the text format of the ACE reference. A bullet is `\[([^\]]+)\]\s*helpful=(\d+)\s*harmful=(\d+)\s*::\s*(.*)`
 * from the begin of a line. */
#include "playbook/playbook_text_priv.h"

#include "base/text.h"

#define BULLET_FORM "a bullet is '[id] helpful=0 harmful=0 :: content'"

/* A line, without white space at its ends. */
struct playbook_line {
    const char *text;
    size_t length, at;
};

static int playbook_shown(const char *text, size_t length)
{
    return (int)text_cut(text, length, PLAYBOOK_SHOWN_MAX);
}

/* "helpful=12". */
static bool playbook_read_count(struct playbook_reading *reading, struct playbook_line *line, const char *name,
                                int32_t *count)
{
    size_t size = strlen(name), digits = 0;
    int64_t value = 0;
    line->at = playbook_skip_space(line->text, line->length, line->at);
    const char *text = line->text + line->at;
    size_t left = line->length - line->at;
    if (left < size + 1 || memcmp(text, name, size) != 0 || text[size] != '=')
        return playbook_problem(reading, "'%s=' is missing before '%.*s'; " BULLET_FORM, name,
                                playbook_shown(text, left), text);
    for (size_t at = size + 1; at < left && text[at] >= '0' && text[at] <= '9'; at++, digits++)
        value = value > PLAYBOOK_COUNT_MAX ? value : value * 10 + (text[at] - '0');
    if (digits == 0)
        return playbook_problem(reading, "%s is '%.*s'; it must be a count, such as %s=3", name,
                                playbook_shown(text + size + 1, left - size - 1), text + size + 1, name);
    if (value > PLAYBOOK_COUNT_MAX)
        return playbook_problem(reading, "%s is %.*s; at most %d is possible", name,
                                (int)(digits < PLAYBOOK_SHOWN_MAX ? digits : PLAYBOOK_SHOWN_MAX), text + size + 1,
                                PLAYBOOK_COUNT_MAX);
    *count = (int32_t)value;
    line->at += size + 1 + digits;
    return true;
}

static bool playbook_read_content(struct playbook_reading *reading, struct playbook_line *line, char **content)
{
    line->at = playbook_skip_space(line->text, line->length, line->at);
    const char *text = line->text + line->at;
    size_t left = line->length - line->at;
    if (left < 2 || memcmp(text, "::", 2) != 0)
        return playbook_problem(reading, "'::' is missing before '%.*s'; " BULLET_FORM, playbook_shown(text, left),
                                text);
    line->at = playbook_skip_space(line->text, line->length, line->at + 2);
    *content = arena_strndup(reading->arena, line->text + line->at, line->length - line->at);
    return *content != NULL;
}

static bool playbook_read_bullet(struct playbook_reading *reading, struct playbook_line *line, const char *section)
{
    const char *close = memchr(line->text, ']', line->length);
    Renga__V1__Bullet *bullet = arena_alloc(reading->arena, sizeof *bullet);
    if (!bullet)
        return false;
    if (!close)
        return playbook_problem(reading, "']' is missing behind '%.*s'; " BULLET_FORM,
                                playbook_shown(line->text, line->length), line->text);
    size_t id = (size_t)(close - line->text) - 1;
    if (id == 0)
        return playbook_problem(reading, "the id is empty; " BULLET_FORM);
    if (id > PLAYBOOK_ID_MAX)
        return playbook_problem(reading, "the id '%.*s…' has %zu bytes; at most %d are possible",
                                playbook_shown(line->text + 1, id), line->text + 1, id, PLAYBOOK_ID_MAX);
    renga__v1__bullet__init(bullet);
    bullet->id = arena_strndup(reading->arena, line->text + 1, id);
    bullet->section = (char *)(uintptr_t)section;
    line->at = id + 2;
    return bullet->id && playbook_read_count(reading, line, "helpful", &bullet->helpful) &&
           playbook_read_count(reading, line, "harmful", &bullet->harmful) &&
           playbook_read_content(reading, line, &bullet->content) && playbook_reading_add(reading, bullet);
}

/* The name of a section; NULL: it is wrong. Bullets below it are kept in the section above. */
static const char *playbook_read_section(struct playbook_reading *reading, const struct playbook_line *line)
{
    size_t at = playbook_skip_space(line->text, line->length, 2), size = line->length - at;
    if (size == 0)
        playbook_problem(reading, "the section has no name; write '## NAME'");
    else if (size > PLAYBOOK_SECTION_MAX)
        playbook_problem(reading,
                         "the name of the section has %zu bytes; at most %d are possible: its bullets are kept in the "
                         "section above",
                         size, PLAYBOOK_SECTION_MAX);
    else
        return arena_strndup(reading->arena, line->text + at, size);
    return NULL;
}

static void playbook_read_line(struct playbook_reading *reading, struct playbook_line *line, const char **section)
{
    if (!text_is_clean(line->text, line->length)) {
        playbook_problem(reading, "the line is no UTF-8 from byte %zu on; save the file as UTF-8",
                         text_clean_length(line->text, line->length) + 1);
    } else if (line->length >= 2 && memcmp(line->text, "##", 2) == 0) {
        const char *name = playbook_read_section(reading, line);
        *section = name ? name : *section;
    } else if (line->text[0] == '[') {
        playbook_read_bullet(reading, line, *section);
    } else if (line->text[0] != '#') {
        playbook_problem(reading, "'%.*s' is neither a section '## NAME' nor a bullet; " BULLET_FORM,
                         playbook_shown(line->text, line->length), line->text);
    }
}

bool playbook_lines_read(struct playbook_reading *reading, const char *text, size_t length)
{
    const char *section = "";
    for (size_t at = 0; at < length && !reading->arena->exhausted;) {
        const char *end = memchr(text + at, '\n', length - at);
        size_t size = end ? (size_t)(end - text) - at : length - at;
        struct playbook_line line = {.text = text + at, .length = playbook_trim_end(text + at, size)};
        size_t begin = playbook_skip_space(line.text, line.length, 0);
        line.text += begin;
        line.length -= begin;
        reading->number++;
        if (line.length > 0)
            playbook_read_line(reading, &line, &section);
        at += size + 1;
    }
    return !reading->arena->exhausted;
}
