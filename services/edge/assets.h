/* The console's files, built into the program: console/dist, each as it is and packed by gzip, with an ETag of its
 * content. */
#ifndef RENGA_EDGE_ASSETS_H
#define RENGA_EDGE_ASSETS_H

#include <stdbool.h>
#include <stddef.h>

struct assets;
struct edge;
struct http_request;

/* A file as the build has embedded it (assets.cmake). */
struct asset_file {
    const char *path; /* "/index.html", "/assets/console.js" */
    const unsigned char *bytes;
    size_t size;
};
extern const struct asset_file asset_files[]; /* ends with a row without a path */

struct assets *assets_create(void);
void assets_destroy(struct assets **assets);

/* Whether the path, of `length` bytes, is that of a page: "/", "/runs" and all below it. The page reads the rest. */
bool assets_is_page(const char *path, size_t length);
/* Whether there is a file at the path, of `length` bytes; "/" and the paths of pages, "/runs/ID", are index.html. */
bool assets_has(const struct assets *assets, const char *path, size_t length);
/* Answers GET and HEAD of a path that assets_has; or, without a console in this build, of a page. */
void assets_reply(const struct edge *edge, const struct assets *assets, struct http_request *request);

/* Ends the request with `bytes`, which live for ever and of which `packed` is the gzip form or NULL: 304 if the
 * client has this ETag already. */
void assets_reply_bytes(struct http_request *request, const char *content_type, const char *etag, const void *bytes,
                        size_t size, const void *packed, size_t packed_size);

/* Whether the client takes gzip. */
bool assets_takes_gzip(const struct http_request *request);
/* True if If-None-Match has the tag. */
bool assets_is_known(const struct http_request *request, const char *etag);

#endif
