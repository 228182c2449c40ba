/* The order of a playbook's bullets: sections in the order of their first bullets, then place, then id. */
#include "playbook.h"

#include "base/hash.h"
#include "base/memory.h"
#include "playbook_text.h"

#include <stdlib.h>
#include <string.h>

#define BULLETS_FIRST 16 /* places; they double */
#define TERM_BYTES    4  /* of memory for the terms of a byte of text, once they are read */

void playbook_append(struct playbook *playbook, struct playbook_bullet *bullet)
{
    if (playbook->count == playbook->room) {
        playbook->room = playbook->room ? 2 * playbook->room : BULLETS_FIRST;
        playbook->bullets = xrealloc(playbook->bullets, playbook->room * sizeof(*playbook->bullets));
    }
    playbook->bullets[playbook->count++] = &bullet->bullet;
}

static int compare_places(const void *a, const void *b)
{
    struct playbook_bullet *left = playbook_bullet_of(*(Renga__V1__Bullet *const *)a);
    struct playbook_bullet *right = playbook_bullet_of(*(Renga__V1__Bullet *const *)b);
    if (left->place != right->place)
        return left->place < right->place ? -1 : 1;
    return strcmp(left->bullet.id, right->bullet.id);
}

/* ---- sections ---------------------------------------------------------------------------------------------------- */

/* A table of sections by name: which bullet is the first of each, and how many it has. */
struct sections {
    struct section {
        const char *name;
        size_t rank, count, at;
    } * table;
    size_t mask, count;
};

static struct section *find_section(struct sections *sections, const char *name)
{
    size_t at = hash_text(name) & sections->mask;
    while (sections->table[at].name && strcmp(sections->table[at].name, name) != 0)
        at = (at + 1) & sections->mask;
    if (!sections->table[at].name)
        sections->table[at] = (struct section){.name = name, .rank = sections->count++};
    return &sections->table[at];
}

/* Moves the bullets, sorted by place, to their sections. `by_rank` has a place for each section. */
static void gather_sections(struct playbook *playbook, struct sections *sections, Renga__V1__Bullet **sorted,
                            struct section **by_rank)
{
    size_t at = 0;
    for (size_t i = 0; i < playbook->count; i++) {
        struct section *section = find_section(sections, playbook->bullets[i]->section);
        by_rank[section->rank] = section;
        section->count++;
    }
    for (size_t rank = 0; rank < sections->count; rank++) {
        by_rank[rank]->at = at;
        at += by_rank[rank]->count;
        playbook->tokens += playbook_text_section_tokens(by_rank[rank]->name);
    }
    for (size_t i = 0; i < playbook->count; i++)
        sorted[find_section(sections, playbook->bullets[i]->section)->at++] = playbook->bullets[i];
}

void playbook_arrange(struct playbook *playbook)
{
    playbook->text_bytes = 0;
    playbook->tokens = 0;
    playbook->damaged = NULL;
    if (playbook->count)
        qsort(playbook->bullets, playbook->count, sizeof(*playbook->bullets), compare_places);
    struct sections sections = {.mask = 15};
    while (sections.mask < 2 * playbook->count)
        sections.mask = 2 * sections.mask + 1;
    sections.table = xcalloc(sections.mask + 1, sizeof(*sections.table));
    struct section **by_rank = xcalloc(playbook->count + 1, sizeof(struct section *));
    Renga__V1__Bullet **sorted = xcalloc(playbook->count + 1, sizeof(Renga__V1__Bullet *));
    gather_sections(playbook, &sections, sorted, by_rank);
    free(sections.table);
    free(by_rank);
    free(playbook->bullets);
    playbook->bullets = sorted;
    playbook->room = playbook->count + 1;
    for (size_t i = 0; i < playbook->count; i++) {
        struct playbook_bullet *bullet = playbook_bullet_of(playbook->bullets[i]);
        playbook->text_bytes += playbook_bullet_bytes(&bullet->bullet);
        playbook->tokens += bullet->tokens;
        if (bullet->damaged && !playbook->damaged)
            playbook->damaged = bullet;
    }
    playbook->memory = sizeof *playbook + playbook->count * (sizeof(struct playbook_bullet) + sizeof(void *) + 32) +
                       playbook->text_bytes * (1 + TERM_BYTES) + playbook->arena.used;
}
