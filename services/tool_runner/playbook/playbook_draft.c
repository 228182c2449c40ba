#include "playbook_draft.h"

#include "base/hash.h"
#include "base/memory.h"
#include "rpc/rpc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENTRIES_SPARE 64
#define NUMBER_MAX    INT64_C(999999999999999999) /* 18 digits */

static void *playbook_draft_allocate(size_t count, size_t size)
{
    void *memory = xcalloc(count ? count : 1, size);
    return memory;
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

static const char *entry_id(const struct playbook_draft_entry *entry)
{
    const struct playbook_bullet *bullet = entry->now ? entry->now : entry->before ? entry->before : entry->gone;
    return bullet->bullet.id;
}

static uint32_t *playbook_draft_slot_of(const struct playbook_draft *draft, const char *id)
{
    size_t at = hash_text(id) & draft->mask;
    while (draft->table[at] && strcmp(entry_id(&draft->entries[draft->table[at] - 1]), id) != 0)
        at = (at + 1) & draft->mask;
    return &draft->table[at];
}

static void playbook_draft_make_table(struct playbook_draft *draft)
{
    draft->mask = 127;
    while (draft->mask < 2 * draft->room)
        draft->mask = 2 * draft->mask + 1;
    free(draft->table);
    draft->table = playbook_draft_allocate(draft->mask + 1, sizeof(*draft->table));
    for (size_t i = 0; i < draft->count; i++)
        *playbook_draft_slot_of(draft, entry_id(&draft->entries[i])) = (uint32_t)i + 1;
}

static void playbook_draft_make_room(struct playbook_draft *draft)
{
    if (draft->count < draft->room)
        return;
    draft->room *= 2;
    draft->entries = xrealloc(draft->entries, draft->room * sizeof(*draft->entries));
    playbook_draft_make_table(draft);
}

/* Takes the hold. */
static struct playbook_draft_entry *enter_bullet(struct playbook_draft *draft, struct playbook_bullet *bullet)
{
    playbook_draft_make_room(draft);
    uint32_t *slot = playbook_draft_slot_of(draft, bullet->bullet.id);
    if (!*slot) {
        draft->entries[draft->count] = (struct playbook_draft_entry){.written = -1, .operated = PLAYBOOK_NOT_OPERATED};
        *slot = (uint32_t)++draft->count;
    }
    struct playbook_draft_entry *entry = &draft->entries[*slot - 1];
    playbook_draft_set(entry, bullet);
    return entry;
}

void playbook_draft_init(struct playbook_draft *draft, const struct playbook *base, struct arena *arena, int64_t now_ms,
                         const char *source)
{
    *draft = (struct playbook_draft){.base = base,
                                     .arena = arena,
                                     .now_ms = now_ms,
                                     .source = source,
                                     .next_number = base->next_number,
                                     .next_proposal = base->next_proposal,
                                     .room = base->count + ENTRIES_SPARE};
    draft->entries = playbook_draft_allocate(draft->room, sizeof(*draft->entries));
    for (size_t i = 0; i < base->count; i++) {
        struct playbook_bullet *bullet = playbook_bullet_of(base->bullets[i]);
        draft->entries[i] = (struct playbook_draft_entry){
            .before = bullet, .now = playbook_bullet_hold(bullet), .written = -1, .operated = PLAYBOOK_NOT_OPERATED};
    }
    draft->count = base->count;
    playbook_draft_make_table(draft);
    draft->proposals =
        playbook_draft_allocate(PLAYBOOK_PROPOSALS_MAX + base->n_proposals + 1, sizeof(*draft->proposals));
    for (size_t i = 0; i < base->n_proposals; i++)
        draft->proposals[draft->n_proposals++] = base->proposals[i];
}

void playbook_draft_fini(struct playbook_draft *draft)
{
    for (size_t i = 0; i < draft->count; i++) {
        playbook_bullet_release(draft->entries[i].now);
        playbook_bullet_release(draft->entries[i].gone);
    }
    for (size_t i = 0; i < draft->n_dropped; i++)
        playbook_bullet_release(draft->dropped[i]);
    free(draft->entries);
    free(draft->table);
    free(draft->proposals);
    free(draft->new_ids);
    free(draft->dropped);
    *draft = (struct playbook_draft){0};
}

struct playbook_draft_entry *playbook_draft_find(struct playbook_draft *draft, const char *id)
{
    uint32_t at = *playbook_draft_slot_of(draft, id);
    return at && draft->entries[at - 1].now ? &draft->entries[at - 1] : NULL;
}

/* ---- bullets ----------------------------------------------------------------------------------------------------- */

void playbook_draft_set(struct playbook_draft_entry *entry, struct playbook_bullet *bullet)
{
    struct playbook_bullet *old = entry->now;
    if (!bullet && !entry->before && old) { /* it still names the entry */
        playbook_bullet_release(entry->gone);
        entry->gone = playbook_bullet_hold(old);
    }
    entry->now = bullet;
    entry->content_hash = bullet ? hash_text(bullet->bullet.content) : 0;
    playbook_bullet_release(old);
}

void playbook_draft_put(struct playbook_draft *draft, struct playbook_bullet *bullet)
{
    enter_bullet(draft, bullet);
}

void playbook_draft_replace(struct playbook_draft *draft)
{
    for (size_t i = 0; i < draft->count; i++)
        playbook_draft_set(&draft->entries[i], NULL);
}

void playbook_draft_remove(struct playbook_draft *draft, const char *id)
{
    struct playbook_draft_entry *entry = playbook_draft_find(draft, id);
    if (entry)
        playbook_draft_set(entry, NULL);
}

bool playbook_draft_note_new_id(struct playbook_draft *draft, const char *id, struct status *st)
{
    char *copy = arena_strdup(draft->arena, id); /* a later step may replace the bullet */
    if (!copy)
        return fail(st, RESOURCE_EXHAUSTED, "no memory for the new ids");
    if (draft->n_new_ids == draft->new_ids_room) {
        draft->new_ids_room = draft->new_ids_room ? 2 * draft->new_ids_room : 16;
        draft->new_ids = xrealloc(draft->new_ids, draft->new_ids_room * sizeof(*draft->new_ids));
    }
    draft->new_ids[draft->n_new_ids++] = copy;
    return true;
}

struct playbook_draft_entry *playbook_draft_add(struct playbook_draft *draft, const Renga__V1__Bullet *bullet,
                                                struct status *st)
{
    static char section[] = PLAYBOOK_SECTION_DEFAULT;
    char slug[PLAYBOOK_SLUG_MAX + 1], id[PLAYBOOK_SLUG_MAX + 32];
    Renga__V1__Bullet made = *bullet;
    int64_t number = draft->next_number;
    if (number > NUMBER_MAX) {
        fail(st, RESOURCE_EXHAUSTED, "the numbers of the playbook '%s' are used up", draft->base->dataset);
        return NULL;
    }
    draft->next_number++;
    playbook_slug(bullet->section, slug);
    snprintf(id, sizeof id, "%s-%05lld", slug, (long long)number);
    made.id = id;
    made.section = *bullet->section ? bullet->section : section;
    made.source = *bullet->source ? bullet->source : (char *)(uintptr_t)draft->source;
    made.created_ms = bullet->created_ms ? bullet->created_ms : draft->now_ms;
    made.updated_ms = bullet->updated_ms ? bullet->updated_ms : draft->now_ms;
    return enter_bullet(draft, playbook_bullet_create(&made, number));
}

static bool says_the_same(const Renga__V1__Bullet *a, const Renga__V1__Bullet *b)
{
    return a->helpful == b->helpful && a->harmful == b->harmful && strcmp(a->section, b->section) == 0 &&
           strcmp(a->content, b->content) == 0;
}

bool playbook_bullets_are_equal(const Renga__V1__Bullet *a, const Renga__V1__Bullet *b)
{
    return says_the_same(a, b) && a->created_ms == b->created_ms && a->updated_ms == b->updated_ms &&
           strcmp(a->source, b->source) == 0;
}

/* Takes the place of `old`, or is new under its own id. */
static void put_in_place(struct playbook_draft *draft, const Renga__V1__Bullet *bullet, struct playbook_bullet *old,
                         int32_t number)
{
    static char section[] = PLAYBOOK_SECTION_DEFAULT;
    Renga__V1__Bullet made = *bullet;
    int64_t place = old ? old->place : playbook_id_number(bullet->id);
    bool known = old && !old->damaged;
    if (!*made.section)
        made.section = section;
    if (place < 0)
        place = draft->next_number++;
    else if (place >= draft->next_number)
        draft->next_number = place + 1;
    if (!*made.source)
        made.source = known ? old->bullet.source : (char *)(uintptr_t)draft->source;
    if (!made.created_ms)
        made.created_ms = known ? old->bullet.created_ms : draft->now_ms;
    if (known && says_the_same(&old->bullet, &made) && !made.updated_ms)
        made.updated_ms = old->bullet.updated_ms;
    else if (!made.updated_ms ||
             (known && !says_the_same(&old->bullet, &made) && made.updated_ms <= old->bullet.updated_ms))
        made.updated_ms = draft->now_ms;
    struct playbook_bullet *next = known && playbook_bullets_are_equal(&old->bullet, &made)
                                       ? playbook_bullet_hold(old)
                                       : playbook_bullet_create(&made, place);
    struct playbook_draft_entry *entry = enter_bullet(draft, next);
    entry->written = number;
}

bool playbook_draft_write(struct playbook_draft *draft, const Renga__V1__Bullet *bullet, int32_t number,
                          struct status *st)
{
    char field[STATUS_FIELD_MAX];
    if (!*bullet->id) {
        struct playbook_draft_entry *added = playbook_draft_add(draft, bullet, st);
        return added && playbook_draft_note_new_id(draft, added->now->bullet.id, st);
    }
    struct playbook_draft_entry *entry = playbook_draft_find(draft, bullet->id);
    if (entry && entry->written >= 0 && number >= 0) {
        snprintf(field, sizeof field, "bullets[%d].id", number);
        return fail_field(st, field, "is that of bullets[%d] too; ids are all different", entry->written);
    }
    uint32_t slot = *playbook_draft_slot_of(draft, bullet->id);
    struct playbook_bullet *before = slot ? draft->entries[slot - 1].before : NULL;
    struct playbook_bullet *old = entry ? entry->now : before; /* removed by the same request: its place is its own */
    if (draft->next_number > NUMBER_MAX && !old)
        return fail(st, RESOURCE_EXHAUSTED, "the numbers of the playbook '%s' are used up", draft->base->dataset);
    put_in_place(draft, bullet, old, number);
    return true;
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

static struct playbook *check_bounds(struct playbook_draft *draft, struct playbook *next, struct status *st)
{
    const char *dataset = draft->base->dataset;
    if (next->damaged)
        fail(st, DATA_LOSS,
             "bullet '%s' of the playbook '%s' is damaged in the store; write it anew or remove it with this request, "
             "and all the others are as they were",
             next->damaged->bullet.id, dataset);
    else if (next->count > PLAYBOOK_BULLETS_MAX)
        fail(st, RESOURCE_EXHAUSTED,
             "the playbook '%s' would have %zu bullets; at most %d are allowed: remove some, or give a token_budget",
             dataset, next->count, PLAYBOOK_BULLETS_MAX);
    else if (next->text_bytes > PLAYBOOK_BYTES_MAX)
        fail(st, RESOURCE_EXHAUSTED,
             "the texts of the playbook '%s' would have %zu bytes; at most %zu are allowed: remove bullets, or give a "
             "token_budget",
             dataset, next->text_bytes, PLAYBOOK_BYTES_MAX);
    for (size_t i = 0; i < next->n_proposals && st->code == OK; i++)
        if (!next->proposals[i]->operation)
            fail(st, DATA_LOSS,
                 "proposal '%s' of the playbook '%s' is damaged in the store; reject it with this request, and all "
                 "the rest is as it was",
                 next->proposals[i]->id, dataset);
    if (st->code != OK)
        playbook_release(&next);
    return next;
}

struct playbook *playbook_draft_finish(struct playbook_draft *draft, struct status *st)
{
    const struct playbook *base = draft->base;
    struct playbook *next = playbook_create(base->tenant, base->dataset, base->slot);
    next->revision = base->revision;
    next->updated_ms = base->updated_ms;
    next->incarnation = base->incarnation;
    next->version = base->version;
    next->next_number = draft->next_number;
    next->next_proposal = draft->next_proposal;
    for (size_t i = 0; i < draft->count; i++)
        if (draft->entries[i].now)
            playbook_append(next, playbook_bullet_hold(draft->entries[i].now));
    next->proposals = arena_alloc(&next->arena, (draft->n_proposals + 1) * sizeof(*next->proposals));
    for (size_t i = 0; next->proposals && i < draft->n_proposals; i++) {
        next->proposals[i] = rpc_message_copy(&next->arena, &draft->proposals[i]->base);
        next->n_proposals += next->proposals[i] != NULL;
    }
    playbook_arrange(next);
    if (next->n_proposals < draft->n_proposals) {
        fail(st, RESOURCE_EXHAUSTED, "no memory for the proposals of the playbook '%s'", base->dataset);
        playbook_release(&next);
        return NULL;
    }
    return check_bounds(draft, next, st);
}

static int compare_changes(const void *a, const void *b)
{
    const Renga__V1__BulletChange *left = *(Renga__V1__BulletChange *const *)a;
    const Renga__V1__BulletChange *right = *(Renga__V1__BulletChange *const *)b;
    return strcmp((left->before ? left->before : left->after)->id, (right->before ? right->before : right->after)->id);
}

static bool add_change(struct playbook_draft *draft, Renga__V1__PlaybookChange *change,
                       const struct playbook_draft_entry *entry)
{
    Renga__V1__BulletChange *made = arena_alloc(draft->arena, sizeof *made);
    if (!made)
        return false;
    renga__v1__bullet_change__init(made);
    made->before = entry->before ? &entry->before->bullet : NULL;
    made->after = entry->now ? &entry->now->bullet : NULL;
    change->added += !made->before;
    change->removed += !made->after;
    change->changed += made->before && made->after;
    change->bullets[change->n_bullets++] = made;
    return true;
}

Renga__V1__PlaybookChange *playbook_draft_changes(struct playbook_draft *draft)
{
    Renga__V1__PlaybookChange *change = arena_alloc(draft->arena, sizeof *change);
    if (!change)
        return NULL;
    renga__v1__playbook_change__init(change);
    change->bullets = arena_alloc(draft->arena, (draft->count + 1) * sizeof(*change->bullets));
    for (size_t i = 0; change->bullets && i < draft->count; i++) {
        struct playbook_draft_entry *entry = &draft->entries[i];
        bool same =
            entry->before == entry->now || (entry->before && entry->now && entry->before->place == entry->now->place &&
                                            playbook_bullets_are_equal(&entry->before->bullet, &entry->now->bullet));
        if (!same && (entry->before || entry->now) && !add_change(draft, change, entry))
            return NULL;
    }
    if (change->bullets && change->n_bullets)
        qsort(change->bullets, change->n_bullets, sizeof(*change->bullets), compare_changes);
    return change->bullets ? change : NULL;
}
