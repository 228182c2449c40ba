/* Content of a store: rows of runs with their checksum, and the keys of a store in memory. Changes of a state:
 * readers_agents.c. */
#include "readers.h"

#include "log/rows.h"
#include "store/ordered.h"

#include "renga/v1/log.pb-c.h"
#include "renga/v1/orchestrator.pb-c.h"

#include <stdlib.h>
#include <string.h>

#define KEY "Rtenant"

static void rows_read_row(struct input *in)
{
    size_t size = STORE_CHECKSUM_BYTES + in->length;
    const struct store_bytes key = {KEY, sizeof KEY};
    char *value = arena_alloc(&in->arena, size);
    memcpy(value + STORE_CHECKSUM_BYTES, in->text, in->length);
    store_checksum_write(key, value, size, 0);
    const struct store_row row = {.key = key, .value = {value, size}};
    in->accepted = row_read(&in->arena, in->with, &row, &in->st) != NULL;
}

static struct store_bytes rows_line(const char **text)
{
    size_t length = strcspn(*text, "\n");
    struct store_bytes line = {*text, length};
    *text += length + ((*text)[length] != '\0');
    return line;
}

/* Each line is a key. */
static void keep_keys(struct input *in)
{
    struct ordered map;
    ordered_init(&map);
    for (const char *text = in->text; *text;) {
        struct store_bytes line = rows_line(&text);
        ordered_put(&map, ordered_node_create(&map, line, line));
    }
    for (const char *text = in->text; *text;) {
        struct store_bytes line = rows_line(&text);
        ordered_find(&map, line);
        ordered_before(&map, line);
        ordered_delete(&map, line);
    }
    ordered_fini(&map);
}

/* A field's number and type, its length, its content: a text many times, a message many times, one in another, and
 * fields that no release knows. */
static const struct generator messages[] = {
    {"one text many times", 0, .unit = "\x0A\x02xy"},
    {"a second text", 0, .unit = "\x12\x02xy"},
    {"fields of other releases", 0, .unit = "\xF8\x3F\x02"},
    {"messages", 0, .unit = "\x52\x04\x0A\x02xy"},
    {"parts of the ninth field", 0, .unit = "\x4A\x04\x0A\x02xy"},
    {"parts of the fifteenth field", 0, .unit = "\x7A\x04\x0A\x02xy"},
    {.name = NULL},
};

static const struct generator lines[] = {
    {"keys in their order", 0, .begin = "a\n", .unit = "k\1\n"},
    {"long keys in their order", 0, .begin = "a\n", .unit = "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk\1\n"},
    {.name = NULL},
};

const struct reader readers_rows[] = {
    {"row of a run", rows_read_row, .sets = HOSTILE_BYTES, .own = messages, .with = &renga__v1__run__descriptor},
    {"record of a thread", rows_read_row, .sets = HOSTILE_BYTES, .own = messages,
     .with = &renga__v1__log_record__descriptor},
    {"snapshot of a thread", rows_read_row, .sets = HOSTILE_BYTES, .own = messages,
     .with = &renga__v1__thread_snapshot__descriptor},
    {"request that was kept", rows_read_row, .sets = HOSTILE_BYTES, .own = messages,
     .with = &renga__v1__request_row__descriptor, .accepts = true},
    {"keys of a store in memory", keep_keys, .sets = HOSTILE_STREAM, .own = lines},
    {.name = NULL},
};
