/* Searches outside in the record: a row for each source under the request's key, beside those of tool calls. A search
 * that is paid is on disk as begun before it is sent. The row has the hits in the order of the source's lists; how many
 * each list has stands in structured_json, and the reason of a partial answer in message. */
#include "search/search_priv.h"

#include "base/clock.h"
#include "base/json_pull.h"
#include "base/json_writer.h"
#include "rpc/call.h"
#include "run/records.h"
#include "tool_runner_priv.h"

#include <stdio.h>
#include <string.h>

#define ROW_PREFIX "search:"

struct row_name {
    char text[sizeof ROW_PREFIX + SEARCH_SOURCE_NAME_MAX];
};

static struct row_name record_row(const struct search_leg *leg)
{
    struct row_name name;
    snprintf(name.text, sizeof name.text, ROW_PREFIX "%s", search_leg_name(leg));
    return name;
}

/* All that decides on the answer. */
static bool record_make_digest(struct search_leg *leg)
{
    struct buffer text;
    struct json_writer out;
    struct row_name name = record_row(leg);
    buffer_init(&text, 8 * SEARCH_QUERY_MAX);
    json_writer_init(&out, &text);
    json_write_object(&out, NULL);
    json_write_string(&out, "query", leg->search->query);
    json_write_int(&out, "limit", leg->search->limit);
    json_write_end(&out);
    bool good = json_writer_done(&out);
    record_digest(name.text, buffer_text(&text), leg->digest);
    buffer_fini(&text);
    return good;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static void record_read_lists(struct search_leg *leg, const char *json)
{
    struct json_pull in;
    struct json_scope list;
    struct status ignored = {0};
    json_pull_init(&in, json, strlen(json), NULL, NULL, &ignored);
    for (bool more = json_pull_array(&in, &list); more && json_pull_next(&in, &list);)
        if (leg->list_count < SEARCH_LISTS_MAX)
            leg->lists[leg->list_count++] = (size_t)json_pull_integer(&in, 0, SEARCH_RESULTS_MAX, 0);
    json_pull_end(&in);
}

static bool record_restore(struct search_leg *leg, const struct record_call *known, struct status *st)
{
    size_t count = 0;
    Renga__V1__ToolResult *result = (Renga__V1__ToolResult *)rpc_unpack(
        &renga__v1__tool_result__descriptor, known->result.bytes, known->result.size, &leg->search->arena, st);
    if (!result)
        return false;
    record_read_lists(leg, result->structured_json);
    for (size_t i = 0; i < leg->list_count; i++)
        count += leg->lists[i];
    leg->hits = result->hits;
    leg->partial = result->message[0] ? result->message : NULL;
    return count == result->n_hits ||
           fail(st, DATA_LOSS, "the record of the search at '%s' is damaged", search_leg_name(leg));
}

bool search_record_find(struct search_leg *leg, enum search_known *known, struct status *st)
{
    struct search *search = leg->search;
    struct row_name name = record_row(leg);
    *known = SEARCH_NEW;
    if (!record_make_digest(leg))
        return fail(st, RESOURCE_EXHAUSTED, "no memory for a search");
    leg->due_ms = clock_wall_ns() / NS_PER_MS + records_keep_ms(search->runner->commons->records);
    struct record_call call = record_find(&search->rows, &search->name, name.text);
    if (!call.known)
        return true;
    if (!call.damaged && memcmp(call.digest, leg->digest, RECORD_DIGEST) != 0)
        return fail_field(st, "idempotency_key",
                          "was used for another query or limit before; take a new key for another search");
    if (!call.damaged && call.ended) {
        *known = SEARCH_RECORDED;
        return record_restore(leg, &call, st);
    }
    *known = SEARCH_IN_DOUBT;
    leg->due_ms = call.damaged ? leg->due_ms : call.due_ms;
    return true;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

bool search_record_begin(struct search_leg *leg)
{
    struct row_name name = record_row(leg);
    return record_put(&leg->batch, &leg->search->name, name.text, leg->digest, leg->due_ms, NULL);
}

bool search_record_end(struct search_leg *leg)
{
    struct row_name name = record_row(leg);
    struct buffer lists;
    struct json_writer out;
    Renga__V1__ToolResult result = RENGA__V1__TOOL_RESULT__INIT;
    buffer_init(&lists, 256);
    json_writer_init(&out, &lists);
    json_write_array(&out, NULL);
    for (size_t i = 0; i < leg->list_count; i++) {
        json_write_int(&out, NULL, (int64_t)leg->lists[i]);
        result.n_hits += leg->lists[i];
    }
    json_write_end(&out);
    result.name = name.text;
    result.hits = leg->hits;
    result.structured_json = (char *)(uintptr_t)buffer_text(&lists);
    result.message = (char *)(uintptr_t)(leg->partial ? leg->partial : "");
    bool good = record_put(&leg->batch, &leg->search->name, name.text, leg->digest, leg->due_ms, &result);
    buffer_fini(&lists);
    return good;
}

void search_record_forget(struct search_leg *leg)
{
    struct row_name name = record_row(leg);
    record_forget(&leg->batch, &leg->search->name, name.text, leg->due_ms);
}
