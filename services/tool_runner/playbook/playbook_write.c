#include "playbook_write.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/random.h"
#include "playbook_cache.h"
#include "rpc/rpc.h"

#include <stdlib.h>
#include <string.h>

#define TRIES_MAX   1000               /* other tool-runners may be first so often; the deadline ends it before */
#define ATTEMPT_MAX ((size_t)64 << 20) /* bytes of an attempt's arena */

static void playbook_write_load(struct playbook_write *self);

static struct playbooks *playbook_write_playbooks_of(const struct playbook_write *self)
{
    return self->runner->shared->playbooks;
}

static struct playbook_key playbook_write_key_of(const struct playbook_write *self)
{
    return (struct playbook_key){rpc_call_principal(self->rpc)->tenant, self->dataset};
}

struct playbook_write *playbook_write_create(struct tool_runner *runner, struct rpc_call *rpc)
{
    struct playbook_write *self = xcalloc(1, sizeof *self);
    self->runner = runner;
    self->rpc = rpc;
    arena_init(&self->arena, NULL, 0, ATTEMPT_MAX);
    return self;
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

/* Releases the results of an attempt. */
static void write_drop_attempt(struct playbook_write *self)
{
    if (self->has_batch)
        store_batch_fini(&self->batch);
    if (self->drafted)
        playbook_draft_fini(&self->draft);
    self->has_batch = self->drafted = false;
    playbook_release(&self->next);
    playbook_release(&self->load.playbook);
    arena_reset(&self->arena);
    self->trim = (struct playbook_trim){0};
    self->response = NULL;
}

static void playbook_write_end(struct playbook_write *self)
{
    key_lock_release(playbook_write_playbooks_of(self)->key_locks, &self->key_lock);
    if (self->status.code == OK)
        self->reply(self, self->response);
    else
        rpc_fail(self->rpc, &self->status);
    write_drop_attempt(self);
    if (self->destroy)
        self->destroy(self);
    arena_fini(&self->arena);
    free(self);
}

/* ---- the commit -------------------------------------------------------------------------------------------------- */

static void write_count(struct playbook_write *self)
{
    struct playbooks *playbooks = playbook_write_playbooks_of(self);
    atomic_fetch_add(self->changes_bullets ? &playbooks->changes : &playbooks->unchanged, 1);
    atomic_fetch_add(&playbooks->dropped, self->draft.n_dropped);
    if (self->next->next_proposal > self->load.playbook->next_proposal)
        atomic_fetch_add(&playbooks->proposed,
                         (uint64_t)(self->next->next_proposal - self->load.playbook->next_proposal));
}

static void write_committed(struct store_batch *batch)
{
    struct playbook_write *self = CONTAINER_OF(batch, struct playbook_write, batch);
    struct status status = batch->status;
    if (status.code == ABORTED && ++self->tries < TRIES_MAX) {
        atomic_fetch_add(&playbook_write_playbooks_of(self)->conflicts, 1);
        write_drop_attempt(self);
        playbook_write_load(self);
        return;
    }
    if (status.code == OK) {
        write_count(self);
        playbook_cache_put(playbook_write_playbooks_of(self), self->next);
    } else if (status.code == ABORTED) {
        fail(&self->status, UNAVAILABLE, "other tool-runners change the playbook '%s' all the time; try again",
             self->dataset);
    } else {
        fail(&self->status, status.code == RESOURCE_EXHAUSTED ? RESOURCE_EXHAUSTED : UNAVAILABLE,
             "the playbook '%s' cannot be written: %s", self->dataset, status.text);
    }
    playbook_write_end(self);
}

/* ---- applying it ------------------------------------------------------------------------------------------------- */

static void playbook_write_number(struct playbook_write *self)
{
    const struct playbook *base = self->load.playbook;
    int64_t now_ms = self->draft.now_ms;
    self->next->revision = base->revision + self->changes_bullets;
    if (self->changes_bullets) /* a clock that went back does not make history run backwards */
        self->next->updated_ms = now_ms > base->updated_ms ? now_ms : base->updated_ms;
    if (!self->next->incarnation)
        self->next->incarnation = (int64_t)(random_u64() >> 1 | 1);
    self->next->version = base->version + 1;
}

static void write_apply(struct playbook_write *self, struct status *st)
{
    struct playbook *base = self->load.playbook;
    playbook_draft_init(&self->draft, base, &self->arena, clock_wall_ns() / NS_PER_MS, self->source);
    self->drafted = true;
    if (base->incomplete && !self->replaces) {
        playbook_is_incomplete(base, st);
        return;
    }
    if (!self->change(self, &self->draft, st) || !(self->next = playbook_draft_finish(&self->draft, st)))
        return;
    Renga__V1__PlaybookChange *change = playbook_draft_changes(&self->draft);
    if (!change) {
        fail(st, RESOURCE_EXHAUSTED, "no memory for the change of the playbook '%s'", self->dataset);
        return;
    }
    self->changes_bullets = change->n_bullets > 0;
    bool exists = self->load.head.incarnation != 0;
    bool records = exists && (*self->request_id || self->next->next_number != base->next_number);
    self->writes = !self->dry_run && (self->changes_bullets || self->draft.proposals_changed || records);
    playbook_write_number(self);
    if (self->dry_run)
        self->next->revision = base->revision;
    self->response = self->answer(self, self->next);
    if (!self->response)
        fail(st, RESOURCE_EXHAUSTED, "no memory for the answer");
    else if (self->writes)
        playbook_write_rows(self, change, st);
}

static void apply_run(struct job *job)
{
    struct playbook_write *self = CONTAINER_OF(job, struct playbook_write, job);
    write_apply(self, &self->status);
}

static void apply_ended(struct job *job)
{
    struct playbook_write *self = CONTAINER_OF(job, struct playbook_write, job);
    if (job->status.code != OK)
        self->status = job->status;
    if (self->status.code == OK && self->writes) {
        store_commit(self->load.store, &self->batch);
        return;
    }
    if (self->status.code == OK && !self->dry_run)
        atomic_fetch_add(&playbook_write_playbooks_of(self)->unchanged, 1);
    playbook_write_end(self);
}

static void write_start_job(struct playbook_write *self)
{
    if (self->status.code != OK) {
        playbook_write_end(self);
        return;
    }
    const struct playbook *base = self->load.playbook;
    if (!self->has_batch) {
        store_batch_init(&self->batch, self->runner->loop, write_committed);
        self->has_batch = true;
    }
    self->job = (struct job){.run = apply_run, .ended = apply_ended};
    rpc_call_job(self->rpc, &self->job);
    job_start(&self->job, self->bytes + base->text_bytes);
}

void playbook_write_go_on(struct playbook_write *self)
{
    if (self->status.code == OK && playbook_trim_is_needed(self))
        playbook_trim_start(self, write_start_job);
    else
        write_start_job(self);
}

/* ---- the request_id ---------------------------------------------------------------------------------------------- */

/* The first answer, again. */
static bool write_repeat(struct playbook_write *self, const struct store_row *row)
{
    const uint8_t *bytes = row->value.bytes;
    ProtobufCMessage *first = playbook_value_read(&self->arena, row, SHA256_SIZE, self->response_type);
    if (!first)
        return fail(&self->status, DATA_LOSS,
                    "the record of request_id '%s' of the playbook '%s' is damaged in the store; the change may have "
                    "been made or not: look, before you send it under a new one",
                    self->request_id, self->dataset);
    if (memcmp(bytes, self->digest, SHA256_SIZE) != 0)
        return fail_field(&self->status, "request_id", "'%s' was that of a request with other content; take a new one",
                          self->request_id);
    atomic_fetch_add(&playbook_write_playbooks_of(self)->repeated, 1);
    self->response = first;
    return true;
}

static bool write_expected(struct playbook_write *self)
{
    int64_t revision = self->load.playbook->revision, expected = self->expected_revision;
    if (expected == 0 || expected == revision || (expected == -1 && revision == 0))
        return true;
    if (expected == -1)
        return fail(&self->status, ABORTED, "expected_revision is -1, and the playbook '%s' is there, at revision %lld",
                    self->dataset, (long long)revision);
    return fail(&self->status, ABORTED,
                "expected_revision is %lld, and the playbook '%s' is at revision %lld; read it again",
                (long long)expected, self->dataset, (long long)revision);
}

static void write_prepare(struct playbook_write *self)
{
    if (!write_expected(self))
        playbook_write_end(self);
    else if (self->prepare)
        self->prepare(self);
    else
        playbook_write_go_on(self);
}

static void request_read(struct store_scan *scan)
{
    struct playbook_write *self = CONTAINER_OF(scan, struct playbook_write, scan);
    bool known = scan->status.code == OK && scan->count > 0;
    if (scan->status.code != OK)
        fail(&self->status, UNAVAILABLE, "the playbook cannot be read: %s", scan->status.text);
    if (known)
        write_repeat(self, &scan->rows[0]);
    store_scan_fini(scan);
    if (known || self->status.code != OK)
        playbook_write_end(self);
    else
        write_prepare(self);
}

/* After the load: a request that is written after this has changed the head. */
static void write_read_request(struct playbook_write *self)
{
    struct playbook_key key = playbook_write_key_of(self);
    store_scan_init(&self->scan, self->runner->loop, request_read);
    self->scan.from = playbook_row_key(&self->arena, &key, 'r', -1, self->request_id);
    char *to = arena_zalloc(&self->arena, self->scan.from.size + 1);
    if (self->arena.exhausted) {
        fail(&self->status, RESOURCE_EXHAUSTED, "no memory for the call");
        playbook_write_end(self);
        return;
    }
    memcpy(to, self->scan.from.bytes, self->scan.from.size);
    self->scan.to = (struct store_bytes){to, self->scan.from.size + 1};
    store_scan(self->load.store, &self->scan);
}

/* ---- the beginning ----------------------------------------------------------------------------------------------- */

static void write_loaded(struct playbook_load *load)
{
    struct playbook_write *self = CONTAINER_OF(load, struct playbook_write, load);
    self->status = load->status;
    if (self->status.code != OK)
        playbook_write_end(self);
    else if (*self->request_id && !self->dry_run)
        write_read_request(self);
    else
        write_prepare(self);
}

static void playbook_write_load(struct playbook_write *self)
{
    self->load = (struct playbook_load){.runner = self->runner,
                                        .rpc = self->rpc,
                                        .dataset = self->dataset,
                                        .takes_damaged = true,
                                        .loaded = write_loaded};
    playbook_load_start(&self->load);
}

static void playbook_write_key_lock_granted(struct key_lock *key_lock)
{
    struct playbook_write *self = CONTAINER_OF(key_lock, struct playbook_write, key_lock);
    if (!rpc_call_cancelled(self->rpc)) {
        playbook_write_load(self);
        return;
    }
    fail(&self->status, CANCELLED, "the caller has left");
    playbook_write_end(self);
}

static void playbook_write_check_run(struct job *job)
{
    struct playbook_write *self = CONTAINER_OF(job, struct playbook_write, job);
    if (self->check(self, &self->status) && *self->request_id) {
        /* The same request has the same digest. */
        const char *method = rpc_call_method(self->rpc);
        size_t size = protobuf_c_message_get_packed_size(self->request), name = strlen(method);
        uint8_t *packed = xmalloc(size + name + 1);
        protobuf_c_message_pack(self->request, packed);
        memcpy(packed + size, method, name);
        sha256_of(packed, size + name, self->digest);
        free(packed);
    }
}

static void check_ended(struct job *job)
{
    struct playbook_write *self = CONTAINER_OF(job, struct playbook_write, job);
    if (job->status.code != OK)
        self->status = job->status;
    if (self->status.code != OK)
        playbook_write_end(self);
    else if (key_lock_acquire(playbook_write_playbooks_of(self)->key_locks, &self->key_lock,
                              rpc_call_principal(self->rpc)->tenant, self->dataset))
        playbook_write_key_lock_granted(&self->key_lock);
}

void playbook_write_start(struct playbook_write *self)
{
    self->bytes = rpc_call_received_bytes(self->rpc);
    self->key_lock = (struct key_lock){.loop = self->runner->loop, .granted = playbook_write_key_lock_granted};
    self->job = (struct job){.run = playbook_write_check_run, .ended = check_ended};
    rpc_call_job(self->rpc, &self->job);
    job_start(&self->job, self->bytes);
}
