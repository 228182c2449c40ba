/* The history's bounds: which of the oldest changes and requests leave with the next change. They leave in groups,
 * so that most changes read no old rows. */
#include "playbook_write.h"

#include "playbook_cache.h"
#include "record/row_key.h"
#include "rpc/call.h"
#include "store/checksum.h"

#include <string.h>

#define GROUP 32 /* changes and requests that leave together; so many more than the bound are kept */

static const struct playbooks_options *playbook_trim_options_of(const struct playbook_write *write)
{
    return &write->runner->shared->playbooks->options;
}

static int64_t excess_changes(const struct playbook_write *write)
{
    const struct playbook_head *head = &write->load.head;
    return head->revision - head->oldest + 1 - playbook_trim_options_of(write)->revisions;
}

static int64_t excess_requests(const struct playbook_write *write)
{
    const struct playbook_head *head = &write->load.head;
    return head->requests - head->oldest_request + 1 - playbook_trim_options_of(write)->revisions;
}

static bool history_is_large(const struct playbook_write *write)
{
    return write->load.head.history_bytes > playbook_trim_options_of(write)->history_max;
}

bool playbook_trim_is_needed(const struct playbook_write *write)
{
    return !write->dry_run && write->load.head.incarnation &&
           (excess_changes(write) >= GROUP || excess_requests(write) >= GROUP || history_is_large(write));
}

static bool trim_prepare(struct playbook_write *write, char letter, int64_t oldest, void (*done)(struct store_scan *))
{
    struct playbook_key key = {rpc_call_principal(write->rpc)->tenant, write->dataset};
    store_scan_init(&write->scan, write->runner->loop, done);
    write->scan.from = playbook_row_key(&write->arena, &key, letter, oldest, "");
    write->scan.to = playbook_row_key(&write->arena, &key, letter, oldest + 2 * GROUP, "");
    return !write->arena.exhausted || fail(&write->status, RESOURCE_EXHAUSTED, "no memory for the call");
}

static bool trim_failed(struct playbook_write *write)
{
    if (write->scan.status.code != OK)
        fail(&write->status, UNAVAILABLE, "the playbook cannot be read: %s", write->scan.status.text);
    return write->status.code != OK;
}

static void trim_ended(struct playbook_write *write)
{
    store_scan_fini(&write->scan);
    write->trim_ended(write);
}

/* ---- requests ---------------------------------------------------------------------------------------------------- */

static void trim_take_request(struct playbook_write *write, const struct store_row *row)
{
    struct playbook_key key = {rpc_call_principal(write->rpc)->tenant, write->dataset};
    struct store_bytes rest;
    int64_t number;
    size_t length = row->value.size - STORE_CHECKSUM_BYTES;
    if (row->value.size < STORE_CHECKSUM_BYTES || length >= sizeof(*write->trim.request_ids) ||
        !playbook_value_is_whole(row, length) || !playbook_row_number(&key, row, &number, &rest))
        return;
    number -= write->load.head.oldest_request;
    if (number >= 0 && number < write->trim.requests)
        memcpy(write->trim.request_ids[number], row->value.bytes, length);
}

/* A row that cannot be read leaves; the request's own row stays then. */
static void trim_requests_read(struct store_scan *scan)
{
    struct playbook_write *write = CONTAINER_OF(scan, struct playbook_write, scan);
    int64_t most = excess_requests(write) < 2 * GROUP ? excess_requests(write) : 2 * GROUP;
    if (!trim_failed(write)) {
        write->trim.request_ids = arena_zalloc(&write->arena, (size_t)most * sizeof(*write->trim.request_ids));
        write->trim.requests = write->trim.request_ids ? most : 0;
    }
    for (size_t i = 0; i < scan->count && write->trim.requests; i++)
        trim_take_request(write, &scan->rows[i]);
    trim_ended(write);
}

static void trim_requests(struct playbook_write *write)
{
    if (write->status.code != OK || excess_requests(write) < GROUP) {
        write->trim_ended(write);
        return;
    }
    if (trim_prepare(write, 's', write->load.head.oldest_request, trim_requests_read))
        store_scan(write->load.store, &write->scan);
    else
        write->trim_ended(write);
}

/* ---- changes ----------------------------------------------------------------------------------------------------- */

static int64_t change_size(const struct store_row *row)
{
    return playbook_value_is_whole(row, 8) ? row_key_read_number(row->value.bytes) : 0;
}

static void trim_changes_read(struct store_scan *scan)
{
    struct playbook_write *write = CONTAINER_OF(scan, struct playbook_write, scan);
    struct playbook_trim *trim = &write->trim;
    int64_t excess = excess_changes(write), kept = write->load.head.history_bytes;
    if (!trim_failed(write))
        for (size_t i = 0; i < scan->count; i++) {
            if (trim->changes >= excess && kept <= playbook_trim_options_of(write)->history_max)
                break;
            if (write->load.head.oldest + trim->changes >= write->load.head.revision)
                break; /* the newest stays */
            kept -= change_size(&scan->rows[i]);
            trim->changes++;
        }
    if (!scan->count && excess > 0) /* rows are missing */
        trim->changes = excess < 2 * GROUP ? excess : 2 * GROUP;
    trim->change_bytes = write->load.head.history_bytes - kept;
    store_scan_fini(scan);
    trim_requests(write);
}

void playbook_trim_start(struct playbook_write *write, void (*ended)(struct playbook_write *write))
{
    write->trim_ended = ended;
    if (excess_changes(write) < GROUP && !history_is_large(write))
        trim_requests(write);
    else if (trim_prepare(write, 'c', write->load.head.oldest, trim_changes_read))
        store_scan(write->load.store, &write->scan);
    else
        ended(write);
}
