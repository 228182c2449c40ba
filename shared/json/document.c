/* Comments and spare commas are blanked in a copy of the same length: the reader reads that copy, and every
 * offset is also one of the text as it was written. */
#include "base/file.h"
#include "json_private.h"

#include <stdarg.h>
#include <stdlib.h>

static bool refuse_comment(const struct json_document *document, size_t at, struct status *st)
{
    size_t line, column;
    json_position(document->text, at, &line, &column);
    return fail(st, INVALID_ARGUMENT, "%s:%zu:%zu: the comment does not end", document->name, line, column);
}

/* The offset behind the string that begins at `at`, or the end. */
static size_t skip_string(const char *text, size_t at, size_t length)
{
    for (at++; at < length && text[at] != '"'; at++) {
        if (text[at] == '\\')
            at++;
    }
    return at < length ? at + 1 : length;
}

/* Blanks the comment at `at` except its line breaks; returns the offset after it, SIZE_MAX if it does not end. */
static size_t blank_comment(char *plain, size_t at, size_t length)
{
    const char *end;
    if (plain[at + 1] == '/') {
        end = memchr(plain + at, '\n', length - at);
        if (end == NULL)
            end = plain + length;
    } else {
        end = memmem(plain + at + 2, length - at - 2, "*/", 2);
        if (end == NULL)
            return SIZE_MAX;
        end += 2;
    }
    for (; plain + at < end; at++) {
        if (plain[at] != '\n')
            plain[at] = ' ';
    }
    return at;
}

static bool blank(struct json_document *document, struct status *st)
{
    char *plain = document->plain, before = '\0', last = '\0'; /* the last two that were no space and no comment */
    size_t length = document->length, last_at = 0;
    for (size_t at = 0; at < length;) {
        char c = plain[at];
        if (c == '/' && at + 1 < length && (plain[at + 1] == '/' || plain[at + 1] == '*')) {
            size_t behind = blank_comment(plain, at, length);
            if (behind == SIZE_MAX)
                return refuse_comment(document, at, st);
            at = behind;
            continue;
        }
        if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
            at++;
            continue;
        }
        bool spare = (c == ']' || c == '}') && last == ',' && before != ',' && before != '[' && before != '{';
        if (spare)
            plain[last_at] = ' ';
        before = last;
        last = c;
        last_at = at;
        at = c == '"' ? skip_string(plain, at, length) : at + 1;
    }
    return true;
}

static char *copy_bytes(const char *bytes, size_t length)
{
    char *copy = malloc(length + 1);
    if (copy != NULL) {
        memcpy(copy, bytes, length);
        copy[length] = '\0';
    }
    return copy;
}

bool json_document_parse(struct json_document *document, const char *name, const char *text, size_t length,
                         const struct json_limits *limits, struct status *st)
{
    *document = (struct json_document){.name = strdup(name), .text = copy_bytes(text, length), .length = length};
    document->plain = copy_bytes(text, length);
    bool memory = document->name != NULL && document->text != NULL && document->plain != NULL;
    if (memory && blank(document, st))
        document->root = json_parse_named(document->name, document->text, document->plain, length, limits, st);
    if (document->root != NULL)
        return true;
    if (!memory)
        fail(st, RESOURCE_EXHAUSTED, "no memory to read '%s' of %zu bytes", name, length);
    json_document_fini(document);
    return false;
}

bool json_document_load(struct json_document *document, const char *path, const struct json_limits *limits,
                        struct status *st)
{
    struct buffer content;
    *document = (struct json_document){0};
    buffer_init(&content, limits != NULL && limits->bytes != 0 ? limits->bytes : JSON_BYTES_DEFAULT);
    bool good = file_read(path, &content, st) &&
                json_document_parse(document, path, buffer_text(&content), content.length, limits, st);
    if (content.data != NULL)
        explicit_bzero(content.data, content.length);
    buffer_fini(&content);
    return good;
}

static void scrub(cJSON *value)
{
    for (; value != NULL; value = value->next) {
        if (value->valuestring != NULL)
            explicit_bzero(value->valuestring, strlen(value->valuestring));
        scrub(value->child);
    }
}

/* Wipes the memory before it is freed: a configuration file may hold keys. */
void json_document_fini(struct json_document *document)
{
    scrub(document->root);
    if (document->text != NULL)
        explicit_bzero(document->text, document->length);
    if (document->plain != NULL)
        explicit_bzero(document->plain, document->length);
    free(document->name);
    free(document->text);
    free(document->plain);
    cJSON_Delete(document->root);
    *document = (struct json_document){0};
}

/* Counts the values before `item` in the text; true if it was found. */
static bool count_before(const cJSON *value, const cJSON *item, size_t *count)
{
    if (value == item)
        return true;
    ++*count;
    for (const cJSON *child = value->child; child != NULL; child = child->next) {
        if (count_before(child, item, count))
            return true;
    }
    return false;
}

/* The offset of the value before which there are `count` others, and of its key or again of itself. The text was
 * checked. */
static size_t document_offset_of(const struct json_document *document, size_t count, size_t *begins)
{
    const char *text = document->plain;
    size_t key_at = SIZE_MAX, length = document->length;
    for (size_t at = 0; at < length;) {
        size_t token = at;
        if (strchr(" \t\r\n,]}:", text[at]) != NULL) {
            at++;
            continue;
        }
        if (text[at] == '"') {
            at = skip_string(text, at, length);
            size_t next = at + strspn(text + at, " \t\r\n");
            if (text[next] == ':') {
                key_at = token;
                continue;
            }
        } else if (text[at] == '{' || text[at] == '[') {
            at++;
        } else {
            at += strcspn(text + at, " \t\r\n,]}");
        }
        if (count-- == 0) {
            *begins = key_at != SIZE_MAX ? key_at : token;
            return token;
        }
        key_at = SIZE_MAX;
    }
    return *begins = 0;
}

void json_document_position(const struct json_document *document, const cJSON *item, size_t *line, size_t *column)
{
    size_t count = 0, begins = 0;
    if (item != NULL && count_before(document->root, item, &count))
        document_offset_of(document, count, &begins);
    json_position(document->text, begins, line, column);
}

/* Counts the line breaks up to `to`, from the previous position. */
static size_t line_at(const char *text, size_t *from, size_t *line, size_t to)
{
    for (; *from < to; ++*from)
        *line += text[*from] == '\n';
    return *line;
}

void json_document_lines(const struct json_document *document, const cJSON *parent, size_t *lines)
{
    const char *text = document->plain;
    size_t count = 0, begins, key_at = SIZE_MAX, depth = 0, counted = 0, line = 1;
    if (!count_before(document->root, parent, &count))
        return;
    size_t at = document_offset_of(document, count, &begins);
    do {
        size_t token = at;
        bool opens = text[at] == '{' || text[at] == '[';
        if (strchr(" \t\r\n,:]}", text[at]) != NULL) {
            depth -= text[at] == ']' || text[at] == '}';
            at++;
            continue;
        }
        if (text[at] == '"') {
            at = skip_string(text, at, document->length);
            if (text[at + strspn(text + at, " \t\r\n")] == ':') {
                key_at = token;
                continue;
            }
        } else {
            at += opens ? 1 : strcspn(text + at, " \t\r\n,]}");
        }
        if (depth == 1)
            *lines++ = line_at(text, &counted, &line, key_at != SIZE_MAX ? key_at : token);
        depth += opens;
        key_at = SIZE_MAX;
    } while (depth > 0);
}

bool fail_at(const struct json_document *document, const cJSON *item, struct status *st, const char *format, ...)
{
    struct status why;
    va_list arguments;
    va_start(arguments, format);
    status_set(&why, INVALID_ARGUMENT, format, arguments);
    va_end(arguments);

    size_t line, column;
    json_document_position(document, item, &line, &column);
    return fail(st, INVALID_ARGUMENT, "%s:%zu:%zu: %s", document->name, line, column, why.text);
}
