/* The rows of a change: bullets, proposals, history, the request's answer, and the head. */
#include "playbook_undo.h"
#include "playbook_write.h"

#include "rpc/rpc.h"

#include <string.h>

#define ROW_MAX ((size_t)16 << 20) /* bytes of an arena for one row */

/* A batch that is being filled. */
struct filling {
    struct playbook_write *write;
    struct store_batch *batch;
    struct playbook_key key;
    struct arena arena; /* of a row */
    bool failed;
};

static void fill_row(struct filling *self, struct store_bytes key, struct store_bytes value)
{
    self->failed |= !key.bytes || !value.bytes;
    if (!self->failed)
        store_put(self->batch, key, value);
}

static void fill_deletion(struct filling *self, struct store_bytes key)
{
    self->failed |= !key.bytes;
    if (!self->failed)
        store_delete(self->batch, key);
}

static void fill_message(struct filling *self, struct store_bytes key, const ProtobufCMessage *message)
{
    fill_row(self, key, playbook_value_write(&self->arena, key, NULL, 0, message));
    arena_reset(&self->arena);
}

static void fill_deleted_range(struct filling *self, char letter, int64_t from, int64_t to)
{
    struct store_bytes first = playbook_row_key(&self->arena, &self->key, letter, from, "");
    struct store_bytes end = playbook_row_key(&self->arena, &self->key, letter, to, "");
    self->failed |= !first.bytes || !end.bytes;
    if (!self->failed)
        store_delete_range(self->batch, first, end);
    arena_reset(&self->arena);
}

/* ---- bullets and proposals --------------------------------------------------------------------------------------- */

static struct store_bytes bullet_key(struct filling *self, Renga__V1__Bullet *bullet)
{
    return playbook_row_key(&self->arena, &self->key, 'b', playbook_bullet_of(bullet)->place, bullet->id);
}

static void fill_bullets(struct filling *self, const Renga__V1__PlaybookChange *change)
{
    if (self->write->replaces) { /* rows of which the load did not know go too */
        struct store_bytes from, to;
        playbook_rows_range(&self->arena, &self->key, 'b', &from, &to);
        self->failed |= !from.bytes || !to.bytes;
        if (!self->failed)
            store_delete_range(self->batch, from, to);
        for (size_t i = 0; i < self->write->next->count; i++)
            fill_message(self, bullet_key(self, self->write->next->bullets[i]), &self->write->next->bullets[i]->base);
        return;
    }
    for (size_t i = 0; i < change->n_bullets; i++) {
        const Renga__V1__BulletChange *one = change->bullets[i];
        bool moves = one->before && one->after &&
                     playbook_bullet_of(one->before)->place != playbook_bullet_of(one->after)->place;
        if (moves)
            fill_deletion(self, bullet_key(self, one->before));
        if (one->after) {
            fill_message(self, bullet_key(self, one->after), &one->after->base);
        } else if (one->before) {
            fill_deletion(self, bullet_key(self, one->before));
            arena_reset(&self->arena);
        }
    }
}

static bool has_proposal(const struct playbook *playbook, const char *id)
{
    for (size_t i = 0; i < playbook->n_proposals; i++)
        if (strcmp(playbook->proposals[i]->id, id) == 0)
            return true;
    return false;
}

static struct store_bytes proposal_key(struct filling *self, const char *id)
{
    return playbook_row_key(&self->arena, &self->key, 'o', playbook_id_number(id), "");
}

static void fill_proposals(struct filling *self)
{
    const struct playbook *base = self->write->load.playbook, *next = self->write->next;
    if (!self->write->draft.proposals_changed)
        return;
    for (size_t i = 0; i < base->n_proposals; i++)
        if (!has_proposal(next, base->proposals[i]->id))
            fill_deletion(self, proposal_key(self, base->proposals[i]->id));
    for (size_t i = 0; i < next->n_proposals; i++)
        if (!has_proposal(base, next->proposals[i]->id))
            fill_message(self, proposal_key(self, next->proposals[i]->id), &next->proposals[i]->base);
}

/* ---- history ----------------------------------------------------------------------------------------------------- */

static uint64_t place_number(Renga__V1__Bullet *bullet)
{
    return __builtin_bswap64(bullet ? (uint64_t)playbook_bullet_of(bullet)->place : 0);
}

/* The incarnation, the number of bullets, and for each its place before and after: the message does not have them. */
static struct store_bytes playbook_write_rows_places_of(struct filling *self, const Renga__V1__PlaybookChange *change)
{
    size_t size = PLAYBOOK_PLACES_AT + PLAYBOOK_PLACES_BYTES * change->n_bullets;
    uint64_t *numbers = arena_alloc(&self->arena, size);
    if (!numbers)
        return (struct store_bytes){NULL, 0};
    numbers[0] = __builtin_bswap64((uint64_t)self->write->next->incarnation);
    numbers[1] = __builtin_bswap64((uint64_t)change->n_bullets);
    for (size_t i = 0; i < change->n_bullets; i++) {
        numbers[2 + 2 * i] = place_number(change->bullets[i]->before);
        numbers[3 + 2 * i] = place_number(change->bullets[i]->after);
    }
    return (struct store_bytes){numbers, size};
}

/* Rows w and c. */
static void fill_history(struct filling *self, Renga__V1__PlaybookChange *change)
{
    Renga__V1__PlaybookChange bullets = RENGA__V1__PLAYBOOK_CHANGE__INIT, about = *change;
    int64_t revision = self->write->next->revision;
    bullets.revision = revision;
    bullets.bullets = change->bullets;
    bullets.n_bullets = change->n_bullets;
    struct store_bytes key = playbook_row_key(&self->arena, &self->key, 'w', revision, "");
    struct store_bytes head = playbook_write_rows_places_of(self, change);
    struct store_bytes value = {NULL, 0};
    if (head.bytes)
        value = playbook_value_write(&self->arena, key, head.bytes, head.size, &bullets.base);
    fill_row(self, key, value);
    about.bullets = NULL;
    about.n_bullets = 0;
    size_t size = key.size + value.size + key.size + 8 + renga__v1__playbook_change__get_packed_size(&about);
    uint64_t big = __builtin_bswap64((uint64_t)size);
    self->write->next_head.history_bytes += (int64_t)size;
    key = playbook_row_key(&self->arena, &self->key, 'c', revision, "");
    fill_row(self, key, playbook_value_write(&self->arena, key, &big, sizeof big, &about.base));
    arena_reset(&self->arena);
}

/* ---- requests ---------------------------------------------------------------------------------------------------- */

/* Rows r and s; the row r must not be there yet. */
static void fill_request(struct filling *self)
{
    struct playbook_write *write = self->write;
    struct playbook_head *head = &write->next_head;
    if (!*write->request_id)
        return;
    struct store_bytes key = playbook_row_key(&self->arena, &self->key, 'r', -1, write->request_id);
    struct store_bytes value =
        playbook_value_write(&self->arena, key, write->digest, sizeof write->digest, write->response);
    if (key.bytes)
        store_expect(self->batch, key, (struct store_bytes){NULL, 0});
    fill_row(self, key, value);
    key = playbook_row_key(&self->arena, &self->key, 's', ++head->requests, "");
    value = playbook_value_write(&self->arena, key, write->request_id, strlen(write->request_id), NULL);
    fill_row(self, key, value);
    if (!head->oldest_request)
        head->oldest_request = 1;
    arena_reset(&self->arena);
}

/* Deletes rows beyond the limits of the history. */
static void fill_trimmed(struct filling *self)
{
    struct playbook_head *head = &self->write->next_head;
    const struct playbook_trim *trim = &self->write->trim;
    if (trim->changes) {
        fill_deleted_range(self, 'c', head->oldest, head->oldest + trim->changes);
        fill_deleted_range(self, 'w', head->oldest, head->oldest + trim->changes);
        head->oldest += trim->changes;
        head->history_bytes -= trim->change_bytes < head->history_bytes ? trim->change_bytes : head->history_bytes;
    }
    if (!trim->requests)
        return;
    fill_deleted_range(self, 's', head->oldest_request, head->oldest_request + trim->requests);
    for (int64_t i = 0; i < trim->requests; i++)
        if (*trim->request_ids[i])
            fill_deletion(self, playbook_row_key(&self->arena, &self->key, 'r', -1, trim->request_ids[i]));
    head->oldest_request += trim->requests;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static void fill_head(struct filling *self)
{
    struct playbook_write *write = self->write;
    const struct playbook *next = write->next;
    struct playbook_head *head = &write->next_head;
    struct store_bytes key, end;
    uint8_t old[PLAYBOOK_HEAD_SIZE], made[PLAYBOOK_HEAD_SIZE];
    bool is_new = !write->load.head.incarnation;
    head->incarnation = next->incarnation;
    head->version = next->version;
    head->revision = next->revision;
    head->updated_ms = next->updated_ms;
    head->next_number = next->next_number;
    head->next_proposal = next->next_proposal;
    head->bullets = (int64_t)next->count;
    head->text_bytes = (int64_t)next->text_bytes;
    head->tokens = next->tokens;
    head->proposals = (int64_t)next->n_proposals;
    if (!head->oldest)
        head->oldest = 1;
    playbook_head_range(&self->arena, &self->key, &key, &end);
    self->failed |= !key.bytes;
    if (self->failed)
        return;
    playbook_head_write(key, &write->load.head, old);
    playbook_head_write(key, head, made);
    store_expect(self->batch, key,
                 is_new ? (struct store_bytes){NULL, 0} : (struct store_bytes){old, PLAYBOOK_HEAD_SIZE});
    store_put(self->batch, key, (struct store_bytes){made, PLAYBOOK_HEAD_SIZE});
    arena_reset(&self->arena);
}

bool playbook_write_rows(struct playbook_write *write, Renga__V1__PlaybookChange *change, struct status *st)
{
    struct filling self = {
        .write = write, .batch = &write->batch, .key = {rpc_call_principal(write->rpc)->tenant, write->dataset}};
    arena_init(&self.arena, NULL, 0, ROW_MAX);
    write->next_head = write->load.head;
    fill_bullets(&self, change);
    fill_proposals(&self);
    if (write->changes_bullets) {
        change->revision = write->next->revision;
        change->time_ms = write->next->updated_ms;
        change->client = (char *)(uintptr_t)rpc_call_principal(write->rpc)->name;
        change->request_id = (char *)(uintptr_t)write->request_id;
        change->reason = (char *)(uintptr_t)write->reason;
        change->source = (char *)(uintptr_t)write->source;
        change->restored_revision = write->restored_revision;
        fill_history(&self, change);
    }
    fill_trimmed(&self);
    fill_request(&self);
    fill_head(&self);
    arena_fini(&self.arena);
    return !self.failed || fail(st, RESOURCE_EXHAUSTED, "no memory for the rows of the playbook '%s'", write->dataset);
}
