#include "json_schema_private.h"

#include <string.h>

#define SEGMENT_MAX 256 /* bytes of a name within a $ref */

static size_t bucket_of(const cJSON *source)
{
    return (size_t)(((uintptr_t)source / ARENA_ALIGNMENT * UINT64_C(0x9E3779B97F4A7C15)) >> 56) % SCHEMA_BUCKETS;
}

void schema_nodes_add(struct schema_nodes *nodes, struct schema_node *node)
{
    struct schema_node **bucket = &nodes->buckets[bucket_of(node->source)];
    node->older = nodes->newest;
    node->same_bucket = *bucket;
    nodes->newest = *bucket = node;
    nodes->count++;
}

static struct schema_node *find(const struct schema_nodes *nodes, const cJSON *source)
{
    struct schema_node *node = nodes->buckets[bucket_of(source)];
    while (node && node->source != source)
        node = node->same_bucket;
    return node;
}

/* ---- JSON pointers in fragments: RFC 6901 §6 --------------------------------------------------------------------- */

static int hex(char c)
{
    const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c | 0x20) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* One name of a pointer, decoded; the place behind it, NULL where it is too long. */
static const char *next_segment(const char *at, char *name)
{
    size_t size = 0;
    while (*at && *at != '/') {
        if (size == SEGMENT_MAX)
            return NULL;
        if (at[0] == '%' && hex(at[1]) >= 0 && hex(at[2]) >= 0) {
            name[size++] = (char)(hex(at[1]) * 16 + hex(at[2]));
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

static const cJSON *element(const cJSON *list, const char *index)
{
    size_t digits = strspn(index, "0123456789"), wanted = 0;
    if (!digits || digits > 6 || index[digits])
        return NULL;
    for (; *index; index++)
        wanted = wanted * 10 + (size_t)(*index - '0');
    const cJSON *item = list->child;
    while (item && wanted--)
        item = item->next;
    return item;
}

static const cJSON *follow(const cJSON *tree, const char *pointer)
{
    char name[SEGMENT_MAX + 1];
    while (tree && *pointer == '/') {
        pointer = next_segment(pointer + 1, name);
        if (!pointer)
            return NULL;
        tree = cJSON_IsArray(tree) ? element(tree, name) : cJSON_GetObjectItemCaseSensitive(tree, name);
    }
    return tree && *pointer == '\0' ? tree : NULL;
}

/* ---- what leads on ----------------------------------------------------------------------------------------------- */

/* What is known of a node when all is known of those it leads to: how long the way is, and which types it accepts.
 * `through` is a $ref on the way here, or NULL. */
static bool settle(struct schema_node *node, const char *through, unsigned depth, struct status *st)
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
        if (!settle(node->ref, through, depth + 1, st))
            return false;
        longest = node->ref->chain;
        node->types &= node->ref->types;
    }
    for (size_t i = 0; i < node->any_count; i++) {
        if (!settle(node->any_of[i], through, depth + 1, st))
            return false;
        if (node->any_of[i]->chain > longest)
            longest = node->any_of[i]->chain;
        any |= node->any_of[i]->types;
    }
    node->entered = false;
    node->types &= any;
    node->chain = longest + 1;
    return node->chain <= JSON_SCHEMA_CHAIN_MAX || fail(st, INVALID_ARGUMENT, "%s: leads through more than %d schemas",
                                                        through ? through : "anyOf", JSON_SCHEMA_CHAIN_MAX);
}

bool schema_refs_resolve(struct schema_nodes *nodes, const cJSON *tree, struct status *st)
{
    for (struct schema_node *node = nodes->newest; node; node = node->older) {
        if (!node->ref_text)
            continue;
        const cJSON *target = follow(tree, node->ref_text + 1);
        node->ref = target ? find(nodes, target) : NULL;
        if (!node->ref)
            return fail(st, INVALID_ARGUMENT, "%s: '%.64s' names no schema of this document", node->ref_path,
                        node->ref_text);
    }
    for (struct schema_node *node = nodes->newest; node; node = node->older)
        if (!settle(node, NULL, 0, st))
            return false;
    return true;
}
