#include "base/hash.h"
#include "base/memory.h"
#include "schema_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SEGMENT_MAX 256 /* bytes of a name within a $ref */

static size_t schema_refs_bucket_of(const cJSON *source)
{
    return (size_t)(((uintptr_t)source / ARENA_ALIGNMENT * UINT64_C(0x9E3779B97F4A7C15)) >> 56) % SCHEMA_BUCKETS;
}

void schema_nodes_add(struct schema_nodes *nodes, struct schema_node *node)
{
    struct schema_node **bucket = &nodes->buckets[schema_refs_bucket_of(node->source)];
    node->older = nodes->newest;
    node->same_bucket = *bucket;
    nodes->newest = *bucket = node;
    nodes->count++;
}

static struct schema_node *schema_refs_find(const struct schema_nodes *nodes, const cJSON *source)
{
    struct schema_node *node = nodes->buckets[schema_refs_bucket_of(source)];
    while (node && node->source != source)
        node = node->same_bucket;
    return node;
}

/* ---- JSON pointers in fragments: RFC 6901 §6 --------------------------------------------------------------------- */

static int schema_refs_hex(char c)
{
    const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c | 0x20) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* Decodes one name of a pointer and returns the place after it; NULL if it is too long. */
static const char *next_segment(const char *at, char *name)
{
    size_t size = 0;
    while (*at && *at != '/') {
        if (size == SEGMENT_MAX)
            return NULL;
        if (at[0] == '%' && schema_refs_hex(at[1]) >= 0 && schema_refs_hex(at[2]) >= 0) {
            name[size++] = (char)(schema_refs_hex(at[1]) * 16 + schema_refs_hex(at[2]));
            at += 3;
        } else if (at[0] == '~' && (at[1] == '0' || at[1] == '1')) {
            name[size++] = at[1] == '0' ? '~' : '/';
            at += 2;
        } else {
            name[size++] = *at++;
        }
    }
    name[size] = '\0';
    return at;
}

/* ---- members by name --------------------------------------------------------------------------------------------- */

/* All members and elements of a document by their parent and name, so that no step of a pointer searches a list. */
struct members {
    struct member {
        const cJSON *parent, *child;
        size_t index; /* among the elements of an array */
    } * slots;
    size_t mask;
};

static size_t count_members(const cJSON *tree)
{
    size_t count = 0;
    for (const cJSON *child = tree->child; child; child = child->next)
        count += 1 + count_members(child); /* at most JSON_DEPTH_MAX deep */
    return count;
}

static struct member *first_slot(const struct members *members, const cJSON *parent, const char *name, size_t index)
{
    uint64_t hash = hash_bytes(&parent, sizeof parent);
    hash = cJSON_IsArray(parent) ? hash_more(hash, &index, sizeof index) : hash_more_text(hash, name);
    return &members->slots[hash & members->mask];
}

static struct member *next_slot(const struct members *members, struct member *slot)
{
    return slot == members->slots + members->mask ? members->slots : slot + 1;
}

static void schema_refs_add_members(struct members *members, const cJSON *tree)
{
    size_t index = 0;
    for (const cJSON *child = tree->child; child; child = child->next, index++) {
        struct member *slot = first_slot(members, tree, child->string, index);
        while (slot->child)
            slot = next_slot(members, slot);
        *slot = (struct member){tree, child, index};
        schema_refs_add_members(members, child);
    }
}

/* The index that `name` writes as RFC 6901 §4 requires; SIZE_MAX: not an index. */
static size_t index_of(const char *name)
{
    size_t index = 0, digits = strspn(name, "0123456789");
    if (!digits || digits > 7 || name[digits] || (digits > 1 && *name == '0'))
        return SIZE_MAX;
    for (; *name; name++)
        index = index * 10 + (size_t)(*name - '0');
    return index;
}

static const cJSON *find_member(const struct members *members, const cJSON *parent, const char *name)
{
    bool listed = cJSON_IsArray(parent);
    size_t index = listed ? index_of(name) : 0;
    struct member *slot = first_slot(members, parent, name, index);
    while (slot->child &&
           !(slot->parent == parent && (listed ? slot->index == index : strcmp(slot->child->string, name) == 0)))
        slot = next_slot(members, slot);
    return slot->child;
}

static const cJSON *schema_refs_follow(const struct members *members, const cJSON *tree, const char *pointer)
{
    char name[SEGMENT_MAX + 1];
    while (tree && *pointer == '/') {
        pointer = next_segment(pointer + 1, name);
        if (!pointer)
            return NULL;
        tree = find_member(members, tree, name);
    }
    return tree && *pointer == '\0' ? tree : NULL;
}

static bool join_refs(const struct schema_nodes *nodes, const struct members *members, const cJSON *tree,
                      struct status *st)
{
    for (struct schema_node *node = nodes->newest; node; node = node->older) {
        if (!node->ref_text)
            continue;
        const cJSON *target = schema_refs_follow(members, tree, node->ref_text + 1);
        node->ref = target ? schema_refs_find(nodes, target) : NULL;
        if (!node->ref)
            return fail(st, INVALID_ARGUMENT, "%s: '%.64s' names no schema of this document", node->ref_path,
                        node->ref_text);
    }
    return true;
}

static bool has_refs(const struct schema_nodes *nodes)
{
    const struct schema_node *node = nodes->newest;
    while (node && !node->ref_text)
        node = node->older;
    return node;
}

static bool find_and_join_refs(const struct schema_nodes *nodes, const cJSON *tree, struct status *st)
{
    size_t wanted = 2 * count_members(tree), room = 1;
    while (room <= wanted)
        room *= 2;
    struct members members = {.slots = calloc(room, sizeof *members.slots), .mask = room - 1};
    if (!members.slots)
        return fail_memory(st, "the $refs of a schema");
    schema_refs_add_members(&members, tree);
    bool joined = join_refs(nodes, &members, tree, st);
    free(members.slots);
    return joined;
}

/* ---- references at the same depth -------------------------------------------------------------------------------- */

/* For a node with a $ref: its other keywords are not checked. */
static bool is_mere_ref(const struct schema_node *node)
{
    return !node->has_type && !node->constant && !node->choices && !node->property_count && !node->closed &&
           !node->additional && !node->items && !node->any_count && node->items_min == 0 &&
           node->items_max == SIZE_MAX && node->length_min == 0 && node->length_max == SIZE_MAX &&
           node->min == -HUGE_VAL && node->above == -HUGE_VAL && node->max == HUGE_VAL && node->below == HUGE_VAL;
}

/* Computes a node's chain length and accepted types from the nodes that it refers to. `through` is a $ref on the way
 * here, or NULL. */
static bool schema_refs_settle(struct schema_node *node, const char *through, unsigned depth, struct status *st)
{
    unsigned longest = 0, any = node->any_count ? 0 : SCHEMA_ANY;
    if (node->chain)
        return true;
    if (node->ref_path)
        through = node->ref_path;
    if (node->entered)
        return fail(st, INVALID_ARGUMENT, "%s: leads back to itself without going deeper into the value", through);
    if (depth == JSON_SCHEMA_CHAIN_MAX)
        return fail(st, INVALID_ARGUMENT, "%s: leads through more than %d schemas", through ? through : "anyOf",
                    JSON_SCHEMA_CHAIN_MAX);
    node->entered = true;
    if (node->ref) {
        if (!schema_refs_settle(node->ref, through, depth + 1, st))
            return false;
        longest = node->ref->chain;
        node->types &= node->ref->types;
    }
    for (size_t i = 0; i < node->any_count; i++) {
        if (!schema_refs_settle(node->any_of[i], through, depth + 1, st))
            return false;
        if (node->any_of[i]->chain > longest)
            longest = node->any_of[i]->chain;
        any |= node->any_of[i]->types;
    }
    node->entered = false;
    node->real = node->ref && is_mere_ref(node) ? node->ref->real : node;
    node->tells = node->constant || node->choices || (node->ref && node->ref->tells);
    node->types &= any;
    node->chain = longest + 1;
    return node->chain <= JSON_SCHEMA_CHAIN_MAX || fail(st, INVALID_ARGUMENT, "%s: leads through more than %d schemas",
                                                        through ? through : "anyOf", JSON_SCHEMA_CHAIN_MAX);
}

bool schema_refs_resolve(struct schema_nodes *nodes, const cJSON *tree, struct status *st)
{
    if (has_refs(nodes) && !find_and_join_refs(nodes, tree, st))
        return false;
    for (struct schema_node *node = nodes->newest; node; node = node->older)
        if (!schema_refs_settle(node, NULL, 0, st))
            return false;
    for (struct schema_node *node = nodes->newest; node; node = node->older) {
        for (size_t i = 0; i < node->property_count; i++)
            node->telling += node->properties[i].node && node->properties[i].node->tells;
    }
    return true;
}
