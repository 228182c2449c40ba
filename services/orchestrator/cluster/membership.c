#include "membership.h"
#include "log/ids.h"
#include "log/keys.h"
#include "log/rows.h"
#include "membership_priv.h"
#include "thread/memory.h"

#include "base/arena.h"
#include "base/log.h"
#include "base/random.h"
#include "base/status.h"
#include "store/store.h"

#include <stdlib.h>

#define DEAD_MEMBER_RETENTION_NS (INT64_C(60) * NS_PER_SEC) /* dead for so long: its row is taken away */

static void send_beat(struct membership *membership);

/* ---- the beat ---------------------------------------------------------------------------------------------------- */

static void membership_clear(struct membership *membership)
{
    for (struct member *member = membership->list, *next; member; member = next) {
        next = member->next;
        free(member);
    }
    pthread_mutex_destroy(&membership->lock);
    free(membership);
}

static void membership_hold(struct membership *membership)
{
    membership->out++;
    atomic_fetch_add(&membership->holders, 1);
}

static bool membership_came_back(struct membership *membership)
{
    membership->out--;
    if (membership->stopped) {
        membership_release(&membership);
        return false;
    }
    atomic_fetch_sub(&membership->holders, 1); /* its owner holds it too */
    return true;
}

/* Not only with the beat: a lease is over when it is. */
static int64_t next_read_ns(struct membership *membership, int64_t beat_ns)
{
    pthread_mutex_lock(&membership->lock);
    int64_t next_ns = failure_detector_next_ns(membership, beat_ns);
    pthread_mutex_unlock(&membership->lock);
    return next_ns;
}

static void membership_rest(struct membership *membership, bool read)
{
    int64_t now_ns = clock_now_ns(), next_ns = membership->sent_ns + membership->beat_ns;
    if (read)
        next_ns = next_read_ns(membership, next_ns);
    if (membership->left)
        send_beat(membership);
    else if (!membership->leaving)
        loop_arm(membership->options.loop, &membership->timer, next_ns > now_ns ? next_ns : now_ns);
}

static void key_of_member(struct key *key, const char *id)
{
    key_named(key, KEY_MEMBER, "", id);
}

/* A row that has long been still goes; if its orchestrator lives after all, it comes again with its next beat. */
static void delete_dead(struct membership *membership, struct store_batch *batch)
{
    struct key key;
    for (struct member **link = &membership->list; *link;) {
        struct member *member = *link;
        if (!member->dead || member->unchanged_ns < DEAD_MEMBER_RETENTION_NS) {
            link = &member->next;
            continue;
        }
        key_of_member(&key, member->id);
        store_delete(batch, key_bytes(&key));
        *link = member->next;
        membership->count--;
        free(member);
    }
}

static void note_rows(struct membership *membership, const struct store_scan *scan)
{
    struct arena arena;
    struct status st = {0};
    char none[2], id[ID_MAX];
    arena_init(&arena, NULL, 0, RECORD_MEMORY_MAX);
    for (size_t i = 0; i < scan->count; i++) {
        const Renga__V1__MemberRow *row = row_read(&arena, &renga__v1__member_row__descriptor, &scan->rows[i], &st);
        if (row && key_names(scan->rows[i].key, none, sizeof none, id, sizeof id) && strcmp(id, membership->id) != 0)
            failure_detector_note(membership, id, row, scan->rows[i].value);
    }
    arena_fini(&arena);
}

static void rows_came(struct store_scan *scan)
{
    struct membership *membership = CONTAINER_OF(scan, struct membership, scan);
    bool good = scan->status.code == OK, died = false;
    if (good && !membership->stopped) {
        pthread_mutex_lock(&membership->lock);
        failure_detector_age(membership);
        note_rows(membership, scan);
        died = failure_detector_judge(membership);
        pthread_mutex_unlock(&membership->lock);
        membership->read_before_ns = membership->read_ns;
    }
    if (!good)
        log_warn("members.read", "the other orchestrators' rows cannot be read: %s", scan->status.text);
    store_scan_fini(scan);
    if (!membership_came_back(membership))
        return;
    membership_rest(membership, good);
    if (died && !membership->leaving)
        membership->options.died(membership->options.data);
}

static void membership_read_rows(struct membership *membership)
{
    struct key from, to;
    key_of_member(&from, "");
    key_behind(&to, KEY_MEMBER, NULL);
    store_scan_init(&membership->scan, membership->options.loop, rows_came);
    membership->scan.from = key_bytes(&from);
    membership->scan.to = key_bytes(&to);
    membership->scan.limit = MEMBERS_MAX;
    membership->read_ns = clock_now_ns();
    membership_hold(membership);
    store_scan(membership->options.store, &membership->scan);
}

static void lease_extend(struct membership *membership)
{
    bool lapsed = clock_boot_ns() >= membership->lease_ns;
    if (lapsed)
        membership->term++; /* before the lease: a reader of the new lease also sees the new term */
    membership->lease_ns = membership->sent_boot_ns + membership_lease_ns(membership);
    if (lapsed && membership->term > 1 && !membership->stopped)
        membership->options.lapsed(membership->options.data);
}

static void beat_written(struct store_batch *batch)
{
    struct membership *membership = CONTAINER_OF(batch, struct membership, batch);
    if (batch->status.code == OK)
        lease_extend(membership);
    else
        log_warn("members.beat", "this orchestrator's row cannot be written: %s", batch->status.text);
    store_batch_fini(batch);
    if (!membership_came_back(membership))
        return;
    if (!membership->told) {
        membership_read_rows(membership);
        return;
    }
    void (*left)(void *) = membership->left;
    membership->left = NULL;
    left(membership->left_data);
}

static void send_beat(struct membership *membership)
{
    struct key key;
    uint8_t bytes[MEMBER_ROW_MAX];
    Renga__V1__MemberRow row = RENGA__V1__MEMBER_ROW__INIT;
    row.address = membership->address;
    row.name = membership->name;
    row.beat = ++membership->beat;
    row.leaving = membership->told = membership->leaving;
    row.fan_out = (Renga__V1__MemberFanOut *)(uintptr_t)membership->options.fan_out;
    membership->sent_ns = clock_now_ns();
    membership->sent_boot_ns = clock_boot_ns();
    store_batch_init(&membership->batch, membership->options.loop, beat_written);
    key_of_member(&key, membership->id);
    store_put(&membership->batch, key_bytes(&key),
              (struct store_bytes){bytes, renga__v1__member_row__pack(&row, bytes)});
    pthread_mutex_lock(&membership->lock);
    delete_dead(membership, &membership->batch);
    pthread_mutex_unlock(&membership->lock);
    membership_hold(membership);
    store_commit(membership->options.store, &membership->batch);
}

static void membership_expired(struct timer *timer)
{
    struct membership *membership = CONTAINER_OF(timer, struct membership, timer);
    if (clock_now_ns() < membership->sent_ns + membership->beat_ns)
        membership_read_rows(membership);
    else
        send_beat(membership);
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

struct membership *membership_create(const struct membership_options *options)
{
    struct membership *membership = xnonnull(calloc(1, sizeof *membership));
    membership->options = *options;
    membership->holders = 1;
    membership->beat_ns = options->lease_ms * NS_PER_MS / MEMBER_BEATS;
    membership->timer.expired = membership_expired;
    text_cut_copy(membership->name, sizeof membership->name, options->name);
    text_cut_copy(membership->address, sizeof membership->address, options->address);
    id_make_hashed(membership->id, "o_", random_u64());
    pthread_mutex_init(&membership->lock, NULL);
    return membership;
}

static void membership_begin(struct work *work)
{
    struct membership *membership = CONTAINER_OF(work, struct membership, beginning);
    if (!membership_came_back(membership) || membership->leaving)
        return;
    log_info("members.self", "this orchestrator is %s at '%s' among those that share the store", membership->id,
             membership->address);
    send_beat(membership);
}

void membership_start(struct membership *membership)
{
    membership->beginning.run = membership_begin;
    membership_hold(membership);
    loop_post(membership->options.loop, &membership->beginning);
}

void membership_leave(struct membership *membership, void (*left)(void *data), void *data)
{
    membership->leaving = true;
    if (!membership->beat) {
        left(data);
        return;
    }
    membership->left = left;
    membership->left_data = data;
    loop_disarm(membership->options.loop, &membership->timer);
    if (!membership->out) /* else when that has come back */
        send_beat(membership);
}

void membership_stop(struct membership *membership)
{
    if (!membership)
        return;
    loop_disarm(membership->options.loop, &membership->timer);
    membership->stopped = true;
}

/* Once it has stopped, only the store and the holder count. */
void membership_release(struct membership **membership_pointer)
{
    struct membership *membership = *membership_pointer;
    *membership_pointer = NULL;
    if (membership && atomic_fetch_sub(&membership->holders, 1) == 1)
        membership_clear(membership);
}

/* ---- queries ----------------------------------------------------------------------------------------------------- */

const char *membership_self(const struct membership *membership)
{
    return membership->id;
}

uint64_t membership_term(const struct membership *membership)
{
    return membership->term;
}

bool membership_holds(const struct membership *membership, uint64_t term)
{
    return membership_is_sure(membership) && membership->term == term;
}

bool membership_is_sure(const struct membership *membership)
{
    return clock_boot_ns() < membership->lease_ns;
}

int64_t membership_patience_ns(const struct membership *membership)
{
    return membership_lease_ns(membership) - 2 * membership->beat_ns;
}

enum member_state membership_state(struct membership *membership, const char *id, char address[MEMBER_ADDRESS_MAX])
{
    *address = '\0';
    if (strcmp(id, membership->id) == 0)
        return MEMBER_SELF;
    pthread_mutex_lock(&membership->lock);
    const struct member *member = member_find_or_add(membership, id);
    enum member_state state = member && member->dead ? MEMBER_DEAD : MEMBER_ALIVE;
    if (member)
        text_cut_copy(address, MEMBER_ADDRESS_MAX, member->address);
    pthread_mutex_unlock(&membership->lock);
    return state;
}

bool membership_reaches(struct membership *membership, const char *id, char address[MEMBER_ADDRESS_MAX])
{
    *address = '\0';
    pthread_mutex_lock(&membership->lock);
    const struct member *member = member_find(membership, id);
    if (member && member->has_row && !member->dead)
        text_cut_copy(address, MEMBER_ADDRESS_MAX, member->address);
    pthread_mutex_unlock(&membership->lock);
    return *address;
}

bool membership_left(struct membership *membership, const char *id)
{
    pthread_mutex_lock(&membership->lock);
    const struct member *member = member_find(membership, id);
    bool left = member && member->left;
    pthread_mutex_unlock(&membership->lock);
    return left;
}

bool membership_lives(struct membership *membership, const char *id)
{
    pthread_mutex_lock(&membership->lock);
    const struct member *member = member_find(membership, id);
    bool lives = strcmp(id, membership->id) == 0 || (member && member->has_row && !member->dead);
    pthread_mutex_unlock(&membership->lock);
    return lives;
}

bool membership_expect_dead(struct membership *membership, const char *id, struct store_batch *batch)
{
    struct key key;
    key_of_member(&key, id);
    if (strcmp(id, membership->id) == 0)
        return true;
    pthread_mutex_lock(&membership->lock);
    const struct member *member = member_find(membership, id);
    bool dead = member && member->dead;
    if (dead && member->has_row)
        store_expect(batch, key_bytes(&key), (struct store_bytes){member->row, member->row_size});
    else if (dead)
        store_expect(batch, key_bytes(&key), (struct store_bytes){NULL, 0});
    pthread_mutex_unlock(&membership->lock);
    return dead;
}

void membership_each_fanout_member(struct membership *membership,
                                   void (*each)(const struct fanout_member *fanout_member, void *data), void *data)
{
    pthread_mutex_lock(&membership->lock);
    for (const struct member *member = membership->list; member; member = member->next)
        if (!member->dead && member->fanout_member.loops)
            each(&member->fanout_member, data);
    pthread_mutex_unlock(&membership->lock);
}

static uint64_t membership_weight(const char *id, uint64_t place)
{
    return id_hash_number(id_hash_text(ID_HASH, id), place);
}

/* Of those that have shown life more often than so. */
static bool has_most_weight(const struct membership *membership, uint64_t place, uint64_t beats)
{
    uint64_t own = membership_weight(membership->id, place);
    for (const struct member *member = membership->list; member; member = member->next)
        if (!member->dead && member->has_row && member->beat > beats && membership_weight(member->id, place) >= own)
            return false;
    return true;
}

bool membership_is_first(struct membership *membership, uint64_t place)
{
    pthread_mutex_lock(&membership->lock);
    bool first = has_most_weight(membership, place, 0);
    pthread_mutex_unlock(&membership->lock);
    return first;
}

bool membership_is_replacement(struct membership *membership, const char *dead, uint64_t place)
{
    pthread_mutex_lock(&membership->lock);
    const struct member *member = member_find(membership, dead);
    bool ours = member && member->replacement ? member->replacement == REPLACEMENT_SELF
                                              : has_most_weight(membership, place, MEMBER_BEATS + 1);
    pthread_mutex_unlock(&membership->lock);
    return ours;
}
