/* Record and replay: exchanges with servers are kept in a file once, and played from it without a network.
 *
 *      transfer_record, transfer_start   ->  headers_received, body_received*, finished  ->  a line is appended
 *      transfer_replay                   <-  the same callbacks, from the line of the same request
 *
 * A file is lines of JSON, one an exchange, in the order in which they ended:
 *
 *      {"method":"POST","path":"/v1/chat/completions","request":"...","end":"complete","status":200,"after_ms":310,
 *       "headers":{"content-type":"application/json"},"pieces":[{"after_ms":4,"text":"..."}]}
 *
 * `request_base64` and `base64` stand in place of `request` and `text` where the bytes are no UTF-8. Bodies are kept as
 * they were read, decompressed, in the pieces they came in. Of headers only those of the answer that say something
 * about it are kept (its type, when to come back, limits, the request's name); those of the request never, so no key
 * gets in. Nor is the query; a host stands only in the text of an error. What else must not be in the file is the
 * redaction's work.
 *
 * What its owner ended is not recorded: a transfer that was cancelled, refused, forbidden, or too large for it.
 * A cassette may be used from several loops at once. */
#ifndef RENGA_HTTP_CASSETTE_H
#define RENGA_HTTP_CASSETTE_H

#include "base/buffer.h"
#include "http/client.h"

#define CASSETTE_FILE_MAX ((size_t)256 << 20) /* bytes; beyond it nothing is recorded, which the log says once */
#define CASSETTE_BODY_MAX ((size_t)16 << 20)  /* bytes of an answer that is recorded */

struct cassette;

enum cassette_mode { CASSETTE_RECORD, CASSETTE_REPLAY };

struct cassette_options {
    enum cassette_mode mode; /* RECORD appends to what is there; remove the file to record anew */
    /* Appends to `out` what may stand in the file in place of a body; NULL: bodies are kept as they are. Requests are
     * looked for by what it leaves of them, so replaying needs the same one. Runs in any loop. */
    void (*redact)(const char *body, size_t size, struct buffer *out, const void *data);
    const void *redact_data; /* borrowed */
    bool keeps_delays;       /* replays as slowly as it was; otherwise as fast as it can */
};

/* Reads the whole file for REPLAY; an error names it and the line. An exchange that was cut off while it was written,
 * at the end of the file, is passed over; RECORD refuses to go on behind one, with INVALID_ARGUMENT. */
struct cassette *cassette_open(const char *path, const struct cassette_options *options, struct status *st);
/* When no transfer uses it any more. What was recorded is on the disk when it returns. */
void cassette_close(struct cassette **cassette);

struct cassette_stats {
    unsigned exchanges, unused; /* in a file that is replayed: read, and never asked for so far */
    uint64_t recorded, played, unrecorded, dropped;
};
void cassette_stats(struct cassette *cassette, struct cassette_stats *stats);

/* Before transfer_start, of a transfer that is idle: every exchange from now on is recorded. The cassette is borrowed.
 */
void transfer_record(struct transfer *transfer, struct cassette *cassette);

/* In place of transfer_start. Plays the first exchange not played yet with the same method, path and body; where all of
 * them are, the last once more; where there is none, the transfer ends with TRANSFER_UNRECORDED. Bounds of time, pause,
 * cancel and transfer_header are as ever; `address_allowed` and redirects have no say, as there are none. */
void transfer_replay(struct http_client *client, struct transfer *transfer, struct cassette *cassette);

#endif
