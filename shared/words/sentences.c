#include "words/sentences.h"

#include "base/text.h"
#include "words/sentences_priv.h"

#include <string.h>

#define BRACKETS_MAX   ((size_t)600) /* bytes between a bracket and its partner, at most */
#define ANNOUNCING_MAX ((size_t)240) /* bytes of a sentence in which the announcement of steps is searched */

void sentences_begin(struct sentence_reader *reader, const char *text, size_t length)
{
    *reader = (struct sentence_reader){.text = text, .length = length};
}

static size_t sentences_line_end(const struct sentence_reader *reader, size_t at)
{
    while (at < reader->length && reader->text[at] != '\n')
        at++;
    return at;
}

static bool at_line_start(const struct sentence_reader *reader, size_t at)
{
    while (at > 0 && is_blank(reader->text[at - 1]))
        at--;
    return at == 0 || reader->text[at - 1] == '\n';
}

/* Called with ascending offsets, so each byte is scanned once. */
static size_t start_of_line(struct sentence_reader *reader, size_t at)
{
    for (; reader->line_known < at; reader->line_known++) {
        if (reader->text[reader->line_known] == '\n')
            reader->line = reader->line_known + 1;
    }
    return reader->line;
}

/* The partner of a Japanese bracket, 0 for any other character. */
static uint32_t partner(uint32_t code)
{
    switch (code) {
    case 0x300C: /* 「 */
    case 0x300E: /* 『 */
    case 0x3010: /* 【 */
        return code + 1;
    case 0xFF08: /* （ */
        return 0xFF09;
    default:
        return 0;
    }
}

/* The offset after the closing bracket for the bracket at `at`, or 0. */
static size_t bracket_end(struct sentence_reader *reader, size_t at, uint32_t open)
{
    if (at < reader->unclosed_until)
        return 0;
    size_t limit = reader->length - at < BRACKETS_MAX ? reader->length : at + BRACKETS_MAX;
    unsigned depth = 0;
    for (size_t next = at; next < limit;) {
        uint32_t code = utf8_read(reader->text, reader->length, next, &next);
        depth += code == open;
        if (code == partner(open) && --depth == 0)
            return next;
        if (code == '\n' && next < limit && reader->text[next] == '\n')
            break;
    }
    reader->unclosed_until = limit;
    return 0;
}

/* Whether a bracketed text at the start of a sentence is a sentence by itself: true for 「はい。」彼は…, false for
 * 「はい。」と… */
static bool brackets_end_sentence(const struct sentence_reader *reader, size_t end)
{
    size_t last = end - 6, after; /* a closing bracket and a Japanese full stop have three bytes each */
    if (!stop_mark(utf8_read(reader->text, reader->length, last, &after)) || after != end - 3 || end == reader->length)
        return false;
    enum script script = script_of(utf8_read(reader->text, reader->length, end, &after));
    return script == SCRIPT_HAN || script == SCRIPT_KATAKANA;
}

/* The end of the part of at most SENTENCE_MAX bytes from `begin`: after the last space in its second half, or else
 * between two characters. */
static size_t sentences_cut(const struct sentence_reader *reader, size_t begin)
{
    size_t room = text_cut(reader->text + begin, reader->length - begin, SENTENCE_MAX);
    for (size_t end = room; end > SENTENCE_MAX / 2; end--) {
        if (is_blank(reader->text[begin + end - 1]) || reader->text[begin + end - 1] == '\n')
            return begin + end;
    }
    return begin + (room > 0 ? room : SENTENCE_MAX);
}

/* The end of the sentence that begins at `begin`; may include white space after it. */
static size_t sentences_sentence_end(struct sentence_reader *reader, size_t begin)
{
    size_t line = start_of_line(reader, begin);
    struct marker first = marker_read(reader->text, reader->length, begin);
    for (size_t at = first.kind == 0 ? begin : first.end, next; at < reader->length; at = next) {
        if (at - begin > SENTENCE_MAX)
            return sentences_cut(reader, begin);
        uint32_t code = utf8_read(reader->text, reader->length, at, &next);
        size_t end = 0;
        if (code == '\n') {
            if (line_ends_block(reader->text, reader->length, line, at))
                return at;
            line = next;
        } else if (code == ' ' && first.kind != 0) {
            struct marker marker = marker_read(reader->text, reader->length, next);
            if (marker_follows(&first, &marker))
                return at;
        } else if (partner(code) != 0 && (end = bracket_end(reader, at, code)) != 0) {
            if (at == begin && brackets_end_sentence(reader, end))
                return end;
            next = end;
        } else if (stop_mark(code)) {
            end = stop_end(reader->text, reader->length, begin, at, &next);
            if (end != 0)
                return end;
        }
    }
    return reader->length;
}

/* Skips white space, marks and fences up to the beginning of a sentence or a line of code. */
static bool find_start(struct sentence_reader *reader)
{
    for (;;) {
        reader->at = skip_space(reader->text, reader->length, reader->at);
        if (reader->at == reader->length)
            return false;
        if (!at_line_start(reader, reader->at))
            return true;
        if (line_is_fence(reader->text, reader->length, reader->at)) {
            reader->in_code = !reader->in_code;
            reader->at = sentences_line_end(reader, reader->at);
            continue;
        }
        if (reader->in_code)
            return true;
        size_t behind = line_mark(reader->text, reader->length, reader->at);
        if (behind == reader->at)
            return true;
        reader->at = behind;
    }
}

/* Searches at most SENTENCE_MAX + 1 bytes, so that the work stays linear for a code line of any length. */
static size_t code_end(const struct sentence_reader *reader, size_t begin)
{
    size_t rest = reader->length - begin, limit = rest > SENTENCE_MAX ? begin + SENTENCE_MAX + 1 : reader->length;
    size_t end = begin;
    while (end < limit && reader->text[end] != '\n')
        end++;
    return end;
}

bool sentences_next(struct sentence_reader *reader, struct span *sentence)
{
    if (!find_start(reader))
        return false;
    size_t begin = reader->at;
    size_t end = reader->in_code ? code_end(reader, begin) : sentences_sentence_end(reader, begin);
    end = end - begin > SENTENCE_MAX ? sentences_cut(reader, begin) : end;
    reader->at = end;
    while (end > begin && (is_blank(reader->text[end - 1]) || reader->text[end - 1] == '\n'))
        end--;
    *sentence = (struct span){.begin = begin, .end = end};
    return true;
}

/* Whether the last character before `end` may end a sentence, ignoring closing marks. */
static bool sentences_is_stopped(const char *text, size_t begin, size_t end)
{
    struct fold fold;
    struct folded c;
    bool stopped = false;
    fold_begin(&fold, text + begin, end - begin);
    while (fold_next(&fold, &c))
        if (!is_closing(c.code))
            stopped = stop_mark(c.code);
    return stopped;
}

size_t sentences_whole(const char *text, size_t length, size_t most)
{
    struct sentence_reader reader;
    struct span sentence, last = {0};
    size_t whole = 0;
    sentences_begin(&reader, text, length);
    while (sentences_next(&reader, &sentence) && sentence.end <= most) {
        whole = last.end;
        last = sentence;
    }
    bool ends_text = skip_space(text, length, last.end) == length;
    return last.end && (!ends_text || sentences_is_stopped(text, last.begin, last.end)) ? last.end : whole;
}

static size_t character_count(const struct buffer *text)
{
    size_t count = 0;
    for (size_t i = 0; i < text->length; i++)
        count += ((unsigned char)text->data[i] & 0xC0) != 0x80;
    return count;
}

void sentences_append(struct buffer *out, const char *text, size_t characters)
{
    size_t length = strlen(text), used = character_count(out) + (out->length > 0);
    size_t most = used < characters ? text_cut_characters(text, length, characters - used) : 0;
    size_t whole = most == length ? length : sentences_whole(text, length, most);
    if (!whole)
        return;
    if (out->length)
        buffer_put(out, '\n');
    buffer_append(out, text, whole);
}

/* Whether the last sentence says that steps follow: 次の手順で行います。 Of a longer one its end counts. */
static bool announces_steps(const char *text, size_t length)
{
    static const char *const words[] = {"次の手順",   "以下の手順",          "次の順に",
                                        "次の方法で", "the following steps", "these steps"};
    static const char stop[] = "。";
    size_t size = sizeof stop - 1, end = length, begin;
    if (length > size && memcmp(text + length - size, stop, size) == 0)
        end = length - size;
    else if (length > 0 && text[length - 1] == '.')
        end = length - 1;
    for (begin = end; begin > 0 && end - begin < ANNOUNCING_MAX; begin--)
        if (text[begin - 1] == '\n' || text[begin - 1] == '.' ||
            (begin >= size && memcmp(text + begin - size, stop, size) == 0))
            break;
    for (size_t i = 0; end < length && i < sizeof words / sizeof *words; i++)
        if (memmem(text + begin, end - begin, words[i], strlen(words[i])))
            return true;
    return false;
}

bool sentences_announce(const char *text, size_t length)
{
    static const char *const ends[] = {
        ":", "：", "次のとおりです。", "以下のとおりです。", "次の通りです。", "以下の通りです。"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t end = strlen(ends[i]);
        if (length >= end && memcmp(text + length - end, ends[i], end) == 0)
            return true;
    }
    return announces_steps(text, length);
}
