/* The OpenAPI document of the edge as the build made it, for openapi_answer.c (README.md). */
#ifndef RENGA_EDGE_OPENAPI_H
#define RENGA_EDGE_OPENAPI_H

#include <stddef.h>

/* Compressed by gzip. */
extern const unsigned char edge_openapi_gzip[];
extern const size_t edge_openapi_gzip_size;
extern const size_t edge_openapi_size; /* bytes when unpacked */
extern const char edge_openapi_etag[]; /* a strong one, with its quotes */

#endif
