/* Checks messages of clients against the bounds that the contract gives its fields by the option (renga.v1.bounds).
 * The build makes the tables of the contract; services call contract_check ("proto/contract_check.h"). */
#ifndef RENGA_RPC_MESSAGE_BOUNDS_H
#define RENGA_RPC_MESSAGE_BOUNDS_H

#include "base/status.h"

#include <protobuf-c/protobuf-c.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BOUNDS_NUMBER_MAX 9007199254740992.0 /* up to here, a double holds all integers */

/* As FieldBounds.Form, with the same numbers. */
enum bounds_form {
    BOUNDS_ANY,
    BOUNDS_NAME,
    BOUNDS_PROSE,
    BOUNDS_TOKEN,
    BOUNDS_JSON,
    BOUNDS_OBJECT,
    BOUNDS_LANGUAGE,
};

/* One field; proto/renga/v1/bounds.proto says what each bound means. Zero sets none. */
struct field_bounds {
    unsigned index;                      /* in the fields of the descriptor, which are in the order of their numbers */
    const struct message_bounds *inside; /* of the field's messages; NULL without bounds in them */
    const char *hint;                    /* NULL without one */
    double min, max;                     /* if `ranged`; BOUNDS_NUMBER_MAX from zero: no bound */
    uint32_t bytes, items, key_bytes;
    enum bounds_form form;
    bool required, not_blank, ranged, or_zero, known;
};

struct message_bounds {
    const char *name; /* "renga.v1.StartRunRequest" */
    const struct field_bounds *fields;
    size_t count;
};

/* Linear in the message's bytes. False is INVALID_ARGUMENT with the path of the first wrong field ("calls[2].call.id"),
 * its value if that is a number, and the bound; texts are never repeated. Messages without a row of the table, which is
 * in the order of names, pass. `message` was unpacked or initialized: its texts are UTF-8, and not NULL. Any thread. */
bool message_check_bounds(const ProtobufCMessage *message, const struct message_bounds *table, size_t count,
                          struct status *st);

#endif
