/* Fields of a request message as parameters of an operation. */
#ifndef RENGA_EDGE_OPENAPI_PARAMETER_H
#define RENGA_EDGE_OPENAPI_PARAMETER_H

#include "contract.h"

#include <cjson/cJSON.h>

/* Adds the variables of a path template. INVALID_ARGUMENT if the message lacks one of the fields. */
bool parameter_write_path(struct contract *contract, const char *path, const struct contract_type *request,
                          cJSON *parameters, struct status *st);

/* Adds the fields that are not in the path, for the query of a GET or DELETE. */
void parameter_write_query(struct contract *contract, const char *path, const struct contract_type *request,
                           cJSON *parameters);

/* The template with the JSON names of its fields: "/v1/runs/{runId}:cancel". */
const char *parameter_path(struct contract *contract, const char *path, const struct contract_type *request);

#endif
