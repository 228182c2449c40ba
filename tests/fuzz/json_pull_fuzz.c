/* libFuzzer on the pull reader: it takes and refuses what json_check does, with the same words, and reads what cJSON's
 * tree holds, whatever it is asked for and whatever it passes over. The first byte says what is passed over. */
#include "json/pull.h"

#include <math.h>

#include "fuzz.h"

#define ARENA_MAX ((size_t)64 << 20)

static void read_value(struct json_pull *in, const cJSON *item, unsigned *choices);

/* `item` is NULL where the text will turn out to be refused. */
static void read_inside(struct json_pull *in, struct json_scope *scope, const cJSON *item, unsigned *choices)
{
    const cJSON *child = item ? item->child : NULL;
    while (json_pull_next(in, scope)) {
        must(!item || child);
        if (child && !scope->array)
            must(json_pull_at(in, child->string));
        read_value(in, child, choices);
        child = child ? child->next : NULL;
    }
    must(!item || !child);
}

/* cJSON reads a double, and it is rounded twice: the neighbour will do. */
static void read_float(struct json_pull *in, const cJSON *item)
{
    float value = 0;
    bool good = json_pull_float(in, &value);
    must(good || !item);
    float other = item ? (float)item->valuedouble : value;
    must(value == other || nextafterf(other, value) == value);
}

static void read_number(struct json_pull *in, const cJSON *item)
{
    int64_t value = 0;
    bool whole = json_pull_whole(in, &value);
    double wanted = item ? item->valuedouble : 0;
    if (item)
        must(whole == (fabs(wanted) < 9007199254740992.0 && wanted == floor(wanted)));
    if (item && whole)
        must((double)value == wanted);
}

static void read_string(struct json_pull *in, const cJSON *item, bool borrow)
{
    size_t length = 0;
    const char *text = borrow ? json_pull_borrow(in, &length) : json_pull_text(in);
    if (!item)
        return;
    must(cJSON_IsString(item) && text);
    if (borrow)
        must(length == strlen(item->valuestring) && memcmp(text, item->valuestring, length) == 0);
    else
        must(strcmp(text, item->valuestring) == 0);
}

static void read_value(struct json_pull *in, const cJSON *item, unsigned *choices)
{
    struct json_scope scope;
    unsigned choice = *choices;
    *choices = choice >> 1 | choice << 7;
    if (choice & 1)
        return; /* json_pull_next passes over it */
    switch (json_pull_kind(in)) {
    case JSON_OBJECT:
        must(!item || cJSON_IsObject(item));
        if (json_pull_object(in, &scope))
            read_inside(in, &scope, item, choices);
        break;
    case JSON_ARRAY:
        must(!item || cJSON_IsArray(item));
        if (json_pull_array(in, &scope))
            read_inside(in, &scope, item, choices);
        break;
    case JSON_STRING:
        read_string(in, item, choice & 2);
        break;
    case JSON_NUMBER:
        must(!item || cJSON_IsNumber(item));
        (choice & 2 ? read_float : read_number)(in, item);
        break;
    case JSON_NULL:
        must(json_pull_null(in) && (!item || cJSON_IsNull(item)));
        break;
    case JSON_BOOLEAN:
        must(!item || cJSON_IsBool(item));
        break;
    case JSON_NOTHING:
        must(!item);
        break;
    }
}

/* Asks for what is most likely not there: it must end, and say one thing. */
static void ask_wrongly(const char *text, size_t size, struct arena *arena, bool good)
{
    struct status st = {0};
    struct json_pull in;
    struct json_scope root;
    json_pull_init(&in, text, size, NULL, arena, &st);
    for (bool more = json_pull_object(&in, &root); more && json_pull_next(&in, &root);) {
        if (json_pull_at(&in, "a"))
            json_pull_integer(&in, 0, 9, 0);
        else
            json_pull_text(&in);
    }
    bool read = json_pull_end(&in);
    must(read == (st.code == OK) && (good || !read) && in.broken == !good);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct status checked = {0}, pulled = {0};
    struct arena arena;
    struct json_pull in;
    if (size == 0)
        return 0;
    unsigned choices = data[0];
    const char *text = (const char *)data + 1;
    bool good = json_check(text, --size, NULL, &checked);
    cJSON *tree = good ? cJSON_ParseWithLength(text, size) : NULL;
    must(!good || tree);
    arena_init(&arena, NULL, 0, ARENA_MAX);
    json_pull_init(&in, text, size, NULL, &arena, &pulled);
    read_value(&in, tree, &choices);
    must(json_pull_end(&in) == good && pulled.code == checked.code && strcmp(pulled.text, checked.text) == 0);
    ask_wrongly(text, size, &arena, good);
    arena_fini(&arena);
    cJSON_Delete(tree);
    return 0;
}
