#include "assets.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/sha256.h"
#include "base/trace.h"
#include "edge_priv.h"
#include "errors.h"
#include "gzip.h"
#include "header_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define ETAG_SIZE   40 /* bytes: 32 digits, two quotes, a NUL, and room */
#define DIGEST_USED 16 /* bytes of the SHA-256 */
#define INDEX       "/index.html"
#define NO_CONSOLE  "This build has no console. The API is described at /openapi.json.\n"

/* console.md 4.7: measured to run the console without a violation. */
#define CONTENT_POLICY                                                                                                 \
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "                 \
    "connect-src 'self'; worker-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "             \
    "require-trusted-types-for 'script'; trusted-types dompurify"

struct asset {
    const struct asset_file *file;
    const char *type;
    char etag[ETAG_SIZE];
    char *packed; /* NULL: the packed form is not smaller */
    size_t packed_size;
    bool never_changes; /* its name has a hash of its content */
};

struct assets {
    size_t count;
    struct asset list[];
};

/* ---- at the start ------------------------------------------------------------------------------------------------ */

static const char *asset_type(const char *path)
{
    static const struct {
        const char *end, *type;
    } types[] = {
        {".html", "text/html; charset=utf-8"},
        {".js", "text/javascript; charset=utf-8"},
        {".mjs", "text/javascript; charset=utf-8"},
        {".css", "text/css; charset=utf-8"},
        {".json", "application/json"},
        {".svg", "image/svg+xml"},
        {".png", "image/png"},
        {".ico", "image/x-icon"},
        {".woff2", "font/woff2"},
        {".txt", "text/plain; charset=utf-8"},
        {".webmanifest", "application/manifest+json"},
    };
    const char *end = strrchr(path, '.');
    for (size_t i = 0; end && i < sizeof types / sizeof types[0]; i++)
        if (strcmp(end, types[i].end) == 0)
            return types[i].type;
    return "application/octet-stream";
}

/* "vendor.3f2a91bc.js", "vendor-3F2A91BC.js": eight or more letters and digits of a hash before the last point. */
static bool asset_name_has_hash(const char *path)
{
    const char *end = strrchr(path, '.'), *at = end;
    bool digit = false;
    while (at && at > path && strchr("0123456789abcdefABCDEF", at[-1])) {
        at--;
        digit |= *at >= '0' && *at <= '9';
    }
    return at && end - at >= 8 && digit && at > path && (at[-1] == '.' || at[-1] == '-');
}

static void asset_make_etag(struct asset *asset)
{
    uint8_t digest[SHA256_SIZE];
    char digits[2 * DIGEST_USED + 1];
    sha256_of(asset->file->bytes, asset->file->size, digest);
    trace_hex(digest, DIGEST_USED, digits);
    snprintf(asset->etag, sizeof asset->etag, "\"%s\"", digits);
}

struct assets *assets_create(void)
{
    size_t count = 0;
    while (asset_files[count].path)
        count++;
    struct assets *assets = xcalloc(1, sizeof *assets + count * sizeof assets->list[0]);
    assets->count = count;
    for (size_t i = 0; i < count; i++) {
        struct asset *asset = &assets->list[i];
        asset->file = &asset_files[i];
        asset->type = asset_type(asset->file->path);
        asset->never_changes = asset_name_has_hash(asset->file->path);
        asset_make_etag(asset);
        asset->packed = gzip_pack(asset->file->bytes, asset->file->size, GZIP_BEST, &asset->packed_size);
    }
    return assets;
}

void assets_destroy(struct assets **assets_pointer)
{
    struct assets *assets = *assets_pointer;
    *assets_pointer = NULL;
    for (size_t i = 0; assets && i < assets->count; i++)
        free(assets->list[i].packed);
    free(assets);
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

bool assets_is_page(const char *path, size_t length)
{
    static const char *const pages[] = {"/ask",    "/interview", "/research",  "/runs",
                                        "/agents", "/models",    "/playbooks", "/documents"};
    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++) {
        size_t own = strlen(pages[i]);
        if (length >= own && memcmp(path, pages[i], own) == 0 && (length == own || path[own] == '/'))
            return true;
    }
    return length == 1 && *path == '/';
}

static const struct asset *asset_at(const struct assets *assets, const char *path, size_t length)
{
    if (assets_is_page(path, length))
        return asset_at(assets, INDEX, strlen(INDEX));
    for (size_t i = 0; i < assets->count; i++)
        if (strlen(assets->list[i].file->path) == length && memcmp(assets->list[i].file->path, path, length) == 0)
            return &assets->list[i];
    return NULL;
}

bool assets_has(const struct assets *assets, const char *path, size_t length)
{
    return assets_is_page(path, length) || asset_at(assets, path, length);
}

bool assets_takes_gzip(const struct http_request *request)
{
    return header_list_find(http_request_header(request, "accept-encoding"), "gzip") == HEADER_LIST_ACCEPTED;
}

bool assets_is_known(const struct http_request *request, const char *etag)
{
    const char *known = http_request_header(request, "if-none-match");
    for (const char *at = known; at && *at; at += strcspn(at, ",")) {
        at += strspn(at, ", \t");
        at += strncmp(at, "W/", 2) == 0 ? 2 : 0;
        size_t length = strcspn(at, ", \t");
        const char *tag = strncmp(etag, "W/", 2) == 0 ? etag + 2 : etag;
        if ((length == 1 && *at == '*') || (length == strlen(tag) && memcmp(at, tag, length) == 0))
            return true;
    }
    return false;
}

void assets_reply_bytes(struct http_request *request, const char *content_type, const char *etag, const void *bytes,
                        size_t size, const void *packed, size_t packed_size)
{
    bool gzip = packed && assets_takes_gzip(request);
    http_reply_header(request, "ETag", etag);
    http_reply_header(request, "Vary", "Accept-Encoding");
    if (assets_is_known(request, etag)) {
        http_reply(request, 304, NULL, NULL, 0);
        return;
    }
    if (gzip)
        http_reply_header(request, "Content-Encoding", "gzip");
    http_reply(request, 200, content_type, gzip ? packed : bytes, gzip ? packed_size : size);
}

void assets_reply(const struct edge *edge, const struct assets *assets, struct http_request *request)
{
    const char *target = http_request_target(request);
    const struct asset *asset = asset_at(assets, target, strcspn(target, "?"));
    http_reply_header(request, "Content-Security-Policy", CONTENT_POLICY);
    http_reply_header(request, "X-Content-Type-Options", "nosniff");
    http_reply_header(request, "Referrer-Policy", "no-referrer");
    http_reply_header(request, "Cross-Origin-Opener-Policy", "same-origin");
    http_reply_header(request, "Cross-Origin-Resource-Policy", "same-origin");
    http_reply_header(request, "Permissions-Policy", "camera=(), microphone=(), geolocation=()");
    http_reply_header(request, "Cache-Control",
                      asset && asset->never_changes ? "public, max-age=31536000, immutable" : "no-cache");
    if (!asset) {
        http_reply(request, 200, "text/plain; charset=utf-8", NO_CONSOLE, strlen(NO_CONSOLE));
        return;
    }
    assets_reply_bytes(request, asset->type, asset->etag, asset->file->bytes, asset->file->size, asset->packed,
                       asset->packed_size);
}
