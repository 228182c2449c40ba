#include "doubling.h"

#include "json/json.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t readings_accepted; /* of the reader that is judged */

cJSON *input_json(struct input *in)
{
    if (!in->tree)
        in->tree = json_parse(in->text, in->length, NULL, &in->st);
    return in->tree;
}

void reading_keeps_memory(void)
{
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    mallopt(M_ARENA_MAX, 1);
}

void reader_read(const struct reader *reader, const struct buffer *text)
{
    struct input in = {.reader = reader, .text = text->data, .length = text->length, .with = reader->with};
    arena_init(&in.arena, NULL, 0, INPUT_MEMORY_MAX);
    buffer_init(&in.out, INPUT_MEMORY_MAX);
    reader->read(&in);
    readings_accepted += in.accepted;
    cJSON_Delete(in.tree);
    buffer_fini(&in.out);
    arena_fini(&in.arena);
}

static bool has_turn(size_t index)
{
    const char *turn = getenv("RENGA_TURN");
    return !turn || (index + strtoul(turn, NULL, 10)) % TURNS == 0;
}

bool reader_holds(const struct reader *reader)
{
    const char *only = getenv("RENGA_ATTACK");
    bool all = true;
    readings_accepted = 0;
    for (const struct generator *own = reader->own; own && own->name; own++)
        if (!only || strstr(own->name, only))
            all &= attack_holds(reader, own, has_turn((size_t)(own - reader->own)), true);
    for (const struct generator *one = generators; one->name; one++)
        if (one->sets & reader->sets && (!only || strstr(one->name, only)))
            all &= attack_holds(reader, one, false, has_turn((size_t)(one - generators)));
    if (reader->accepts && !readings_accepted && !only) {
        fprintf(stderr, "%s: nothing was accepted\n", reader->name);
        return false;
    }
    return all;
}
