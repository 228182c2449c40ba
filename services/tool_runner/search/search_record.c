/* Searches outside in the record: a row for each source under the request's key, beside those of tool calls. A search
 * that is paid is on disk as begun before it is sent. The row has the hits in the order of the source's lists; how many
 * each list has stands in structured_json, and the reason of a partial answer in message. */
#include "search/search_priv.h"

#include "base/clock.h"
#include "instance/tool_runner_instance.h"
#include "record/records.h"
#include "rpc/call.h"
#include "json/pull.h"
#include "json/writer.h"

#include <stdio.h>
#include <string.h>

#define ROW_PREFIX "search:"

struct row_name {
    char text[sizeof ROW_PREFIX + SEARCH_SOURCE_NAME_MAX];
};

static struct row_name record_row(const struct search_subquery *subquery)
{
    struct row_name name;
    snprintf(name.text, sizeof name.text, ROW_PREFIX "%s", search_subquery_name(subquery));
    return name;
}

/* All that decides on the answer. */
static bool record_make_digest(struct search_subquery *subquery)
{
    struct buffer text;
    struct json_writer out;
    struct row_name name = record_row(subquery);
    buffer_init(&text, 8 * SEARCH_QUERY_MAX);
    json_writer_init(&out, &text);
    json_write_object(&out, NULL);
    json_write_string(&out, "query", subquery->search->query);
    json_write_int(&out, "limit", subquery->search->limit);
    json_write_end(&out);
    bool good = json_writer_done(&out);
    record_digest(name.text, buffer_text(&text), subquery->digest);
    buffer_fini(&text);
    return good;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static bool record_restore(struct search_subquery *subquery, const struct record_call *known, struct status *st)
{
    size_t count = 0;
    Renga__V1__ToolResult *result = (Renga__V1__ToolResult *)rpc_unpack(
        &renga__v1__tool_result__descriptor, known->result.bytes, known->result.size, &subquery->search->arena, st);
    if (!result)
        return false;
    struct json_pull in;
    struct json_scope list;
    struct status ignored = {0};
    json_pull_init(&in, result->structured_json, strlen(result->structured_json), NULL, NULL, &ignored);
    for (bool more = json_pull_array(&in, &list); more && json_pull_next(&in, &list);)
        if (subquery->list_count < SEARCH_LISTS_MAX)
            subquery->lists[subquery->list_count++] = (size_t)json_pull_integer(&in, 0, SEARCH_RESULTS_MAX, 0);
    json_pull_end(&in);
    for (size_t i = 0; i < subquery->list_count; i++)
        count += subquery->lists[i];
    subquery->hits = result->hits;
    subquery->partial = result->message[0] ? result->message : NULL;
    return count == result->n_hits ||
           fail(st, DATA_LOSS, "the record of the search at '%s' is damaged", search_subquery_name(subquery));
}

bool search_record_find(struct search_subquery *subquery, enum search_known *known, struct status *st)
{
    struct search *search = subquery->search;
    struct row_name name = record_row(subquery);
    *known = SEARCH_NEW;
    if (!record_make_digest(subquery))
        return fail(st, RESOURCE_EXHAUSTED, "no memory for a search");
    subquery->due_ms = clock_wall_ns() / NS_PER_MS + records_keep_ms(search->runner->shared->records);
    struct record_call call = record_find(&search->rows, &search->name, name.text);
    if (!call.known)
        return true;
    if (!call.damaged && memcmp(call.digest, subquery->digest, RECORD_DIGEST) != 0)
        return fail_field(st, "idempotency_key",
                          "was used for another query or limit before; take a new key for another search");
    if (!call.damaged && call.ended) {
        *known = SEARCH_RECORDED;
        return record_restore(subquery, &call, st);
    }
    *known = SEARCH_IN_DOUBT;
    subquery->due_ms = call.damaged ? subquery->due_ms : call.due_ms;
    return true;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

bool search_record_begin(struct search_subquery *subquery)
{
    struct row_name name = record_row(subquery);
    return record_put(&subquery->batch, &subquery->search->name, name.text, subquery->digest, subquery->due_ms, NULL);
}

bool search_record_end(struct search_subquery *subquery)
{
    struct row_name name = record_row(subquery);
    struct buffer lists;
    struct json_writer out;
    Renga__V1__ToolResult result = RENGA__V1__TOOL_RESULT__INIT;
    buffer_init(&lists, 256);
    json_writer_init(&out, &lists);
    json_write_array(&out, NULL);
    for (size_t i = 0; i < subquery->list_count; i++) {
        json_write_int(&out, NULL, (int64_t)subquery->lists[i]);
        result.n_hits += subquery->lists[i];
    }
    json_write_end(&out);
    result.name = name.text;
    result.hits = subquery->hits;
    result.structured_json = (char *)(uintptr_t)buffer_text(&lists);
    result.message = (char *)(uintptr_t)(subquery->partial ? subquery->partial : "");
    bool good =
        record_put(&subquery->batch, &subquery->search->name, name.text, subquery->digest, subquery->due_ms, &result);
    buffer_fini(&lists);
    return good;
}

void search_record_forget(struct search_subquery *subquery)
{
    struct row_name name = record_row(subquery);
    record_forget(&subquery->batch, &subquery->search->name, name.text, subquery->due_ms);
}
