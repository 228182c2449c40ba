/* Reads one message of HTTP/1 (RFC 9112), an answer or a request, from its bytes, in pieces of any size.
 *
 *      status line  -> fields --(1xx: once more)--> head --+--> length -----------------.
 *      request line ---^                                   +--> chunk size -> data ...  +--> end
 *                                                          |      `-> trailers ---------|
 *                                                          +--> until the connection ends (an answer)
 *                                                          `--> nothing (HEAD, 204, 304; a request without a length)
 *
 * The parser is strict wherever leniency lets two parsers disagree about the end of a message. A line ends with CRLF;
 * CR, LF and NUL are refused elsewhere, and in a request every other control character too. No field is folded, and no
 * space precedes a colon. A length is digits only, and several lengths in an answer must be equal. Chunked is the only
 * transfer coding and excludes a length. A request has one length, from HTTP/1.1 on one Host, no blank in a chunk size,
 * and no repeated single-value field. Empty lines before a request are skipped. A refusal is final: the connection
 * cannot be used further.
 *
 * Owns its memory, bounded by the head's bound; pieces of the body are not copied. Never blocks, has no callbacks. */
#ifndef RENGA_HTTP_HTTP1_H
#define RENGA_HTTP_HTTP1_H

#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP1_HEAD_MAX          (128u << 10) /* bytes of an answer's heads and trailers, informational ones included */
#define HTTP1_INFORMATIONAL_MAX 16           /* answers 1xx before the final one */
#define HTTP1_CHUNK_LINE_MAX    (4u << 10)   /* bytes of a chunk's size and extensions, with their end */

enum http1_event {
    HTTP1_MORE,      /* no event; continue with the rest of the bytes, or with the next ones */
    HTTP1_HEAD,      /* the final head is whole: first line, fields and length can be read */
    HTTP1_BODY,      /* the bytes that were taken are a piece of the body */
    HTTP1_END,       /* the message is complete; the bytes that were not taken belong to the next one */
    HTTP1_INVALID,   /* `why` describes the error */
    HTTP1_TOO_LARGE, /* the head is too large; `why` is a text for the client */
};

enum http1_state {
    HTTP1_STATUS,
    HTTP1_REQUEST,
    HTTP1_FIELDS,
    HTTP1_LENGTH,
    HTTP1_CHUNK_SIZE,
    HTTP1_CHUNK_DATA,
    HTTP1_CHUNK_END,
    HTTP1_TRAILERS,
    HTTP1_UNTIL_CLOSE,
    HTTP1_DONE,
    HTTP1_REFUSED,
    HTTP1_STATES
};

struct http1 {
    enum http1_state state;
    const char *why;

    int refusal; /* the HTTP status of the refusal */

    int status;          /* of the last received head */
    bool minor_0;        /* HTTP/1.0 */
    bool keeps;          /* the connection may serve another request, once the message is whole */
    bool has_length;     /* Content-Length was given: `length` */
    uint64_t length;     /* bytes of the body, by its length field */
    struct buffer names; /* a request's "method\0target\0"; "name\0value\0" for each field, in their order */
    size_t target_at;    /* in `names` */
    uint64_t names_seen; /* http1_name_bit of each */

    /* The reader's. */
    bool is_request, answers_head, chunked, closes, stays;
    bool line_is_whole;
    bool repeats; /* a name may stand twice in the head */
    unsigned informational, hosts;
    size_t fields_at; /* in `names` */
    size_t head_bytes, head_max;
    uint64_t left;       /* bytes of the body, or of the chunk */
    struct buffer begun; /* an incomplete line */
};

/* `answers_head`: the message answers a HEAD, so it has no body whatever its fields say. Resets the reader and keeps
 * its memory. Zero the struct before the first call. */
void http1_begin(struct http1 *reader, bool answers_head);
/* The same for a request, with the most bytes of its head and trailers. */
void http1_begin_request(struct http1 *reader, size_t head_max);
void http1_fini(struct http1 *reader);

/* Takes the first `*taken` of the bytes and returns their event. Call it again until it returns MORE with all bytes
 * taken, END, or a refusal. Call it also with no bytes: earlier bytes may complete the message. */
enum http1_event http1_next(struct http1 *reader, const char *bytes, size_t size, size_t *taken);

/* Gives back the last bytes of the piece of the body that was taken last. */
void http1_give_back(struct http1 *reader, size_t size);

/* The connection has ended: true if that also ends the answer. */
bool http1_ends_here(struct http1 *reader);

/* The last value of a field of the last head, trimmed; NULL if the field is missing. */
const char *http1_field(const struct http1 *reader, const char *name);

/* For a request being read: true if a field of this name may occur only once and has occurred. */
bool http1_is_second(const struct http1 *reader, const char *name, size_t length);

/* For a request whose head is whole and has a name twice: each list that stands in several fields, such as Accept, gets
 * one more field with all of its values (RFC 9110 §5.3). Linear in the head. */
void http1_join_lists(struct http1 *reader);

/* Of a request; "" before its first line is whole. */
static inline const char *http1_method(const struct http1 *reader)
{
    return reader->names.length ? reader->names.data : "";
}

/* For a request with a complete head. */
static inline char *http1_target(const struct http1 *reader)
{
    return reader->names.data + reader->target_at;
}

/* One of 64 bits for a name: an unset bit means that no such field exists. */
static inline uint64_t http1_name_bit(const char *name, size_t length)
{
    unsigned first = length ? (unsigned char)name[0] | 0x20 : 0,
             last = length ? (unsigned char)name[length - 1] | 0x20 : 0;
    return UINT64_C(1) << ((first * 5 + last + length * 11) & 63);
}

#endif
