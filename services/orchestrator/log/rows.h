/* Rows of the store as messages (proto/renga/v1/log.proto), and the row that names a run. A row is not trusted: each
 * value is checked against its checksum (store/checksum.h), the wire format, UTF-8, and the rules of every reader. The
 * rules cover required fields, enums that this release knows, and the names in its key. Rows of releases without
 * checksums are read like any others. Rows that all orchestrators compare as a whole (W, M) have no checksum. */
#ifndef RENGA_ORCHESTRATOR_ROWS_H
#define RENGA_ORCHESTRATOR_ROWS_H

#include "ids.h"
#include "keys.h"

#include "base/buffer.h"
#include "store/checksum.h"

#include <protobuf-c/protobuf-c.h>

/* Its message, in the arena. NULL with DATA_LOSS, which names the row and the damage, or with
 * RESOURCE_EXHAUSTED if the arena is. */
void *row_read(struct arena *arena, const ProtobufCMessageDescriptor *type, const struct store_row *row,
               struct status *st);

/* Puts the message, with its checksum, into the batch; the bytes that this takes. */
size_t row_put(struct store_batch *batch, const struct key *key, const ProtobufCMessage *message);
/* The bytes that row_put takes for it. */
size_t row_size(const ProtobufCMessage *message);
/* The same in two parts, for a message that its owner packs: room for a row of row_size bytes in the batch, then the
 * checksum of the packed row. The message begins STORE_CHECKSUM_BYTES behind the room's start. NULL: the batch has
 * failed. */
uint8_t *row_reserve(struct store_batch *batch, const struct key *key, size_t size);
void row_seal(const struct key *key, uint8_t *row, size_t size);

/* A D row: the name of a run and the version of its agent. */
void row_put_run_name(struct store_batch *batch, const struct key *key, const char *run_id, const char *version);
bool row_read_run_name(const struct store_row *row, char run_id[ID_MAX], char version[ID_VERSION_MAX],
                       struct status *st);

/* "record 7 of thread 'a'", for errors. */
#define ROW_NAME_MAX 224 /* bytes, the NUL included */
const char *row_name(struct store_bytes key, char name[ROW_NAME_MAX]);

/* row_check.c: true if a message follows the rules of its readers; else `what` names the problem. */
#define ROW_WRONG_MAX 160 /* bytes, the NUL included */
bool row_check(const ProtobufCMessage *message, char what[ROW_WRONG_MAX]);

#endif
