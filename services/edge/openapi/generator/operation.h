/* The rows of services/edge/routes.c as path items of OpenAPI. */
#ifndef RENGA_EDGE_OPENAPI_OPERATION_H
#define RENGA_EDGE_OPENAPI_OPERATION_H

#include "contract.h"

#include "routes.h"

#include <cjson/cJSON.h>

/* Adds the operation of a route to `paths`. `examples` has its examples under its operationId: {"request": ...,
 * "response": ...}. INVALID_ARGUMENT for a row that does not fit the contract. */
bool operation_write(struct contract *contract, const struct edge_route *route, const cJSON *examples, cJSON *paths,
                     struct status *st);

/* Adds one tag a service of the table to `tags`, with the comment of the service. */
void operation_write_tags(struct contract *contract, cJSON *tags);

#endif
