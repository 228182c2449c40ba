#include "playbook/playbook_text.h"

#include "base/hash.h"
#include "base/text.h"
#include "playbook/playbook_text_priv.h"
#include "words/tokens.h"

#include <stdio.h>
#include <stdlib.h>

#define BYTE_ORDER_MARK "\xEF\xBB\xBF"
#define ID_CHARACTERS   "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"

/* ---- white space ------------------------------------------------------------------------------------------------- */

static bool playbook_is_space(uint32_t code)
{
    return (code >= 0x09 && code <= 0x0D) || (code >= 0x1C && code <= 0x20) || code == 0x85 || code == 0xA0 ||
           code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 || code == 0x2029 || code == 0x202F ||
           code == 0x205F || code == 0x3000;
}

/* The character of at most three bytes at `text`, and its size; no white space is longer. */
static uint32_t playbook_character(const char *text, size_t length, size_t *size)
{
    const unsigned char *bytes = (const unsigned char *)text;
    *size = 1;
    if (length >= 2 && (bytes[0] & 0xE0) == 0xC0) {
        *size = 2;
        return (uint32_t)(bytes[0] & 0x1F) << 6 | (bytes[1] & 0x3F);
    }
    if (length >= 3 && (bytes[0] & 0xF0) == 0xE0) {
        *size = 3;
        return (uint32_t)(bytes[0] & 0x0F) << 12 | (uint32_t)(bytes[1] & 0x3F) << 6 | (bytes[2] & 0x3F);
    }
    return bytes[0] < 0x80 ? bytes[0] : 0xFFFD;
}

size_t playbook_skip_space(const char *text, size_t length, size_t at)
{
    size_t size;
    while (at < length && playbook_is_space(playbook_character(text + at, length - at, &size)))
        at += size;
    return at;
}

size_t playbook_trim_end(const char *text, size_t length)
{
    while (length > 0) {
        size_t begin = length - 1, size;
        while (begin > 0 && ((unsigned char)text[begin] & 0xC0) == 0x80)
            begin--;
        if (!playbook_is_space(playbook_character(text + begin, length - begin, &size)) || begin + size != length)
            break;
        length = begin;
    }
    return length;
}

/* ---- results of reading ------------------------------------------------------------------------------------------ */

bool playbook_problem(struct playbook_reading *reading, const char *format, ...)
{
    struct playbook_text *out = reading->out;
    struct status st;
    va_list arguments;
    out->problem_count++;
    if (out->n_problems == PLAYBOOK_PROBLEMS_MAX)
        return false;
    Renga__V1__PlaybookProblem *problem = arena_alloc(reading->arena, sizeof *problem);
    if (!problem)
        return false;
    va_start(arguments, format);
    status_set(&st, INVALID_ARGUMENT, format, arguments);
    va_end(arguments);
    renga__v1__playbook_problem__init(problem);
    problem->number = reading->number;
    problem->text = arena_strdup(reading->arena, st.text);
    if (problem->text)
        out->problems[out->n_problems++] = problem;
    return false;
}

/* False: the id stands there already. */
static bool playbook_id_is_new(struct playbook_reading *reading, const char *id)
{
    size_t at = hash_text(id) & (PLAYBOOK_ID_SLOTS - 1);
    while (reading->ids[at].id && strcmp(reading->ids[at].id, id) != 0)
        at = (at + 1) & (PLAYBOOK_ID_SLOTS - 1);
    if (reading->ids[at].id)
        return playbook_problem(reading,
                                "the id '%s' stands on %s %d already; give this bullet another id, or remove it", id,
                                reading->unit, reading->ids[at].number);
    reading->ids[at] = (struct playbook_id_slot){id, reading->number};
    return true;
}

static bool playbook_bullet_is_right(struct playbook_reading *reading, const Renga__V1__Bullet *bullet)
{
    size_t id = strlen(bullet->id), section = strlen(bullet->section), content = strlen(bullet->content);
    if (id > PLAYBOOK_ID_MAX)
        return playbook_problem(reading, "the id has %zu bytes; at most %d are possible", id, PLAYBOOK_ID_MAX);
    if (strspn(bullet->id, ID_CHARACTERS) != id)
        return playbook_problem(reading, "the id is '%s'; an id has A-Z, a-z, 0-9, '_' and '-' alone, as in shr-00001",
                                bullet->id);
    if (section > PLAYBOOK_SECTION_MAX)
        return playbook_problem(reading, "the section has %zu bytes; at most %d are possible", section,
                                PLAYBOOK_SECTION_MAX);
    if (strpbrk(bullet->section, "\r\n"))
        return playbook_problem(reading, "the section has a line break; a section is one line");
    if (text_is_blank(bullet->content))
        return playbook_problem(reading, "the content is empty; write what was learnt, or remove the bullet");
    if (content > PLAYBOOK_CONTENT_MAX)
        return playbook_problem(reading, "the content has %zu bytes; at most %d are possible: make two bullets of it",
                                content, PLAYBOOK_CONTENT_MAX);
    if (strlen(bullet->source) > PLAYBOOK_SOURCE_MAX)
        return playbook_problem(reading, "the source has %zu bytes; at most %d are possible", strlen(bullet->source),
                                PLAYBOOK_SOURCE_MAX);
    return true;
}

bool playbook_reading_add(struct playbook_reading *reading, Renga__V1__Bullet *bullet)
{
    struct playbook_text *out = reading->out;
    if (!playbook_bullet_is_right(reading, bullet))
        return false;
    if (out->count == PLAYBOOK_BULLETS_MAX)
        return playbook_problem(reading, "a playbook has at most %d bullets; this one is left out",
                                PLAYBOOK_BULLETS_MAX);
    if (bullet->id[0] && !playbook_id_is_new(reading, bullet->id))
        return false;
    if (out->count == reading->bullet_room) {
        size_t room = reading->bullet_room ? 2 * reading->bullet_room : 64;
        Renga__V1__Bullet **more = arena_alloc(reading->arena, room * sizeof *more);
        if (!more)
            return false;
        if (out->count)
            memcpy(more, out->bullets, out->count * sizeof *more);
        out->bullets = more;
        reading->bullet_room = room;
    }
    out->bullets[out->count++] = bullet;
    return true;
}

bool playbook_text_read(struct arena *arena, Renga__V1__PlaybookFormat format, const char *text,
                        struct playbook_text *out, struct status *st)
{
    struct playbook_reading reading = {.arena = arena, .out = out};
    size_t length = strlen(text), mark = strlen(BYTE_ORDER_MARK);
    bool json = format == RENGA__V1__PLAYBOOK_FORMAT__PLAYBOOK_FORMAT_JSON;
    *out = (struct playbook_text){.bullets = NULL};
    if (length > PLAYBOOK_TEXT_MAX)
        return fail_field(st, "text", "has %zu bytes; at most %zu are possible", length, PLAYBOOK_TEXT_MAX);
    if (strncmp(text, BYTE_ORDER_MARK, mark) == 0) {
        text += mark;
        length -= mark;
    }
    reading.unit = json ? "bullet" : "line";
    reading.ids = arena_zalloc(arena, PLAYBOOK_ID_SLOTS * sizeof *reading.ids);
    out->problems = arena_alloc(arena, PLAYBOOK_PROBLEMS_MAX * sizeof *out->problems);
    bool read = reading.ids && out->problems &&
                (json ? playbook_json_read(&reading, text, length, st) : playbook_lines_read(&reading, text, length));
    if (arena->exhausted)
        return fail(st, RESOURCE_EXHAUSTED, "no memory to read a playbook of %zu bytes", length);
    return read;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* As one line, without white space at its ends. Each line break of Unicode becomes a blank, since readers in other
 * languages break lines there too. */
static void playbook_write_line(struct buffer *out, const char *text)
{
    size_t length = playbook_trim_end(text, strlen(text)), at = playbook_skip_space(text, length, 0), size;
    for (size_t begin = at; at <= length; at += size) {
        uint32_t code = at < length ? playbook_character(text + at, length - at, &size) : '\n';
        if (at == length)
            size = 1;
        bool breaks = (code >= 0x0A && code <= 0x0D) || (code >= 0x1C && code <= 0x1E) || code == 0x85 ||
                      code == 0x2028 || code == 0x2029;
        if (!breaks)
            continue;
        buffer_append(out, text + begin, at - begin);
        if (at < length)
            buffer_put(out, ' ');
        size += code == '\r' && at + 1 < length && text[at + 1] == '\n';
        begin = at + size;
    }
}

void playbook_text_write_bullet(struct buffer *out, const Renga__V1__Bullet *bullet)
{
    buffer_printf(out, "[%s] helpful=%d harmful=%d :: ", bullet->id, bullet->helpful, bullet->harmful);
    playbook_write_line(out, bullet->content);
    buffer_put(out, '\n');
}

static const char *playbook_section_name(const Renga__V1__Bullet *bullet)
{
    return text_is_blank(bullet->section) ? PLAYBOOK_SECTION_DEFAULT : bullet->section;
}

static void playbook_lines_write(struct buffer *out, Renga__V1__Bullet *const *bullets, size_t count)
{
    const char *section = NULL;
    for (size_t i = 0; i < count; i++) {
        const char *name = playbook_section_name(bullets[i]);
        if (!section || strcmp(section, name) != 0) {
            buffer_print(out, section ? "\n## " : "## ");
            playbook_write_line(out, name);
            buffer_put(out, '\n');
        }
        section = name;
        playbook_text_write_bullet(out, bullets[i]);
    }
}

void playbook_text_write(struct buffer *out, Renga__V1__PlaybookFormat format, const char *dataset, int64_t revision,
                         Renga__V1__Bullet *const *bullets, size_t count)
{
    if (format == RENGA__V1__PLAYBOOK_FORMAT__PLAYBOOK_FORMAT_JSON)
        playbook_json_write(out, dataset, revision, bullets, count);
    else
        playbook_lines_write(out, bullets, count);
}

int64_t playbook_text_tokens(const Renga__V1__Bullet *bullet)
{
    char head[PLAYBOOK_ID_MAX + 64];
    int length = snprintf(head, sizeof head, "[%.*s] helpful=%d harmful=%d :: ", PLAYBOOK_ID_MAX, bullet->id,
                          bullet->helpful, bullet->harmful);
    struct token_count count = {.hundredths = 0};
    token_count_add(&count, head, (size_t)length);
    token_count_add(&count, bullet->content, strlen(bullet->content));
    return token_count_whole(&count) + 1;
}

int64_t playbook_text_section_tokens(const char *section)
{
    return tokens_of_text(section, strlen(section)) + 2;
}
