#include "playbook_redo.h"

#include "playbook_draft.h"
#include "playbook_undo.h"
#include "record/row_key.h"

#include <string.h>

#define REDO_ARENA_MAX ((size_t)64 << 20) /* bytes */

bool playbook_redo_is_possible(const struct playbook *base, const struct playbook_head *head)
{
    return !base->damaged && base->incarnation == head->incarnation && base->revision <= head->revision &&
           head->revision - base->revision <= PLAYBOOK_REDO_MAX && base->revision + 1 >= head->oldest;
}

void playbook_redo_range(struct arena *arena, const struct playbook *base, const struct playbook_head *head,
                         struct store_bytes *from, struct store_bytes *to)
{
    struct playbook_key key = {base->tenant, base->dataset};
    *from = playbook_row_key(arena, &key, 'w', base->revision + 1, "");
    *to = playbook_row_key(arena, &key, 'w', head->revision + 1, "");
}

static bool redo_change(struct playbook_draft *draft, const struct store_row *row, int64_t wanted)
{
    struct playbook_key key = {draft->base->tenant, draft->base->dataset};
    struct store_bytes rest;
    int64_t revision = 0;
    const uint8_t *places = NULL;
    arena_reset(draft->arena);
    Renga__V1__PlaybookChange *change = playbook_row_number(&key, row, &revision, &rest) && revision == wanted
                                            ? playbook_change_read(draft->arena, row, draft->base->incarnation, &places)
                                            : NULL;
    for (size_t i = 0; change && i < change->n_bullets; i++) {
        const Renga__V1__BulletChange *one = change->bullets[i];
        int64_t place = row_key_read_number(places + PLAYBOOK_PLACES_BYTES * i + PLAYBOOK_PLACES_BYTES / 2);
        if (one->after)
            playbook_draft_put(draft, playbook_bullet_create(one->after, place));
        else if (one->before)
            playbook_draft_remove(draft, one->before->id);
    }
    return change;
}

struct playbook *playbook_redo(const struct playbook *base, const struct playbook_head *head,
                               const struct store_scan *rows)
{
    struct arena arena;
    struct playbook_draft draft;
    struct playbook *made = NULL;
    struct status ignored = {0};
    bool good = !rows->more && (int64_t)rows->count == head->revision - base->revision;
    arena_init(&arena, NULL, 0, REDO_ARENA_MAX);
    playbook_draft_init(&draft, base, &arena, 0, "");
    draft.n_proposals = 0;
    for (size_t i = 0; good && i < rows->count; i++)
        good = redo_change(&draft, &rows->rows[i], base->revision + 1 + (int64_t)i);
    arena_reset(&arena);
    if (good)
        made = playbook_draft_finish(&draft, &ignored);
    playbook_draft_fini(&draft);
    arena_fini(&arena);
    if (made && (int64_t)made->count != head->bullets)
        playbook_release(&made);
    if (made) {
        made->revision = head->revision;
        made->updated_ms = head->updated_ms;
        made->next_number = head->next_number ? head->next_number : 1;
        made->next_proposal = head->next_proposal ? head->next_proposal : 1;
        made->version = head->version;
    }
    return made;
}
