/* Whether a text has the words of a right answer. */
#include "eval.h"

#include "words/words.h"

#include <stdlib.h>
#include <string.h>

#define PLAIN_MAX ((size_t)32 << 20) /* bytes; NFKC makes at most 18 characters of one */

/* A text in its normal form, without white space and without the marks that Markdown and typists put around words.
 * `parts[i]`: a word may begin or end before byte i. */
struct eval_plain {
    struct buffer text, parts;
};

static bool eval_is_mark(uint32_t code)
{
    return code == ' ' || code == '*' || code == '`' || code == '_' || code == '\\' || code == '"';
}

static bool eval_is_digit(uint32_t code)
{
    return code >= '0' && code <= '9';
}

/* Of a script that puts spaces between words: Latin, Greek, Cyrillic. */
static bool eval_is_spelled(uint32_t code)
{
    return code < 0x530 && script_of(code) == SCRIPT_LETTER;
}

/* The character is a point within a number, or a comma that groups its digits. */
static bool eval_is_within_number(const char *text, size_t length, size_t at)
{
    return at > 0 && at + 1 < length && (text[at] == '.' || text[at] == ',') && eval_is_digit((uint8_t)text[at - 1]) &&
           eval_is_digit((uint8_t)text[at + 1]);
}

static void eval_plain_put(struct eval_plain *plain, const char *text, size_t size, bool parts)
{
    static const char no[8] = {0};
    buffer_append(&plain->text, text, size);
    buffer_put(&plain->parts, (char)parts);
    buffer_append(&plain->parts, no, size - 1);
}

static void eval_plain_read(struct eval_plain *plain, const char *text, size_t length)
{
    struct buffer normal;
    uint32_t before = 0;
    buffer_init(&normal, PLAIN_MAX);
    words_normalize(&normal, text, length);
    const char *from = buffer_text(&normal);
    for (size_t at = 0, end; at < normal.length; at = end) {
        uint32_t code = utf8_read(from, normal.length, at, &end);
        bool number = eval_is_within_number(from, normal.length, at);
        bool joined = number || (eval_is_digit(before) && eval_is_digit(code)) ||
                      (eval_is_spelled(before) && eval_is_spelled(code));
        if (eval_is_mark(code)) {
            before = 0;
            continue;
        }
        if (!(number && code == ','))
            eval_plain_put(plain, from + at, end - at, !joined);
        before = number ? '0' : code;
    }
    buffer_fini(&normal);
}

static void eval_plain_init(struct eval_plain *plain, const char *text, size_t length)
{
    buffer_init(&plain->text, PLAIN_MAX);
    buffer_init(&plain->parts, PLAIN_MAX);
    eval_plain_read(plain, text, length);
}

static void eval_plain_fini(struct eval_plain *plain)
{
    buffer_fini(&plain->text);
    buffer_fini(&plain->parts);
}

/* The words of an answer without the stops at its end: "30 days." */
static size_t eval_bare_length(const struct buffer *text)
{
    static const char *const stops[] = {".", ",", ";", ":", "!", "?", "。", "、"};
    size_t length = text->length;
    for (bool cut = true; cut;) {
        cut = false;
        for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
            size_t size = strlen(stops[i]);
            if (length > size && memcmp(text->data + length - size, stops[i], size) == 0) {
                length -= size;
                cut = true;
            }
        }
    }
    return length;
}

/* Knuth, Morris, Pratt: how much of the beginning is also the end of the first i + 1 bytes. */
static size_t *eval_borders(const char *wanted, size_t length)
{
    size_t *borders = calloc(length, sizeof *borders);
    for (size_t i = 1, k = 0; borders && i < length; i++) {
        while (k && wanted[i] != wanted[k])
            k = borders[k - 1];
        k += wanted[i] == wanted[k];
        borders[i] = k;
    }
    return borders;
}

static bool eval_plain_has(const struct eval_plain *text, const struct eval_plain *wanted)
{
    const char *in = text->text.data, *for_ = wanted->text.data;
    size_t length = wanted->text.length ? eval_bare_length(&wanted->text) : 0, all = text->text.length;
    size_t *borders = length && length <= all ? eval_borders(for_, length) : NULL;
    bool found = false;
    for (size_t i = 0, k = 0; borders && !found && i < all; i++) {
        while (k && in[i] != for_[k])
            k = borders[k - 1];
        k += in[i] == for_[k];
        if (k < length)
            continue;
        found = text->parts.data[i + 1 - length] && (i + 1 == all || text->parts.data[i + 1]);
        k = borders[k - 1];
    }
    free(borders);
    return found;
}

bool eval_text_has(const char *text, size_t length, const struct eval_question *question)
{
    struct eval_plain in, wanted;
    bool found = false;
    eval_plain_init(&in, text, length);
    for (size_t i = 0; !found && i < question->answer_count; i++) {
        eval_plain_init(&wanted, question->answers[i], strlen(question->answers[i]));
        found = eval_plain_has(&in, &wanted);
        eval_plain_fini(&wanted);
    }
    eval_plain_fini(&in);
    return found;
}

bool eval_file_is(const char *uri, const char *file)
{
    size_t length = strlen(uri), wanted = strlen(file);
    if (!wanted || wanted > length || strcmp(uri + length - wanted, file) != 0)
        return false;
    return wanted == length || uri[length - wanted - 1] == '/';
}
