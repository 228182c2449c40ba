/* A package of Office (ECMA-376 part 2): parts in a zip archive, and relationships from part to part. Private to
 * documents/. */
#ifndef RENGA_TOOL_RUNNER_OFFICE_H
#define RENGA_TOOL_RUNNER_OFFICE_H

#include "documents/xml.h"

#define RELATIONS_MAX 20000 /* of a part */

struct relation {
    struct piece id, type; /* "footnotes": the last part of its URI */
    const struct zip_entry *part;
};

struct relations {
    struct relation *rows; /* by id */
    size_t count, room;
};

struct office {
    struct document *document;
    struct zip zip;
    struct arena scratch; /* until the document is read */
};

/* office_close is called for it, also if it was not opened. `name` is "DOCX". */
bool office_open(struct office *office, struct document *document, struct piece bytes, const char *name,
                 const struct document_means *means, struct status *st);
void office_close(struct office *office);

/* The relationships of a part, those to parts that are not there left out. `part` NULL: of the package. */
bool office_relations(struct office *office, const struct zip_entry *part, struct relations *relations,
                      struct status *st);
const struct zip_entry *relation_by_id(const struct relations *relations, struct piece id);
const struct zip_entry *relation_by_type(const struct relations *relations, const char *type);

/* The main part of the package. Takes the title of the document's properties, too. INVALID_ARGUMENT without one. */
const struct zip_entry *office_main_part(struct office *office, const char *name, struct status *st);

/* A path of a part as another part or a book names it: resolved from the folder of `from`, with "%20" and similar
 * escapes decoded. */
struct piece office_path(struct arena *arena, struct piece from, struct piece target);

/* The text within the element that begins at the token, references resolved, at most `most` bytes of it; reads to
 * the element's end. */
bool office_text(struct xml *xml, struct arena *arena, size_t most, struct piece *text, struct status *st);

/* If the token begins a property of Dublin Core (title, creator, language, date, created): takes it for the document,
 * and reads to its end. False if it cannot be read. */
bool office_property(struct office *office, struct xml *xml, struct status *st);

#endif
