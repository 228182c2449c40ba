#include "members_priv.h"

#include "base/log.h"
#include "base/random.h"

#include <stdlib.h>

#define FORGOTTEN_NS (INT64_C(60) * NS_PER_SEC) /* dead for so long: its row is taken away */

static void send_beat(struct members *members);

/* ---- the beat ---------------------------------------------------------------------------------------------------- */

static void clear(struct members *members)
{
    for (struct member *member = members->list, *next; member; member = next) {
        next = member->next;
        free(member);
    }
    pthread_mutex_destroy(&members->lock);
    free(members);
}

static void send_out(struct members *members)
{
    members->out++;
    atomic_fetch_add(&members->holders, 1);
}

static bool came_back(struct members *members)
{
    members->out--;
    if (members->stopped) {
        members_release(&members);
        return false;
    }
    atomic_fetch_sub(&members->holders, 1); /* its owner holds it too */
    return true;
}

/* Not only with the beat: a lease is over when it is. */
static int64_t next_look_ns(struct members *members, int64_t beat_ns)
{
    pthread_mutex_lock(&members->lock);
    int64_t next_ns = silence_ends_ns(members, beat_ns);
    pthread_mutex_unlock(&members->lock);
    return next_ns;
}

static void rest(struct members *members, bool read)
{
    int64_t now_ns = clock_now_ns(), next_ns = members->sent_ns + members->beat_ns;
    if (read)
        next_ns = next_look_ns(members, next_ns);
    if (members->left)
        send_beat(members);
    else if (!members->leaving)
        loop_arm(members->options.loop, &members->timer, next_ns > now_ns ? next_ns : now_ns);
}

static void key_of_member(struct key *key, const char *id)
{
    key_named(key, KEY_MEMBER, "", id);
}

/* A row that has long been still goes; if its orchestrator lives after all, it comes again with its next beat. */
static void forget_dead(struct members *members, struct store_batch *batch)
{
    struct key key;
    for (struct member **link = &members->list; *link;) {
        struct member *member = *link;
        if (!member->dead || member->silent_ns < FORGOTTEN_NS) {
            link = &member->next;
            continue;
        }
        key_of_member(&key, member->id);
        store_delete(batch, key_bytes(&key));
        *link = member->next;
        members->count--;
        free(member);
    }
}

static void note_rows(struct members *members, const struct store_scan *scan)
{
    struct arena arena;
    struct status st = {0};
    char none[2], id[ID_MAX];
    arena_init(&arena, NULL, 0, RECORD_MEMORY_MAX);
    for (size_t i = 0; i < scan->count; i++) {
        const Renga__V1__MemberRow *row = row_read(&arena, &renga__v1__member_row__descriptor, &scan->rows[i], &st);
        if (row && key_names(scan->rows[i].key, none, sizeof none, id, sizeof id) && strcmp(id, members->id) != 0)
            silence_note(members, id, row, scan->rows[i].value);
    }
    arena_fini(&arena);
}

static void rows_came(struct store_scan *scan)
{
    struct members *members = OWNER_OF(scan, struct members, scan);
    bool good = scan->status.code == OK, died = false;
    if (good && !members->stopped) {
        pthread_mutex_lock(&members->lock);
        silence_age(members);
        note_rows(members, scan);
        died = silence_judge(members);
        pthread_mutex_unlock(&members->lock);
        members->read_before_ns = members->read_ns;
    }
    if (!good)
        log_warn("members.read", "the other orchestrators' rows cannot be read: %s", scan->status.text);
    store_scan_fini(scan);
    if (!came_back(members))
        return;
    rest(members, good);
    if (died && !members->leaving)
        members->options.died(members->options.data);
}

static void read_rows(struct members *members)
{
    struct key from, to;
    key_of_member(&from, "");
    key_behind(&to, KEY_MEMBER, NULL);
    store_scan_init(&members->scan, members->options.loop, rows_came);
    members->scan.from = key_bytes(&from);
    members->scan.to = key_bytes(&to);
    members->scan.limit = MEMBERS_MAX;
    members->read_ns = clock_now_ns();
    send_out(members);
    store_scan(members->options.store, &members->scan);
}

static void extend(struct members *members)
{
    bool lapsed = clock_boot_ns() >= members->lease_ns;
    if (lapsed)
        members->term++; /* before the lease: a reader of the new lease also sees the new term */
    members->lease_ns = members->sent_boot_ns + members_lease_ns(members);
    if (lapsed && members->term > 1 && !members->stopped)
        members->options.lapsed(members->options.data);
}

static void beaten(struct store_batch *batch)
{
    struct members *members = OWNER_OF(batch, struct members, batch);
    if (batch->status.code == OK)
        extend(members);
    else
        log_warn("members.beat", "this orchestrator's row cannot be written: %s", batch->status.text);
    store_batch_fini(batch);
    if (!came_back(members))
        return;
    if (!members->told) {
        read_rows(members);
        return;
    }
    void (*left)(void *) = members->left;
    members->left = NULL;
    left(members->left_data);
}

static void send_beat(struct members *members)
{
    struct key key;
    uint8_t bytes[MEMBER_ROW_MAX];
    Renga__V1__MemberRow row = RENGA__V1__MEMBER_ROW__INIT;
    row.address = members->address;
    row.name = members->name;
    row.beat = ++members->beat;
    row.leaving = members->told = members->leaving;
    row.fan_out = (Renga__V1__MemberFanOut *)(uintptr_t)members->options.fan_out;
    members->sent_ns = clock_now_ns();
    members->sent_boot_ns = clock_boot_ns();
    store_batch_init(&members->batch, members->options.loop, beaten);
    key_of_member(&key, members->id);
    store_put(&members->batch, key_bytes(&key), (struct store_bytes){bytes, renga__v1__member_row__pack(&row, bytes)});
    pthread_mutex_lock(&members->lock);
    forget_dead(members, &members->batch);
    pthread_mutex_unlock(&members->lock);
    send_out(members);
    store_commit(members->options.store, &members->batch);
}

static void expired(struct timer *timer)
{
    struct members *members = OWNER_OF(timer, struct members, timer);
    if (clock_now_ns() < members->sent_ns + members->beat_ns)
        read_rows(members);
    else
        send_beat(members);
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

struct members *members_create(const struct members_options *options)
{
    struct members *members = need(calloc(1, sizeof *members));
    members->options = *options;
    members->holders = 1;
    members->beat_ns = options->lease_ms * NS_PER_MS / MEMBER_BEATS;
    members->timer.expired = expired;
    text_cut_copy(members->name, sizeof members->name, options->name);
    text_cut_copy(members->address, sizeof members->address, options->address);
    id_make_hashed(members->id, "o_", random_u64());
    pthread_mutex_init(&members->lock, NULL);
    return members;
}

static void begin(struct work *work)
{
    struct members *members = OWNER_OF(work, struct members, beginning);
    if (!came_back(members) || members->leaving)
        return;
    log_info("members.self", "this orchestrator is %s at '%s' among those that share the store", members->id,
             members->address);
    send_beat(members);
}

void members_start(struct members *members)
{
    members->beginning.run = begin;
    send_out(members);
    loop_post(members->options.loop, &members->beginning);
}

void members_leave(struct members *members, void (*left)(void *data), void *data)
{
    members->leaving = true;
    if (!members->beat) {
        left(data);
        return;
    }
    members->left = left;
    members->left_data = data;
    loop_disarm(members->options.loop, &members->timer);
    if (!members->out) /* else when that has come back */
        send_beat(members);
}

void members_stop(struct members *members)
{
    if (!members)
        return;
    loop_disarm(members->options.loop, &members->timer);
    members->stopped = true;
}

/* Once it has stopped, only the store and the holder count. */
void members_release(struct members **members_pointer)
{
    struct members *members = *members_pointer;
    *members_pointer = NULL;
    if (members && atomic_fetch_sub(&members->holders, 1) == 1)
        clear(members);
}

/* ---- queries ----------------------------------------------------------------------------------------------------- */

const char *members_self(const struct members *members)
{
    return members->id;
}

uint64_t members_term(const struct members *members)
{
    return members->term;
}

bool members_holds(const struct members *members, uint64_t term)
{
    return members_is_sure(members) && members->term == term;
}

bool members_is_sure(const struct members *members)
{
    return clock_boot_ns() < members->lease_ns;
}

int64_t members_patience_ns(const struct members *members)
{
    return members_lease_ns(members) - 2 * members->beat_ns;
}

enum member_state members_state(struct members *members, const char *id, char address[MEMBER_ADDRESS_MAX])
{
    *address = '\0';
    if (strcmp(id, members->id) == 0)
        return MEMBER_SELF;
    pthread_mutex_lock(&members->lock);
    const struct member *member = member_find_or_add(members, id);
    enum member_state state = member && member->dead ? MEMBER_DEAD : MEMBER_ALIVE;
    if (member)
        text_cut_copy(address, MEMBER_ADDRESS_MAX, member->address);
    pthread_mutex_unlock(&members->lock);
    return state;
}

bool members_reaches(struct members *members, const char *id, char address[MEMBER_ADDRESS_MAX])
{
    *address = '\0';
    pthread_mutex_lock(&members->lock);
    const struct member *member = member_find(members, id);
    if (member && member->has_row && !member->dead)
        text_cut_copy(address, MEMBER_ADDRESS_MAX, member->address);
    pthread_mutex_unlock(&members->lock);
    return *address;
}

bool members_left(struct members *members, const char *id)
{
    pthread_mutex_lock(&members->lock);
    const struct member *member = member_find(members, id);
    bool left = member && member->left;
    pthread_mutex_unlock(&members->lock);
    return left;
}

bool members_lives(struct members *members, const char *id)
{
    pthread_mutex_lock(&members->lock);
    const struct member *member = member_find(members, id);
    bool lives = strcmp(id, members->id) == 0 || (member && member->has_row && !member->dead);
    pthread_mutex_unlock(&members->lock);
    return lives;
}

bool members_expect_dead(struct members *members, const char *id, struct store_batch *batch)
{
    struct key key;
    key_of_member(&key, id);
    if (strcmp(id, members->id) == 0)
        return true;
    pthread_mutex_lock(&members->lock);
    const struct member *member = member_find(members, id);
    bool dead = member && member->dead;
    if (dead && member->has_row)
        store_expect(batch, key_bytes(&key), (struct store_bytes){member->row, member->row_size});
    else if (dead)
        store_expect(batch, key_bytes(&key), (struct store_bytes){NULL, 0});
    pthread_mutex_unlock(&members->lock);
    return dead;
}

void members_each_fellow(struct members *members, void (*each)(const struct fellow *fellow, void *data), void *data)
{
    pthread_mutex_lock(&members->lock);
    for (const struct member *member = members->list; member; member = member->next)
        if (!member->dead && member->fellow.loops)
            each(&member->fellow, data);
    pthread_mutex_unlock(&members->lock);
}

static uint64_t weight(const char *id, uint64_t place)
{
    return id_hash_number(id_hash_text(ID_HASH, id), place);
}

/* Of those that have shown life more often than so. */
static bool has_most_weight(const struct members *members, uint64_t place, uint64_t beats)
{
    uint64_t own = weight(members->id, place);
    for (const struct member *member = members->list; member; member = member->next)
        if (!member->dead && member->has_row && member->beat > beats && weight(member->id, place) >= own)
            return false;
    return true;
}

bool members_is_first(struct members *members, uint64_t place)
{
    pthread_mutex_lock(&members->lock);
    bool first = has_most_weight(members, place, 0);
    pthread_mutex_unlock(&members->lock);
    return first;
}

bool members_is_heir(struct members *members, const char *dead, uint64_t place)
{
    pthread_mutex_lock(&members->lock);
    const struct member *member = member_find(members, dead);
    bool ours = member && member->heir ? member->heir == HEIR_SELF : has_most_weight(members, place, MEMBER_BEATS + 1);
    pthread_mutex_unlock(&members->lock);
    return ours;
}
