/* A table with open addressing by value and schema. */
#include "schema_private.h"

#include <stdlib.h>

#define VERDICTS_FIRST 64
#define VERDICTS_MAX   ((size_t)1 << 20) /* 24 MiB of a check: half the objects and lists of the largest answer */

struct schema_verdict {
    const struct schema_node *node; /* NULL: free */
    const cJSON *value;
    bool fits;
};

static struct schema_verdict *verdict_place(const struct schema_verdicts *verdicts, const struct schema_node *node,
                                            const cJSON *value)
{
    uint64_t hash =
        (uintptr_t)node / ARENA_ALIGNMENT * UINT64_C(0xC2B2AE3D27D4EB4F) ^ (uintptr_t)value / ARENA_ALIGNMENT;
    hash *= UINT64_C(0x9E3779B97F4A7C15);
    size_t at = (hash ^ hash >> 32) & (verdicts->room - 1);
    while (verdicts->table[at].node && (verdicts->table[at].node != node || verdicts->table[at].value != value))
        at = (at + 1) & (verdicts->room - 1);
    return &verdicts->table[at];
}

bool schema_verdict_find(const struct schema_verdicts *verdicts, const struct schema_node *node, const cJSON *value,
                         bool *fits)
{
    const struct schema_verdict *found = verdicts->table ? verdict_place(verdicts, node, value) : NULL;
    if (!found || !found->node)
        return false;
    *fits = found->fits;
    return true;
}

static bool verdicts_grow(struct schema_verdicts *verdicts)
{
    struct schema_verdicts larger = {.room = verdicts->room ? 2 * verdicts->room : VERDICTS_FIRST};
    larger.table = larger.room <= 2 * VERDICTS_MAX ? calloc(larger.room, sizeof *larger.table) : NULL;
    if (!larger.table)
        return false;
    for (size_t i = 0; i < verdicts->room; i++) {
        const struct schema_verdict *old = &verdicts->table[i];
        if (old->node)
            *verdict_place(&larger, old->node, old->value) = *old;
    }
    larger.count = verdicts->count;
    free(verdicts->table);
    *verdicts = larger;
    return true;
}

void schema_verdict_keep(struct schema_verdicts *verdicts, const struct schema_node *node, const cJSON *value,
                         bool fits)
{
    if (2 * (verdicts->count + 1) > verdicts->room && !verdicts_grow(verdicts))
        return;
    struct schema_verdict *place = verdict_place(verdicts, node, value);
    verdicts->count += place->node == NULL;
    *place = (struct schema_verdict){.node = node, .value = value, .fits = fits};
}

void schema_verdicts_fini(struct schema_verdicts *verdicts)
{
    free(verdicts->table);
    *verdicts = (struct schema_verdicts){0};
}
