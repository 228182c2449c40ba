#include "playbook/playbook_vectors.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/sha256.h"
#include "rpc/rpc.h"
#include "store/checksum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define VECTORS_ARENA_MAX ((size_t)32 << 20) /* keys and rows of one search */
#define SCAN_FEW          64                 /* so many bullets are looked for one by one */
#define SCAN_ROWS         512
#define VECTOR_HEAD       (sizeof(uint32_t) + sizeof(float)) /* of a row: dimensions and scale */

static void vectors_ask(struct playbook_vectors *self);
static void vectors_scan(struct playbook_vectors *self);

/* ---- the index in its slot --------------------------------------------------------------------------------------- */

struct playbook_index *playbook_index_enter(struct playbook *playbook)
{
    struct playbook_slot *slot = playbook->slot;
    pthread_mutex_lock(&slot->lock);
    if (!slot->index) {
        slot->index = playbook_index_create();
        slot->destroy = playbook_index_destroy;
    }
    playbook_index_follow(slot->index, playbook);
    return slot->index;
}

void playbook_index_leave(struct playbook *playbook)
{
    struct playbook_slot *slot = playbook->slot;
    atomic_store(&slot->bytes, playbook_index_bytes(slot->index));
    pthread_mutex_unlock(&slot->lock);
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

static struct playbook_key vectors_key(const struct playbook_vectors *self)
{
    return (struct playbook_key){self->load->playbook->tenant, self->load->playbook->dataset};
}

/* Always in a worker: it waits for the slot. */
static void vectors_work(struct playbook_vectors *self, void (*run)(struct job *), void (*ended)(struct job *))
{
    self->job = (struct job){.run = run, .ended = ended};
    rpc_call_job(self->load->rpc, &self->job);
    job_start(&self->job, JOB_INLINE_MAX + 1);
}

static void vectors_end(struct playbook_vectors *self)
{
    self->done(self);
}

/* True if the job has not run: the search ends. */
static bool vectors_job_failed(struct playbook_vectors *self)
{
    if (self->job.status.code == OK)
        return false;
    self->status = self->job.status;
    self->vector = NULL;
    vectors_end(self);
    return true;
}

/* ---- bullets without a vector ------------------------------------------------------------------------------------ */

static void vectors_digest(const char *model, const char *content, char digest[2 * PLAYBOOK_DIGEST_BYTES + 1])
{
    uint8_t hash[SHA256_SIZE];
    struct sha256 sha256;
    sha256_begin(&sha256);
    sha256_add(&sha256, model, strlen(model) + 1);
    sha256_add(&sha256, content, strlen(content));
    sha256_end(&sha256, hash);
    trace_hex(hash, PLAYBOOK_DIGEST_BYTES, digest);
}

static int vectors_by_digest(const void *a, const void *b)
{
    return strcmp(((const struct playbook_lacking *)a)->digest, ((const struct playbook_lacking *)b)->digest);
}

static void vectors_list_run(struct job *job)
{
    struct playbook_vectors *self = CONTAINER_OF(job, struct playbook_vectors, job);
    struct playbook *playbook = self->load->playbook;
    Renga__V1__Bullet **missing = xcalloc(playbook->count + 1, sizeof(Renga__V1__Bullet *));
    self->lacking = xcalloc(playbook->count + 1, sizeof *self->lacking);
    struct playbook_index *index = playbook_index_enter(playbook);
    self->n_lacking = playbook_index_missing(index, missing, playbook->count, clock_now_ns(), false);
    playbook_index_leave(playbook);
    for (size_t i = 0; i < self->n_lacking; i++) {
        self->lacking[i].bullet = missing[i];
        vectors_digest(self->knowledge->embedding_model, missing[i]->content, self->lacking[i].digest);
    }
    qsort(self->lacking, self->n_lacking, sizeof *self->lacking, vectors_by_digest);
    free(missing);
}

static void vectors_listed(struct job *job)
{
    struct playbook_vectors *self = CONTAINER_OF(job, struct playbook_vectors, job);
    if (vectors_job_failed(self))
        return;
    if (self->n_lacking)
        vectors_scan(self);
    else
        vectors_ask(self);
}

/* ---- rows of the store ------------------------------------------------------------------------------------------- */

/* False: the row is damaged, or is no vector. */
static bool vectors_read_row(const struct store_bytes *value, struct vector *vector)
{
    const char *bytes = value->bytes;
    uint32_t dimensions = 0;
    if (value->size < VECTOR_HEAD + STORE_CHECKSUM_BYTES)
        return false;
    memcpy(&dimensions, bytes, sizeof dimensions);
    memcpy(&vector->scale, bytes + sizeof dimensions, sizeof vector->scale);
    if (dimensions == 0 || dimensions > VECTOR_DIMENSIONS_MAX ||
        value->size != VECTOR_HEAD + dimensions + STORE_CHECKSUM_BYTES ||
        !(vector->scale > 0 && isfinite(vector->scale)))
        return false;
    vector->dimensions = dimensions;
    memcpy(vector->values, bytes + VECTOR_HEAD, dimensions);
    return true;
}

/* The digest at the end of a key; NULL: it has no digest. */
static const char *vectors_row_digest(const struct store_row *row, char digest[2 * PLAYBOOK_DIGEST_BYTES + 1])
{
    size_t size = (size_t)2 * PLAYBOOK_DIGEST_BYTES;
    if (row->key.size < size)
        return NULL;
    memcpy(digest, (const char *)row->key.bytes + row->key.size - size, size);
    digest[size] = '\0';
    return digest;
}

/* Rows and lacking bullets are in the same order. */
static void vectors_take_run(struct job *job)
{
    struct playbook_vectors *self = CONTAINER_OF(job, struct playbook_vectors, job);
    struct playbook *playbook = self->load->playbook;
    struct playbook_index *index = playbook_index_enter(playbook);
    struct vector vector;
    char digest[2 * PLAYBOOK_DIGEST_BYTES + 1];
    for (size_t i = 0; i < self->scan.count; i++) {
        const struct store_row *row = &self->scan.rows[i];
        if (!vectors_row_digest(row, digest))
            continue;
        while (self->next < self->n_lacking && strcmp(self->lacking[self->next].digest, digest) < 0)
            self->next++;
        bool good = playbook_value_is_whole(row, row->value.size - STORE_CHECKSUM_BYTES) &&
                    vectors_read_row(&row->value, &vector);
        for (; self->next < self->n_lacking && strcmp(self->lacking[self->next].digest, digest) == 0; self->next++)
            if (good)
                playbook_index_set_vector(index, self->lacking[self->next].bullet, &vector);
    }
    playbook_index_leave(playbook);
}

static void vectors_taken(struct job *job)
{
    struct playbook_vectors *self = CONTAINER_OF(job, struct playbook_vectors, job);
    bool more = self->scan.more && self->scan.count > 0;
    store_scan_fini(&self->scan);
    if (vectors_job_failed(self))
        return;
    if (more && self->next < self->n_lacking)
        vectors_scan(self);
    else
        vectors_ask(self);
}

static void vectors_scanned(struct store_scan *scan)
{
    struct playbook_vectors *self = CONTAINER_OF(scan, struct playbook_vectors, scan);
    if (scan->status.code == OK) {
        vectors_work(self, vectors_take_run, vectors_taken);
        return;
    }
    self->status = scan->status; /* they are asked for again when the store is back */
    store_scan_fini(scan);
    vectors_end(self);
}

static void vectors_scan(struct playbook_vectors *self)
{
    struct playbook_key key = vectors_key(self);
    store_scan_init(&self->scan, self->load->runner->loop, vectors_scanned);
    playbook_rows_range(&self->arena, &key, 'v', &self->scan.from, &self->scan.to);
    self->scan.from = playbook_row_key(&self->arena, &key, 'v', -1, self->lacking[self->next].digest);
    self->scan.limit = self->n_lacking <= SCAN_FEW ? 1 : SCAN_ROWS;
    if (!self->arena.exhausted) {
        store_scan(self->load->store, &self->scan);
        return;
    }
    store_scan_fini(&self->scan);
    fail(&self->status, RESOURCE_EXHAUSTED, "no memory for the vectors of the playbook");
    vectors_end(self);
}

/* ---- storing new vectors ----------------------------------------------------------------------------------------- */

static void vectors_committed(struct store_batch *batch)
{
    struct playbook_vectors *self = CONTAINER_OF(batch, struct playbook_vectors, batch);
    if (batch->status.code != OK && batch->status.code != ABORTED)
        log_warn("playbook.vectors",
                 "vectors of the playbook '%s' were not written, and are made again after a restart: %s",
                 self->load->playbook->dataset, batch->status.text);
    store_batch_fini(batch);
    vectors_end(self);
}

/* Only while the playbook is as it was loaded: it may be deleted now, and vectors must not outlive it. */
static void vectors_commit(struct playbook_vectors *self)
{
    struct playbook_key key = vectors_key(self);
    struct store_bytes head, unused;
    uint8_t bytes[PLAYBOOK_HEAD_SIZE];
    store_batch_init(&self->batch, self->load->runner->loop, vectors_committed);
    playbook_head_range(&self->arena, &key, &head, &unused);
    if (!self->arena.exhausted) {
        playbook_head_write(head, &self->load->head, bytes);
        store_expect(&self->batch, head, (struct store_bytes){bytes, sizeof bytes});
    }
    for (size_t i = 0; i < self->n_received && !self->arena.exhausted; i++) {
        char digest[2 * PLAYBOOK_DIGEST_BYTES + 1];
        vectors_digest(self->knowledge->embedding_model, self->asked[i]->content, digest);
        struct store_bytes row = playbook_row_key(&self->arena, &key, 'v', -1, digest);
        if (!row.bytes || !self->values[i].bytes)
            continue;
        store_checksum_write(row, (uint8_t *)(uintptr_t)self->values[i].bytes, self->values[i].size,
                             self->values[i].size - STORE_CHECKSUM_BYTES);
        store_put(&self->batch, row, self->values[i]);
    }
    store_commit(self->load->store, &self->batch);
}

static void vectors_keep_run(struct job *job)
{
    struct playbook_vectors *self = CONTAINER_OF(job, struct playbook_vectors, job);
    struct playbook *playbook = self->load->playbook;
    struct playbook_index *index = playbook_index_enter(playbook);
    struct vector vector;
    for (size_t i = 0; i < self->n_received; i++)
        if (self->values[i].bytes && vectors_read_row(&self->values[i], &vector))
            playbook_index_set_vector(index, self->asked[i], &vector);
    playbook_index_leave(playbook);
}

static void vectors_kept(struct job *job)
{
    struct playbook_vectors *self = CONTAINER_OF(job, struct playbook_vectors, job);
    if (!vectors_job_failed(self))
        vectors_commit(self);
}

static void vectors_keep(struct playbook_vectors *self)
{
    if (self->n_received)
        vectors_work(self, vectors_keep_run, vectors_kept);
    else
        vectors_end(self);
}

/* ---- the gateway ------------------------------------------------------------------------------------------------- */

static void vectors_embed(struct playbook_vectors *self);

static struct store_bytes vectors_write_row(struct arena *arena, const Renga__V1__Embedding *embedding)
{
    struct vector *vector = arena_alloc(arena, sizeof *vector);
    if (!vector || !vector_init(vector, embedding->values, embedding->n_values))
        return (struct store_bytes){NULL, 0};
    uint32_t dimensions = vector->dimensions;
    size_t size = VECTOR_HEAD + dimensions + STORE_CHECKSUM_BYTES;
    char *bytes = arena_alloc(arena, size);
    if (!bytes)
        return (struct store_bytes){NULL, 0};
    memcpy(bytes, &dimensions, sizeof dimensions);
    memcpy(bytes + sizeof dimensions, &vector->scale, sizeof vector->scale);
    memcpy(bytes + VECTOR_HEAD, vector->values, dimensions);
    return (struct store_bytes){bytes, size};
}

static void vectors_count(struct playbook_vectors *self, const Renga__V1__Usage *usage)
{
    if (!usage)
        return;
    self->usage.input_tokens += usage->input_tokens;
    self->usage.model_calls += usage->model_calls;
    self->usage.cost_micros += usage->cost_micros;
    self->usage.estimated |= usage->estimated;
}

static void playbook_vectors_received(struct embedding *embedding, const Renga__V1__EmbedResponse *response)
{
    struct playbook_vectors *self = CONTAINER_OF(embedding, struct playbook_vectors, embedding);
    if (!response) {
        if (!self->vector)
            self->status = embedding->call.status;
        vectors_keep(self);
        return;
    }
    vectors_count(self, response->usage);
    size_t at = self->n_inputs - (self->n_sent - self->n_received); /* of the first bullet */
    if (at) {
        self->vector = arena_alloc(&self->arena, sizeof *self->vector);
        if (!self->vector ||
            !vector_init(self->vector, response->embeddings[0]->values, response->embeddings[0]->n_values)) {
            self->vector = NULL;
            fail(&self->status, DATA_LOSS, "the gateway gave no vector for the query");
        }
    }
    for (; self->n_received < self->n_sent; at++)
        self->values[self->n_received++] = vectors_write_row(&self->arena, response->embeddings[at]);
    if (self->vector && self->n_sent < self->n_asked && clock_now_ns() < self->deadline_ns)
        vectors_embed(self);
    else
        vectors_keep(self);
}

/* The query and the first bullets, then the other bullets. */
static void vectors_embed(struct playbook_vectors *self)
{
    struct rpc_client_call *call = &self->embedding.call;
    int64_t left_ms = (self->deadline_ns - clock_now_ns()) / NS_PER_MS;
    self->n_inputs = 0;
    if (!self->vector)
        self->inputs[self->n_inputs++] = self->text;
    while (self->n_sent < self->n_asked && self->n_inputs < PLAYBOOK_EMBED_TEXTS)
        self->inputs[self->n_inputs++] = self->asked[self->n_sent++]->content;
    self->embedding.knowledge = self->knowledge;
    self->embedding.inputs = self->inputs;
    self->embedding.count = self->n_inputs;
    self->embedding.priority = RENGA__V1__PRIORITY__PRIORITY_INTERACTIVE;
    self->embedding.received = playbook_vectors_received;
    rpc_client_call_init(call, self->load->runner->loop, self->load->rpc);
    call->trace = rpc_call_trace(self->load->rpc);
    call->principal = rpc_call_principal(self->load->rpc);
    call->timeout_ms = left_ms > 1 ? left_ms : 1;
    embedding_begin(&self->embedding);
}

/* Bullets that are asked for here are asked for by no other search. */
static void vectors_ask_run(struct job *job)
{
    struct playbook_vectors *self = CONTAINER_OF(job, struct playbook_vectors, job);
    struct playbook *playbook = self->load->playbook;
    struct playbook_index *index = playbook_index_enter(playbook);
    self->n_asked = playbook_index_missing(index, self->asked, PLAYBOOK_EMBED_MAX, clock_now_ns(), true);
    playbook_index_leave(playbook);
}

static void vectors_asked(struct job *job)
{
    struct playbook_vectors *self = CONTAINER_OF(job, struct playbook_vectors, job);
    if (!vectors_job_failed(self))
        vectors_embed(self);
}

static void vectors_ask(struct playbook_vectors *self)
{
    if (self->n_lacking)
        vectors_work(self, vectors_ask_run, vectors_asked);
    else
        vectors_embed(self);
}

void playbook_vectors_start(struct playbook_vectors *vectors)
{
    int64_t own = clock_now_ns() + (int64_t)PLAYBOOK_EMBED_MS * NS_PER_MS;
    int64_t call = rpc_call_deadline_ns(vectors->load->rpc);
    vectors->deadline_ns = own < call ? own : call;
    renga__v1__usage__init(&vectors->usage);
    arena_init(&vectors->arena, NULL, 0, VECTORS_ARENA_MAX);
    vectors_work(vectors, vectors_list_run, vectors_listed);
}

void playbook_vectors_fini(struct playbook_vectors *vectors)
{
    if (!vectors->deadline_ns)
        return;
    arena_fini(&vectors->arena);
    free(vectors->lacking);
}
