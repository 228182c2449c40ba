#include "ownership.h"
#include "log/keys.h"
#include "log/rows.h"
#include "membership.h"
#include "thread/memory.h"
#include "thread/ownership_state.h"
#include "thread/request.h"
#include "thread/run.h"
#include "thread/runner_metrics.h"
#include "thread/shard.h"
#include "thread/thread.h"
#include "thread/thread_hooks.h"

#include "base/arena.h"
#include "base/log.h"
#include "base/status.h"
#include "loop/loop.h"
#include "store/store.h"

#include <inttypes.h>
#include <stdlib.h>

#define ROW_MAX   64  /* bytes of an OwnerRow */
#define AT_REST   '.' /* behind the name */
#define TAKES_MAX 3   /* others may be quicker so often */

#define RECHECKS_MAX                                                                                                   \
    1000 /* threads of a shard with watchers or waiting requests, read again after a lease has ended; the others       \
            notice when they begin an attempt, or write */

static struct membership *membership_of(const struct thread *thread)
{
    return thread->shard->runner->membership;
}

static bool view_names_self(const struct thread *thread, const struct owner_view *view)
{
    return strcmp(view->member, membership_self(membership_of(thread))) == 0;
}

static bool ownership_is_free(const struct owner_view *view)
{
    return view->at_rest || !*view->member;
}

static void key_of_owner(struct key *key, const struct thread *thread)
{
    key_named(key, KEY_OWNER, thread->tenant, thread->id);
}

static bool ownership_is_same(const struct owner_view *a, const struct owner_view *b)
{
    return a->there == b->there && a->at_rest == b->at_rest && a->token == b->token &&
           strcmp(a->member, b->member) == 0;
}

/* ---- the row ----------------------------------------------------------------------------------------------------- */

/* A release without `at_rest` writes back the fields that it has read of a row: so `at_rest` is not a separate field.
 */
static size_t view_write(const struct owner_view *view, uint8_t bytes[ROW_MAX])
{
    char member[sizeof view->member + 1];
    size_t length = strlen(view->member);
    Renga__V1__OwnerRow row = RENGA__V1__OWNER_ROW__INIT;
    memcpy(member, view->member, length);
    if (view->at_rest)
        member[length++] = AT_REST;
    member[length] = '\0';
    row.member = member;
    row.token = view->token;
    return renga__v1__owner_row__pack(&row, bytes);
}

static bool view_read(struct owner_view *view, const struct store_scan *scan, struct status *st)
{
    struct arena arena;
    *view = (struct owner_view){0};
    if (!scan->count)
        return true;
    arena_init(&arena, NULL, 0, RECORD_MEMORY_MAX);
    Renga__V1__OwnerRow *row = row_read(&arena, &renga__v1__owner_row__descriptor, &scan->rows[0], st);
    if (row) {
        view->there = true;
        view->token = row->token;
        size_t length = strlen(row->member);
        view->at_rest = length && row->member[length - 1] == AT_REST;
        if (view->at_rest)
            row->member[length - 1] = '\0';
        text_cut_copy(view->member, sizeof view->member, row->member);
    }
    arena_fini(&arena);
    return row != NULL;
}

static void ownership_put_change(const struct thread *thread, struct store_batch *batch, const struct owner_view *from,
                                 const struct owner_view *to)
{
    struct key key;
    uint8_t before[ROW_MAX], after[ROW_MAX];
    key_of_owner(&key, thread);
    store_expect(batch, key_bytes(&key), (struct store_bytes){from->there ? before : NULL, view_write(from, before)});
    if (!to->there)
        store_delete(batch, key_bytes(&key));
    else if (!ownership_is_same(from, to))
        store_put(batch, key_bytes(&key), (struct store_bytes){after, view_write(to, after)});
}

static void ownership_scan_row(struct thread *thread, struct store_scan *scan, void (*came)(struct store_scan *scan))
{
    struct key from, to;
    key_of_owner(&from, thread);
    to = from;
    to.bytes[to.size++] = '\0';
    store_scan_init(scan, thread->shard->loop, came);
    scan->from = key_bytes(&from);
    scan->to = key_bytes(&to);
    scan->limit = 1;
    scan->bytes_max = ROW_MAX;
    store_scan(thread->shard->runner->options.store, scan);
}

static void ownership_note_view(struct thread *thread, const struct owner_view *view, uint64_t at)
{
    struct ownership *own = &thread->own;
    own->known = own->next = *view;
    own->known_at = at;
    if (!view_names_self(thread, view))
        own->since = 0;
    else if (!own->since)
        own->since = view->token;
}

static void ownership_set_view(struct thread *thread, const struct owner_view *view, uint64_t at)
{
    struct ownership *own = &thread->own;
    struct runner_metrics *runner_metrics = thread->shard->runner->options.runner_metrics;
    bool mine = view_names_self(thread, view) && !ownership_is_free(view);
    ownership_note_view(thread, view, at);
    own->term = own->next_term;
    if (mine != own->mine)
        runner_metrics_owner(runner_metrics, thread->shard->loop, OWNER_HELD, mine ? 1 : -1);
    own->mine = mine;
}

/* ---- before it is read ------------------------------------------------------------------------------------------- */

static void ownership_answer(struct owner_query *query)
{
    query->asked(query);
}

static void ownership_taken(struct store_batch *batch)
{
    struct owner_query *query = CONTAINER_OF(batch, struct owner_query, batch);
    struct thread *thread = query->thread;
    query->status = batch->status;
    store_batch_fini(batch);
    if (query->status.code == ABORTED && query->tries++ < TAKES_MAX) {
        query->status = (struct status){0};
        owner_ask(query);
        return;
    }
    if (query->status.code == OK) {
        log_info("owner.taken", "thread %s is taken up from %s with token %" PRIu64, thread->id,
                 thread->own.known.member, thread->own.next.token);
        runner_metrics_owner(thread->shard->runner->options.runner_metrics, thread->shard->loop, OWNER_TAKEN_OVER, 1);
        struct owner_view view = thread->own.next;
        ownership_set_view(thread, &view, query->asked_at);
    } else if (query->status.code == ABORTED) {
        fail(&query->status, UNAVAILABLE, "thread '%s' goes from one orchestrator to another; ask again", thread->id);
    }
    ownership_answer(query);
}

static void ownership_take(struct owner_query *query)
{
    struct thread *thread = query->thread;
    struct ownership *own = &thread->own;
    own->next_term = membership_term(membership_of(thread));
    own->next = (struct owner_view){.there = true, .token = own->known.token + 1};
    text_cut_copy(own->next.member, sizeof own->next.member, membership_self(membership_of(thread)));
    store_batch_init(&query->batch, thread->shard->loop, ownership_taken);
    ownership_put_change(thread, &query->batch, &own->known, &own->next);
    if (membership_expect_dead(membership_of(thread), own->known.member, &query->batch)) {
        store_commit(thread->shard->runner->options.store, &query->batch);
        return;
    }
    store_batch_fini(&query->batch);
    owner_ask(query);
}

static void ownership_row_came(struct store_scan *scan)
{
    struct owner_query *query = CONTAINER_OF(scan, struct owner_query, scan);
    struct thread *thread = query->thread;
    struct owner_view view = {0};
    query->status = scan->status;
    bool good = scan->status.code == OK && view_read(&view, scan, &query->status);
    store_scan_fini(scan);
    if (!good) {
        ownership_answer(query);
        return;
    }
    ownership_note_view(thread, &view, query->asked_at);
    if (ownership_is_free(&view)) {
        ownership_answer(query);
        return;
    }
    enum member_state state = membership_state(membership_of(thread), view.member, query->address);
    if (state != MEMBER_ALIVE) { /* also if it names us: the state in memory no longer exists */
        ownership_take(query);
        return;
    }
    fail(&query->status, ABORTED, "thread '%s' is with orchestrator %s", thread->id, view.member);
    ownership_answer(query);
}

void owner_ask(struct owner_query *query)
{
    query->asked_at = query->thread->shard->arrivals;
    ownership_scan_row(query->thread, &query->scan, ownership_row_came);
}

bool owner_rests_at_other(const struct thread *thread, char address[MEMBER_ADDRESS_MAX])
{
    const struct owner_view *known = &thread->own.known;
    *address = '\0';
    return known->at_rest && !thread->own.since && membership_reaches(membership_of(thread), known->member, address);
}

bool owner_was_overtaken(const struct thread *thread)
{
    return membership_of(thread) && !thread->own.mine && thread_busy(thread);
}

/* ---- while it is in memory --------------------------------------------------------------------------------------- */

struct owner_reread {
    struct store_scan scan;
    struct thread *thread;
    struct owner_view known; /* when it was asked */
    uint64_t asked_at, term;
    struct status unread; /* why its log could not be read; OK: it was */
};

static void owner_row_reread(struct store_scan *scan)
{
    struct owner_reread *reread = (struct owner_reread *)scan;
    struct thread *thread = reread->thread;
    struct owner_view view;
    struct status st = scan->status;
    bool good = st.code == OK && view_read(&view, scan, &st);
    uint64_t asked_at = reread->asked_at, term = reread->term;
    bool overtaken = thread->flying || !ownership_is_same(&reread->known, &thread->own.known); /* by a batch of ours */
    if (good && reread->unread.code && ownership_is_same(&view, &thread->own.known)) {
        st = reread->unread;
        good = false;
    }
    store_scan_fini(scan);
    free(reread);
    thread->own.asking = false;
    thread->holds--;
    if (thread->phase == THREAD_BROKEN) {
        thread_settle(thread);
    } else if (!good) {
        thread->shard->runner->hooks->broken(thread, &st);
    } else if (overtaken || ownership_is_same(&view, &thread->own.known)) { /* overtaken: that tells, or will */
        if (!overtaken) {
            thread->own.known_at = asked_at;
            thread->own.term = term;
        }
        loop_defer(thread->shard->loop, &thread->go);
    } else {
        thread->shard->runner->hooks->lost(thread);
    }
}

static void owner_reread(struct thread *thread, const struct status *unread)
{
    struct owner_reread *reread = xnonnull(calloc(1, sizeof *reread));
    reread->thread = thread;
    reread->known = thread->own.known;
    reread->unread = *unread;
    reread->asked_at = thread->shard->arrivals;
    reread->term = membership_term(membership_of(thread));
    thread->own.asking = true;
    thread->holds++;
    ownership_scan_row(thread, &reread->scan, owner_row_reread);
}

bool owner_vouches(struct thread *thread, const struct request *request)
{
    const struct ownership *own = &thread->own;
    if (!membership_of(thread) || own->known_at >= request->arrival)
        return true;
    if (own->mine && membership_holds(membership_of(thread), own->term))
        return true;
    if (!own->asking && !thread->flying)
        owner_reread(thread, &(struct status){0});
    return false;
}

bool owner_doubts(struct thread *thread, const struct status *why)
{
    if (!membership_of(thread) || thread->own.mine)
        return false;
    owner_reread(thread, why);
    return true;
}

static bool owner_may_reread(const struct thread *thread)
{
    return thread->phase == THREAD_READY && !thread->own.asking && !thread->flying;
}

void owner_recheck(struct thread *thread)
{
    if (membership_of(thread) && !thread->own.mine && owner_may_reread(thread))
        owner_reread(thread, &(struct status){0});
}

bool owner_may_begin(struct thread *thread)
{
    const struct ownership *own = &thread->own;
    struct membership *membership = membership_of(thread);
    if (!membership || !own->mine || membership_holds(membership, own->term))
        return true;
    if (membership_is_sure(membership) && owner_may_reread(thread))
        owner_reread(thread, &(struct status){0});
    return false;
}

static bool ownership_holds_back_work(const struct thread *thread)
{
    const struct run *run = thread->run;
    return run && (run->ready_first || run->openers_first);
}

static bool ownership_has_callers(const struct thread *thread)
{
    return thread->subscriptions || (thread->run && (thread->run->waiters || thread->run->quiet_waiters));
}

struct recheck {
    struct work work;
    struct runner *runner;
    unsigned at; /* the shard it is in */
};

static void recheck_threads(struct shard *shard)
{
    size_t left = RECHECKS_MAX;
    for (size_t i = 0; i < shard->room; i++)
        for (struct thread *thread = shard->table[i]; thread; thread = thread->next) {
            bool has_callers = left && ownership_has_callers(thread);
            if (!owner_may_reread(thread) || (!has_callers && !ownership_holds_back_work(thread)))
                continue;
            owner_reread(thread, &(struct status){0});
            left -= has_callers;
        }
}

static void recheck(struct work *work)
{
    struct recheck *recheck = (struct recheck *)work;
    struct runner *runner = recheck->runner;
    recheck_threads(&runner->shards[recheck->at]);
    if (++recheck->at < runner->shard_count) {
        loop_post(runner->shards[recheck->at].loop, work);
        return;
    }
    free(recheck);
    runner_release(runner);
}

void owners_recheck(struct runner *runner)
{
    struct recheck *own = xnonnull(calloc(1, sizeof *own));
    own->work.run = recheck;
    own->runner = runner;
    atomic_fetch_add(&runner->holders, 1);
    loop_post(runner->shards[0].loop, &own->work);
}

/* ---- with each batch --------------------------------------------------------------------------------------------- */

static void ownership_list_pending(struct thread *thread, struct store_batch *batch)
{
    struct key key;
    struct ownership *own = &thread->own;
    if (!thread->pending || own->listed == own->next.token)
        return;
    own->listed = own->next.token;
    key_named(&key, KEY_PENDING, thread->tenant, thread->id);
    store_put(batch, key_bytes(&key), (struct store_bytes){own->next.member, strlen(own->next.member)});
}

void owner_expect(struct thread *thread, struct store_batch *batch)
{
    if (membership_of(thread))
        ownership_put_change(thread, batch, &thread->own.known, &thread->own.known);
}

static bool ownership_works(const struct thread *thread)
{
    return thread_busy(thread) || thread->held;
}

bool owner_must_release(const struct thread *thread)
{
    return thread->own.mine && !ownership_works(thread);
}

void owner_stamp(struct thread *thread, struct store_batch *batch)
{
    struct ownership *own = &thread->own;
    if (!membership_of(thread))
        return;
    own->next = (struct owner_view){.there = !thread->deleted,
                                    .at_rest = !ownership_works(thread),
                                    .token = own->known.token + (own->mine && ownership_works(thread) ? 0 : 1)};
    text_cut_copy(own->next.member, sizeof own->next.member, membership_self(membership_of(thread)));
    ownership_put_change(thread, batch, &own->known, &own->next);
    if (ownership_works(thread))
        ownership_list_pending(thread, batch);
    own->stamped_at = thread->shard->arrivals;
    own->next_term = membership_term(membership_of(thread));
}

bool owner_stamped(struct thread *thread, const struct status *st)
{
    struct ownership *own = &thread->own;
    if (!membership_of(thread))
        return true;
    if (st->code == OK) {
        struct owner_view view = own->next;
        ownership_set_view(thread, &view, own->stamped_at);
    }
    return st->code != ABORTED;
}
