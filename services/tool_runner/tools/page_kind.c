#include "tools/page_kind.h"

#include "base/text.h"
#include "documents/document.h"
#include "documents/encoding.h"
#include "tools/page_charset.h"

#include <string.h>
#include <strings.h>

#define BINARY_BYTES 8192 /* bytes that are looked at for a NUL */

#define TEXT     RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_TEXT
#define MARKDOWN RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_MARKDOWN
#define HTML     RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_HTML
#define CSV      RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_CSV
#define DOCX     RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_DOCX
#define XLSX     RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_XLSX
#define PPTX     RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_PPTX
#define EPUB     RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_EPUB
#define PDF      RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_PDF

#define OFFICE_TYPE "application/vnd.openxmlformats-officedocument."

/* The first match counts; a type with a slash at its end stands for all kinds of its family. */
static const struct {
    const char *type;
    Renga__V1__DocumentFormat format;
} types[] = {
    {"text/html", HTML},         {"application/xhtml+xml", HTML},
    {"text/markdown", MARKDOWN}, {"text/x-markdown", MARKDOWN},
    {"text/csv", CSV},           {"text/", TEXT},
    {"application/json", TEXT},  {"application/xml", TEXT},
};

/* Types of files that are no text. A file of a generic type (octet-stream, zip) is known by its first bytes, or by its
 * path. */
static const struct {
    const char *type;
    Renga__V1__DocumentFormat format;
} file_types[] = {
    {OFFICE_TYPE "wordprocessingml.document", DOCX},
    {OFFICE_TYPE "spreadsheetml.sheet", XLSX},
    {OFFICE_TYPE "presentationml.presentation", PPTX},
    {"application/epub+zip", EPUB},
    {"application/pdf", PDF},
    {"application/x-pdf", PDF},
    {"application/octet-stream", TEXT},
    {"binary/octet-stream", TEXT},
    {"application/zip", TEXT},
    {"application/x-zip-compressed", TEXT},
};

static bool is_type(const char *type, size_t length, const char *known)
{
    size_t size = strlen(known);
    return strncasecmp(type, known, size) == 0 && (length == size || known[size - 1] == '/');
}

/* The token behind "charset=", with or without quotes. */
static void take_charset(struct page_kind *kind, const char *at, const char *end)
{
    size_t length = 0;
    while (at < end && (*at == ' ' || *at == '"' || *at == '\''))
        at++;
    while (at + length < end && *(at + length) && !strchr(" \t\r\n\"';/>", at[length]))
        length++;
    if (length >= sizeof kind->charset)
        return;
    memcpy(kind->charset, at, length);
    kind->charset[length] = '\0';
}

static void find_charset(struct page_kind *kind, const char *text, size_t length)
{
    static const char mark[] = "charset=";
    for (size_t at = 0; at + sizeof mark <= length; at++)
        if (strncasecmp(text + at, mark, sizeof mark - 1) == 0) {
            take_charset(kind, text + at + sizeof mark - 1, text + length);
            return;
        }
}

bool page_kind_read(struct page_kind *kind, const char *content_type, const char *path)
{
    *kind = (struct page_kind){.format = HTML};
    if (!content_type)
        return true;
    size_t length = strcspn(content_type, "; \t");
    find_charset(kind, content_type + length, strlen(content_type + length));
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (!is_type(content_type, length, types[i].type))
            continue;
        kind->format = types[i].format;
        /* Markdown is often sent as plain text. */
        if (kind->format == TEXT && document_format(path) == MARKDOWN)
            kind->format = MARKDOWN;
        return true;
    }
    for (size_t i = 0; i < sizeof file_types / sizeof file_types[0]; i++)
        if (is_type(content_type, length, file_types[i].type)) {
            kind->format = file_types[i].format == TEXT ? document_format(path) : file_types[i].format;
            kind->is_file = true;
            return true;
        }
    return false;
}

/* A byte order mark counts more than the server's charset. The server's charset counts more than the page's own, and
 * the page's own more than a guess. */
static bool is_marked(const char *bytes, size_t size)
{
    return (size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) ||
           (size >= 2 && (memcmp(bytes, "\xff\xfe", 2) == 0 || memcmp(bytes, "\xfe\xff", 2) == 0));
}

/* Neither told nor clean UTF-8, or with the escapes of ISO-2022-JP. encoding_read says of bytes with a NUL that they
 * are no text. */
static bool is_to_be_guessed(const char *bytes, size_t size)
{
    bool is_binary = memchr(bytes, '\0', size < BINARY_BYTES ? size : BINARY_BYTES);
    return !is_binary && (text_clean_length(bytes, size) < size || memmem(bytes, size, "\x1b$", 2));
}

bool page_decode(const struct page_kind *told, const char *bytes, size_t size, struct buffer *room, const char **text,
                 size_t *length, struct status *st)
{
    struct page_kind kind = *told;
    bool read = false;
    if (!is_marked(bytes, size)) {
        read = kind.charset[0] && encoding_read_named(kind.charset, bytes, size, room);
        if (!read && kind.format == HTML)
            read = page_charset_declared(bytes, size, kind.charset, sizeof kind.charset) &&
                   encoding_read_named(kind.charset, bytes, size, room);
        if (!read && is_to_be_guessed(bytes, size))
            read = encoding_read_named(page_charset_guess(bytes, size), bytes, size, room);
    }
    if (!read)
        return encoding_read(bytes, size, room, text, length, st);
    *text = buffer_text(room);
    *length = room->length;
    return true;
}
