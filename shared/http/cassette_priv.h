/* The private interface between the cassette's files and the client. */
#ifndef RENGA_HTTP_CASSETTE_PRIV_H
#define RENGA_HTTP_CASSETTE_PRIV_H

#include "http/cassette.h"

#include <stdatomic.h>

#define CASSETTE_HASH_SIZE 32 /* SHA-256 */

struct recorded_header {
    char *name, *value;
};

/* A piece of a body, and its delay after the previous piece. */
struct recorded_piece {
    size_t size;
    int64_t after_ms;
};

/* An exchange of one line. Owns all its members. */
struct recorded {
    char *method, *path;
    struct buffer request; /* redacted */
    unsigned char request_hash[CASSETTE_HASH_SIZE];
    enum transfer_end end;
    struct status status;
    bool answered, stale;
    int http_status;  /* 0: no headers arrived */
    int64_t after_ms; /* from the request to the headers */
    struct recorded_header *headers;
    size_t header_count;
    struct buffer body;
    struct recorded_piece *pieces;
    size_t piece_count;
    bool played;
    struct recorded *next; /* of its shelf */
};

void recorded_fini(struct recorded *recorded);
void recorded_hash(const void *bytes, size_t size, unsigned char hash[CASSETTE_HASH_SIZE]);

/* cassette_line.c */
bool recorded_write(const struct recorded *recorded, struct buffer *line);
bool recorded_read(struct recorded *recorded, const char *line, size_t length, struct status *st);

/* cassette.c */
void cassette_redact(const struct cassette *cassette, const void *body, size_t size, struct buffer *out);
void cassette_append(struct cassette *cassette, const struct recorded *recorded);
const struct recorded *cassette_find(struct cassette *cassette, const char *method, const char *path,
                                     const unsigned char hash[CASSETTE_HASH_SIZE]);
const char *cassette_path(const struct cassette *cassette);
bool cassette_keeps_delays(const struct cassette *cassette);
void cassette_drop(struct cassette *cassette, const char *why);

/* recorder.c: records a transfer. The client calls these functions; without a recorder they return at once. */
void recorder_begin(struct transfer *transfer);
void recorder_headers(struct transfer *transfer);
void recorder_piece(struct transfer *transfer, const char *bytes, size_t size);
/* Before `finished`, while the answer's headers can be read. */
void recorder_end(struct transfer *transfer);

/* player.c: plays a recorded exchange to a transfer. */
void player_resume(struct transfer *transfer); /* begins it, the first time */
/* Stops it without ending the transfer, and hands the collected part of the body to it. */
void player_stop(struct transfer *transfer);
const char *player_header(const struct transfer *transfer, const char *name);
void player_destroy(struct player *player);

#endif
