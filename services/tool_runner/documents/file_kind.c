#include "documents/file_kind.h"

#include <string.h>

#define OLD_OFFICE "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
#define ZIP        "PK\x03\x04"
#define PDF        "%PDF-"
#define EMPTY_ZIP  "PK\x05\x06"

#define XZ                                                                                                             \
    "\xfd"                                                                                                             \
    "7zXZ"
#define ELF                                                                                                            \
    "\x7f"                                                                                                             \
    "ELF"

#define BINARY_WITHIN 8192              /* bytes in which a file of bytes has a NUL */
#define LIST_WITHIN   ((size_t)1 << 20) /* bytes at the end of an archive that are searched for names */

#define SAVE_AS_OFFICE "; save it as DOCX, XLSX, PPTX or PDF"
#define SAVE_AS_TEXT   "; save it as text, Markdown, HTML or PDF"
#define TAKE_OUT       "; index the files that are in it"

/* Text kinds are known by their first characters alone, others only if the file has a byte that no text has. */
static const struct {
    const char *bytes, *name, *cure;
    size_t at;
    bool is_text;
} unread[] = {
    {PDF, "a PDF document", "; save it as text, Markdown or HTML", 0, true},
    {"%!PS", "a PostScript document", SAVE_AS_TEXT, 0, true},
    {"{\\rtf", "an RTF document", SAVE_AS_TEXT, 0, true},
    {OLD_OFFICE, "an old document of Office (DOC, XLS, PPT), or one with a password", SAVE_AS_OFFICE, 0, false},
    {ZIP, "a zip archive", TAKE_OUT, 0, false},
    {EMPTY_ZIP, "an empty zip archive", "", 0, false},
    {"\x1f\x8b\x08", "a gzip archive", TAKE_OUT, 0, false},
    {"BZh", "a bzip2 archive", TAKE_OUT, 0, false},
    {XZ, "an xz archive", TAKE_OUT, 0, false},
    {"7z\xbc\xaf\x27\x1c", "a 7z archive", TAKE_OUT, 0, false},
    {"Rar!\x1a\x07", "a RAR archive", TAKE_OUT, 0, false},
    {"ustar", "a tar archive", TAKE_OUT, 257, false},
    {"\x89PNG\r\n\x1a\n", "a PNG image", "", 0, false},
    {"\xff\xd8\xff", "a JPEG image", "", 0, false},
    {"GIF8", "a GIF image", "", 0, false},
    {"II*", "a TIFF image", "", 0, false},
    {"MM", "a TIFF image", "", 0, false},
    {"WEBP", "a WebP image", "", 8, false},
    {"WAVE", "a WAV recording", "", 8, false},
    {"ID3", "an MP3 recording", "", 0, false},
    {"OggS", "an Ogg recording", "", 0, false},
    {"fLaC", "a FLAC recording", "", 0, false},
    {"ftyp", "an MP4 recording or a HEIF image", "", 4, false},
    {"\x1a\x45\xdf\xa3", "a Matroska or WebM recording", "", 0, false},
    {ELF, "a program", "", 0, false},
    {"SQLite format 3", "an SQLite database", "", 0, false},
};

static bool file_kind_has_at(struct piece bytes, size_t at, const char *text)
{
    return bytes.length > at && piece_begins((struct piece){bytes.at + at, bytes.length - at}, text);
}

static bool file_kind_is_binary(struct piece bytes)
{
    return memchr(bytes.at, '\0', bytes.length < BINARY_WITHIN ? bytes.length : BINARY_WITHIN);
}

bool file_kind_check(struct piece bytes, struct status *st)
{
    bool binary = file_kind_is_binary(bytes);
    struct piece text = piece_trim(bytes);
    for (size_t i = 0; i < sizeof unread / sizeof unread[0]; i++)
        if (unread[i].is_text ? file_kind_has_at(text, 0, unread[i].bytes)
                              : binary && file_kind_has_at(bytes, unread[i].at, unread[i].bytes))
            return fail(st, INVALID_ARGUMENT, "is %s, which is not read%s", unread[i].name, unread[i].cure);
    return true;
}

bool file_kind_is_zip(struct piece bytes, const char *name, struct status *st)
{
    if (file_kind_has_at(bytes, 0, ZIP))
        return true;
    if (file_kind_has_at(bytes, 0, OLD_OFFICE))
        return fail(st, INVALID_ARGUMENT,
                    "is encrypted with a password, or an old document of Office (DOC, XLS, PPT); save it as %s without "
                    "a password",
                    name);
    return fail(st, INVALID_ARGUMENT, "is no %s document: it is not a zip archive", name);
}

/* ---- which reader ------------------------------------------------------------------------------------------------ */

/* A file in the archive that each document of the format has. */
static const struct {
    const char *file;
    Renga__V1__DocumentFormat format;
} marks[] = {
    {"word/document.xml", RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_DOCX},
    {"xl/workbook.xml", RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_XLSX},
    {"ppt/presentation.xml", RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_PPTX},
    {"META-INF/container.xml", RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_EPUB},
};

/* Names stand as they are in the list at the end of the archive. */
static bool file_kind_lists_file(struct piece bytes, const char *file)
{
    size_t size = bytes.length < LIST_WITHIN ? bytes.length : LIST_WITHIN;
    return memmem(bytes.at + bytes.length - size, size, file, strlen(file));
}

Renga__V1__DocumentFormat file_kind(struct piece bytes, Renga__V1__DocumentFormat format)
{
    if (!document_is_packed(format) && file_kind_has_at(piece_trim(bytes), 0, PDF))
        return RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_PDF;
    if (document_is_packed(format) || !file_kind_has_at(bytes, 0, ZIP))
        return format;
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
        if (file_kind_lists_file(bytes, marks[i].file))
            return marks[i].format;
    return format;
}
