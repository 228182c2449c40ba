/* Rows of playbooks, in the store of the record (record/record.h):
 *
 *      P tenant 0 h 0 dataset                    the head: revision, counters, sums
 *      P tenant 0 d 0 dataset 0 b place id       a bullet, packed
 *      P tenant 0 d 0 dataset 0 c revision       a change without its bullets (PlaybookChange), with the size of its
 *                                                row w
 *      P tenant 0 d 0 dataset 0 o number         a proposal, packed
 *      P tenant 0 d 0 dataset 0 r request_id     the digest of a request and its answer
 *      P tenant 0 d 0 dataset 0 s number         the request_id of the request with this number
 *      P tenant 0 d 0 dataset 0 v digest         the vector of a content (playbook_vectors.h)
 *      P tenant 0 d 0 dataset 0 w revision       the bullets of a change (PlaybookChange)
 *
 * Each batch that changes a playbook expects the head as it was read, and writes it anew: of two writers one succeeds.
 * All rows have a checksum (store/checksum.h). Names are checked before they come here. Keys and values are the
 * arena's; bytes NULL: it is exhausted. */
#ifndef RENGA_TOOL_RUNNER_PLAYBOOK_ROWS_H
#define RENGA_TOOL_RUNNER_PLAYBOOK_ROWS_H

#include "base/arena.h"
#include "store/store.h"

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stdint.h>

#define PLAYBOOK_HEAD_NUMBERS 16
#define PLAYBOOK_HEAD_SIZE    (1 + PLAYBOOK_HEAD_NUMBERS * 8 + 6) /* form, numbers, checksum */

struct playbook_head {
    int64_t incarnation; /* random; that of a playbook that was deleted and made again differs. 0: no playbook */
    int64_t version;     /* number of batches that wrote it */
    int64_t revision;
    int64_t updated_ms;
    int64_t next_number, next_proposal;
    int64_t bullets, text_bytes, tokens;
    int64_t proposals, proposal_bytes;
    int64_t oldest;        /* the oldest revision with a stored change */
    int64_t history_bytes; /* of rows c and w that are kept */
    int64_t requests;      /* number of the last request with a request_id */
    int64_t oldest_request;
    int64_t reserved;
};

struct playbook_key {
    const char *tenant, *dataset;
};

/* The row of the head alone: `from` is its key. */
void playbook_head_range(struct arena *arena, const struct playbook_key *key, struct store_bytes *from,
                         struct store_bytes *to);
/* All heads of a tenant that come behind `after` (NULL: all). */
void playbook_heads_range(struct arena *arena, const char *tenant, const char *after, struct store_bytes *from,
                          struct store_bytes *to);
/* The data set of a head's row. */
const char *playbook_head_dataset(struct arena *arena, const char *tenant, const struct store_row *row);
/* False: the row cannot be read. */
bool playbook_head_read(const struct store_row *row, struct playbook_head *head);
void playbook_head_write(struct store_bytes key, const struct playbook_head *head, uint8_t bytes[PLAYBOOK_HEAD_SIZE]);

/* All rows of a letter, and all rows but the head. */
void playbook_rows_range(struct arena *arena, const struct playbook_key *key, char letter, struct store_bytes *from,
                         struct store_bytes *to);
void playbook_all_range(struct arena *arena, const struct playbook_key *key, struct store_bytes *from,
                        struct store_bytes *to);
/* A key: letter, number (-1: no number), text ("": no text). */
struct store_bytes playbook_row_key(struct arena *arena, const struct playbook_key *key, char letter, int64_t number,
                                    const char *text);
/* The number of a key of that kind, and its text, of a row of the playbook; false: the row is not of this form. */
bool playbook_row_number(const struct playbook_key *key, const struct store_row *row, int64_t *number,
                         struct store_bytes *text);

/* A value: `head_size` bytes, the checksum, the packed message (NULL: no message). */
struct store_bytes playbook_value_write(struct arena *arena, struct store_bytes key, const void *head, size_t head_size,
                                        const ProtobufCMessage *message);
/* The message of a value; NULL: it cannot be read, or the arena is exhausted. */
ProtobufCMessage *playbook_value_read(struct arena *arena, const struct store_row *row, size_t head_size,
                                      const ProtobufCMessageDescriptor *descriptor);
/* Whether the checksum of a value without a message is right. */
bool playbook_value_is_whole(const struct store_row *row, size_t head_size);

#endif
