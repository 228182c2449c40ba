#include "output.h"

#include <errno.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#define GZIP_WINDOW   (15 + 16) /* zlib's: the largest window, in a wrapping of gzip without name and time */
#define GZIP_MEMORY   9         /* zlib's most */
#define BYTES_OF_LINE 24
#define ETAG_BYTES    12 /* of the hash, before it is written in hexadecimal */

static bool output_end(FILE *out, const char *path, struct status *st)
{
    bool failed = ferror(out);
    return (fclose(out) == 0 && !failed) || fail(st, UNAVAILABLE, "%s cannot be written", path);
}

static FILE *output_begin(const char *path, struct status *st)
{
    FILE *out = fopen(path, "we");
    if (!out)
        fail(st, UNAVAILABLE, "%s cannot be written: error %d", path, errno);
    return out;
}

bool output_write_json(const char *path, const struct buffer *document, struct status *st)
{
    FILE *out = output_begin(path, st);
    if (!out)
        return false;
    fwrite(document->data, 1, document->length, out);
    return output_end(out, path, st);
}

/* The document compressed, malloc'ed. NULL: no memory. */
static unsigned char *document_pack(const struct buffer *document, size_t *size)
{
    z_stream stream = {0};
    if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
        return NULL;
    size_t room = deflateBound(&stream, document->length);
    unsigned char *packed = malloc(room);
    stream.next_in = (Bytef *)document->data;
    stream.avail_in = (uInt)document->length;
    stream.next_out = packed;
    stream.avail_out = (uInt)room;
    bool done = packed && deflate(&stream, Z_FINISH) == Z_STREAM_END;
    *size = stream.total_out;
    deflateEnd(&stream);
    if (!done) {
        free(packed);
        return NULL;
    }
    return packed;
}

static void etag_print(FILE *out, const struct buffer *document)
{
    unsigned char hash[SHA256_DIGEST_LENGTH];
    SHA256((const unsigned char *)document->data, document->length, hash);
    fprintf(out, "const char edge_openapi_etag[] = \"\\\"");
    for (size_t i = 0; i < ETAG_BYTES; i++)
        fprintf(out, "%02x", hash[i]);
    fprintf(out, "\\\"\";\n");
}

bool output_write_c(const char *path, const struct buffer *document, struct status *st)
{
    size_t size;
    unsigned char *packed = document_pack(document, &size);
    FILE *out = packed ? output_begin(path, st) : NULL;
    if (!packed)
        fail(st, RESOURCE_EXHAUSTED, "no memory to compress the document");
    if (!out) {
        free(packed);
        return false;
    }
    fprintf(out, "#include \"openapi/openapi.h\"\n\nconst unsigned char edge_openapi_gzip[] = {");
    for (size_t i = 0; i < size; i++)
        fprintf(out, "%s%u,", i % BYTES_OF_LINE ? "" : "\n", packed[i]);
    fprintf(out, "};\nconst size_t edge_openapi_gzip_size = %zu;\nconst size_t edge_openapi_size = %zu;\n", size,
            document->length);
    etag_print(out, document);
    free(packed);
    return output_end(out, path, st);
}
