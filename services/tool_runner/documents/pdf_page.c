#include "documents/pdf.h"

#include "documents/xml.h"

#include <string.h>

#define PAGE_MAX   ((size_t)32 << 20) /* bytes */
#define SHORT_MAX  60 /* bytes: a shorter paragraph, for example a heading, stays with the next of its page */
#define WIDE_MIN   30 /* columns: in a narrower block each line stands for itself */
#define FULL_SHARE 70 /* hundredths of the widest line that a line needs to go on in the next line */

static bool pdf_is_wide(unsigned char lead)
{
    return lead >= 0xe3 && lead < 0xf8; /* from U+3000: kana, kanji, hangul */
}

/* In columns of a fixed font. */
static size_t pdf_width_of(struct piece line)
{
    size_t columns = 0;
    for (size_t i = 0; i < line.length; i++) {
        unsigned char c = (unsigned char)line.at[i];
        columns += (c & 0xc0) == 0x80 ? 0 : pdf_is_wide(c) ? 2 : 1;
    }
    return columns;
}

static unsigned char pdf_last_lead(struct piece line)
{
    size_t at = line.length;
    while (at && ((unsigned char)line.at[--at] & 0xc0) == 0x80)
        continue;
    return line.length ? (unsigned char)line.at[at] : 0;
}

/* The joint of two lines of a paragraph: a space in languages that write spaces between words. */
static const char *pdf_joint_of(struct piece line, struct piece next, size_t widest)
{
    if (widest < WIDE_MIN || pdf_width_of(line) * 100 < widest * FULL_SHARE)
        return "\n";
    return pdf_is_wide(pdf_last_lead(line)) && pdf_is_wide((unsigned char)*next.at) ? "" : " ";
}

void pdf_page_line(struct pdf_page *page, struct piece line)
{
    if (!line.length && page->block.length && page->block.length < SHORT_MAX) {
        buffer_put(&page->block, '\n');
        return;
    }
    if (!line.length) {
        pdf_page_end(page);
        return;
    }
    size_t width = pdf_width_of(line);
    page->width = width > page->width ? width : page->width;
    if (page->block.length)
        buffer_put(&page->block, '\n');
    buffer_append(&page->block, line.at, line.length);
}

void pdf_page_end(struct pdf_page *page)
{
    struct buffer *block = &page->block;
    char *text = block->length ? arena_alloc(&page->document->arena, block->length) : NULL;
    struct lines lines = {block->data, block->data + block->length, 0};
    struct piece line, before = {0};
    size_t length = 0;
    bool ended = false; /* an empty line stands before this line */
    while (text && lines_next(&lines, &line)) {
        if (!line.length) {
            ended = true;
            continue;
        }
        const char *joint = !before.length ? "" : ended ? "\n" : pdf_joint_of(before, line, page->width);
        memcpy(text + length, joint, strlen(joint)); /* at most the byte that the end of the line had */
        length += strlen(joint);
        memcpy(text + length, line.at, line.length);
        length += line.length;
        before = line;
        ended = false;
    }
    if (text)
        document_add_placed(page->document, (struct piece){text, length}, page->number);
    buffer_clear(block);
    page->width = 0;
}

/* ---- the output of pdftotext ------------------------------------------------------------------------------------- */

/* The text between two marks; if `last`, `end` is its last occurrence in the text. */
static struct piece pdf_text_between(struct piece text, const char *begin, const char *end, bool last)
{
    const char *from = memmem(text.at, text.length, begin, strlen(begin)), *to = NULL, *stop = text.at + text.length;
    if (!from)
        return (struct piece){"", 0};
    from += strlen(begin);
    if (!last)
        to = memmem(from, (size_t)(stop - from), end, strlen(end));
    for (const char *at = stop; last && !to && at > from; at--)
        if (*at == *end && (size_t)(stop - at) >= strlen(end) && memcmp(at, end, strlen(end)) == 0)
            to = at;
    return (struct piece){from, (size_t)((to ? to : stop) - from)};
}

/* The text of the head between two marks, references resolved; empty if memory is out. */
static struct piece pdf_head_text(struct document *document, struct piece head, const char *begin, const char *end)
{
    struct piece found = pdf_text_between(head, begin, end, false);
    char *text = found.length ? arena_alloc(&document->arena, found.length) : NULL;
    return text ? (struct piece){text, xml_resolve(found, text)} : (struct piece){"", 0};
}

static void pdf_add_page(struct pdf_page *page, struct piece text)
{
    struct lines lines = {text.at, text.at + text.length, 0};
    struct piece line;
    while (lines_next(&lines, &line))
        pdf_page_line(page, piece_trim(line));
    pdf_page_end(page);
}

bool pdf_read_output(struct document *document, struct piece output, struct page_about *about, struct status *st)
{
    struct piece head = pdf_text_between(output, "<head>", "<pre>\n", false);
    document_set_title(document, pdf_head_text(document, head, "<title>", "</title>"));
    document_tell(document, about ? &about->byline : NULL,
                  pdf_head_text(document, head, "<meta name=\"Author\" content=\"", "\"/>"), PAGE_BYLINE_MAX);
    struct piece text = pdf_text_between(output, "<pre>\n", "</pre>", true);
    struct pdf_page page = {.document = document, .number = 1};
    buffer_init(&page.block, PAGE_MAX);
    for (const char *at = text.at, *end = at + text.length; at < end; page.number++) {
        const char *feed = memchr(at, '\f', (size_t)(end - at));
        pdf_add_page(&page, (struct piece){at, (size_t)((feed ? feed : end) - at)});
        at = feed ? feed + 1 : end;
    }
    buffer_fini(&page.block);
    return document->count || document->arena.exhausted ||
           fail(st, INVALID_ARGUMENT,
                "is a PDF document without text, as scanners make them; recognise its text first (OCR)");
}
