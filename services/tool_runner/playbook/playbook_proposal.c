/* Proposals of a draft, and its token budget. */
#include "playbook_draft.h"

#include "base/memory.h"
#include "playbook_value.h"
#include "rpc/rpc.h"

#include <stdio.h>
#include <string.h>

#define NO_MEMORY "no memory for the proposals"

/* ---- proposals --------------------------------------------------------------------------------------------------- */

static bool operations_are_equal(const Renga__V1__PlaybookOperation *a, const Renga__V1__PlaybookOperation *b)
{
    if (a->kind != b->kind || a->n_ids != b->n_ids || strcmp(a->section, b->section) != 0 ||
        strcmp(a->content, b->content) != 0)
        return false;
    for (size_t i = 0; i < a->n_ids; i++)
        if (strcmp(a->ids[i], b->ids[i]) != 0)
            return false;
    return true;
}

static Renga__V1__PlaybookProposal *make_proposal(struct playbook_draft *draft,
                                                  const Renga__V1__PlaybookOperation *operation,
                                                  const Renga__V1__PlaybookOperationResult *result)
{
    Renga__V1__PlaybookProposal *made = arena_alloc(draft->arena, sizeof *made);
    if (!made)
        return NULL;
    renga__v1__playbook_proposal__init(made);
    made->id = arena_printf(draft->arena, PLAYBOOK_PROPOSAL_ID, (long long)draft->next_proposal);
    made->operation = rpc_message_copy(draft->arena, &operation->base);
    made->similar_id = result->similar_id;
    made->similarity = result->similarity;
    made->reason = result->reason;
    made->created_ms = draft->now_ms;
    made->source = arena_strdup(draft->arena, draft->source);
    return made->id && made->operation && made->source ? made : NULL;
}

static size_t proposal_bytes(const struct playbook_draft *draft)
{
    size_t bytes = 0;
    for (size_t i = 0; i < draft->n_proposals; i++)
        bytes += renga__v1__playbook_proposal__get_packed_size(draft->proposals[i]);
    return bytes;
}

const Renga__V1__PlaybookProposal *playbook_draft_propose(struct playbook_draft *draft,
                                                          const Renga__V1__PlaybookOperation *operation,
                                                          const Renga__V1__PlaybookOperationResult *result,
                                                          struct status *st)
{
    for (size_t i = 0; i < draft->n_proposals; i++)
        if (draft->proposals[i]->operation && operations_are_equal(draft->proposals[i]->operation, operation))
            return draft->proposals[i];
    Renga__V1__PlaybookProposal *made = make_proposal(draft, operation, result);
    if (!made) {
        fail(st, RESOURCE_EXHAUSTED, NO_MEMORY);
        return NULL;
    }
    size_t bytes = proposal_bytes(draft) + renga__v1__playbook_proposal__get_packed_size(made);
    if (draft->n_proposals >= PLAYBOOK_PROPOSALS_MAX || bytes > PLAYBOOK_PROPOSAL_BYTES_MAX) {
        fail(st, RESOURCE_EXHAUSTED,
             "%zu proposals of the playbook '%s' wait for a person, and there is no room for another; accept or reject "
             "some",
             draft->n_proposals, draft->base->dataset);
        return NULL;
    }
    draft->next_proposal++;
    draft->proposals[draft->n_proposals++] = made;
    draft->proposals_changed = true;
    return made;
}

static Renga__V1__PlaybookProposal *take_proposal(struct playbook_draft *draft, const char *field, const char *id,
                                                  struct status *st)
{
    for (size_t i = 0; i < draft->n_proposals; i++) {
        Renga__V1__PlaybookProposal *found = draft->proposals[i];
        if (strcmp(found->id, id) != 0)
            continue;
        memmove(&draft->proposals[i], &draft->proposals[i + 1],
                (draft->n_proposals - i - 1) * sizeof(*draft->proposals));
        draft->n_proposals--;
        draft->proposals_changed = true;
        return found;
    }
    fail(st, NOT_FOUND, "%s is '%s', and the playbook '%s' has no such proposal", field, id, draft->base->dataset);
    return NULL;
}

bool playbook_draft_accept(struct playbook_draft *draft, char *const *ids, size_t count, struct status *st)
{
    char field[STATUS_FIELD_MAX];
    const char *source = draft->source;
    bool good = true;
    for (size_t i = 0; i < count && good; i++) {
        snprintf(field, sizeof field, "accept_proposals[%zu]", i);
        const Renga__V1__PlaybookProposal *proposal = take_proposal(draft, field, ids[i], st);
        if (!proposal)
            return false;
        if (!proposal->operation)
            return fail_field(st, field, "is '%s', which is damaged in the store; reject it", ids[i]);
        draft->source = *proposal->source ? proposal->source : source;
        good = playbook_draft_apply(draft, proposal->operation, field, st);
        draft->source = source;
    }
    return good;
}

bool playbook_draft_reject(struct playbook_draft *draft, char *const *ids, size_t count, struct status *st)
{
    char field[STATUS_FIELD_MAX];
    for (size_t i = 0; i < count; i++) {
        snprintf(field, sizeof field, "reject_proposals[%zu]", i);
        if (!take_proposal(draft, field, ids[i], st))
            return false;
    }
    return true;
}

/* ---- the token budget -------------------------------------------------------------------------------------------- */

static bool drop_bullet(struct playbook_draft *draft, struct playbook_bullet *bullet, size_t *bytes, struct status *st)
{
    *bytes += playbook_bullet_bytes(&bullet->bullet);
    if (draft->n_dropped == PLAYBOOK_BULLETS_MAX || *bytes > PLAYBOOK_BYTES_MAX)
        return fail(st, RESOURCE_EXHAUSTED,
                    "more than %d bullets or %zu bytes would leave the playbook '%s' for the token budget; send fewer "
                    "at once",
                    PLAYBOOK_BULLETS_MAX, PLAYBOOK_BYTES_MAX, draft->base->dataset);
    draft->dropped[draft->n_dropped++] = playbook_bullet_hold(bullet);
    playbook_draft_remove(draft, bullet->bullet.id);
    return true;
}

bool playbook_draft_fit(struct playbook_draft *draft, int64_t token_budget, struct status *st)
{
    size_t bytes = 0;
    bool good = true;
    struct playbook *all = playbook_create(draft->base->tenant, draft->base->dataset, draft->base->slot);
    for (size_t i = 0; i < draft->count; i++)
        if (draft->entries[i].now)
            playbook_append(all, playbook_bullet_hold(draft->entries[i].now));
    playbook_arrange(all);
    int64_t excess = all->tokens - token_budget;
    if (excess > 0) {
        playbook_sort_by_value(all->bullets, all->count, draft->now_ms);
        draft->dropped = xcalloc(all->count, sizeof(*draft->dropped));
    }
    for (size_t i = 0; good && excess > 0 && i < all->count; i++) {
        struct playbook_bullet *bullet = playbook_bullet_of(all->bullets[i]);
        excess -= bullet->tokens;
        good = drop_bullet(draft, bullet, &bytes, st);
    }
    playbook_release(&all);
    return good;
}
