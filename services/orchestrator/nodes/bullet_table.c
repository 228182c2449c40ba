#include "bullet_table.h"

#include "base/hash.h"

#include <string.h>

bool bullet_table_open(struct bullet_table *table, struct arena *arena, size_t room)
{
    *table = (struct bullet_table){.room = room, .slot_count = 2 * room + 1};
    table->entries = arena_zalloc(arena, (room + 1) * sizeof *table->entries);
    table->slots = arena_zalloc(arena, table->slot_count * sizeof *table->slots);
    return table->entries && table->slots;
}

struct bullet_entry *bullet_table_find(struct bullet_table *table, const char *id, bool add)
{
    for (size_t at = hash_text(id);; at++) {
        uint32_t *slot = &table->slots[at % table->slot_count];
        if (*slot && strcmp(table->entries[*slot - 1].id, id) == 0)
            return &table->entries[*slot - 1];
        if (*slot)
            continue;
        if (!add || table->count == table->room)
            return NULL;
        table->entries[table->count] = (struct bullet_entry){.id = id};
        *slot = (uint32_t)++table->count;
        return &table->entries[table->count - 1];
    }
}
