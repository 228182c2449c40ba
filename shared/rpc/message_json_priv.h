/* The form of fields in JSON: shared by the reader and the checker of messages. */
#ifndef RENGA_RPC_MESSAGE_JSON_PRIV_H
#define RENGA_RPC_MESSAGE_JSON_PRIV_H

#include "rpc/message_field.h"
#include "rpc/message_json.h"

#define MESSAGE_JSON_KEY_MAX 128 /* bytes */

/* "output_json" is written as the value "output". */
void message_json_key(const ProtobufCFieldDescriptor *field, char key[MESSAGE_JSON_KEY_MAX]);

#endif
