/* Unifies two lists: items of the second join the first, each key once. Keys are the strings of a list of strings, or a
 * member of objects. Addresses are compared by their canonical form (http/canonical.h), so that a page stays a single
 * item if its address was found in several spellings. */
#include "input_job.h"

#include "base/hash.h"
#include "http/canonical.h"
#include "words/sentences.h"

#include <string.h>

enum {
    MERGE_OF,
    MERGE_WITH,
    MERGE_INTO,
    MERGE_KEY,
    MERGE_ADDRESSES,
    MERGE_KEEP,
    MERGE_EXTEND,
    MERGE_CHARACTERS,
    MERGE_MOST,
    MERGE_ADDED,
    MERGE_COUNT,
};

static const struct node_parameter parameters[] = {
    [MERGE_OF] = {"of", READS_FIELD, REQUIRED, "The list that stays, a string[] or an object[]."},
    [MERGE_WITH] = {"with", READS_FIELD, REQUIRED, "The list whose items join it, of the same type."},
    [MERGE_INTO] = {"into", PARAMETER_FIELD, OPTIONAL,
                    "Both as one list, each key once. Give it the reducer \"replace\"."},
    [MERGE_KEY] =
        {"key", PARAMETER_TEXT, OPTIONAL,
         "Of objects: the member, a string, by which they are the same. An object of \"with\" without it is left out."},
    [MERGE_ADDRESSES] = {"addresses", PARAMETER_BOOLEAN, OPTIONAL,
                         "True: keys are addresses, compared by their canonical form; an address of \"with\" that "
                         "opens no document is left out."},
    [MERGE_KEEP] = {"keep", PARAMETER_TEXT, OPTIONAL,
                    "Of two objects with one key: \"first\" (the default) or \"last\", at the place of the first."},
    [MERGE_EXTEND] = {"extend", PARAMETER_TEXT, OPTIONAL,
                      "With \"first\": a member, a text, to which that of the later object is added on a new line, as "
                      "many of its whole sentences as fit, if it is not in it."},
    [MERGE_CHARACTERS] = {"characters", PARAMETER_INTEGER, OPTIONAL, "Most characters of \"extend\"; 500 without it."},
    [MERGE_MOST] = {"most", PARAMETER_INTEGER, OPTIONAL, "Most items of the result; 1000 without it."},
    [MERGE_ADDED] = {"added", PARAMETER_FIELD, OPTIONAL, "The items whose key is new, a list of the same type."},
    [MERGE_COUNT] = {"count", WRITES_INTEGER, OPTIONAL, "How many they are, an integer."},
    {.name = NULL},
};
static const char *const outcomes[] = {"merged", "nothing", NULL};
static const char *const keep_words[] = {"first", "last", NULL};

#define MERGE_MOST_DEFAULT       1000
#define MERGE_CHARACTERS_DEFAULT 500

static bool merge_check(const struct node *node, struct status *st)
{
    const struct field *of = node_argument(node, MERGE_OF)->field;
    bool objects = of->type == FIELD_OBJECT, key = node_argument(node, MERGE_KEY)->text;
    int keep = word_check(node, MERGE_KEEP, keep_words, st);
    if (!of->list || (of->type != FIELD_STRING && !objects))
        return fail_field(st, "of", "'%s' is %s; it must be string[] or object[]", of->name,
                          field_type_words(of->type, of->list));
    if (objects != key)
        return fail_field(st, "key",
                          objects ? "is not there; objects are the same by a member"
                                  : "is for objects; strings are their own keys");
    if (node_argument(node, MERGE_EXTEND)->text && (!objects || keep == 1))
        return fail_field(st, "extend", "is for objects of which the first stays");
    return keep >= 0 && field_type_check(node, MERGE_WITH, of->type, true, st) &&
           field_type_check(node, MERGE_INTO, of->type, true, st) &&
           field_type_check(node, MERGE_ADDED, of->type, true, st);
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

struct merge_item {
    cJSON *item;
    const char *key; /* NULL: it has no key, and stays as it is */
    bool added;
};

struct merging {
    struct input_job base; /* first */
    struct merge_item *items;
    size_t count, room;
    uint32_t *slots; /* index of an item + 1; 0: free */
    size_t slot_count;
    struct buffer form; /* of the address in hand */
    bool any;
};

static const char *merge_key(struct merging *merging, const cJSON *item)
{
    const struct node *node = task_node(merging->base.base.task);
    const char *name = node_argument(node, MERGE_KEY)->text;
    const char *key = cJSON_GetStringValue(name ? cJSON_GetObjectItemCaseSensitive(item, name) : item);
    if (!key || !node_argument(node, MERGE_ADDRESSES)->flag)
        return key;
    if (canonical_write(key, &merging->form) == CANONICAL_BROKEN)
        return NULL;
    return arena_strndup(task_arena(merging->base.base.task), buffer_text(&merging->form), merging->form.length);
}

/* The slot of the key, or a free slot: there are twice as many slots as items. */
static uint32_t *merge_slot(struct merging *merging, const char *key)
{
    for (size_t at = hash_text(key);; at++) {
        uint32_t *slot = &merging->slots[at % merging->slot_count];
        if (!*slot || strcmp(merging->items[*slot - 1].key, key) == 0)
            return slot;
    }
}

static void merge_put(struct merging *merging, cJSON *item, const char *key, bool added)
{
    if (merging->count == merging->room)
        return;
    if (key)
        *merge_slot(merging, key) = (uint32_t)merging->count + 1;
    merging->items[merging->count++] = (struct merge_item){.item = item, .key = key, .added = added};
    merging->any |= added;
}

/* As many whole sentences of the later text as fit. */
static void merge_extend(const struct node *node, cJSON *first, const cJSON *later)
{
    const char *name = node_argument(node, MERGE_EXTEND)->text;
    int64_t most = node_argument(node, MERGE_CHARACTERS)->number;
    cJSON *member = name ? cJSON_GetObjectItemCaseSensitive(first, name) : NULL;
    const char *old = cJSON_GetStringValue(member);
    const char *text = name ? cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(later, name)) : NULL;
    struct buffer joined;
    if (!old || !text || !*text || strstr(old, text))
        return;
    buffer_init(&joined, strlen(old) + strlen(text) + 1);
    buffer_print(&joined, old);
    sentences_append(&joined, text, (size_t)(most ? most : MERGE_CHARACTERS_DEFAULT));
    cJSON_SetValuestring(member, buffer_text(&joined));
    buffer_fini(&joined);
}

static void merge_read(struct merging *merging, const cJSON *list, bool added)
{
    const struct node *node = task_node(merging->base.base.task);
    const char *keep = node_argument(node, MERGE_KEEP)->text;
    cJSON *item;
    cJSON_ArrayForEach(item, list)
    {
        const char *key = merge_key(merging, item);
        const uint32_t *slot = key ? merge_slot(merging, key) : NULL;
        if (!key && added)
            continue;
        if (!slot || !*slot)
            merge_put(merging, item, key, added);
        else if (keep && strcmp(keep, "last") == 0)
            merging->items[*slot - 1].item = item;
        else
            merge_extend(node, merging->items[*slot - 1].item, item);
    }
}

/* ---- the node ---------------------------------------------------------------------------------------------------- */

static void merge_write(const struct merging *merging, struct json_writer *out, const char *field, bool added)
{
    if (!field)
        return;
    json_write_array(out, field);
    for (size_t i = 0; i < merging->count; i++)
        if (!added || merging->items[i].added)
            json_write_tree(out, NULL, merging->items[i].item);
    json_write_end(out);
}

static bool merge_open(struct merging *merging, struct status *st)
{
    struct arena *arena = task_arena(merging->base.base.task);
    merging->slot_count = 2 * merging->room + 1;
    merging->items = arena_zalloc(arena, (merging->room + 1) * sizeof *merging->items);
    merging->slots = arena_zalloc(arena, merging->slot_count * sizeof *merging->slots);
    return (merging->items && merging->slots) || fail(st, RESOURCE_EXHAUSTED, "no memory for the lists");
}

static bool merge_run(struct input_job *job, struct status *st)
{
    struct merging *merging = CONTAINER_OF(job, struct merging, base);
    const struct task *task = job->base.task;
    const cJSON *of = service_call_input(&job->base, MERGE_OF), *with = service_call_input(&job->base, MERGE_WITH);
    int64_t most = node_argument(task_node(task), MERGE_MOST)->number;
    merging->room = (size_t)(most ? most : MERGE_MOST_DEFAULT);
    if (!merge_open(merging, st))
        return false;
    buffer_init(&merging->form, CANONICAL_MAX);
    merge_read(merging, of, false);
    merge_read(merging, with, true);
    buffer_fini(&merging->form);
    size_t added = 0;
    for (size_t i = 0; i < merging->count; i++)
        added += merging->items[i].added;
    merge_write(merging, &job->update.out, update_field(task, MERGE_INTO), false);
    merge_write(merging, &job->update.out, update_field(task, MERGE_ADDED), true);
    if (update_field(task, MERGE_COUNT))
        json_write_int(&job->update.out, update_field(task, MERGE_COUNT), (int64_t)added);
    return true;
}

static const char *merge_finish(struct input_job *job, struct update *update)
{
    (void)update;
    return outcomes[CONTAINER_OF(job, struct merging, base)->any ? 0 : 1];
}

static void merge_start(struct task *task)
{
    struct merging *merging = task_data(task);
    input_job_start(&merging->base, task, merge_run, merge_finish);
}

extern const struct node_kind merge_kind;
const struct node_kind merge_kind = {
    .name = "merge",
    .help = "Unifies two lists, each key once.",
    .parameters = parameters,
    .outcomes = outcomes,
    .check = merge_check,
    .size = sizeof(struct merging),
    .start = merge_start,
    .cancel = input_job_cancel,
};
