/* The tokens of XML as it is unpacked: start tags, end tags and text, in a single pass with a window of bounded size.
 * Private to documents/.
 *
 * Names are told without their prefix. References to characters are resolved; documents that declare entities are
 * refused, so that no entity expands. Libxml2 is not used: it compares each attribute with all before it (80,000 in a
 * tag: 15 s). Well-formedness is not checked beyond the needs of a reader of text. */
#ifndef RENGA_TOOL_RUNNER_XML_H
#define RENGA_TOOL_RUNNER_XML_H

#include "documents/zip.h"

#define XML_WINDOW    ((size_t)64 << 10) /* bytes: the longest tag */
#define XML_DEPTH_MAX 256

enum xml_kind { XML_START, XML_END, XML_TEXT };

struct xml {
    struct zip_part part;
    char *window;
    size_t at, end; /* of the unread bytes in the window */
    size_t checked; /* bytes of the window that are known to be UTF-8 */
    bool last;      /* no bytes come behind the window */
    bool in_cdata;
    bool closes; /* the start tag was "<a/>": its end comes next */
    unsigned depth;

    /* The token. Valid until the next. */
    enum xml_kind kind;
    struct piece name;       /* of a tag, without its prefix */
    struct piece attributes; /* of a start tag, as they stand */
    struct piece text;       /* a part of a text; more may follow */
};

/* xml_close is called for it, also if it was not opened. */
bool xml_open(struct xml *xml, struct zip *zip, const struct zip_entry *entry, struct status *st);
void xml_close(struct xml *xml);

/* False at the end and, with `st` filled, if it cannot be read. */
bool xml_next(struct xml *xml, struct status *st);

/* Whether the token is the start or the end of an element of this name. */
bool xml_starts(const struct xml *xml, const char *name);
bool xml_ends(const struct xml *xml, const char *name);

/* The value of an attribute, raw from the tag; its name is compared without the prefix unless `name` has one. False:
 * the tag has no attribute of this name, and `value` is unchanged. */
bool xml_attribute(const struct xml *xml, const char *name, struct piece *value);
/* The same as a number; `otherwise` if it is no number or not within 0 to INT32_MAX. */
int xml_number(const struct xml *xml, const char *name, int otherwise);
/* The same with references resolved, in the arena; "" without it. */
struct piece xml_value(const struct xml *xml, const char *name, struct arena *arena);

/* Text with its references resolved in `out`, which may be the same place: a character is never longer than its
 * reference. The length. */
size_t xml_resolve(struct piece text, char *out);

/* Skips the element that begins at the token, to its end. */
bool xml_skip(struct xml *xml, struct status *st);

#endif
