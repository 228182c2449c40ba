/* A node's update, read and checked against the fields before any change. */
#include "state_priv.h"

#include "base/random.h"
#include "base/text.h"
#include "json/pull.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_MAX  64 /* bytes of a wrong value that an error shows */
#define NUMBER_MAX 64 /* bytes of a number that is added up */

/* The state of a parse, with the context for its errors. */
struct reading {
    struct json_pull in;
    struct arena *arena;
    const char *node;
    const struct field *field;
    bool in_list;
    uint64_t seed; /* of the next id */
    struct status *st;
};

static bool write_out_of_memory(struct reading *reading)
{
    return fail(reading->st, RESOURCE_EXHAUSTED, "node '%s' wrote more than a call may hold", reading->node);
}

static bool write_wrong(struct reading *reading, struct text value, const char *what)
{
    const struct field *field = reading->field;
    if (reading->in.broken)
        return false;
    while (value.size && strchr(" \t\r\n", *value.bytes)) {
        value.bytes++;
        value.size--;
    }
    size_t shown = text_cut(value.bytes, value.size, SHOWN_MAX);
    return fail(reading->st, INVALID_ARGUMENT, "node '%s' wrote %.*s%s to '%s', which takes %s%s", reading->node,
                (int)shown, value.bytes, shown < value.size ? "…" : "", field->name, what,
                reading->in_list ? " in each place of its list" : "");
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

static bool write_fits(struct reading *reading, enum json_kind kind)
{
    const struct field *field = reading->field;
    struct json_pull *in = &reading->in;
    int64_t whole;
    switch (field->type) {
    case FIELD_STRING:
        if (kind != JSON_STRING || !field->values)
            break;
        return field_allows(field, json_pull_text(in));
    case FIELD_INTEGER:
        if (kind == JSON_NUMBER)
            return json_pull_whole(in, &whole);
        break;
    default:
        break;
    }
    static const enum json_kind kinds[] = {
        [FIELD_STRING] = JSON_STRING,   [FIELD_INTEGER] = JSON_NUMBER, [FIELD_NUMBER] = JSON_NUMBER,
        [FIELD_BOOLEAN] = JSON_BOOLEAN, [FIELD_OBJECT] = JSON_OBJECT,
    };
    json_pull_skip(in);
    return field->type == FIELD_ANY || (kind == kinds[field->type] && field->type != FIELD_INTEGER);
}

/* The value that stands here, passed over; its text lies in the text that is read. */
static bool write_take(struct reading *reading, struct text *value)
{
    struct json_pull *in = &reading->in;
    enum json_kind kind = json_pull_kind(in);
    const char *start = in->at;
    bool good = write_fits(reading, kind);
    *value = (struct text){start, (size_t)(in->at - start)};
    return in->broken ? false : good || write_wrong(reading, *value, field_type_words(reading->field->type, false));
}

static struct written *write_grow(struct reading *reading, struct field_write *write, size_t *room)
{
    if (write->count == *room) {
        size_t wider = *room ? 2 * *room : 4;
        struct written *pieces = arena_alloc(reading->arena, wider * sizeof *pieces);
        if (!pieces)
            return NULL;
        if (write->count)
            memcpy(pieces, write->pieces, write->count * sizeof *pieces);
        write->pieces = pieces;
        *room = wider;
    }
    struct written *piece = &write->pieces[write->count++];
    *piece = (struct written){0};
    return piece;
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

/* By splitmix64, so that the same update read again has the same ids. */
static uint64_t next_id(struct reading *reading)
{
    uint64_t id = reading->seed += UINT64_C(0x9e3779b97f4a7c15);
    id = (id ^ id >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    id = (id ^ id >> 27) * UINT64_C(0x94d049bb133111eb);
    return id ^ id >> 31;
}

/* A message without an id gets an id, in front of its other members. */
static bool name_message(struct reading *reading, struct written *piece)
{
    struct text text = piece->text;
    char *key = arena_printf(reading->arena, "m-%016" PRIx64, next_id(reading));
    bool bare = strspn(text.bytes + 1, " \t\r\n}") + 1 >= text.size;
    char *named = arena_printf(reading->arena, "{\"id\":\"%s\"%s%.*s", key ? key : "", bare ? "" : ",",
                               (int)(text.size - 1), text.bytes + 1);
    if (!key || !named)
        return write_out_of_memory(reading);
    piece->key = (struct text){key, strlen(key)};
    piece->text = (struct text){named, strlen(named)};
    piece->unnamed = true;
    return true;
}

static bool wrong_id(struct reading *reading, struct json_pull *in)
{
    const char *start = in->at;
    json_pull_skip(in);
    size_t size = (size_t)(in->at - start), shown = text_cut(start, size, SHOWN_MAX);
    return fail(
        reading->st, INVALID_ARGUMENT,
        "node '%s' wrote a message to '%s' with \"id\": %.*s%s; an id is a string, and a message without one is "
        "given one",
        reading->node, reading->field->name, (int)shown, start, shown < size ? "…" : "");
}

/* {"id": "…", "removed": true} takes a message away. */
static bool write_read_message(struct reading *reading, struct written *piece)
{
    struct json_pull inner;
    struct json_scope scope;
    struct status grammar = {0};
    const char *id = "";
    bool good = true;
    json_pull_init(&inner, piece->text.bytes, piece->text.size, NULL, reading->arena, &grammar);
    for (bool more = json_pull_object(&inner, &scope); more && json_pull_next(&inner, &scope);) {
        if (json_pull_at(&inner, "id") && json_pull_kind(&inner) != JSON_STRING)
            good = wrong_id(reading, &inner);
        else if (json_pull_at(&inner, "id"))
            id = json_pull_text(&inner);
        else if (json_pull_at(&inner, "removed") && json_pull_kind(&inner) == JSON_BOOLEAN)
            piece->removed = *inner.at == 't';
    }
    if (!json_pull_end(&inner))
        return fail(reading->st, INVALID_ARGUMENT, "node '%s' wrote a message to '%s' that is not read: %s",
                    reading->node, reading->field->name, grammar.text);
    if (!good)
        return false;
    if (!*id)
        return name_message(reading, piece);
    piece->key = (struct text){id, strlen(id)};
    return true;
}

/* ---- fields ------------------------------------------------------------------------------------------------------ */

static bool no_container(struct reading *reading, const char *what)
{
    const char *start = reading->in.at;
    json_pull_skip(&reading->in);
    return write_wrong(reading, (struct text){start, (size_t)(reading->in.at - start)}, what);
}

static bool write_take_items(struct reading *reading, struct field_write *write)
{
    struct json_pull *in = &reading->in;
    struct json_scope list;
    size_t room = 0;
    bool good = true;
    if (json_pull_kind(in) != JSON_ARRAY)
        return no_container(reading, "a list");
    for (bool more = json_pull_array(in, &list); more && json_pull_next(in, &list);) {
        struct written *piece = good ? write_grow(reading, write, &room) : NULL;
        reading->in_list = true;
        good = piece ? write_take(reading, &piece->text) : good && write_out_of_memory(reading);
        if (good && reading->field->reducer == REDUCE_MESSAGES)
            good = write_read_message(reading, piece);
    }
    reading->in_list = false;
    return good;
}

static bool take_member(struct reading *reading, const struct json_scope *object, struct written *piece)
{
    struct json_pull *in = &reading->in;
    char *key = arena_strndup(reading->arena, object->key, object->key_length);
    if (!key || !piece)
        return write_out_of_memory(reading);
    json_pull_kind(in);
    const char *start = in->at;
    json_pull_skip(in);
    piece->key = (struct text){key, object->key_length};
    piece->text = (struct text){start, (size_t)(in->at - start)};
    return true;
}

static bool take_members(struct reading *reading, struct field_write *write)
{
    struct json_pull *in = &reading->in;
    struct json_scope object;
    size_t room = 0;
    bool good = true;
    if (json_pull_kind(in) != JSON_OBJECT)
        return no_container(reading, field_type_words(FIELD_OBJECT, false));
    for (bool more = json_pull_object(in, &object); more && json_pull_next(in, &object);)
        good = good && take_member(reading, &object, write_grow(reading, write, &room));
    return good;
}

static bool take_whole(struct reading *reading, struct field_write *write)
{
    char digits[NUMBER_MAX];
    if (!write_take(reading, &write->text))
        return false;
    if (write->field->reducer != REDUCE_SUM && write->field->reducer != REDUCE_MAX)
        return true;
    if (write->text.size >= sizeof digits)
        return write_wrong(reading, write->text, "a number of fewer digits");
    memcpy(digits, write->text.bytes, write->text.size);
    digits[write->text.size] = '\0';
    write->number = strtod(digits, NULL);
    return isfinite(write->number) || write_wrong(reading, write->text, "a number that is not too large");
}

static bool write_take_field(struct reading *reading, struct field_write *write)
{
    const struct field *field = reading->field = write->field;
    if (field->list)
        return write_take_items(reading, write);
    return field->reducer == REDUCE_MERGE ? take_members(reading, write) : take_whole(reading, write);
}

/* ---- an update --------------------------------------------------------------------------------------------------- */

static const struct field *write_find_field(const struct graph *graph, const char *node, const char *name,
                                            struct status *st)
{
    const struct field *field = graph_field(graph, name);
    if (field)
        return field;
    const char *nearest = graph_field_nearest(graph, name);
    fail(st, INVALID_ARGUMENT, "node '%s' wrote to '%.64s', which the state of '%s' does not have%s%s%s", node, name,
         graph->name, nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
    return NULL;
}

static struct field_write *find_write(struct write *write, const struct field *field)
{
    for (size_t i = 0; i < write->count; i++)
        if (write->fields[i].field == field)
            return &write->fields[i];
    return NULL;
}

static bool take_named(struct reading *reading, const struct graph *graph, const struct json_scope *root,
                       struct write *write)
{
    char *name = arena_strndup(reading->arena, root->key, root->key_length);
    if (!name)
        return write_out_of_memory(reading);
    const struct field *field = write_find_field(graph, reading->node, name, reading->st);
    if (!field)
        return false;
    if (find_write(write, field)) /* the reader of JSON tells keys that stand twice only behind a large object */
        return fail(reading->st, INVALID_ARGUMENT, "node '%s' wrote '%s' twice in one update", reading->node,
                    field->name);
    write->fields[write->count] = (struct field_write){.field = field};
    return write_take_field(reading, &write->fields[write->count++]);
}

/* After the first fault the rest is only passed over. */
static bool write_read_update(struct reading *reading, const struct graph *graph, struct write *write)
{
    struct json_pull *in = &reading->in;
    struct json_scope root;
    bool good = true;
    if (json_pull_kind(in) != JSON_OBJECT) {
        json_pull_skip(in);
        return fail(reading->st, INVALID_ARGUMENT, "node '%s': its update_json is no JSON object, {\"FIELD\": VALUE}",
                    reading->node);
    }
    for (bool more = json_pull_object(in, &root); more && json_pull_next(in, &root);)
        good = good && take_named(reading, graph, &root, write);
    return good;
}

static bool mark_overwritten(const struct graph *graph, const struct write_source *source, struct write *write,
                             struct status *st)
{
    for (size_t i = 0; i < source->overwrite_count; i++) {
        const struct field *field = write_find_field(graph, source->node, source->overwrite_fields[i], st);
        struct field_write *written = field ? find_write(write, field) : NULL;
        if (!written)
            return field && fail(st, INVALID_ARGUMENT,
                                 "node '%s': overwrite_fields[%zu] is '%s', which update_json gives no value; write it "
                                 "there, or name it in clear_fields",
                                 source->node, i, field->name);
        written->op = WRITE_OVERWRITE;
    }
    return true;
}

static bool add_cleared(const struct graph *graph, const struct write_source *source, struct write *write,
                        struct status *st)
{
    for (size_t i = 0; i < source->clear_count; i++) {
        const struct field *field = write_find_field(graph, source->node, source->clear_fields[i], st);
        if (!field)
            return false;
        const struct field_write *before = find_write(write, field);
        if (before)
            return fail(st, INVALID_ARGUMENT, "node '%s': clear_fields[%zu] is '%s', which %s", source->node, i,
                        field->name,
                        before->op == WRITE_CLEAR ? "stands there before; name each field once"
                                                  : "update_json writes, too; leave it out of one of the two");
        write->fields[write->count++] = (struct field_write){.field = field, .op = WRITE_CLEAR};
    }
    return true;
}

/* Text that is no JSON at all is the graver fault. */
static bool write_read_json(const struct graph *graph, const struct write_source *source, struct arena *arena,
                            struct write *write, struct status *st)
{
    struct status grammar = {0};
    struct reading reading = {.arena = arena, .node = source->node, .st = st};
    reading.seed = source->seed ? source->seed : random_u64();
    json_pull_init(&reading.in, source->update_json, source->update_size, NULL, arena, &grammar);
    bool good = write_read_update(&reading, graph, write);
    if (!json_pull_end(&reading.in))
        return fail(st, INVALID_ARGUMENT, "node '%s': its update is not the JSON it should be: %s", source->node,
                    grammar.text);
    return good;
}

bool write_parse(const struct graph *graph, const struct write_source *source, struct arena *arena, struct write *write,
                 struct status *st)
{
    *write = (struct write){.node = source->node};
    write->fields = arena_alloc(arena, (graph->field_count + source->clear_count) * sizeof *write->fields);
    if (!write->fields)
        return fail(st, RESOURCE_EXHAUSTED, "node '%s' wrote more than a call may hold", source->node);
    if (source->update_size && !write_read_json(graph, source, arena, write, st))
        return false;
    return mark_overwritten(graph, source, write, st) && add_cleared(graph, source, write, st);
}

bool write_initial(const struct field *field, struct arena *arena, struct field_write *write)
{
    struct status ignored = {0};
    struct reading reading = {.arena = arena, .node = "", .st = &ignored};
    *write = (struct field_write){.field = field, .op = WRITE_OVERWRITE};
    if (!field->initial_json)
        return false;
    json_pull_init(&reading.in, field->initial_json, strlen(field->initial_json), NULL, arena, &ignored);
    bool good = write_take_field(&reading, write);
    return json_pull_end(&reading.in) && good;
}

size_t write_field_index(const struct write *write, size_t index)
{
    return write->fields[index].field->index;
}
