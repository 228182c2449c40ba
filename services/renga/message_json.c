/* Any message as a line of JSON: for --json. */
#include "orchestrator_client.h"

#include "rpc/message_json.h"

#include <stdio.h>

#define LINE_MAX_BYTES ((size_t)64 << 20)

void message_print_json(const ProtobufCMessage *message)
{
    struct buffer line;
    struct json_writer out;
    buffer_init(&line, LINE_MAX_BYTES);
    json_writer_init(&out, &line);
    message_write_json(&out, NULL, message);
    puts(buffer_text(&line));
    fflush(stdout);
    buffer_fini(&line);
}
