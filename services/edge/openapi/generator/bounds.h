/* The bounds of fields of requests as JSON Schema has them. Lengths are bytes there and characters here: a text of at
 * most 64 bytes has at most 64 characters. */
#ifndef RENGA_EDGE_OPENAPI_BOUNDS_H
#define RENGA_EDGE_OPENAPI_BOUNDS_H

#include "contract.h"

#include "json/json.h"

/* `schema` is of the whole field, also of a list or a map. */
void bounds_write(const FieldProto *field, cJSON *schema);

/* Whether a request without the field is wrong; a member of a oneof may be absent. */
bool bounds_require(const FieldProto *field);

#endif
