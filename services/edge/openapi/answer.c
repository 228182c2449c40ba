/* GET /openapi.json. The program holds the document compressed; clients that do not take gzip get it unpacked. */
#include "edge_priv.h"
#include "errors.h"
#include "openapi/openapi.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

#define GZIP_WINDOW (15 + 16) /* zlib's: the largest window, in a wrapping of gzip */

/* Whether the list has the coding, and not with a quality of zero. */
static bool openapi_takes_gzip(const char *accepted)
{
    for (const char *at = accepted; at && *at; at += strcspn(at, ","), at += *at == ',') {
        at += strspn(at, " \t");
        size_t length = strcspn(at, ",; \t");
        const char *quality = at + length + strspn(at + length, " \t");
        if (length != strlen("gzip") || strncasecmp(at, "gzip", length) != 0)
            continue;
        quality += strspn(quality, "; \t");
        return strncasecmp(quality, "q=", 2) != 0 || strtod(quality + 2, NULL) > 0;
    }
    return false;
}

/* If-None-Match: "*", or a list of tags, which are compared without their W/. */
static bool openapi_is_known(const char *tags)
{
    return tags && (strcmp(tags, "*") == 0 || strstr(tags, edge_openapi_etag));
}

/* The document, malloc'ed. NULL: no memory. */
static char *openapi_unpack(void)
{
    z_stream stream = {0};
    char *document = malloc(edge_openapi_size);
    if (!document || inflateInit2(&stream, GZIP_WINDOW) != Z_OK) {
        free(document);
        return NULL;
    }
    stream.next_in = (z_const Bytef *)edge_openapi_gzip;
    stream.avail_in = (uInt)edge_openapi_gzip_size;
    stream.next_out = (Bytef *)document;
    stream.avail_out = (uInt)edge_openapi_size;
    bool done = inflate(&stream, Z_FINISH) == Z_STREAM_END;
    inflateEnd(&stream);
    if (done)
        return document;
    free(document);
    return NULL;
}

void openapi_handle(struct edge *edge, struct http_request *request)
{
    http_reply_header(request, "ETag", edge_openapi_etag);
    http_reply_header(request, "Vary", "Accept-Encoding");
    if (openapi_is_known(http_request_header(request, "if-none-match"))) {
        http_reply(request, 304, NULL, NULL, 0);
        return;
    }
    if (openapi_takes_gzip(http_request_header(request, "accept-encoding"))) {
        http_reply_header(request, "Content-Encoding", "gzip");
        http_reply(request, 200, EDGE_TYPE_JSON, edge_openapi_gzip, edge_openapi_gzip_size);
        return;
    }
    char *document = openapi_unpack();
    if (document)
        http_reply_take(request, 200, EDGE_TYPE_JSON, document, edge_openapi_size);
    else
        edge_fail_with(request, RESOURCE_EXHAUSTED, "no memory for the document");
}
