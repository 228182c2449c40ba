/* The failure detector: which members live, from periodic reads of their rows. */
#include "members_priv.h"

#include "base/log.h"

#include <stdlib.h>

/* ---- by name ----------------------------------------------------------------------------------------------------- */

struct member *member_find(const struct members *members, const char *id)
{
    for (struct member *member = members->list; member; member = member->next)
        if (strcmp(member->id, id) == 0)
            return member;
    return NULL;
}

struct member *member_find_or_add(struct members *members, const char *id)
{
    struct member *member = member_find(members, id);
    if (member || members->count == MEMBERS_MAX || strlen(id) >= sizeof member->id)
        return member;
    member = need(calloc(1, sizeof *member));
    text_cut_copy(member->id, sizeof member->id, id);
    member->next = members->list;
    members->list = member;
    members->count++;
    return member;
}

/* ---- a member's row ---------------------------------------------------------------------------------------------- */

/* A row that was read may have been written as late as it came; after a freeze of the reader, a lease is enough. */
static int64_t read_took_ns(const struct members *members)
{
    int64_t took_ns = clock_now_ns() - members->read_ns, lease_ns = members_lease_ns(members);
    return took_ns < lease_ns ? took_ns : lease_ns;
}

static void note_fan_out(struct member *member, const Renga__V1__MemberFanOut *row)
{
    struct fellow *fellow = &member->fellow;
    *fellow = (struct fellow){0};
    if (!row || row->token.len != sizeof fellow->token || strlen(row->address) >= sizeof fellow->address)
        return;
    text_cut_copy(fellow->id, sizeof fellow->id, member->id);
    text_cut_copy(fellow->address, sizeof fellow->address, row->address);
    memcpy(fellow->token, row->token.data, sizeof fellow->token);
    fellow->version = row->version;
    fellow->letter_max = row->letter_max;
    fellow->loops = row->loops <= LOOPS_MAX ? row->loops : LOOPS_MAX;
}

void silence_note(struct members *members, const char *id, const Renga__V1__MemberRow *row, struct store_bytes bytes)
{
    struct member *member = bytes.size <= MEMBER_ROW_MAX ? member_find_or_add(members, id) : NULL;
    if (!member)
        return;
    memcpy(member->row, bytes.bytes, bytes.size);
    member->row_size = bytes.size;
    if (!member->has_row)
        member->seen_in = members->reads;
    if (member->beat != row->beat || !member->has_row) {
        if (member->dead)
            log_info("members.back", "orchestrator %s shows life again", id);
        member->silent_ns = -read_took_ns(members);
        member->dead = false;
        member->heir = HEIR_NONE;
    }
    member->beat = row->beat;
    member->has_row = true;
    text_cut_copy(member->name, sizeof member->name, row->name);
    text_cut_copy(member->address, sizeof member->address, row->address);
    note_fan_out(member, row->fan_out);
    member->left = row->leaving;
    if (row->leaving)
        member->silent_ns = members_lease_ns(members);
}

/* ---- replacements ------------------------------------------------------------------------------------------------ */

/* An address belongs to a single orchestrator; without an address, host and process id identify it. */
static bool is_place_of(const struct member *member, const char *address, const char *name)
{
    const char *own = *address ? address : name, *theirs = *address ? member->address : member->name;
    return member->has_row && *own && !*member->address == !*address && strcmp(own, theirs) == 0;
}

static void succeed(struct members *members, struct member *member, enum heir heir)
{
    if (member->dead)
        return;
    member->heir = heir;
    member->silent_ns = members_lease_ns(members);
}

/* If a new row has the address of an older row, the older process has ended: the others do not wait for its lease. If
 * two orchestrators have the same address by mistake, the earlier shows life again with its next beat, and has lost
 * some threads to the other. */
static void note_heirs(struct members *members)
{
    for (struct member *member = members->list; member; member = member->next) {
        if (members->reads == 1 && is_place_of(member, members->address, members->name))
            succeed(members, member, HEIR_SELF);
        if (members->reads == 1 || !member->has_row || member->seen_in != members->reads)
            continue;
        if (is_place_of(member, members->address, members->name))
            log_warn("members.twice",
                     "orchestrator %s says that it is at '%s', where this one is; give each its own "
                     "orchestrator.address",
                     member->id, member->address);
        for (struct member *other = members->list; other; other = other->next)
            if (other->seen_in < member->seen_in && is_place_of(other, member->address, member->name))
                succeed(members, other, HEIR_OTHER);
    }
}

/* ---- dead members ------------------------------------------------------------------------------------------------ */

bool silence_judge(struct members *members)
{
    bool died = false;
    note_heirs(members);
    for (struct member *member = members->list; member; member = member->next) {
        if (member->dead || member->silent_ns < members_lease_ns(members))
            continue;
        member->dead = died = true;
        log_warn("members.dead", "orchestrator %s at '%s' %s; what it had is taken up", member->id, member->address,
                 member->heir ? "has another in its place" : "shows no life");
    }
    return died;
}

/* Time without a read does not count as silence of a member. */
void silence_age(struct members *members)
{
    members->reads++;
    int64_t passed_ns = members->read_before_ns ? members->read_ns - members->read_before_ns : 0;
    if (passed_ns > 2 * members->beat_ns)
        passed_ns = 2 * members->beat_ns;
    for (struct member *member = members->list; member; member = member->next)
        member->silent_ns += passed_ns;
}

int64_t silence_ends_ns(const struct members *members, int64_t next_ns)
{
    for (const struct member *member = members->list; member; member = member->next) {
        int64_t ends_ns = members->read_before_ns + members_lease_ns(members) - member->silent_ns;
        if (!member->dead && ends_ns < next_ns)
            next_ns = ends_ns;
    }
    return next_ns;
}
