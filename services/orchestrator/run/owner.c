#include "owner.h"
#include "run_priv.h"

#include "base/log.h"

#include <inttypes.h>
#include <stdlib.h>

#define ROW_MAX   64  /* bytes of an OwnerRow */
#define AT_REST   '.' /* behind the name */
#define TAKES_MAX 3   /* others may be quicker so often */

#define RECHECKS_MAX                                                                                                   \
    1000 /* threads of a shard with watchers or waiting requests, read again after a lease has ended; the others       \
            notice when they begin an attempt, or write */

static struct members *members_of(const struct thread *thread)
{
    return thread->home->runner->members;
}

static bool names_self(const struct thread *thread, const struct owner_view *view)
{
    return strcmp(view->member, members_self(members_of(thread))) == 0;
}

static bool is_free(const struct owner_view *view)
{
    return view->at_rest || !*view->member;
}

static void key_of_owner(struct key *key, const struct thread *thread)
{
    key_named(key, KEY_OWNER, thread->tenant, thread->id);
}

static bool is_same(const struct owner_view *a, const struct owner_view *b)
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

static void put_change(const struct thread *thread, struct store_batch *batch, const struct owner_view *from,
                       const struct owner_view *to)
{
    struct key key;
    uint8_t before[ROW_MAX], after[ROW_MAX];
    key_of_owner(&key, thread);
    store_expect(batch, key_bytes(&key), (struct store_bytes){from->there ? before : NULL, view_write(from, before)});
    if (!to->there)
        store_delete(batch, key_bytes(&key));
    else if (!is_same(from, to))
        store_put(batch, key_bytes(&key), (struct store_bytes){after, view_write(to, after)});
}

static void scan_row(struct thread *thread, struct store_scan *scan, void (*came)(struct store_scan *scan))
{
    struct key from, to;
    key_of_owner(&from, thread);
    to = from;
    to.bytes[to.size++] = '\0';
    store_scan_init(scan, thread->home->loop, came);
    scan->from = key_bytes(&from);
    scan->to = key_bytes(&to);
    scan->limit = 1;
    scan->bytes_max = ROW_MAX;
    store_scan(thread->home->runner->options.store, scan);
}

static void note_view(struct thread *thread, const struct owner_view *view, uint64_t at)
{
    struct ownership *own = &thread->own;
    own->known = own->next = *view;
    own->known_at = at;
    if (!names_self(thread, view))
        own->since = 0;
    else if (!own->since)
        own->since = view->token;
}

static void know(struct thread *thread, const struct owner_view *view, uint64_t at)
{
    struct ownership *own = &thread->own;
    struct tally *tally = thread->home->runner->options.tally;
    bool mine = names_self(thread, view) && !is_free(view);
    note_view(thread, view, at);
    own->term = own->next_term;
    if (mine != own->mine)
        tally_owner(tally, thread->home->loop, OWNER_HELD, mine ? 1 : -1);
    own->mine = mine;
}

/* ---- before it is read ------------------------------------------------------------------------------------------- */

static void answer(struct owner_question *question)
{
    question->asked(question);
}

static void taken(struct store_batch *batch)
{
    struct owner_question *question = OWNER_OF(batch, struct owner_question, batch);
    struct thread *thread = question->thread;
    question->status = batch->status;
    store_batch_fini(batch);
    if (question->status.code == ABORTED && question->tries++ < TAKES_MAX) {
        question->status = (struct status){0};
        owner_ask(question);
        return;
    }
    if (question->status.code == OK) {
        log_info("owner.taken", "thread %s is taken up from %s with token %" PRIu64, thread->id,
                 thread->own.known.member, thread->own.next.token);
        tally_owner(thread->home->runner->options.tally, thread->home->loop, OWNER_TAKEN_OVER, 1);
        struct owner_view view = thread->own.next;
        know(thread, &view, question->asked_at);
    } else if (question->status.code == ABORTED) {
        fail(&question->status, UNAVAILABLE, "thread '%s' goes from one orchestrator to another; ask again",
             thread->id);
    }
    answer(question);
}

static void take(struct owner_question *question)
{
    struct thread *thread = question->thread;
    struct ownership *own = &thread->own;
    own->next_term = members_term(members_of(thread));
    own->next = (struct owner_view){.there = true, .token = own->known.token + 1};
    text_cut_copy(own->next.member, sizeof own->next.member, members_self(members_of(thread)));
    store_batch_init(&question->batch, thread->home->loop, taken);
    put_change(thread, &question->batch, &own->known, &own->next);
    if (members_expect_dead(members_of(thread), own->known.member, &question->batch)) {
        store_commit(thread->home->runner->options.store, &question->batch);
        return;
    }
    store_batch_fini(&question->batch);
    owner_ask(question);
}

static void row_came(struct store_scan *scan)
{
    struct owner_question *question = OWNER_OF(scan, struct owner_question, scan);
    struct thread *thread = question->thread;
    struct owner_view view = {0};
    question->status = scan->status;
    bool good = scan->status.code == OK && view_read(&view, scan, &question->status);
    store_scan_fini(scan);
    if (!good) {
        answer(question);
        return;
    }
    note_view(thread, &view, question->asked_at);
    if (is_free(&view)) {
        answer(question);
        return;
    }
    enum member_state state = members_state(members_of(thread), view.member, question->address);
    if (state != MEMBER_ALIVE) { /* also if it names us: the state in memory no longer exists */
        take(question);
        return;
    }
    fail(&question->status, ABORTED, "thread '%s' is with orchestrator %s", thread->id, view.member);
    answer(question);
}

void owner_ask(struct owner_question *question)
{
    question->asked_at = question->thread->home->arrivals;
    scan_row(question->thread, &question->scan, row_came);
}

bool owner_rests_elsewhere(const struct thread *thread, char address[MEMBER_ADDRESS_MAX])
{
    const struct owner_view *known = &thread->own.known;
    *address = '\0';
    return known->at_rest && !thread->own.since && members_reaches(members_of(thread), known->member, address);
}

bool owner_was_overtaken(const struct thread *thread)
{
    return members_of(thread) && !thread->own.mine && thread_busy(thread);
}

/* ---- while it is in memory --------------------------------------------------------------------------------------- */

struct owner_look {
    struct store_scan scan;
    struct thread *thread;
    struct owner_view known; /* when it was asked */
    uint64_t asked_at, term;
    struct status unread; /* why its log could not be read; OK: it was */
};

static void looked(struct store_scan *scan)
{
    struct owner_look *look = (struct owner_look *)scan;
    struct thread *thread = look->thread;
    struct owner_view view;
    struct status st = scan->status;
    bool good = st.code == OK && view_read(&view, scan, &st);
    uint64_t asked_at = look->asked_at, term = look->term;
    bool overtaken = thread->flying || !is_same(&look->known, &thread->own.known); /* by a batch of ours */
    if (good && look->unread.code && is_same(&view, &thread->own.known)) {
        st = look->unread;
        good = false;
    }
    store_scan_fini(scan);
    free(look);
    thread->own.asking = false;
    thread->holds--;
    if (thread->phase == THREAD_BROKEN) {
        thread_settle(thread);
    } else if (!good) {
        thread_break(thread, &st);
    } else if (overtaken || is_same(&view, &thread->own.known)) { /* overtaken: that tells, or will */
        if (!overtaken) {
            thread->own.known_at = asked_at;
            thread->own.term = term;
        }
        loop_defer(thread->home->loop, &thread->go);
    } else {
        thread_lose(thread);
    }
}

static void look(struct thread *thread, const struct status *unread)
{
    struct owner_look *look = need(calloc(1, sizeof *look));
    look->thread = thread;
    look->known = thread->own.known;
    look->unread = *unread;
    look->asked_at = thread->home->arrivals;
    look->term = members_term(members_of(thread));
    thread->own.asking = true;
    thread->holds++;
    scan_row(thread, &look->scan, looked);
}

bool owner_vouches(struct thread *thread, const struct errand *errand)
{
    const struct ownership *own = &thread->own;
    if (!members_of(thread) || own->known_at >= errand->arrival)
        return true;
    if (own->mine && members_holds(members_of(thread), own->term))
        return true;
    if (!own->asking && !thread->flying)
        look(thread, &(struct status){0});
    return false;
}

bool owner_doubts(struct thread *thread, const struct status *why)
{
    if (!members_of(thread) || thread->own.mine)
        return false;
    look(thread, why);
    return true;
}

static bool may_look(const struct thread *thread)
{
    return thread->phase == THREAD_READY && !thread->own.asking && !thread->flying;
}

void owner_recheck(struct thread *thread)
{
    if (members_of(thread) && !thread->own.mine && may_look(thread))
        look(thread, &(struct status){0});
}

bool owner_may_begin(struct thread *thread)
{
    const struct ownership *own = &thread->own;
    struct members *members = members_of(thread);
    if (!members || !own->mine || members_holds(members, own->term))
        return true;
    if (members_is_sure(members) && may_look(thread))
        look(thread, &(struct status){0});
    return false;
}

static bool is_held_back(const struct thread *thread)
{
    const struct run *run = thread->run;
    return run && (run->ready_first || run->openers_first);
}

static bool is_minded(const struct thread *thread)
{
    return thread->seats || (thread->run && (thread->run->waiters || thread->run->quiet_waiters));
}

struct recheck {
    struct work work;
    struct runner *runner;
    unsigned at; /* the home it is in */
};

static void recheck_home(struct home *home)
{
    size_t left = RECHECKS_MAX;
    for (size_t i = 0; i < home->room; i++)
        for (struct thread *thread = home->table[i]; thread; thread = thread->next) {
            bool minded = left && is_minded(thread);
            if (!may_look(thread) || (!minded && !is_held_back(thread)))
                continue;
            look(thread, &(struct status){0});
            left -= minded;
        }
}

static void recheck(struct work *work)
{
    struct recheck *recheck = (struct recheck *)work;
    struct runner *runner = recheck->runner;
    recheck_home(&runner->homes[recheck->at]);
    if (++recheck->at < runner->home_count) {
        loop_post(runner->homes[recheck->at].loop, work);
        return;
    }
    free(recheck);
    runner_release(runner);
}

void owners_recheck(struct runner *runner)
{
    struct recheck *own = need(calloc(1, sizeof *own));
    own->work.run = recheck;
    own->runner = runner;
    atomic_fetch_add(&runner->holders, 1);
    loop_post(runner->homes[0].loop, &own->work);
}

/* ---- with each batch --------------------------------------------------------------------------------------------- */

static void list_pending(struct thread *thread, struct store_batch *batch)
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
    if (members_of(thread))
        put_change(thread, batch, &thread->own.known, &thread->own.known);
}

static bool works(const struct thread *thread)
{
    return thread_busy(thread) || thread->held;
}

bool owner_keeps_for_nothing(const struct thread *thread)
{
    return thread->own.mine && !works(thread);
}

void owner_stamp(struct thread *thread, struct store_batch *batch)
{
    struct ownership *own = &thread->own;
    if (!members_of(thread))
        return;
    own->next = (struct owner_view){.there = !thread->deleted,
                                    .at_rest = !works(thread),
                                    .token = own->known.token + (own->mine && works(thread) ? 0 : 1)};
    text_cut_copy(own->next.member, sizeof own->next.member, members_self(members_of(thread)));
    put_change(thread, batch, &own->known, &own->next);
    if (works(thread))
        list_pending(thread, batch);
    own->stamped_at = thread->home->arrivals;
    own->next_term = members_term(members_of(thread));
}

bool owner_stamped(struct thread *thread, const struct status *st)
{
    struct ownership *own = &thread->own;
    if (!members_of(thread))
        return true;
    if (st->code == OK) {
        struct owner_view view = own->next;
        know(thread, &view, own->stamped_at);
    }
    return st->code != ABORTED;
}

int64_t owner_token(const struct thread *thread)
{
    if (!members_of(thread))
        return 0;
    return (int64_t)thread->own.known.token + (thread->own.mine ? 0 : 1);
}

void owner_forget(struct thread *thread)
{
    if (thread->own.mine)
        tally_owner(thread->home->runner->options.tally, thread->home->loop, OWNER_HELD, -1);
    thread->own.mine = false;
}
