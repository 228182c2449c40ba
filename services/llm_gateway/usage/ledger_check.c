/* Checks a request for a usage report: its form, the caller's rights, and the token of its next page.
 *
 * Tokens need no state here. A token holds the time of the first page, the rows to skip, and a hash of both and the
 * rest of the request, which detects a token of another request. Rights are checked again with every page. */
#include "usage/ledger_priv.h"

#include "base/clock.h"
#include "base/text.h"
#include "rpc/rpc.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define OFFSET_MAX_MINUTES 840
#define QUARTER_MINUTES    15
#define PAGE_DEFAULT       100
#define PAGE_MAX           1000
#define TOKEN_MAX          256
#define TOKEN_LIFE_MS      INT64_C(3600000)
#define CLOCK_SKEW_MS      INT64_C(60000)           /* by which another replica's clock may be ahead */
#define TIME_MAX_MS        INT64_C(253402300800000) /* the year 10000: a later time is an error (nanoseconds?) */
#define SKIP_MAX           INT64_C(1000000000000)
#define REQUEST_PACKED_MAX 4096

/* ---- tokens ------------------------------------------------------------------------------------------------------ */

static uint64_t token_hash(const Renga__V1__GetUsageRequest *request, int64_t issued_ms, int64_t skip)
{
    static char none[1];
    uint8_t bytes[REQUEST_PACKED_MAX];
    Renga__V1__GetUsageRequest rest = *request;
    rest.page_token = none;
    size_t size = renga__v1__get_usage_request__get_packed_size(&rest);
    if (size > sizeof bytes) /* unknown fields of a newer client: they have no meaning here */
        size = 0;
    else
        renga__v1__get_usage_request__pack(&rest, bytes);
    return sums_hash(bytes, size, (uint64_t)issued_ms * 31 + (uint64_t)skip);
}

void page_token_write(char token[PAGE_TOKEN_SIZE], const Renga__V1__GetUsageRequest *request, int64_t issued_ms,
                      int64_t skip)
{
    snprintf(token, PAGE_TOKEN_SIZE, "%016" PRIx64 "-%" PRIx64 "-%" PRIx64, token_hash(request, issued_ms, skip),
             (uint64_t)issued_ms, (uint64_t)skip);
}

bool page_token_read(const Renga__V1__GetUsageRequest *request, int64_t *now_ms, int64_t *skip, struct status *st)
{
    uint64_t hash, issued, skipped;
    int end = 0;
    const char *token = request->page_token;
    if (sscanf(token, "%16" SCNx64 "-%15" SCNx64 "-%15" SCNx64 "%n", &hash, &issued, &skipped, &end) != 3 ||
        token[end] || skipped > SKIP_MAX || hash != token_hash(request, (int64_t)issued, (int64_t)skipped))
        return fail(
            st, OUT_OF_RANGE,
            "page_token is not known for this request; send it with the rest of the request as it was, or begin "
            "with the first page");
    if ((int64_t)issued > *now_ms + CLOCK_SKEW_MS || (int64_t)issued < *now_ms - TOKEN_LIFE_MS)
        return fail(st, OUT_OF_RANGE, "page_token is older than an hour; begin with the first page");
    *now_ms = (int64_t)issued;
    *skip = (int64_t)skipped;
    return true;
}

/* ---- fields ------------------------------------------------------------------------------------------------------ */

static bool check_groups(const Renga__V1__GetUsageRequest *request, struct status *st)
{
    unsigned seen = 0, times = 0;
    if (request->n_group_by > LEDGER_GROUPS_MAX)
        return fail_field(st, "group_by", "has %zu groups; at most %d are allowed", request->n_group_by,
                          LEDGER_GROUPS_MAX);
    for (size_t i = 0; i < request->n_group_by; i++) {
        Renga__V1__UsageGroup group = request->group_by[i];
        char field[32];
        snprintf(field, sizeof field, "group_by[%zu]", i);
        if (group < RENGA__V1__USAGE_GROUP__USAGE_GROUP_CLIENT || group > RENGA__V1__USAGE_GROUP__USAGE_GROUP_DAY)
            return fail_field(st, field, "is %d; it must be USAGE_GROUP_CLIENT (1) to USAGE_GROUP_DAY (8)", (int)group);
        if (seen & 1u << group)
            return fail_field(st, field, "stands there twice; each group may be named once");
        seen |= 1u << group;
        times += group >= RENGA__V1__USAGE_GROUP__USAGE_GROUP_HOUR;
    }
    return times < 2 ||
           fail_field(st, "group_by", "has both USAGE_GROUP_HOUR and USAGE_GROUP_DAY; only one of them is allowed");
}

static bool check_time(const char *field, int64_t ms, struct status *st)
{
    return (ms >= 0 && ms <= TIME_MAX_MS) ||
           fail_field(st, field, "is %" PRId64 "; it must be Unix time in milliseconds", ms);
}

static bool check_times(const Renga__V1__GetUsageRequest *request, struct status *st)
{
    int32_t offset = request->utc_offset_minutes;
    if (!check_time("from_ms", request->from_ms, st) || !check_time("to_ms", request->to_ms, st))
        return false;
    if (request->to_ms && request->to_ms <= request->from_ms)
        return fail_field(st, "to_ms", "is %" PRId64 ", not after from_ms, which is %" PRId64, request->to_ms,
                          request->from_ms);
    if (offset < -OFFSET_MAX_MINUTES || offset > OFFSET_MAX_MINUTES || offset % QUARTER_MINUTES)
        return fail_field(st, "utc_offset_minutes", "is %d; it must be a multiple of %d within %d and %d", offset,
                          QUARTER_MINUTES, -OFFSET_MAX_MINUTES, OFFSET_MAX_MINUTES);
    return true;
}

static bool ledger_check_text(const char *field, const char *text, size_t max, struct status *st)
{
    size_t length = strlen(text);
    return length <= max || fail_field(st, field, "has %zu bytes; at most %zu are allowed", length, max);
}

static bool ledger_check_request(const Renga__V1__GetUsageRequest *request, struct status *st)
{
    return check_times(request, st) && check_groups(request, st) &&
           ledger_check_text("client", request->client, SUM_NAME_MAX, st) &&
           ledger_check_text("tenant", request->tenant, SUM_NAME_MAX, st) &&
           ledger_check_text("model", request->model, SUM_NAME_MAX, st) &&
           ledger_check_text("deployment", request->deployment, SUM_NAME_MAX, st) &&
           ledger_check_text("run_id", request->run_id, SUM_RUN_MAX, st) &&
           ledger_check_text("thread_id", request->thread_id, SUM_NAME_MAX, st) &&
           ledger_check_text("page_token", request->page_token, TOKEN_MAX, st) &&
           ((request->page_size >= 0 && request->page_size <= PAGE_MAX) ||
            fail_field(st, "page_size", "is %d; it must be 1 to %d, or 0 for %d", request->page_size, PAGE_MAX,
                       PAGE_DEFAULT));
}

/* ---- rights ------------------------------------------------------------------------------------------------------ */

/* A name as the accounts have it. */
static const char *kept_name(char kept[SUM_NAME_MAX + 1], const char *name)
{
    size_t length = text_cut(name, strlen(name), SUM_NAME_MAX);
    memcpy(kept, name, length);
    kept[length] = '\0';
    return kept;
}

/* A tenant's clients see its accounts; one without a tenant its own, since others without one are strangers to it. */
static bool narrow(struct usage_query *query, const struct rpc_principal *caller, struct status *st)
{
    const char *client = kept_name(query->own_client, caller->name);
    const char *tenant = kept_name(query->own_tenant, caller->tenant);
    if (query->names[SUM_CLIENT] && strcmp(query->names[SUM_CLIENT], client) != 0)
        return fail(st, PERMISSION_DENIED, "client is '%s' and the caller is '%s'; only an operator's key sees others",
                    query->names[SUM_CLIENT], client);
    if (query->names[SUM_TENANT] && strcmp(query->names[SUM_TENANT], tenant) != 0)
        return fail(st, PERMISSION_DENIED,
                    "tenant is '%s' and the caller's is '%s'; only an operator's key sees others",
                    query->names[SUM_TENANT], tenant);
    query->names[SUM_TENANT] = tenant;
    if (!tenant[0])
        query->names[SUM_CLIENT] = client;
    return true;
}

/* ---- the question ------------------------------------------------------------------------------------------------ */

static const char *given(const char *text)
{
    return text[0] ? text : NULL;
}

bool usage_query_init(struct usage_query *query, const Renga__V1__GetUsageRequest *request,
                      const struct rpc_principal *caller, bool sees_all, int64_t *now_ms, struct status *st)
{
    *query = (struct usage_query){
        .names = {[SUM_CLIENT] = given(request->client),
                  [SUM_TENANT] = given(request->tenant),
                  [SUM_MODEL] = given(request->model),
                  [SUM_DEPLOYMENT] = given(request->deployment),
                  [SUM_RUN] = given(request->run_id),
                  [SUM_THREAD] = given(request->thread_id)},
        .group_count = request->n_group_by,
        .offset = request->utc_offset_minutes / QUARTER_MINUTES,
        .limit = request->page_size ? request->page_size : PAGE_DEFAULT,
    };
    if (!ledger_check_request(request, st) || (!sees_all && !narrow(query, caller, st)))
        return false;
    if (request->page_token[0] && !page_token_read(request, now_ms, &query->skip, st))
        return false;
    for (size_t i = 0; i < request->n_group_by; i++)
        query->groups[i] = request->group_by[i];
    int64_t to_ms = request->to_ms ? request->to_ms : *now_ms + 1;
    query->from = request->from_ms / QUARTER_MS;
    query->to = (to_ms + QUARTER_MS - 1) / QUARTER_MS;
    return true;
}
