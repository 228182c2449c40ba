#include "playbook_undo.h"

#include "record/row_key.h"
#include "rpc/rpc.h"
#include "store/checksum.h"

#include <string.h>

#define PAGE_ROWS  256
#define PAGE_BYTES ((size_t)1 << 20)
#define UNDO_MAX   ((size_t)64 << 20) /* bytes of an arena */

static void undo_read_page(struct playbook_undo *self);

static void undo_end(struct playbook_undo *self)
{
    if (self->drafted)
        playbook_draft_fini(&self->draft);
    self->drafted = false;
    arena_fini(&self->arena);
    if (self->status.code != OK)
        playbook_release(&self->playbook);
    self->done(self);
}

Renga__V1__PlaybookChange *playbook_change_read(struct arena *arena, const struct store_row *row, int64_t incarnation,
                                                const uint8_t **places)
{
    const uint8_t *bytes = row->value.bytes;
    if (row->lost || row->value.size < PLAYBOOK_PLACES_AT + STORE_CHECKSUM_BYTES ||
        row_key_read_number(bytes) != incarnation)
        return NULL;
    int64_t count = row_key_read_number(bytes + 8);
    if (count < 0 || (uint64_t)count > (row->value.size - PLAYBOOK_PLACES_AT) / PLAYBOOK_PLACES_BYTES)
        return NULL;
    Renga__V1__PlaybookChange *change = (Renga__V1__PlaybookChange *)playbook_value_read(
        arena, row, PLAYBOOK_PLACES_AT + PLAYBOOK_PLACES_BYTES * (size_t)count,
        &renga__v1__playbook_change__descriptor);
    *places = bytes + PLAYBOOK_PLACES_AT;
    return change && change->n_bullets == (size_t)count ? change : NULL;
}

/* ---- in a worker ------------------------------------------------------------------------------------------------- */

static bool undo_bullet(struct playbook_undo *self, const Renga__V1__BulletChange *change, int64_t place)
{
    if (!change->before) {
        playbook_draft_remove(&self->draft, change->after->id);
        return true;
    }
    if (!*change->before->content)
        return fail(&self->status, DATA_LOSS,
                    "bullet '%s' of the playbook '%s' was damaged in the store at revision %lld, and cannot be had as "
                    "it was before",
                    change->before->id, self->load->dataset, (long long)self->next);
    playbook_draft_put(&self->draft, playbook_bullet_create(change->before, place));
    return true;
}

static bool undo_change(struct playbook_undo *self, const struct store_row *row)
{
    struct playbook_key key = {self->load->playbook->tenant, self->load->dataset};
    struct store_bytes rest;
    int64_t revision = 0;
    const uint8_t *places;
    struct arena arena;
    bool good = playbook_row_number(&key, row, &revision, &rest) && revision == self->next;
    arena_init(&arena, NULL, 0, UNDO_MAX);
    Renga__V1__PlaybookChange *change =
        good ? playbook_change_read(&arena, row, self->load->head.incarnation, &places) : NULL;
    if (!change)
        fail(&self->status, DATA_LOSS,
             "the change of revision %lld of the playbook '%s' is damaged in the store; later revisions can be had",
             (long long)self->next, self->load->dataset);
    for (size_t i = 0; change && i < change->n_bullets && self->status.code == OK; i++)
        undo_bullet(self, change->bullets[i], row_key_read_number(places + PLAYBOOK_PLACES_BYTES * i));
    self->next--;
    arena_fini(&arena);
    return self->status.code == OK;
}

static void undo_run(struct job *job)
{
    struct playbook_undo *self = CONTAINER_OF(job, struct playbook_undo, job);
    if (!self->drafted) {
        playbook_draft_init(&self->draft, self->load->playbook, &self->arena, 0, "");
        self->draft.n_proposals = 0;
        self->drafted = true;
    }
    for (size_t i = 0; i < self->scan.count && self->next > self->revision && !job_is_over(job); i++)
        if (!undo_change(self, &self->scan.rows[i]))
            return;
    if (self->next > self->revision || !(self->playbook = playbook_draft_finish(&self->draft, &self->status)))
        return;
    self->playbook->revision = self->revision;
}

/* ---- in the loop ------------------------------------------------------------------------------------------------- */

static void undo_ended(struct job *job)
{
    struct playbook_undo *self = CONTAINER_OF(job, struct playbook_undo, job);
    size_t count = self->scan.count;
    if (job->status.code != OK)
        self->status = job->status;
    store_scan_fini(&self->scan);
    if (rpc_call_cancelled(self->load->rpc) && self->status.code == OK)
        fail(&self->status, CANCELLED, "the caller has left");
    if (self->status.code == OK && !self->playbook && !count)
        fail(&self->status, DATA_LOSS,
             "the change of revision %lld of the playbook '%s' is missing in the store; later revisions can be had",
             (long long)self->next, self->load->dataset);
    if (self->status.code == OK && !self->playbook)
        undo_read_page(self);
    else
        undo_end(self);
}

static void undo_page_read(struct store_scan *scan)
{
    struct playbook_undo *self = CONTAINER_OF(scan, struct playbook_undo, scan);
    if (scan->status.code != OK) {
        fail(&self->status, UNAVAILABLE, "the history of the playbook cannot be read: %s", scan->status.text);
        store_scan_fini(scan);
        undo_end(self);
        return;
    }
    self->job = (struct job){.run = undo_run, .ended = undo_ended};
    rpc_call_job(self->load->rpc, &self->job);
    job_start(&self->job, scan->bytes + self->load->playbook->text_bytes);
}

static void undo_read_page(struct playbook_undo *self)
{
    struct playbook_key key = {self->load->playbook->tenant, self->load->dataset};
    store_scan_init(&self->scan, self->load->runner->loop, undo_page_read);
    self->scan.from = playbook_row_key(&self->arena, &key, 'w', self->revision + 1, "");
    self->scan.to = playbook_row_key(&self->arena, &key, 'w', self->next + 1, "");
    self->scan.backwards = true;
    self->scan.limit = PAGE_ROWS;
    self->scan.bytes_max = PAGE_BYTES;
    if (self->arena.exhausted) {
        fail(&self->status, RESOURCE_EXHAUSTED, "no memory for the history of the playbook");
        undo_end(self);
        return;
    }
    store_scan(self->load->store, &self->scan);
}

static bool undo_check(struct playbook_undo *self)
{
    const struct playbook_head *head = &self->load->head;
    int64_t first = head->oldest - 1;
    if (!head->incarnation || (self->revision >= first && self->revision <= head->revision) || self->revision == 0)
        return head->incarnation || fail(&self->status, NOT_FOUND, "there is no playbook '%s'", self->load->dataset);
    return fail(
        &self->status, OUT_OF_RANGE, "revision is %lld, and of the playbook '%s' the revisions %lld to %lld are kept",
        (long long)self->revision, self->load->dataset, (long long)(first ? first : 1), (long long)head->revision);
}

void playbook_undo_start(struct playbook_undo *self)
{
    struct playbook *now = self->load->playbook;
    self->status = (struct status){0};
    self->playbook = NULL;
    self->drafted = false;
    self->next = now->revision;
    arena_init(&self->arena, NULL, 0, UNDO_MAX);
    if (!undo_check(self)) {
        undo_end(self);
    } else if (self->revision == now->revision) {
        self->playbook = playbook_hold(now);
        undo_end(self);
    } else if (self->revision == 0) {
        self->playbook = playbook_create(now->tenant, now->dataset, now->slot);
        playbook_arrange(self->playbook);
        undo_end(self);
    } else {
        undo_read_page(self);
    }
}
