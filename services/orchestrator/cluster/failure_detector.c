/* The failure detector: which members live, from periodic reads of their rows. */
#include "membership.h"
#include "membership_priv.h"
#include "thread/memory.h"

#include "base/log.h"

#include <stdlib.h>

/* ---- by name ----------------------------------------------------------------------------------------------------- */

struct member *member_find(const struct membership *membership, const char *id)
{
    for (struct member *member = membership->list; member; member = member->next)
        if (strcmp(member->id, id) == 0)
            return member;
    return NULL;
}

struct member *member_find_or_add(struct membership *membership, const char *id)
{
    struct member *member = member_find(membership, id);
    if (member || membership->count == MEMBERS_MAX || strlen(id) >= sizeof member->id)
        return member;
    member = xnonnull(calloc(1, sizeof *member));
    text_cut_copy(member->id, sizeof member->id, id);
    member->next = membership->list;
    membership->list = member;
    membership->count++;
    return member;
}

/* ---- a member's row ---------------------------------------------------------------------------------------------- */

/* A row that was read may have been written as late as it came; after a freeze of the reader, a lease is enough. */
static int64_t read_took_ns(const struct membership *membership)
{
    int64_t took_ns = clock_now_ns() - membership->read_ns, lease_ns = membership_lease_ns(membership);
    return took_ns < lease_ns ? took_ns : lease_ns;
}

static void note_fan_out(struct member *member, const Renga__V1__MemberFanOut *row)
{
    struct fanout_member *fanout_member = &member->fanout_member;
    *fanout_member = (struct fanout_member){0};
    if (!row || row->token.len != sizeof fanout_member->token || strlen(row->address) >= sizeof fanout_member->address)
        return;
    text_cut_copy(fanout_member->id, sizeof fanout_member->id, member->id);
    text_cut_copy(fanout_member->address, sizeof fanout_member->address, row->address);
    memcpy(fanout_member->token, row->token.data, sizeof fanout_member->token);
    fanout_member->version = row->version;
    fanout_member->datagram_max = row->letter_max;
    fanout_member->loops = row->loops <= LOOPS_MAX ? row->loops : LOOPS_MAX;
}

void failure_detector_note(struct membership *membership, const char *id, const Renga__V1__MemberRow *row,
                           struct store_bytes bytes)
{
    struct member *member = bytes.size <= MEMBER_ROW_MAX ? member_find_or_add(membership, id) : NULL;
    if (!member)
        return;
    memcpy(member->row, bytes.bytes, bytes.size);
    member->row_size = bytes.size;
    if (!member->has_row)
        member->seen_in = membership->reads;
    if (member->beat != row->beat || !member->has_row) {
        if (member->dead)
            log_info("members.back", "orchestrator %s shows life again", id);
        member->unchanged_ns = -read_took_ns(membership);
        member->dead = false;
        member->replacement = REPLACEMENT_NONE;
    }
    member->beat = row->beat;
    member->has_row = true;
    text_cut_copy(member->name, sizeof member->name, row->name);
    text_cut_copy(member->address, sizeof member->address, row->address);
    note_fan_out(member, row->fan_out);
    member->left = row->leaving;
    if (row->leaving)
        member->unchanged_ns = membership_lease_ns(membership);
}

/* ---- replacements ------------------------------------------------------------------------------------------------ */

/* An address belongs to a single orchestrator; without an address, host and process id identify it. */
static bool member_has_address(const struct member *member, const char *address, const char *name)
{
    const char *own = *address ? address : name, *theirs = *address ? member->address : member->name;
    return member->has_row && *own && !*member->address == !*address && strcmp(own, theirs) == 0;
}

static void member_set_replacement(struct membership *membership, struct member *member, enum replacement replacement)
{
    if (member->dead)
        return;
    member->replacement = replacement;
    member->unchanged_ns = membership_lease_ns(membership);
}

/* If a new row has the address of an older row, the older process has ended: the others do not wait for its lease. If
 * two orchestrators have the same address by mistake, the earlier shows life again with its next beat, and has lost
 * some threads to the other. */
static void note_replacements(struct membership *membership)
{
    for (struct member *member = membership->list; member; member = member->next) {
        if (membership->reads == 1 && member_has_address(member, membership->address, membership->name))
            member_set_replacement(membership, member, REPLACEMENT_SELF);
        if (membership->reads == 1 || !member->has_row || member->seen_in != membership->reads)
            continue;
        if (member_has_address(member, membership->address, membership->name))
            log_warn("members.twice",
                     "orchestrator %s says that it is at '%s', where this one is; give each its own "
                     "orchestrator.address",
                     member->id, member->address);
        for (struct member *other = membership->list; other; other = other->next)
            if (other->seen_in < member->seen_in && member_has_address(other, member->address, member->name))
                member_set_replacement(membership, other, REPLACEMENT_OTHER);
    }
}

/* ---- dead members ------------------------------------------------------------------------------------------------ */

bool failure_detector_judge(struct membership *membership)
{
    bool died = false;
    note_replacements(membership);
    for (struct member *member = membership->list; member; member = member->next) {
        if (member->dead || member->unchanged_ns < membership_lease_ns(membership))
            continue;
        member->dead = died = true;
        log_warn("members.dead", "orchestrator %s at '%s' %s; what it had is taken up", member->id, member->address,
                 member->replacement ? "has another in its place" : "shows no life");
    }
    return died;
}

/* Time without a read does not count toward the lease of a member. */
void failure_detector_age(struct membership *membership)
{
    membership->reads++;
    int64_t passed_ns = membership->read_before_ns ? membership->read_ns - membership->read_before_ns : 0;
    if (passed_ns > 2 * membership->beat_ns)
        passed_ns = 2 * membership->beat_ns;
    for (struct member *member = membership->list; member; member = member->next)
        member->unchanged_ns += passed_ns;
}

int64_t failure_detector_next_ns(const struct membership *membership, int64_t next_ns)
{
    for (const struct member *member = membership->list; member; member = member->next) {
        int64_t ends_ns = membership->read_before_ns + membership_lease_ns(membership) - member->unchanged_ns;
        if (!member->dead && ends_ns < next_ns)
            next_ns = ends_ns;
    }
    return next_ns;
}
