/* Messages and enums as JSON Schemas (2020-12, the dialect of OpenAPI 3.1) of ProtoJSON as the edge speaks it.
 *
 * A message that requests and responses both hold has two schemas. The one of responses ("Budget") requires every
 * field that is always printed. The one of requests ("BudgetInput") requires the fields whose comment says "Required."
 * and takes 64-bit numbers also as numbers. */
#ifndef RENGA_EDGE_OPENAPI_SCHEMA_H
#define RENGA_EDGE_OPENAPI_SCHEMA_H

#include "contract.h"

#include <cjson/cJSON.h>

enum schema_side { SCHEMA_REQUEST, SCHEMA_RESPONSE };

/* Has a schema written for the type, and for the types that it holds. */
void schema_use(struct contract *contract, struct contract_type *type, enum schema_side side);
/* The same for the type of a field that stands alone, as a parameter. */
void schema_use_field(struct contract *contract, const FieldProto *field, enum schema_side side);

/* Adds the schemas of all types in use to `schemas`. */
void schema_write_all(struct contract *contract, cJSON *schemas);

/* The schema of a field with its description. `index` is the field's in its message. */
cJSON *schema_of_field(struct contract *contract, const struct contract_type *type, size_t index,
                       enum schema_side side);

/* {"$ref": "#/components/schemas/NAME"} */
cJSON *schema_reference(struct contract *contract, const struct contract_type *type, enum schema_side side);

/* Whether the comment of a field says that it is required. */
bool schema_is_required(struct contract *contract, const struct contract_type *type, size_t index);

#endif
