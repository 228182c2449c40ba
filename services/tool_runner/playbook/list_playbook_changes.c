/* ListPlaybookChanges: a page of rows c, and of rows w if bullets are requested. */
#include "playbook_load.h"
#include "playbook_undo.h"
#include "playbooks.h"

#include "base/memory.h"
#include "record/request_name.h"
#include "rpc/rpc.h"

#include <stdlib.h>
#include <string.h>

#define TOKEN_MAX  256
#define PAGE_USUAL 100
#define PAGE_MOST  1000
#define PAGE_BYTES ((size_t)2 << 20) /* of rows w; the first one always fits */
#define ANSWER_MAX ((size_t)32 << 20)

/* On the heap; ends with the answer. */
struct changes_listing {
    struct rpc_call *rpc;
    Renga__V1__ListPlaybookChangesResponse_Closure reply;
    const Renga__V1__ListPlaybookChangesRequest *request;
    struct playbook_load load;
    struct store_scan about, bullets; /* rows c and w */
    struct job job;
    struct status status;
    struct arena arena;
    Renga__V1__ListPlaybookChangesResponse response;
    struct playbook_head failed; /* at which a change could not be read */
    int64_t newest;              /* the first revision of the page */
};

static void changes_end(struct changes_listing *self)
{
    if (self->status.code == OK)
        self->reply(&self->response, self->rpc);
    else
        rpc_fail(self->rpc, &self->status);
    store_scan_fini(&self->about);
    store_scan_fini(&self->bullets);
    playbook_release(&self->load.playbook);
    arena_fini(&self->arena);
    free(self);
}

/* ---- in a worker ------------------------------------------------------------------------------------------------- */

static bool change_is_damaged(struct changes_listing *self, int64_t revision)
{
    return fail(&self->status, DATA_LOSS,
                "the change of revision %lld of the playbook '%s' is damaged in the store; list the others with "
                "page_token '%lld'",
                (long long)revision, self->request->dataset, (long long)revision);
}

static bool change_take_bullets(struct changes_listing *self, size_t i, Renga__V1__PlaybookChange *change)
{
    const uint8_t *places;
    const Renga__V1__PlaybookChange *bullets =
        i < self->bullets.count
            ? playbook_change_read(&self->arena, &self->bullets.rows[i], self->load.head.incarnation, &places)
            : NULL;
    if (!bullets || bullets->revision != change->revision)
        return false;
    change->bullets = bullets->bullets;
    change->n_bullets = bullets->n_bullets;
    return true;
}

static void list_playbook_changes_run(struct job *job)
{
    struct changes_listing *self = CONTAINER_OF(job, struct changes_listing, job);
    Renga__V1__ListPlaybookChangesResponse *response = &self->response;
    response->changes = arena_alloc(&self->arena, (self->about.count + 1) * sizeof(*response->changes));
    for (size_t i = 0; response->changes && i < self->about.count; i++) {
        Renga__V1__PlaybookChange *change = (Renga__V1__PlaybookChange *)playbook_value_read(
            &self->arena, &self->about.rows[i], 8, &renga__v1__playbook_change__descriptor);
        int64_t revision = self->newest - (int64_t)i;
        bool good = change && change->revision == revision;
        if (good && self->request->with_bullets)
            good = change_take_bullets(self, i, change);
        if (!good && !self->arena.exhausted)
            change_is_damaged(self, revision);
        if (!good)
            break;
        response->changes[response->n_changes++] = change;
    }
    int64_t last = self->newest - (int64_t)response->n_changes + 1;
    if (response->n_changes && last > self->load.head.oldest)
        response->next_page_token = arena_printf(&self->arena, "%lld", (long long)last);
    if (self->arena.exhausted)
        fail(&self->status, RESOURCE_EXHAUSTED, "no memory for the changes; ask for fewer at once");
}

static void list_playbook_changes_ended(struct job *job)
{
    struct changes_listing *self = CONTAINER_OF(job, struct changes_listing, job);
    if (job->status.code != OK)
        self->status = job->status;
    store_scan_fini(&self->about);
    store_scan_fini(&self->bullets);
    if (!playbook_load_again(&self->load, &self->status, &self->failed))
        changes_end(self);
}

/* ---- in the loop ------------------------------------------------------------------------------------------------- */

static void about_read(struct store_scan *scan);
static void bullets_read(struct store_scan *scan);

static bool changes_scan(struct changes_listing *self, struct store_scan *scan, char letter, size_t limit)
{
    struct playbook_key key = {self->load.playbook->tenant, self->request->dataset};
    store_scan_init(scan, self->load.runner->loop, letter == 'c' ? about_read : bullets_read);
    scan->bytes_max = letter == 'c' ? 0 : PAGE_BYTES;
    scan->backwards = true;
    scan->limit = limit;
    scan->from = playbook_row_key(&self->arena, &key, letter, self->load.head.oldest, "");
    scan->to = playbook_row_key(&self->arena, &key, letter, self->newest + 1, "");
    if (self->arena.exhausted)
        return fail(&self->status, RESOURCE_EXHAUSTED, "no memory for the changes");
    store_scan(self->load.store, scan);
    return true;
}

static bool changes_read_failed(struct changes_listing *self, const struct store_scan *scan)
{
    if (scan->status.code != OK)
        fail(&self->status, UNAVAILABLE, "the history of the playbook cannot be read: %s", scan->status.text);
    return self->status.code != OK;
}

static void about_read(struct store_scan *scan)
{
    struct changes_listing *self = CONTAINER_OF(scan, struct changes_listing, about);
    if (changes_read_failed(self, scan)) {
        changes_end(self);
        return;
    }
    self->job = (struct job){.run = list_playbook_changes_run, .ended = list_playbook_changes_ended};
    rpc_call_job(self->rpc, &self->job);
    job_start(&self->job, scan->bytes + self->bullets.bytes);
}

static void bullets_read(struct store_scan *scan)
{
    struct changes_listing *self = CONTAINER_OF(scan, struct changes_listing, bullets);
    if (changes_read_failed(self, scan) || !changes_scan(self, &self->about, 'c', scan->count ? scan->count : 1))
        changes_end(self);
}

static bool changes_take_token(struct changes_listing *self, struct status *st)
{
    const char *token = self->request->page_token;
    char *end = NULL;
    long long after = strtoll(token, &end, 10);
    self->newest = self->load.head.revision;
    if (!*token)
        return true;
    if (!strchr("123456789", *token) || *end || after > self->load.head.revision)
        return fail(st, OUT_OF_RANGE,
                    "page_token is '%.64s', which no page of changes gave; send next_page_token of the last one, "
                    "or leave it empty for the newest",
                    token);
    self->newest = after - 1;
    return true;
}

static void changes_loaded(struct playbook_load *load)
{
    struct changes_listing *self = CONTAINER_OF(load, struct changes_listing, load);
    size_t limit = self->request->page_size ? (size_t)self->request->page_size : PAGE_USUAL;
    arena_reset(&self->arena);
    renga__v1__list_playbook_changes_response__init(&self->response);
    self->status = load->status;
    if (self->status.code == OK && !load->head.incarnation)
        fail(&self->status, NOT_FOUND, "there is no playbook '%s'", load->dataset);
    bool good = self->status.code == OK && changes_take_token(self, &self->status);
    bool any = good && self->newest >= load->head.oldest;
    if (!any || !(self->request->with_bullets ? changes_scan(self, &self->bullets, 'w', limit)
                                              : changes_scan(self, &self->about, 'c', limit)))
        changes_end(self);
}

static bool changes_check(const Renga__V1__ListPlaybookChangesRequest *request, struct status *st)
{
    if (!playbook_check_dataset("dataset", request->dataset, st))
        return false;
    if (request->page_size < 0 || request->page_size > PAGE_MOST)
        return fail_field(st, "page_size", "is %d; it must be within 0 (%d) and %d", request->page_size, PAGE_USUAL,
                          PAGE_MOST);
    return request_check_name("page_token", request->page_token, TOKEN_MAX, false, st);
}

void list_playbook_changes(Renga__V1__ToolRunner_Service *service, const Renga__V1__ListPlaybookChangesRequest *request,
                           Renga__V1__ListPlaybookChangesResponse_Closure reply, void *data)
{
    struct status st = {0};
    if (!changes_check(request, &st)) {
        rpc_fail(data, &st);
        return;
    }
    struct tool_runner *runner = (struct tool_runner *)service;
    struct changes_listing *self = xcalloc(1, sizeof *self);
    self->rpc = data;
    self->reply = reply;
    self->request = request;
    renga__v1__list_playbook_changes_response__init(&self->response);
    arena_init(&self->arena, NULL, 0, ANSWER_MAX);
    self->load = (struct playbook_load){
        .runner = runner, .rpc = data, .dataset = request->dataset, .head_alone = true, .loaded = changes_loaded};
    playbook_load_start(&self->load);
}
