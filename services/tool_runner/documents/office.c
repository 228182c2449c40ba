#include "documents/office.h"

#include "base/text.h"
#include "documents/file_kind.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define SCRATCH_MAX    ((size_t)96 << 20) /* bytes */
#define RELATIONS_SOME 16

bool office_open(struct office *office, struct document *document, struct piece bytes, const char *name,
                 const struct document_means *means, struct status *st)
{
    *office = (struct office){.document = document};
    arena_init(&office->scratch, NULL, 0, SCRATCH_MAX);
    return file_kind_is_zip(bytes, name, st) &&
           zip_open(&office->zip, bytes.at, bytes.length, &office->scratch, means, st);
}

void office_close(struct office *office)
{
    arena_fini(&office->scratch);
}

/* ---- paths ------------------------------------------------------------------------------------------------------- */

static int office_digit_of(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Decodes "%20" and the like, and removes the fragment behind '#'. */
static size_t office_decode_path(struct piece target, char *out)
{
    size_t length = 0;
    for (size_t i = 0; i < target.length && target.at[i] != '#'; i++) {
        int high = -1, low = -1;
        if (target.at[i] == '%' && i + 2 < target.length) {
            high = office_digit_of(target.at[i + 1]);
            low = office_digit_of(target.at[i + 2]);
        }
        out[length++] = high >= 0 && low >= 0 ? (char)(high << 4 | low) : target.at[i];
        i += high >= 0 && low >= 0 ? 2 : 0;
    }
    return length;
}

static size_t office_folder_length(const char *path, size_t length)
{
    while (length && path[length - 1] != '/')
        length--;
    return length;
}

/* Takes "." and ".." out, in place; the path does not begin with '/'. */
static size_t office_settle_path(char *path, size_t length)
{
    size_t out = 0;
    for (size_t at = 0; at < length;) {
        const char *slash = memchr(path + at, '/', length - at);
        size_t size = slash ? (size_t)(slash - path) - at : length - at, whole = size + (slash != NULL);
        struct piece part = {path + at, size};
        if (piece_is(part, "..")) {
            out = out ? office_folder_length(path, out - 1) : 0;
        } else if (!piece_is(part, ".") && size) {
            memmove(path + out, path + at, whole);
            out += whole;
        }
        at += whole;
    }
    return out;
}

struct piece office_path(struct arena *arena, struct piece from, struct piece target)
{
    size_t folder = target.length && *target.at == '/' ? 0 : office_folder_length(from.at, from.length);
    char *path = arena_alloc(arena, folder + target.length + 1);
    if (!path)
        return (struct piece){"", 0};
    memcpy(path, from.at, folder);
    size_t length = folder + office_decode_path(target, path + folder);
    return (struct piece){path, office_settle_path(path, length)};
}

/* ---- relationships ----------------------------------------------------------------------------------------------- */

static int office_compare_ids(struct piece one, struct piece other)
{
    int order = memcmp(one.at, other.at, one.length < other.length ? one.length : other.length);
    return order ? order : one.length < other.length ? -1 : one.length > other.length;
}

static int office_by_id(const void *one, const void *other)
{
    return office_compare_ids(((const struct relation *)one)->id, ((const struct relation *)other)->id);
}

/* Rows in an arena cannot grow: they are copied to twice their room, so that all copies take at most twice the size of
 * the last. */
static bool office_make_room(struct office *office, struct relations *relations, struct status *st)
{
    if (relations->count < relations->room)
        return true;
    if (relations->count == RELATIONS_MAX)
        return fail(st, RESOURCE_EXHAUSTED, "has a part with more than %d relationships", RELATIONS_MAX);
    size_t room = relations->room ? 2 * relations->room : RELATIONS_SOME;
    struct relation *rows = arena_alloc(&office->scratch, room * sizeof *rows);
    if (!rows)
        return fail(st, RESOURCE_EXHAUSTED, "takes too much memory");
    if (relations->count)
        memcpy(rows, relations->rows, relations->count * sizeof *rows);
    relations->rows = rows;
    relations->room = room;
    return true;
}

static bool office_take_relation(struct office *office, const struct xml *xml, struct piece from,
                                 struct relations *relations, struct status *st)
{
    struct piece mode, type = xml_value(xml, "Type", &office->scratch), target;
    if (xml_attribute(xml, "TargetMode", &mode) && piece_is(mode, "External"))
        return true;
    target = xml_value(xml, "Target", &office->scratch);
    const char *slash = memrchr(type.at, '/', type.length);
    if (slash)
        type = (struct piece){slash + 1, type.length - (size_t)(slash + 1 - type.at)};
    const struct zip_entry *part = zip_find(&office->zip, office_path(&office->scratch, from, target));
    if (!part)
        return true;
    if (!office_make_room(office, relations, st))
        return false;
    assert(relations->rows);
    relations->rows[relations->count++] = (struct relation){xml_value(xml, "Id", &office->scratch), type, part};
    return true;
}

static bool office_read_relations(struct office *office, const struct zip_entry *entry, struct piece from,
                                  struct relations *relations, struct status *st)
{
    struct xml xml;
    bool good = xml_open(&xml, &office->zip, entry, st);
    while (good && xml_next(&xml, st))
        if (xml_starts(&xml, "Relationship"))
            good = office_take_relation(office, &xml, from, relations, st);
    xml_close(&xml);
    return st->code == OK;
}

bool office_relations(struct office *office, const struct zip_entry *part, struct relations *relations,
                      struct status *st)
{
    struct piece from = part ? part->name : (struct piece){"", 0};
    size_t folder = office_folder_length(from.at, from.length);
    char *name = arena_printf(&office->scratch, "%.*s_rels/%.*s.rels", (int)folder, from.at,
                              (int)(from.length - folder), from.at + folder);
    const struct zip_entry *entry = name ? zip_find(&office->zip, (struct piece){name, strlen(name)}) : NULL;
    *relations = (struct relations){0};
    if (!entry)
        return name || fail(st, RESOURCE_EXHAUSTED, "takes too much memory");
    if (!office_read_relations(office, entry, from, relations, st))
        return false;
    if (relations->count)
        qsort(relations->rows, relations->count, sizeof *relations->rows, office_by_id);
    return true;
}

const struct zip_entry *relation_by_id(const struct relations *relations, struct piece id)
{
    const struct relation wanted = {.id = id}, *found = NULL;
    if (relations->count)
        found = bsearch(&wanted, relations->rows, relations->count, sizeof wanted, office_by_id);
    return found ? found->part : NULL;
}

const struct zip_entry *relation_by_type(const struct relations *relations, const char *type)
{
    for (size_t i = 0; i < relations->count; i++)
        if (piece_is(relations->rows[i].type, type))
            return relations->rows[i].part;
    return NULL;
}

/* ---- properties and the main part -------------------------------------------------------------------------------- */

bool office_text(struct xml *xml, struct arena *arena, size_t most, struct piece *text, struct status *st)
{
    struct buffer out;
    unsigned depth = xml->depth;
    buffer_init(&out, SIZE_MAX - 1);
    while (xml_next(xml, st)) {
        if (xml->kind == XML_END && xml->depth < depth)
            break;
        if (xml->kind == XML_TEXT && out.length < most)
            buffer_append(&out, xml->text.at, text_cut(xml->text.at, xml->text.length, most - out.length));
    }
    char *copy = arena_strndup(arena, buffer_text(&out), out.length);
    *text = copy ? (struct piece){copy, out.length} : (struct piece){"", 0};
    buffer_fini(&out);
    return st->code == OK;
}

bool office_property(struct office *office, struct xml *xml, struct status *st)
{
    struct page_about *about = office->zip.means ? office->zip.means->about : NULL;
    struct {
        const char *element;
        const char **field; /* NULL: the title */
        size_t most;
    } known[] = {
        {"title", NULL, DOCUMENT_TITLE_MAX},
        {"creator", about ? &about->byline : NULL, PAGE_BYLINE_MAX},
        {"language", about ? &about->language : NULL, PAGE_LANGUAGE_MAX},
        {"date", about ? &about->published : NULL, PAGE_DATE_MAX},
        {"created", about ? &about->published : NULL, PAGE_DATE_MAX},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct piece text;
        if (!xml_starts(xml, known[i].element))
            continue;
        if (!office_text(xml, &office->document->arena, known[i].most, &text, st))
            return false;
        if (i == 0)
            document_set_title(office->document, text);
        else
            document_tell(office->document, known[i].field, text, known[i].most);
        return true;
    }
    return true;
}

static bool office_read_properties(struct office *office, const struct zip_entry *part, struct status *st)
{
    struct xml xml;
    bool good = xml_open(&xml, &office->zip, part, st);
    while (good && xml_next(&xml, st))
        good = office_property(office, &xml, st);
    xml_close(&xml);
    return st->code == OK;
}

const struct zip_entry *office_main_part(struct office *office, const char *name, struct status *st)
{
    struct relations relations;
    if (!office_relations(office, NULL, &relations, st))
        return NULL;
    const struct zip_entry *properties = relation_by_type(&relations, "core-properties");
    const struct zip_entry *main_part = relation_by_type(&relations, "officeDocument");
    if (!main_part)
        fail(st, INVALID_ARGUMENT, "is no %s document: its archive names no main part", name);
    return main_part && (!properties || office_read_properties(office, properties, st)) ? main_part : NULL;
}
