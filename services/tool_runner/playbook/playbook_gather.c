#include "playbook_gather.h"

#include <string.h>

struct playbook *playbook_gather_begin(const struct playbook_key *key, const struct playbook_head *head,
                                       struct playbook_slot *slot)
{
    struct playbook *playbook = playbook_create(key->tenant, key->dataset, slot);
    playbook->revision = head->revision;
    playbook->updated_ms = head->updated_ms;
    playbook->next_number = head->next_number ? head->next_number : 1;
    playbook->next_proposal = head->next_proposal ? head->next_proposal : 1;
    playbook->incarnation = head->incarnation;
    playbook->version = head->version;
    return playbook;
}

/* ---- bullets ----------------------------------------------------------------------------------------------------- */

static bool key_is_damaged(const struct playbook *playbook, const char *what, struct status *st)
{
    return fail(st, DATA_LOSS, "a row of the playbook '%s' (%s) has a key that cannot be read", playbook->dataset,
                what);
}

static bool gather_bullet(struct playbook *playbook, const struct store_row *row, struct arena *arena,
                          struct status *st)
{
    struct playbook_key key = {playbook->tenant, playbook->dataset};
    struct store_bytes id;
    int64_t place;
    if (!playbook_row_number(&key, row, &place, &id) || id.size == 0 || id.size > PLAYBOOK_ID_MAX)
        return key_is_damaged(playbook, "a bullet", st);
    Renga__V1__Bullet unknown = RENGA__V1__BULLET__INIT, *read;
    read = (Renga__V1__Bullet *)playbook_value_read(arena, row, 0, &renga__v1__bullet__descriptor);
    unknown.id = arena_strndup(arena, id.bytes, id.size);
    if (!unknown.id)
        return fail(st, RESOURCE_EXHAUSTED, "no memory for the playbook '%s'", playbook->dataset);
    bool whole = read && strcmp(read->id, unknown.id) == 0;
    struct playbook_bullet *bullet = playbook_bullet_create(whole ? read : &unknown, place);
    bullet->damaged = !whole;
    playbook_append(playbook, bullet);
    return true;
}

bool playbook_gather_bullets(struct playbook *playbook, const struct store_scan *page, struct status *st)
{
    bool good = true;
    struct arena arena;
    arena_init(&arena, NULL, 0, 2 * STORE_VALUE_MAX);
    for (size_t i = 0; i < page->count && good; i++) {
        if (i % 256 == 0)
            arena_reset(&arena);
        good = gather_bullet(playbook, &page->rows[i], &arena, st);
    }
    arena_fini(&arena);
    return good;
}

/* ---- proposals --------------------------------------------------------------------------------------------------- */

static Renga__V1__PlaybookProposal *read_proposal(struct playbook *playbook, const struct store_row *row)
{
    struct playbook_key key = {playbook->tenant, playbook->dataset};
    struct store_bytes rest;
    int64_t number;
    Renga__V1__PlaybookProposal *proposal = (Renga__V1__PlaybookProposal *)playbook_value_read(
        &playbook->arena, row, 0, &renga__v1__playbook_proposal__descriptor);
    if (proposal && proposal->operation)
        return proposal;
    proposal = arena_alloc(&playbook->arena, sizeof *proposal);
    if (!proposal || !playbook_row_number(&key, row, &number, &rest))
        return NULL;
    renga__v1__playbook_proposal__init(proposal);
    proposal->id = arena_printf(&playbook->arena, PLAYBOOK_PROPOSAL_ID, (long long)number);
    return proposal;
}

bool playbook_gather_proposals(struct playbook *playbook, const struct store_scan *page, struct status *st)
{
    playbook->proposals = arena_alloc(&playbook->arena, (page->count + 1) * sizeof(*playbook->proposals));
    for (size_t i = 0; playbook->proposals && i < page->count; i++) {
        Renga__V1__PlaybookProposal *proposal = read_proposal(playbook, &page->rows[i]);
        if (!proposal && playbook->arena.exhausted)
            break;
        if (!proposal)
            return key_is_damaged(playbook, "a proposal", st);
        playbook->proposals[playbook->n_proposals++] = proposal;
    }
    return !playbook->arena.exhausted ||
           fail(st, RESOURCE_EXHAUSTED, "no memory for the proposals of the playbook '%s'", playbook->dataset);
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static bool are_rows_whole(const struct playbook *playbook, struct status *st)
{
    if (playbook->damaged)
        return fail(st, DATA_LOSS,
                    "bullet '%s' of the playbook '%s' is damaged in the store; write it anew or remove it, and "
                    "all the others are as they were",
                    playbook->damaged->bullet.id, playbook->dataset);
    for (size_t i = 0; i < playbook->n_proposals; i++)
        if (!playbook->proposals[i]->operation)
            return fail(st, DATA_LOSS,
                        "proposal '%s' of the playbook '%s' is damaged in the store; reject it, and "
                        "all the rest is as it was",
                        playbook->proposals[i]->id, playbook->dataset);
    return true;
}

bool playbook_is_incomplete(const struct playbook *playbook, struct status *st)
{
    return fail(st, DATA_LOSS,
                "rows of the playbook '%s' are missing in the store, which has %zu bullets and %zu proposals of it; "
                "write it anew as a whole, for example as it was at an earlier revision",
                playbook->dataset, playbook->count, playbook->n_proposals);
}

bool playbook_gather_end(struct playbook *playbook, const struct playbook_head *head, bool takes_damaged,
                         struct status *st)
{
    playbook_arrange(playbook);
    playbook->incomplete =
        (int64_t)playbook->count != head->bullets || (int64_t)playbook->n_proposals != head->proposals;
    if (takes_damaged)
        return true;
    return are_rows_whole(playbook, st) && (!playbook->incomplete || playbook_is_incomplete(playbook, st));
}
