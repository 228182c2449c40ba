#include "playbook_load.h"

#include "playbook_cache.h"
#include "playbook_gather.h"
#include "playbook_redo.h"
#include "record/records.h"
#include "rpc/rpc.h"

#include <string.h>

#define TRIES_MAX  1000 /* other tool-runners may change the playbook so often while its proposals are read */
#define PAGE_BYTES ((size_t)1 << 20)
#define PAGE_ROWS  4000

static void playbook_load_read_head(struct playbook_load *self);

static struct playbook_key playbook_load_key_of(const struct playbook_load *self)
{
    return (struct playbook_key){rpc_call_principal(self->rpc)->tenant, self->dataset};
}

static struct playbooks *playbook_load_playbooks_of(const struct playbook_load *self)
{
    return self->runner->shared->playbooks;
}

static void end_load(struct playbook_load *self)
{
    playbook_release(&self->base);
    if (self->status.code != OK)
        playbook_release(&self->playbook);
    if (self->status.code == DATA_LOSS)
        atomic_fetch_add(&playbook_load_playbooks_of(self)->damaged, 1);
    self->loaded(self);
}

static bool prepare_scan(struct playbook_load *self, void (*done)(struct store_scan *scan))
{
    store_scan_init(&self->scan, self->runner->loop, done);
    return rpc_call_cancelled(self->rpc) ? fail(&self->status, CANCELLED, "the caller has left") : true;
}

static void playbook_load_start_scan(struct playbook_load *self)
{
    if (rpc_call_arena(self->rpc)->exhausted) { /* without its bounds the range would cover other rows */
        fail(&self->status, RESOURCE_EXHAUSTED, "no memory for the call");
        end_load(self);
        return;
    }
    store_scan(self->store, &self->scan);
}

static bool scan_failed(struct playbook_load *self)
{
    if (self->scan.status.code != OK)
        fail(&self->status, UNAVAILABLE, "the playbook cannot be read: %s", self->scan.status.text);
    return self->status.code != OK;
}

/* ---- the head ---------------------------------------------------------------------------------------------------- */

static bool take_head(struct playbook_load *self, struct playbook_head *head)
{
    *head = (struct playbook_head){0};
    if (scan_failed(self))
        return false;
    if (self->scan.count && !playbook_head_read(&self->scan.rows[0], head))
        return fail(&self->status, DATA_LOSS,
                    "the head of the playbook '%s' is damaged in the store; restore the store from a backup, or delete "
                    "the playbook",
                    self->dataset);
    return true;
}

static void scan_head(struct playbook_load *self, void (*done)(struct store_scan *scan))
{
    struct playbook_key key = playbook_load_key_of(self);
    if (!prepare_scan(self, done)) {
        end_load(self);
        return;
    }
    playbook_head_range(rpc_call_arena(self->rpc), &key, &self->scan.from, &self->scan.to);
    playbook_load_start_scan(self);
}

/* ---- the rows ---------------------------------------------------------------------------------------------------- */

static void load_is_whole(struct playbook_load *self)
{
    self->status = self->found;
    if (self->status.code == OK && !self->takes_damaged)
        playbook_cache_put(playbook_load_playbooks_of(self), self->playbook);
    end_load(self);
}

static void head_confirmed(struct store_scan *scan)
{
    struct playbook_load *self = CONTAINER_OF(scan, struct playbook_load, scan);
    struct playbook_head head;
    bool good = take_head(self, &head);
    store_scan_fini(&self->scan);
    bool same = good && head.incarnation == self->head.incarnation && head.version == self->head.version;
    if (!good) {
        end_load(self);
    } else if (!same && ++self->tries < TRIES_MAX) {
        /* The bullets as they were read, from any revisions, and the changes up to the head form the playbook at the
         * head. */
        playbook_release(&self->base);
        if (self->found.code == OK && !self->base_failed && playbook_redo_is_possible(self->playbook, &head)) {
            self->base = self->playbook;
            self->playbook = NULL;
        }
        playbook_release(&self->playbook);
        self->found = (struct status){0};
        self->base_failed = false;
        self->head = head;
        playbook_load_read_head(self);
    } else if (!same) {
        fail(&self->status, UNAVAILABLE, "the playbook '%s' is changed faster than it can be read; try again",
             self->dataset);
        end_load(self);
    } else {
        load_is_whole(self);
    }
}

static void playbook_load_read_rows(struct playbook_load *self);

static void rows_run(struct job *job)
{
    struct playbook_load *self = CONTAINER_OF(job, struct playbook_load, job);
    if (self->letter == 'b') {
        playbook_gather_bullets(self->playbook, &self->scan, &self->found);
    } else if (playbook_gather_proposals(self->playbook, &self->scan, &self->found)) {
        playbook_gather_end(self->playbook, &self->head, self->takes_damaged, &self->found);
    }
}

static void rows_ended(struct job *job)
{
    struct playbook_load *self = CONTAINER_OF(job, struct playbook_load, job);
    bool more = self->scan.more && self->scan.count;
    if (job->status.code != OK)
        self->status = job->status;
    if (more) {
        struct store_bytes last = self->scan.rows[self->scan.count - 1].key;
        memcpy(self->last, last.bytes, last.size);
        self->last[last.size] = '\0'; /* just behind it */
        self->last_size = last.size + 1;
    }
    store_scan_fini(&self->scan);
    if (self->status.code != OK) {
        end_load(self);
    } else if (self->found.code == OK && more) {
        playbook_load_read_rows(self);
    } else if (self->found.code == OK && self->letter == 'b') {
        self->letter = 'o';
        self->last_size = 0;
        playbook_load_read_rows(self);
    } else { /* a row that seems missing may have been changed meanwhile */
        scan_head(self, head_confirmed);
    }
}

static void playbook_load_rows_read(struct store_scan *scan)
{
    struct playbook_load *self = CONTAINER_OF(scan, struct playbook_load, scan);
    if (scan_failed(self)) {
        store_scan_fini(&self->scan);
        end_load(self);
        return;
    }
    self->job = (struct job){.run = rows_run, .ended = rows_ended};
    rpc_call_job(self->rpc, &self->job);
    job_start(&self->job, self->scan.bytes + self->playbook->count * sizeof(void *));
}

/* All proposals are one page: PLAYBOOK_PROPOSALS_MAX. */
static void playbook_load_read_rows(struct playbook_load *self)
{
    struct playbook_key key = playbook_load_key_of(self);
    if (!prepare_scan(self, playbook_load_rows_read)) {
        end_load(self);
        return;
    }
    playbook_rows_range(rpc_call_arena(self->rpc), &key, self->letter, &self->scan.from, &self->scan.to);
    if (self->last_size)
        self->scan.from = (struct store_bytes){self->last, self->last_size};
    if (self->letter == 'b') {
        self->scan.limit = PAGE_ROWS;
        self->scan.bytes_max = PAGE_BYTES;
    }
    playbook_load_start_scan(self);
}

/* ---- changes ----------------------------------------------------------------------------------------------------- */

static void read_bullets(struct playbook_load *self)
{
    struct playbook_key key = playbook_load_key_of(self);
    self->playbook = playbook_gather_begin(&key, &self->head, self->base ? self->base->slot : NULL);
    playbook_release(&self->base);
    self->letter = 'b';
    self->last_size = 0;
    playbook_load_read_rows(self);
}

static void playbook_load_changes_run(struct job *job)
{
    struct playbook_load *self = CONTAINER_OF(job, struct playbook_load, job);
    self->playbook = playbook_redo(self->base, &self->head, &self->scan);
    atomic_fetch_add(&playbook_load_playbooks_of(self)->caught_up, self->playbook != NULL);
}

/* Changes never change. Proposals do, so the head is read again behind them. */
static void playbook_load_changes_ended(struct job *job)
{
    struct playbook_load *self = CONTAINER_OF(job, struct playbook_load, job);
    if (job->status.code != OK)
        self->status = job->status;
    store_scan_fini(&self->scan);
    if (self->status.code != OK) {
        end_load(self);
    } else if (!self->playbook) {
        self->base_failed = true;
        read_bullets(self);
    } else if (!self->head.proposals) {
        load_is_whole(self);
    } else {
        self->letter = 'o';
        self->last_size = 0;
        playbook_load_read_rows(self);
    }
}

static void changes_read(struct store_scan *scan)
{
    struct playbook_load *self = CONTAINER_OF(scan, struct playbook_load, scan);
    if (scan_failed(self)) {
        store_scan_fini(&self->scan);
        end_load(self);
        return;
    }
    self->job = (struct job){.run = playbook_load_changes_run, .ended = playbook_load_changes_ended};
    rpc_call_job(self->rpc, &self->job);
    job_start(&self->job, self->scan.bytes + self->base->count * sizeof(void *));
}

static void read_changes(struct playbook_load *self)
{
    if (!prepare_scan(self, changes_read)) {
        end_load(self);
        return;
    }
    playbook_redo_range(rpc_call_arena(self->rpc), self->base, &self->head, &self->scan.from, &self->scan.to);
    self->scan.limit = PLAYBOOK_REDO_MAX;
    self->scan.bytes_max = PAGE_BYTES;
    playbook_load_start_scan(self);
}

static void playbook_load_read_head(struct playbook_load *self)
{
    struct playbook_key key = playbook_load_key_of(self);
    struct playbooks *playbooks = playbook_load_playbooks_of(self);
    if (!self->head.incarnation || self->head_alone) {
        self->playbook = playbook_gather_begin(&key, &self->head, NULL);
        playbook_arrange(self->playbook);
        end_load(self);
        return;
    }
    self->playbook = playbook_cache_find(playbooks, key.tenant, key.dataset, &self->head);
    if (self->playbook) {
        end_load(self);
        return;
    }
    if (!self->base)
        self->base = playbook_cache_any(playbooks, key.tenant, key.dataset, self->head.incarnation);
    if (self->base && playbook_redo_is_possible(self->base, &self->head))
        read_changes(self);
    else
        read_bullets(self);
}

static void playbook_load_head_received(struct store_scan *scan)
{
    struct playbook_load *self = CONTAINER_OF(scan, struct playbook_load, scan);
    bool good = take_head(self, &self->head);
    store_scan_fini(&self->scan);
    if (good)
        playbook_load_read_head(self);
    else
        end_load(self);
}

void playbook_load_start(struct playbook_load *load)
{
    load->status = load->found = (struct status){0};
    load->playbook = load->base = NULL;
    load->base_failed = false;
    load->tries = 0;
    load->store = records_open(load->runner->shared->records, load->runner->loop, &load->status);
    if (load->store)
        scan_head(load, playbook_load_head_received);
    else
        end_load(load);
}

bool playbook_load_again(struct playbook_load *load, struct status *st, struct playbook_head *failed)
{
    bool same = failed->incarnation == load->head.incarnation && failed->version == load->head.version;
    if (st->code != DATA_LOSS || same)
        return false;
    *failed = load->head;
    *st = (struct status){0};
    playbook_release(&load->playbook);
    playbook_load_start(load);
    return true;
}
