#include "documents/ascii_space.h"
#include "documents/encoding.h"
#include "documents/file_kind.h"
#include "documents/reading.h"

#include "base/text.h"

#include <string.h>

#define TEXT_MAX   (4 * DOCUMENT_MAX)                     /* bytes in UTF-8 of a file in another encoding */
#define MEMORY_MAX (4 * DOCUMENT_MAX + ((size_t)1 << 20)) /* bytes of paragraphs and headings */

/* ---- pieces and lines -------------------------------------------------------------------------------------------- */

bool lines_next(struct lines *lines, struct piece *line)
{
    if (lines->at == lines->end)
        return false;
    const char *at = lines->at, *newline = memchr(at, '\n', (size_t)(lines->end - at));
    const char *end = newline ? newline : lines->end;
    lines->at = newline ? newline + 1 : lines->end;
    lines->number++;
    *line = (struct piece){at, (size_t)(end - at)};
    if (line->length && at[line->length - 1] == '\r')
        line->length--;
    return true;
}

struct piece piece_trim(struct piece piece)
{
    while (piece.length && ascii_is_space(piece.at[piece.length - 1]))
        piece.length--;
    for (; piece.length && ascii_is_space(*piece.at); piece.length--)
        piece.at++;
    return piece;
}

bool piece_is(struct piece piece, const char *text)
{
    return piece.length == strlen(text) && memcmp(piece.at, text, piece.length) == 0;
}

bool piece_begins(struct piece piece, const char *text)
{
    size_t length = strlen(text);
    return piece.length >= length && memcmp(piece.at, text, length) == 0;
}

bool piece_is_word(struct piece piece, const char *word)
{
    return piece.length == strlen(word) && strncasecmp(piece.at, word, piece.length) == 0;
}

/* ---- titles and headings ----------------------------------------------------------------------------------------- */

/* Copies the text on a single line, at most `room` bytes; NULL if memory is out. */
static const char *keep_line(struct document *document, struct piece text, size_t room)
{
    char *kept = arena_strndup(&document->arena, text.at, text_cut(text.at, text.length, room));
    for (char *c = kept; c && *c; c++)
        if (ascii_is_space(*c))
            *c = ' ';
    return kept;
}

void document_set_title(struct document *document, struct piece title)
{
    title = piece_trim(title);
    const char *kept = title.length && !document->title[0] ? keep_line(document, title, DOCUMENT_TITLE_MAX) : NULL;
    if (kept)
        document->title = kept;
}

void document_tell(struct document *document, const char **field, struct piece text, size_t most)
{
    text = piece_trim(text);
    const char *kept = field && !*field && text.length ? keep_line(document, text, most) : NULL;
    if (kept)
        *field = kept;
}

static struct paragraph *document_append(struct document *document, struct piece text, int line_from, int line_to)
{
    struct paragraph *paragraph = arena_alloc(&document->arena, sizeof *paragraph);
    if (!paragraph)
        return NULL;
    *paragraph = (struct paragraph){.text = text.at,
                                    .length = text.length,
                                    .heading = document->heading,
                                    .line_from = line_from,
                                    .line_to = line_to};
    *document->last = paragraph;
    document->last = &paragraph->next;
    document->count++;
    return paragraph;
}

/* Makes a paragraph of the last heading if it has no paragraph, so that a search can find it. */
static void flush_bare_heading(struct document *document)
{
    struct paragraph *bare_heading = document->bare_heading;
    document->bare_heading = NULL;
    if (bare_heading)
        document_append(document, (struct piece){bare_heading->text, bare_heading->length}, bare_heading->line_from,
                        bare_heading->line_to);
}

void document_add_heading(struct document *document, unsigned level, struct piece text, int line)
{
    text = piece_trim(text);
    if (!text.length)
        return;
    const struct heading *above = document->heading;
    if (!above || above->level >= level)
        flush_bare_heading(document);
    while (above && above->level >= level)
        above = above->above;
    struct heading *heading = arena_alloc(&document->arena, sizeof *heading);
    struct paragraph *bare_heading = arena_zalloc(&document->arena, sizeof *bare_heading);
    const char *kept = keep_line(document, text, HEADING_MAX);
    if (!heading || !bare_heading || !kept)
        return;
    *heading = (struct heading){above, kept, level};
    *bare_heading = (struct paragraph){
        .text = text.at, .length = text_cut(text.at, text.length, PARAGRAPH_MAX), .line_from = line, .line_to = line};
    document->heading = heading;
    document->bare_heading = bare_heading;
    if (level == 1)
        document_set_title(document, text);
}

void document_end_headings(struct document *document)
{
    flush_bare_heading(document);
    document->heading = NULL;
}

/* ---- paragraphs -------------------------------------------------------------------------------------------------- */

static int newlines(struct piece text)
{
    int count = 0;
    for (const char *at = text.at, *end = at + text.length; (at = memchr(at, '\n', (size_t)(end - at))); at++)
        count++;
    return count;
}

/* The last end of `mark` in the second half of the allowed length; 0: not found. */
static size_t last_mark(struct piece text, const char *mark)
{
    size_t length = strlen(mark);
    for (size_t at = PARAGRAPH_MAX; at > PARAGRAPH_MAX / 2; at--)
        if (memcmp(text.at + at - length, mark, length) == 0)
            return at;
    return 0;
}

/* The length of the first paragraph of a text that is too long. */
static size_t first_part(struct piece text)
{
    static const char *const marks[] = {"\n", "。", ". ", "、", " "};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        size_t end = last_mark(text, marks[i]);
        if (end)
            return end;
    }
    size_t cut = text_cut(text.at, text.length, PARAGRAPH_MAX);
    return cut ? cut : PARAGRAPH_MAX; /* never 0, also for bytes that are no UTF-8 */
}

static struct paragraph *add_parts(struct document *document, struct piece text, int line, bool has_lines)
{
    struct paragraph *last = NULL;
    const char *from = text.at;
    for (struct piece rest = piece_trim(text); rest.length; rest = piece_trim(rest)) {
        line += has_lines ? newlines((struct piece){from, (size_t)(rest.at - from)}) : 0;
        size_t size = rest.length > PARAGRAPH_MAX ? first_part(rest) : rest.length;
        struct piece part = piece_trim((struct piece){rest.at, size});
        document->bare_heading = NULL;
        last = document_append(document, part, line, line + (has_lines ? newlines(part) : 0));
        from = rest.at;
        rest = (struct piece){rest.at + size, rest.length - size};
        line += has_lines ? newlines((struct piece){from, size}) : 0;
        from += size;
    }
    return last;
}

struct paragraph *document_add_paragraph(struct document *document, struct piece text, int line)
{
    return add_parts(document, text, line, true);
}

struct paragraph *document_add_placed(struct document *document, struct piece text, int line)
{
    return add_parts(document, text, line, false);
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* By the numbers of the contract. Each format has either `read` or `unpack`. */
static const struct {
    bool (*read)(struct document *document, struct piece text, struct status *st);
    bool (*unpack)(struct document *document, struct piece bytes, const struct document_means *means,
                   struct status *st);
    const char *ends[6];
} formats[] = {
    [RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_TEXT] = {.read = read_plain, .ends = {"txt", "text"}},
    [RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_MARKDOWN] = {.read = read_markdown,
                                                              .ends = {"md", "markdown", "mdown", "mkd"}},
    [RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_HTML] = {.read = read_html, .ends = {"html", "htm", "xhtml"}},
    [RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_CSV] = {.read = read_csv, .ends = {"csv", "tsv"}},
    [RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_DOCX] = {.unpack = read_docx, .ends = {"docx", "docm"}},
    [RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_PDF] = {.unpack = read_pdf, .ends = {"pdf"}},
    [RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_XLSX] = {.unpack = read_xlsx, .ends = {"xlsx", "xlsm"}},
    [RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_PPTX] = {.unpack = read_pptx, .ends = {"pptx", "pptm", "ppsx"}},
    [RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_EPUB] = {.unpack = read_epub, .ends = {"epub"}},
};
#define FORMATS (sizeof formats / sizeof formats[0])

Renga__V1__DocumentFormat document_format(const char *path)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    for (size_t format = 0; dot && format < FORMATS; format++)
        for (const char *const *end = formats[format].ends; *end; end++)
            if (strcasecmp(dot + 1, *end) == 0)
                return (Renga__V1__DocumentFormat)format;
    return RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_TEXT;
}

bool document_is_format(int format)
{
    return format > 0 && format < (int)FORMATS && (formats[format].read || formats[format].unpack);
}

size_t document_formats(Renga__V1__DocumentFormat out[DOCUMENT_FORMATS_MAX])
{
    size_t count = 0;
    for (int format = 0; format < (int)FORMATS && count < DOCUMENT_FORMATS_MAX; format++)
        if (document_is_format(format))
            out[count++] = (Renga__V1__DocumentFormat)format;
    return count;
}

bool document_is_packed(Renga__V1__DocumentFormat format)
{
    return formats[format].unpack;
}

bool document_goes_on(const struct document_means *means, struct status *st)
{
    return !means || !means->is_over || !means->is_over(means->data) ||
           fail(st, CANCELLED, "is not read to its end: the caller has left, or its time is over");
}

static bool document_begin(struct document *document, size_t size, struct status *st)
{
    *document = (struct document){.title = "", .borrows = true};
    document->last = &document->first;
    arena_init(&document->arena, NULL, 0, MEMORY_MAX);
    buffer_init(&document->room, TEXT_MAX);
    return size <= DOCUMENT_MAX ||
           fail(st, RESOURCE_EXHAUSTED, "has %zu bytes; at most %zu are read", size, DOCUMENT_MAX);
}

static bool document_end(struct document *document, struct status *st)
{
    flush_bare_heading(document);
    return !document->arena.exhausted ||
           fail(st, RESOURCE_EXHAUSTED, "takes more than %zu MiB when it is read", MEMORY_MAX >> 20);
}

static bool document_read_text(struct document *document, Renga__V1__DocumentFormat format, struct piece text,
                               struct status *st)
{
    return file_kind_check(text, st) && formats[format].read(document, text, st) && document_end(document, st);
}

bool document_read(struct document *document, Renga__V1__DocumentFormat format, const char *text, size_t length,
                   struct status *st)
{
    return document_begin(document, length, st) &&
           document_read_text(document, format, (struct piece){text, length}, st);
}

bool document_read_page(struct document *document, struct page_about *about, const char *text, size_t length,
                        struct status *st)
{
    struct piece page = {text, length};
    *about = (struct page_about){"", "", "", ""};
    return document_begin(document, length, st) && file_kind_check(page, st) && read_page(document, about, page, st) &&
           document_end(document, st);
}

static bool read_bytes(struct document *document, Renga__V1__DocumentFormat format, struct piece bytes,
                       struct status *st)
{
    struct piece text;
    if (!file_kind_check(bytes, st) ||
        !encoding_read(bytes.at, bytes.length, &document->room, &text.at, &text.length, st))
        return false;
    document->borrows = !document->room.data;
    return document_read_text(document, format, text, st);
}

bool document_read_file(struct document *document, Renga__V1__DocumentFormat format, const char *bytes, size_t size,
                        const struct document_means *means, struct status *st)
{
    struct piece file = {bytes, size};
    if (!document_begin(document, size, st))
        return false;
    format = file_kind(file, format);
    if (!document_is_packed(format))
        return read_bytes(document, format, file, st);
    document->borrows = false;
    if (!formats[format].unpack(document, file, means, st) || !document_end(document, st))
        return false;
    if (means && means->about)
        means->about->title = document->title;
    return true;
}

void document_fini(struct document *document)
{
    arena_fini(&document->arena);
    buffer_fini(&document->room);
}
