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
 * `request_base64` and `base64` replace `request` and `text` for bytes that are not UTF-8. Bodies are kept
 * decompressed, in the pieces in which they were read. Answers keep only the headers that describe the body, limits,
 * retry time and request id. Headers and query of a request are never recorded, so the file holds no key. A host
 * appears only in the text of an error. The redaction removes all other secrets.
 *
 * A transfer that its owner ended (cancelled, refused, forbidden or too large) is not recorded. Several loops may use
 * one cassette at once. */
#ifndef RENGA_HTTP_CASSETTE_H
#define RENGA_HTTP_CASSETTE_H

#include "base/buffer.h"
#include "http/client.h"

#define CASSETTE_FILE_MAX                                                                                              \
    ((size_t)256 << 20) /* bytes; a larger file gets no further records, and the log says so once */
#define CASSETTE_BODY_MAX ((size_t)16 << 20) /* bytes of an answer that is recorded */

struct cassette;

enum cassette_mode { CASSETTE_RECORD, CASSETTE_REPLAY };

struct cassette_options {
    enum cassette_mode mode; /* RECORD appends to the file; remove the file to record anew */
    /* Appends the redacted body to `out`; NULL: bodies are kept as they are. Replay searches for the redacted request,
     * so it needs the same function. Runs in any loop. */
    void (*redact)(const char *body, size_t size, struct buffer *out, const void *data);
    const void *redact_data; /* borrowed */
    bool keeps_delays;       /* replays as slowly as it was; otherwise as fast as it can */
};

/* Reads the whole file for REPLAY; an error names it and the line. An exchange that was cut off while it was written,
 * at the end of the file, is passed over; RECORD refuses to go on behind one, with INVALID_ARGUMENT. */
struct cassette *cassette_open(const char *path, const struct cassette_options *options, struct status *st);
/* Call it when no transfer uses the cassette any more. When it returns, all records are on the disk. */
void cassette_close(struct cassette **cassette);

struct cassette_stats {
    unsigned exchanges, unused; /* in a file that is replayed: read, and never asked for so far */
    uint64_t recorded, played, unrecorded, dropped;
};
void cassette_stats(struct cassette *cassette, struct cassette_stats *stats);

/* Before transfer_start, of a transfer that is idle: every exchange from now on is recorded. The cassette is borrowed.
 */
void transfer_record(struct transfer *transfer, struct cassette *cassette);

/* Replaces transfer_start. Plays the first unplayed exchange with the same method, path and body; after the last one,
 * that one again. Without a match the transfer ends with TRANSFER_UNRECORDED. Time bounds, pause, cancel and
 * transfer_header work as usual. `address_allowed` and redirects do not apply. */
void transfer_replay(struct http_client *client, struct transfer *transfer, struct cassette *cassette);

#endif
