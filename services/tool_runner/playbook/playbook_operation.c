/* Operations of a draft, each checked against the bullets as they are by then. */
#include "playbook_draft.h"

#include "base/hash.h"
#include "playbook_alike.h"

#include <stdio.h>
#include <string.h>

#define SCRATCH_MAX ((size_t)8 << 20) /* bytes to compare two contents: 100 a byte */

#define KIND(name)    RENGA__V1__PLAYBOOK_OPERATION_KIND__PLAYBOOK_OPERATION_KIND_##name
#define OUTCOME(name) RENGA__V1__PLAYBOOK_OPERATION_OUTCOME__PLAYBOOK_OPERATION_OUTCOME_##name

/* An operation under way. */
struct operating {
    struct playbook_draft *draft;
    const Renga__V1__PlaybookOperation *operation;
    Renga__V1__PlaybookOperationResult *result;
    const char *field; /* "operations[3]" */
    int32_t number;    /* of those that change a bullet once; COUNT apart */
    bool accepted;     /* by a person: similarity does not matter */
    struct status *st;
};

static bool operation_failed(struct operating *self, const char *name, const char *value, const char *text)
{
    char field[STATUS_FIELD_MAX];
    snprintf(field, sizeof field, "%s%s", self->field, name);
    return fail_field(self->st, field, "is '%s', %s", value, text);
}

/* The bullet of ids[i], which no other operation may have changed. */
static struct playbook_draft_entry *operation_target(struct operating *self, size_t i, bool alone)
{
    char name[16];
    const char *id = self->operation->ids[i];
    struct playbook_draft_entry *entry = playbook_draft_find(self->draft, id);
    snprintf(name, sizeof name, ".ids[%zu]", i);
    if (!entry || entry->now->damaged) {
        operation_failed(self, name, id, "and the playbook has no such bullet");
        return NULL;
    }
    if (alone && entry->operated != PLAYBOOK_NOT_OPERATED) {
        operation_failed(self, name, id, "which another operation of this request changes");
        return NULL;
    }
    if (alone)
        entry->operated = self->number;
    return entry;
}

static bool operation_text(struct operating *self, char **field, const char *text)
{
    *field = arena_strdup(self->draft->arena, text);
    return *field != NULL || fail(self->st, RESOURCE_EXHAUSTED, "no memory for the operations");
}

static bool operation_ends(struct operating *self, int outcome, const char *id, const char *reason)
{
    self->result->outcome = (Renga__V1__PlaybookOperationOutcome)outcome;
    return operation_text(self, &self->result->id, id) && operation_text(self, &self->result->reason, reason);
}

/* ---- the same content -------------------------------------------------------------------------------------------- */

static bool names_bullet(const Renga__V1__PlaybookOperation *operation, const char *id)
{
    for (size_t i = 0; i < operation->n_ids; i++)
        if (strcmp(operation->ids[i], id) == 0)
            return true;
    return false;
}

/* Another bullet than those of the operation that has its content already. */
static const Renga__V1__Bullet *find_equal(struct operating *self)
{
    struct playbook_draft *draft = self->draft;
    uint64_t wanted = hash_text(self->operation->content);
    for (size_t i = 0; i < draft->count && !draft->hashed; i++)
        if (draft->entries[i].now)
            draft->entries[i].content_hash = hash_text(draft->entries[i].now->bullet.content);
    draft->hashed = true;
    for (size_t i = 0; i < draft->count; i++) {
        const struct playbook_draft_entry *entry = &draft->entries[i];
        if (entry->now && entry->content_hash == wanted &&
            strcmp(entry->now->bullet.content, self->operation->content) == 0 &&
            !names_bullet(self->operation, entry->now->bullet.id))
            return &entry->now->bullet;
    }
    return NULL;
}

/* Another bullet that is nearly the same; not searched if a person has accepted the operation. */
static struct playbook_alike find_alike(struct operating *self)
{
    if (self->accepted)
        return (struct playbook_alike){.bullet = NULL};
    return playbook_alike_find(self->draft, self->operation->content, self->operation->ids, self->operation->n_ids);
}

static const char *why_alike(const struct playbook_alike *alike)
{
    return *alike->how.reason ? alike->how.reason : "another bullet says the same";
}

static bool operation_is_proposed(struct operating *self, const char *similar_id, double similarity, const char *why)
{
    self->result->similarity = similarity;
    if (!operation_text(self, &self->result->similar_id, similar_id) ||
        !operation_ends(self, OUTCOME(PROPOSED), "", why))
        return false;
    const Renga__V1__PlaybookProposal *proposal =
        playbook_draft_propose(self->draft, self->operation, self->result, self->st);
    return proposal && operation_text(self, &self->result->proposal_id, proposal->id);
}

/* The bullet there says it already, with the counts that it has. */
static bool operation_is_merged(struct operating *self, const char *id, double similarity)
{
    self->result->similarity = similarity;
    return operation_text(self, &self->result->similar_id, id) &&
           operation_ends(self, OUTCOME(MERGED), id, "a bullet says the same already, in nearly the same words");
}

/* ---- the kinds --------------------------------------------------------------------------------------------------- */

static bool operation_add(struct operating *self)
{
    const Renga__V1__Bullet *equal = find_equal(self);
    if (equal)
        return operation_ends(self, OUTCOME(UNCHANGED), equal->id, "a bullet has this content already");
    struct playbook_alike alike = find_alike(self);
    if (alike.bullet && alike.how.difference != PLAYBOOK_SAME)
        return operation_is_proposed(self, alike.bullet->id, alike.how.similarity, alike.how.reason);
    if (alike.bullet)
        return operation_is_merged(self, alike.bullet->id, alike.how.similarity);
    Renga__V1__Bullet made = RENGA__V1__BULLET__INIT;
    made.section = self->operation->section;
    made.content = self->operation->content;
    struct playbook_draft_entry *added = playbook_draft_add(self->draft, &made, self->st);
    if (!added)
        return false;
    added->operated = self->number;
    return operation_ends(self, OUTCOME(APPLIED), added->now->bullet.id, "");
}

/* The bullet gets the operation's content, and its section if it has one. */
static void operation_rewrite(struct operating *self, struct playbook_draft_entry *entry, int32_t helpful,
                              int32_t harmful)
{
    Renga__V1__Bullet made = entry->now->bullet;
    made.content = self->operation->content;
    made.section = *self->operation->section ? self->operation->section : made.section;
    made.helpful = helpful;
    made.harmful = harmful;
    made.updated_ms = self->draft->now_ms;
    playbook_draft_set(entry, playbook_bullet_create(&made, entry->now->place));
}

static bool operation_update(struct operating *self)
{
    struct playbook_draft_entry *entry = operation_target(self, 0, true);
    if (!entry)
        return false;
    const Renga__V1__Bullet *old = &entry->now->bullet, *equal;
    bool same_section = !*self->operation->section || strcmp(self->operation->section, old->section) == 0;
    if (same_section && strcmp(old->content, self->operation->content) == 0)
        return operation_ends(self, OUTCOME(UNCHANGED), old->id, "the bullet has this content already");
    equal = self->accepted ? NULL : find_equal(self);
    if (equal)
        return operation_is_proposed(self, equal->id, 1, "another bullet has this content already");
    struct playbook_alike alike = find_alike(self);
    if (alike.bullet)
        return operation_is_proposed(self, alike.bullet->id, alike.how.similarity, why_alike(&alike));
    operation_rewrite(self, entry, old->helpful, old->harmful);
    return operation_ends(self, OUTCOME(APPLIED), entry->now->bullet.id, "");
}

/* The sums of the counts; INVALID_ARGUMENT past their bound. */
static bool operation_sum(struct operating *self, int64_t *helpful, int64_t *harmful)
{
    *helpful = *harmful = 0;
    for (size_t i = 0; i < self->operation->n_ids; i++) {
        const struct playbook_draft_entry *entry = operation_target(self, i, true);
        if (!entry)
            return false;
        *helpful += entry->now->bullet.helpful;
        *harmful += entry->now->bullet.harmful;
    }
    return (*helpful <= PLAYBOOK_COUNT_MAX && *harmful <= PLAYBOOK_COUNT_MAX) ||
           operation_failed(self, ".ids[0]", self->operation->ids[0],
                            "and the counts of these bullets are more than 1000000000 together");
}

/* Whether a bullet of a MERGE is nearly the same as the new content, and no number, negation, name or order differs. */
static bool operation_member_is_alike(struct operating *self, const char *content, struct playbook_similarity *how)
{
    struct arena scratch;
    arena_init(&scratch, NULL, 0, SCRATCH_MAX);
    playbook_compare(&scratch, content, self->operation->content, how);
    arena_fini(&scratch);
    return how->similarity >= PLAYBOOK_SIMILAR_ENOUGH &&
           (how->difference == PLAYBOOK_SAME || how->difference == PLAYBOOK_OTHER_WORDS);
}

/* True: it is proposed, or failed. */
static bool operation_merge_waits(struct operating *self, bool *good)
{
    for (size_t i = 0; i < self->operation->n_ids; i++) {
        struct playbook_similarity how;
        const char *id = self->operation->ids[i];
        const struct playbook_draft_entry *entry = playbook_draft_find(self->draft, id);
        if (operation_member_is_alike(self, entry->now->bullet.content, &how))
            continue;
        *good = operation_is_proposed(self, id, how.similarity,
                                      *how.reason ? how.reason : "this bullet and the new content are not alike");
        return true;
    }
    struct playbook_alike alike = find_alike(self);
    if (!alike.bullet)
        return false;
    *good = operation_is_proposed(self, alike.bullet->id, alike.how.similarity, why_alike(&alike));
    return true;
}

static bool operation_merge(struct operating *self)
{
    int64_t helpful, harmful;
    bool good;
    if (!operation_sum(self, &helpful, &harmful))
        return false;
    if (!self->accepted && operation_merge_waits(self, &good))
        return good;
    struct playbook_draft_entry *first = playbook_draft_find(self->draft, self->operation->ids[0]);
    operation_rewrite(self, first, (int32_t)helpful, (int32_t)harmful);
    for (size_t i = 1; i < self->operation->n_ids; i++)
        playbook_draft_remove(self->draft, self->operation->ids[i]);
    return operation_ends(self, OUTCOME(APPLIED), first->now->bullet.id, "");
}

static bool operation_delete(struct operating *self)
{
    struct playbook_draft_entry *entry = operation_target(self, 0, true);
    if (!entry)
        return false;
    playbook_draft_set(entry, NULL);
    return operation_ends(self, OUTCOME(APPLIED), "", "");
}

static bool operation_count(struct operating *self)
{
    struct playbook_draft_entry *entry = operation_target(self, 0, false);
    if (!entry)
        return false;
    Renga__V1__Bullet made = entry->now->bullet;
    if (self->operation->helpful > PLAYBOOK_COUNT_MAX - made.helpful ||
        self->operation->harmful > PLAYBOOK_COUNT_MAX - made.harmful)
        return operation_failed(self, ".ids[0]", made.id, "whose count would be more than 1000000000");
    if (!self->operation->helpful && !self->operation->harmful)
        return operation_ends(self, OUTCOME(UNCHANGED), made.id, "both counts are zero");
    made.helpful += self->operation->helpful;
    made.harmful += self->operation->harmful;
    made.updated_ms = self->draft->now_ms;
    playbook_draft_set(entry, playbook_bullet_create(&made, entry->now->place));
    return operation_ends(self, OUTCOME(APPLIED), entry->now->bullet.id, "");
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

static bool operation_run(struct operating *self)
{
    switch ((int)self->operation->kind) {
    case KIND(ADD):
        return operation_add(self);
    case KIND(UPDATE):
        return operation_update(self);
    case KIND(MERGE):
        return operation_merge(self);
    case KIND(DELETE):
        return operation_delete(self);
    default:
        return operation_count(self);
    }
}

bool playbook_draft_operate(struct playbook_draft *draft, Renga__V1__PlaybookOperation *const *operations, size_t count,
                            Renga__V1__PlaybookOperationResult **results, struct status *st)
{
    char field[32];
    for (size_t i = 0; i < count; i++) {
        results[i] = arena_alloc(draft->arena, sizeof(*results[i]));
        if (!results[i])
            return fail(st, RESOURCE_EXHAUSTED, "no memory for the operations");
        renga__v1__playbook_operation_result__init(results[i]);
        snprintf(field, sizeof field, "operations[%zu]", i);
        struct operating self = {draft, operations[i], results[i], field, (int32_t)i, false, st};
        if (!operation_run(&self))
            return false;
    }
    return true;
}

bool playbook_draft_apply(struct playbook_draft *draft, const Renga__V1__PlaybookOperation *operation,
                          const char *field, struct status *st)
{
    Renga__V1__PlaybookOperationResult result = RENGA__V1__PLAYBOOK_OPERATION_RESULT__INIT;
    struct operating self = {draft, operation, &result, field, INT32_MAX, true, st};
    if (!operation_run(&self))
        return false;
    bool is_new = operation->kind == KIND(ADD) && result.outcome == OUTCOME(APPLIED);
    return !is_new || playbook_draft_note_new_id(draft, result.id, st);
}
