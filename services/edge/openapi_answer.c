/* GET /openapi.json. The program holds the document packed; a client that does not take gzip gets it unpacked. */
#include "edge_priv.h"

#include "assets.h"
#include "errors.h"
#include "gzip.h"
#include "openapi/openapi.h"

void openapi_handle(struct edge *edge, struct http_request *request)
{
    if (assets_takes_gzip(request) || assets_is_known(request, edge_openapi_etag)) {
        assets_reply_bytes(request, EDGE_TYPE_JSON, edge_openapi_etag, NULL, 0, edge_openapi_gzip,
                           edge_openapi_gzip_size);
        return;
    }
    char *document = gzip_unpack(edge_openapi_gzip, edge_openapi_gzip_size, edge_openapi_size);
    if (!document) {
        edge_fail_with(request, RESOURCE_EXHAUSTED, "no memory for the document");
        return;
    }
    http_reply_header(request, "ETag", edge_openapi_etag);
    http_reply_header(request, "Vary", "Accept-Encoding");
    http_reply_take(request, 200, EDGE_TYPE_JSON, document, edge_openapi_size);
}
