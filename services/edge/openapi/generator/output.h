/* The finished document as files. */
#ifndef RENGA_EDGE_OPENAPI_OUTPUT_H
#define RENGA_EDGE_OPENAPI_OUTPUT_H

#include "base/buffer.h"
#include "base/status.h"

bool output_write_json(const char *path, const struct buffer *document, struct status *st);
/* The constants of openapi/openapi.h. */
bool output_write_c(const char *path, const struct buffer *document, struct status *st);

#endif
