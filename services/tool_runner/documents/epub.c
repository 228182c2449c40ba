/* EPUB 2 and 3: the chapters of the spine in their order, each read as HTML.
 *
 * A place is a paragraph, counted from 1 through the book. A chapter that is listed as encrypted is not read. */
#include "documents/office.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define NAME          "EPUB"
#define ITEMS_MAX     20000
#define CHAPTER_MAX   ((size_t)8 << 20) /* bytes */
#define CONTAINER     "META-INF/container.xml"
#define ENCRYPTION    "META-INF/encryption.xml"
#define IS_PAGE(type) (piece_is(type, "application/xhtml+xml") || piece_is(type, "text/html"))

struct epub_item {
    struct piece id;
    const struct zip_entry *part;
};

struct epub {
    struct office office;
    struct epub_item *items;
    size_t item_count;
    const struct zip_entry **chapters;
    size_t chapter_count;
    int number; /* of the last paragraph */
};

static struct piece epub_literal(const char *text)
{
    return (struct piece){text, strlen(text)};
}

/* ---- the list of chapters ---------------------------------------------------------------------------------------- */

static const struct zip_entry *epub_find_package(struct epub *epub, struct status *st)
{
    const struct zip_entry *container = zip_find(&epub->office.zip, epub_literal(CONTAINER)), *package = NULL;
    struct xml xml;
    if (!container) {
        fail(st, INVALID_ARGUMENT, "is no %s document: its archive has no %s", NAME, CONTAINER);
        return NULL;
    }
    bool good = xml_open(&xml, &epub->office.zip, container, st);
    while (good && !package && xml_next(&xml, st))
        if (xml_starts(&xml, "rootfile"))
            package = zip_find(&epub->office.zip, office_path(&epub->office.scratch, epub_literal(""),
                                                              xml_value(&xml, "full-path", &epub->office.scratch)));
    xml_close(&xml);
    if (!package && st->code == OK)
        fail(st, INVALID_ARGUMENT, "is no %s document: its archive names no package", NAME);
    return st->code == OK ? package : NULL;
}

static int epub_by_id(const void *one, const void *other)
{
    struct piece a = ((const struct epub_item *)one)->id, b = ((const struct epub_item *)other)->id;
    int order = memcmp(a.at, b.at, a.length < b.length ? a.length : b.length);
    return order ? order : a.length < b.length ? -1 : a.length > b.length;
}

static void epub_take_item(struct epub *epub, const struct xml *xml, struct piece package)
{
    struct arena *arena = &epub->office.scratch;
    struct piece type = {"", 0};
    xml_attribute(xml, "media-type", &type);
    if (epub->item_count == ITEMS_MAX || !IS_PAGE(type))
        return;
    const struct zip_entry *part =
        zip_find(&epub->office.zip, office_path(arena, package, xml_value(xml, "href", arena)));
    if (part)
        epub->items[epub->item_count++] = (struct epub_item){xml_value(xml, "id", arena), part};
}

static bool epub_take_token(struct epub *epub, struct xml *xml, struct piece package, struct status *st)
{
    if (xml_starts(xml, "item")) {
        epub_take_item(epub, xml, package);
    } else if (xml_starts(xml, "spine") && epub->item_count) {
        qsort(epub->items, epub->item_count, sizeof *epub->items, epub_by_id);
    } else if (xml_starts(xml, "itemref")) {
        struct epub_item wanted = {.id = {"", 0}}, *item = NULL;
        xml_attribute(xml, "idref", &wanted.id);
        if (epub->item_count)
            item = bsearch(&wanted, epub->items, epub->item_count, sizeof wanted, epub_by_id);
        if (item && epub->chapter_count < ITEMS_MAX)
            epub->chapters[epub->chapter_count++] = item->part;
    }
    return office_property(&epub->office, xml, st);
}

static bool epub_read_package(struct epub *epub, const struct zip_entry *package, struct status *st)
{
    struct xml xml;
    epub->items = arena_alloc(&epub->office.scratch, ITEMS_MAX * sizeof *epub->items);
    epub->chapters = arena_alloc(&epub->office.scratch, ITEMS_MAX * sizeof(*epub->chapters));
    if (!epub->items || !epub->chapters)
        return fail(st, RESOURCE_EXHAUSTED, "takes too much memory");
    bool good = xml_open(&xml, &epub->office.zip, package, st);
    while (good && xml_next(&xml, st))
        good = epub_take_token(epub, &xml, package->name, st);
    xml_close(&xml);
    return st->code == OK;
}

/* ---- protection -------------------------------------------------------------------------------------------------- */

static bool epub_read_encryption(struct epub *epub, struct status *st)
{
    struct zip *zip = &epub->office.zip;
    struct arena *arena = &epub->office.scratch;
    const struct zip_entry *list = zip_find(zip, epub_literal(ENCRYPTION));
    struct xml xml;
    if (!list)
        return true;
    bool good = xml_open(&xml, zip, list, st);
    while (good && xml_next(&xml, st)) {
        const struct zip_entry *part = NULL;
        if (xml_starts(&xml, "CipherReference"))
            part = zip_find(zip, office_path(arena, epub_literal(""), xml_value(&xml, "URI", arena)));
        if (part)
            zip_mark_encrypted(zip, part);
    }
    xml_close(&xml);
    return st->code == OK;
}

/* ---- chapters ---------------------------------------------------------------------------------------------------- */

static void epub_number_paragraphs(struct epub *epub, struct paragraph *first)
{
    for (struct paragraph *paragraph = first; paragraph; paragraph = paragraph->next)
        paragraph->line_from = paragraph->line_to = ++epub->number;
}

static bool epub_read_chapter(struct epub *epub, const struct zip_entry *part, struct status *st)
{
    struct document *document = epub->office.document;
    struct paragraph **begin = document->last;
    struct piece text;
    if (!zip_read_all(&epub->office.zip, part, &document->arena, CHAPTER_MAX, &text, st))
        return false;
    if (!text_is_clean(text.at, text.length))
        return fail(st, INVALID_ARGUMENT, "has a chapter that is not in UTF-8");
    bool read = read_html(document, text, st);
    document_end_headings(document);
    epub_number_paragraphs(epub, *begin);
    return read;
}

static bool epub_read_parts(struct epub *epub, struct status *st)
{
    const struct zip_entry *package = epub_find_package(epub, st);
    if (!package || !epub_read_encryption(epub, st) || !epub_read_package(epub, package, st))
        return false;
    for (size_t i = 0; i < epub->chapter_count && !epub->office.document->arena.exhausted; i++)
        if (!epub_read_chapter(epub, epub->chapters[i], st))
            return false;
    return true;
}

bool read_epub(struct document *document, struct piece bytes, const struct document_means *means, struct status *st)
{
    struct epub epub = {0};
    bool read = office_open(&epub.office, document, bytes, NAME, means, st) && epub_read_parts(&epub, st);
    office_close(&epub.office);
    return read;
}
