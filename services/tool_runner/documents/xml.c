/* XML token by token. An incomplete token is moved to the front of the window, and the rest is filled: each byte is
 * moved at most as often as tokens of a window's length allow, and looked at a bounded number of times. */
#include "documents/xml.h"

#include "base/text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define REFERENCE_MAX 12 /* bytes of "&#x10FFFF;" and somewhat more */
#define CHARACTER_MAX 4

/* ---- the window -------------------------------------------------------------------------------------------------- */

bool xml_open(struct xml *xml, struct zip *zip, const struct zip_entry *entry, struct status *st)
{
    *xml = (struct xml){.window = malloc(XML_WINDOW)};
    if (!xml->window)
        return fail(st, RESOURCE_EXHAUSTED, "there is no memory to read it");
    return zip_part_open(&xml->part, zip, entry, st);
}

void xml_close(struct xml *xml)
{
    zip_part_close(&xml->part);
    free(xml->window);
    xml->window = NULL;
}

/* A character that the end of the window cuts is looked at again with the next bytes. */
static bool xml_check_bytes(struct xml *xml, struct status *st)
{
    size_t left = xml->end - xml->checked, clean = text_clean_length(xml->window + xml->checked, left);
    xml->checked += clean;
    if (clean == left || (!xml->last && left - clean < CHARACTER_MAX))
        return true;
    return fail(st, INVALID_ARGUMENT, "has a part that is not in UTF-8");
}

/* More bytes behind those that are there. False if it fails; without room or bytes `end` stays. */
static bool xml_fill(struct xml *xml, struct status *st)
{
    size_t got;
    memmove(xml->window, xml->window + xml->at, xml->end - xml->at);
    xml->checked -= xml->checked < xml->at ? xml->checked : xml->at;
    xml->end -= xml->at;
    xml->at = 0;
    if (xml->last || xml->end == XML_WINDOW)
        return true;
    size_t room = XML_WINDOW - xml->end;
    if (!zip_part_read(&xml->part, xml->window + xml->end, room, &got, st))
        return false;
    xml->last = got < room;
    xml->end += got;
    return xml_check_bytes(xml, st);
}

static struct piece xml_rest(const struct xml *xml)
{
    return (struct piece){xml->window + xml->at, xml->end - xml->at};
}

static const char *xml_find(struct piece text, const char *mark)
{
    return memmem(text.at, text.length, mark, strlen(mark));
}

/* ---- references -------------------------------------------------------------------------------------------------- */

static size_t xml_put_character(uint32_t code, char *out)
{
    if (code < 0x20 && code != '\t' && code != '\n' && code != '\r')
        code = ' ';
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        code = 0xfffd;
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = length - 1; i > 0; i--, code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)((0xf00 >> length & 0xff) | code);
    return length;
}

static bool xml_read_code(struct piece digits, unsigned base, uint32_t *code)
{
    *code = 0;
    for (size_t i = 0; i < digits.length; i++) {
        char c = digits.at[i];
        unsigned value = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                         : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                                : 16;
        if (value >= base || *code > 0x10ffff)
            return false;
        *code = *code * base + value;
    }
    return digits.length > 0;
}

/* The length of the reference at the beginning of `text`, which begins with '&'; 0: it is no reference. */
static size_t xml_resolve_reference(struct piece text, char *out, size_t *written)
{
    static const struct {
        const char *name;
        char character;
    } known[] = {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
    const char *end = memchr(text.at, ';', text.length < REFERENCE_MAX ? text.length : REFERENCE_MAX);
    if (!end)
        return 0;
    struct piece name = {text.at + 1, (size_t)(end - text.at) - 1};
    uint32_t code;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (piece_is(name, known[i].name)) {
            *out = known[i].character;
            *written = 1;
            return name.length + 2;
        }
    bool hexadecimal = name.length > 1 && name.at[0] == '#' && name.at[1] == 'x';
    size_t skipped = hexadecimal ? 2 : 1;
    if (name.length < 2 || name.at[0] != '#' ||
        !xml_read_code((struct piece){name.at + skipped, name.length - skipped}, hexadecimal ? 16 : 10, &code))
        return 0;
    *written = xml_put_character(code, out);
    return name.length + 2;
}

size_t xml_resolve(struct piece text, char *out)
{
    size_t length = 0, written;
    for (size_t at = 0; at < text.length;) {
        const char *mark = memchr(text.at + at, '&', text.length - at);
        size_t plain = mark ? (size_t)(mark - text.at) - at : text.length - at;
        memmove(out + length, text.at + at, plain);
        length += plain;
        at += plain;
        if (!mark)
            break;
        size_t taken = xml_resolve_reference((struct piece){mark, text.length - at}, out + length, &written);
        if (!taken) {
            out[length] = '&';
            taken = written = 1;
        }
        length += written;
        at += taken;
    }
    return length;
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

static bool xml_give_text(struct xml *xml, size_t length, bool resolved)
{
    char *text = xml->window + xml->at;
    xml->at += length;
    xml->kind = XML_TEXT;
    xml->text = (struct piece){text, resolved ? length : xml_resolve((struct piece){text, length}, text)};
    return true;
}

/* How much of a text that goes on behind the window can be given: not half a character, nor half a reference. */
static size_t xml_whole_length(const struct xml *xml)
{
    size_t length = (xml->checked < xml->end ? xml->checked : xml->end) - xml->at;
    const char *text = xml->window + xml->at;
    size_t tail = length < REFERENCE_MAX ? length : REFERENCE_MAX;
    const char *mark = tail ? memrchr(text + length - tail, '&', tail) : NULL;
    return mark && !memchr(mark, ';', (size_t)(text + length - mark)) ? (size_t)(mark - text) : length;
}

static bool xml_next_text(struct xml *xml)
{
    struct piece text = xml_rest(xml);
    const char *tag = memchr(text.at, '<', text.length);
    return xml_give_text(xml, tag ? (size_t)(tag - text.at) : xml->last ? text.length : xml_whole_length(xml), false);
}

#define CDATA_END "]]>"

/* False: the window has to be filled first, or the section has ended. */
static bool xml_next_cdata(struct xml *xml)
{
    struct piece text = xml_rest(xml);
    const char *end = xml_find(text, CDATA_END);
    if (end == text.at || (xml->last && !text.length)) {
        xml->at += end ? strlen(CDATA_END) : 0;
        xml->in_cdata = false;
        return false;
    }
    size_t kept = xml->last ? 0 : strlen(CDATA_END) + CHARACTER_MAX - 1;
    if (!end && text.length <= kept)
        return false;
    size_t length = end ? (size_t)(end - text.at) : text.length - kept;
    return xml_give_text(xml, end ? length : text_cut(text.at, text.length, length), true);
}

/* ---- tags -------------------------------------------------------------------------------------------------------- */

static bool xml_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The '>' that ends the tag, outside of quotes; NULL: it is not in the window. */
static const char *xml_end_of_tag(struct piece text)
{
    const char *end = text.at + text.length;
    for (const char *at = text.at; at < end; at++) {
        if (*at == '>')
            return at;
        if (*at != '"' && *at != '\'')
            continue;
        at = memchr(at + 1, *at, (size_t)(end - at) - 1);
        if (!at)
            return NULL;
    }
    return NULL;
}

static struct piece xml_local_name(struct piece name)
{
    const char *colon = memchr(name.at, ':', name.length);
    return colon ? (struct piece){colon + 1, name.length - (size_t)(colon + 1 - name.at)} : name;
}

/* `tag` is the text between '<' and '>'. */
static bool xml_give_tag(struct xml *xml, struct piece tag, struct status *st)
{
    xml->kind = tag.length && *tag.at == '/' ? XML_END : XML_START;
    xml->closes = xml->kind == XML_START && tag.length && tag.at[tag.length - 1] == '/';
    size_t begin = xml->kind == XML_END, length = begin;
    while (length < tag.length && !xml_is_blank(tag.at[length]) && tag.at[length] != '/')
        length++;
    xml->name = xml_local_name((struct piece){tag.at + begin, length - begin});
    xml->attributes = (struct piece){tag.at + length, tag.length - length - xml->closes};
    if (xml->kind == XML_END)
        xml->depth -= xml->depth > 0;
    else if (++xml->depth > XML_DEPTH_MAX)
        return fail(st, INVALID_ARGUMENT, "has a part with more than %d elements within each other", XML_DEPTH_MAX);
    return true;
}

/* The end mark of tags that are no elements; NULL for elements. */
static const char *xml_end_of_other(struct piece text)
{
    return piece_begins(text, "<!--") ? "-->" : piece_begins(text, "<?") ? "?>" : NULL;
}

/* Comments and instructions may be longer than the window. */
static bool xml_pass_over(struct xml *xml, const char *end, struct status *st)
{
    xml->at += 2; /* "<!", "<?" */
    for (;;) {
        struct piece text = xml_rest(xml);
        const char *found = xml_find(text, end);
        if (found) {
            xml->at += (size_t)(found - text.at) + strlen(end);
            return true;
        }
        if (xml->last)
            return fail(st, INVALID_ARGUMENT, "has a part that ends within a comment");
        size_t kept = strlen(end) + CHARACTER_MAX;
        xml->at = text.length > kept ? xml->end - kept : xml->at;
        if (!xml_fill(xml, st))
            return false;
    }
}

enum tag_end { TAG_GIVEN, TAG_PASSED, TAG_FAILED, TAG_LACKS };

static enum tag_end xml_next_tag(struct xml *xml, struct status *st)
{
    static const char cdata[] = "<![CDATA[";
    struct piece text = xml_rest(xml);
    const char *other = xml_end_of_other(text);
    if (other)
        return xml_pass_over(xml, other, st) ? TAG_PASSED : TAG_FAILED;
    if (piece_begins(text, cdata)) {
        xml->at += sizeof cdata - 1;
        xml->in_cdata = true;
        return TAG_PASSED;
    }
    const char *end = text.length >= sizeof cdata || xml->last ? xml_end_of_tag(text) : NULL;
    if (!end)
        return TAG_LACKS;
    struct piece tag = {text.at + 1, (size_t)(end - text.at) - 1};
    xml->at += tag.length + 2;
    if (!piece_begins(tag, "!"))
        return xml_give_tag(xml, tag, st) ? TAG_GIVEN : TAG_FAILED;
    if (memchr(tag.at, '[', tag.length)) {
        fail(st, INVALID_ARGUMENT, "has a part that declares entities or elements of its own, which is not read");
        return TAG_FAILED;
    }
    return TAG_PASSED;
}

static bool xml_give_end(struct xml *xml)
{
    xml->closes = false;
    xml->kind = XML_END;
    xml->depth--;
    return true;
}

bool xml_next(struct xml *xml, struct status *st)
{
    if (xml->closes)
        return xml_give_end(xml);
    for (;;) {
        bool lacks = xml->at == xml->end;
        if (!lacks && xml->in_cdata) {
            if (xml_next_cdata(xml))
                return true;
            lacks = xml->in_cdata;
        } else if (!lacks && xml->window[xml->at] != '<') {
            xml_next_text(xml);
            if (xml->text.length)
                return true;
            lacks = true;
        } else if (!lacks) {
            enum tag_end end = xml_next_tag(xml, st);
            if (end == TAG_GIVEN || end == TAG_FAILED)
                return end == TAG_GIVEN;
            lacks = end == TAG_LACKS;
        }
        if (!lacks)
            continue;
        if (xml->last && xml->at == xml->end)
            return false;
        if (xml->last || (xml->at == 0 && xml->end == XML_WINDOW))
            return fail(st, INVALID_ARGUMENT, "has a part with a tag that never ends, or has more than %zu bytes",
                        XML_WINDOW);
        if (!xml_fill(xml, st))
            return false;
    }
}

/* ---- tests of a token -------------------------------------------------------------------------------------------- */

bool xml_starts(const struct xml *xml, const char *name)
{
    return xml->kind == XML_START && piece_is(xml->name, name);
}

bool xml_ends(const struct xml *xml, const char *name)
{
    return xml->kind == XML_END && piece_is(xml->name, name);
}

/* `at` stands behind the attribute afterwards; false at the end of the tag. */
static bool xml_next_attribute(const char **at, const char *end, struct piece *name, struct piece *value)
{
    while (*at < end && xml_is_blank(**at))
        ++*at;
    const char *from = *at, *equals = memchr(from, '=', (size_t)(end - from));
    if (!equals)
        return false;
    *name = piece_trim((struct piece){from, (size_t)(equals - from)});
    const char *quote = equals + 1;
    while (quote < end && xml_is_blank(*quote))
        quote++;
    const char *close =
        quote < end && (*quote == '"' || *quote == '\'') ? memchr(quote + 1, *quote, (size_t)(end - quote) - 1) : NULL;
    if (!close)
        return false;
    *value = (struct piece){quote + 1, (size_t)(close - quote) - 1};
    *at = close + 1;
    return true;
}

bool xml_attribute(const struct xml *xml, const char *name, struct piece *value)
{
    const char *at = xml->attributes.at, *end = at + xml->attributes.length;
    bool whole = strchr(name, ':');
    struct piece found, its;
    while (xml->kind == XML_START && xml_next_attribute(&at, end, &found, &its))
        if (piece_is(whole ? found : xml_local_name(found), name)) {
            *value = its;
            return true;
        }
    return false;
}

int xml_number(const struct xml *xml, const char *name, int otherwise)
{
    struct piece value;
    int64_t number = 0;
    if (!xml_attribute(xml, name, &value) || !value.length || value.length > 10)
        return otherwise;
    for (size_t i = 0; i < value.length; i++) {
        if (value.at[i] < '0' || value.at[i] > '9')
            return otherwise;
        number = number * 10 + (value.at[i] - '0');
    }
    return number <= INT32_MAX ? (int)number : otherwise;
}

struct piece xml_value(const struct xml *xml, const char *name, struct arena *arena)
{
    struct piece value;
    char *text = xml_attribute(xml, name, &value) ? arena_alloc(arena, value.length + 1) : NULL;
    if (!text)
        return (struct piece){"", 0};
    size_t length = xml_resolve(value, text);
    text[length] = '\0';
    return (struct piece){text, length};
}

bool xml_skip(struct xml *xml, struct status *st)
{
    unsigned depth = xml->depth;
    while (xml_next(xml, st))
        if (xml->kind == XML_END && xml->depth < depth)
            return true;
    return false;
}
