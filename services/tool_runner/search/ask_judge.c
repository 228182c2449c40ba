#include "search/ask_judge.h"

#include "base/clock.h"
#include "upstream/retry_hint.h"

#include <stdio.h>
#include <string.h>

#define BUSY_HINT_MS 500 /* all places are taken: a place becomes free within this time, or the source is slow */

#define SECRET_PART_MIN 4 /* bytes of a secret that are not shown */

static const char *judge_header(const void *transfer, const char *name)
{
    return transfer_header(transfer, name);
}

static int64_t judge_waited_ms(const struct search_ask *ask)
{
    return (clock_now_ns() - ask->began_ns) / NS_PER_MS;
}

/* ---- an answer that is an error ---------------------------------------------------------------------------------- */

static void judge_tell_quota(struct status *st)
{
    struct status told = {0};
    fail(&told, RESOURCE_EXHAUSTED, "has no quota left: it %s", st->text);
    told.retry_after_ms = st->retry_after_ms;
    *st = told;
}

static void judge_error(struct search_ask *ask)
{
    const struct search_setup *setup = ask->site->setup;
    const struct search_provider *provider = setup->source.provider;
    struct search_failure *failure = &ask->failure;
    const struct search_reply reply = {.http_status = ask->transfer.http_status,
                                       .body = ask->transfer.content,
                                       .size = ask->transfer.content_size,
                                       .header = judge_header,
                                       .from = &ask->transfer,
                                       .arena = &ask->answer.arena};
    failure->status.retry_after_ms = retry_hint_ms(judge_header, &ask->transfer, clock_wall_ns() / NS_PER_MS);
    if (provider->read_error)
        provider->read_error(&setup->source, &reply, failure);
    else
        search_failure_of_http(failure, reply.http_status, NULL);
    if (failure->status.code == OK) /* a provider without an opinion */
        search_failure_of_http(failure, reply.http_status, NULL);
    if (failure->status.code == RESOURCE_EXHAUSTED && failure->status.retry_after_ms >= SEARCH_QUOTA_HINT_MS)
        failure->quota = true;
    if (failure->quota)
        judge_tell_quota(&failure->status);
    if (failure->status.code != UNAVAILABLE && failure->status.code != RESOURCE_EXHAUSTED)
        failure->status.retry_after_ms = 0;
}

/* ---- no answer --------------------------------------------------------------------------------------------------- */

/* The source may have had the request, and have counted it. */
static void judge_doubt(struct search_ask *ask)
{
    ask->in_doubt = true;
    ask->is_final |= ask->once;
}

static void judge_late(struct search_ask *ask)
{
    ask->is_late = true;
    fail(&ask->failure.status, UNAVAILABLE, "did not answer within %lld ms", (long long)judge_waited_ms(ask));
    judge_doubt(ask);
}

static void judge_break(struct search_ask *ask)
{
    struct status *st = &ask->failure.status;
    switch (ask->transfer.end) {
    case TRANSFER_LATE:
    case TRANSFER_SILENT:
        judge_late(ask);
        return;
    case TRANSFER_TOO_LARGE:
        fail(st, DATA_LOSS, "answers with more than %lld bytes", (long long)ask->site->setup->answer_max);
        judge_doubt(ask);
        ask->is_final = true;
        return;
    case TRANSFER_CUT:
    case TRANSFER_GARBLED:
        fail(st, UNAVAILABLE, "broke its answer off, or answered with something that is not HTTP");
        judge_doubt(ask);
        return;
    case TRANSFER_UNCONNECTED:
        fail(st, UNAVAILABLE, "cannot be reached");
        return;
    case TRANSFER_REFUSED:
        fail(st, RESOURCE_EXHAUSTED, "was not asked: too many requests are under way here");
        st->retry_after_ms = BUSY_HINT_MS;
        return;
    case TRANSFER_INVALID:
        fail(st, FAILED_PRECONDITION, "has a key that cannot be sent, such as one of two lines; look at %s",
             ask->site->setup->place);
        return;
    case TRANSFER_UNRECORDED:
        fail(st, NOT_FOUND, "has no answer to this search in the file that it is replayed from");
        return;
    default:
        fail(st, CANCELLED, "was told to stop, as the caller left");
        ask->in_doubt = ask->transfer.state != TRANSFER_IDLE || ask->sent;
        return;
    }
}

void search_ask_judge(struct search_ask *ask)
{
    ask->failure = (struct search_failure){.quota = false};
    ask->is_late = ask->in_doubt = false;
    if (ask->transfer.end == TRANSFER_COMPLETE)
        judge_error(ask);
    else
        judge_break(ask);
}

void search_ask_judge_unread(struct search_ask *ask)
{
    ask->failure = ask->unread;
    ask->is_late = false;
    judge_doubt(ask);
}

void search_ask_judge_refusal(struct search_ask *ask, enum standing_refusal refusal, int64_t wait_ms)
{
    struct status *st = &ask->failure.status;
    ask->failure = (struct search_failure){.quota = false};
    ask->is_late = ask->in_doubt = false;
    switch (refusal) {
    case STANDING_BROKEN:
        fail(st, UNAVAILABLE, "was not asked: its circuit breaker is open after repeated failures");
        break;
    case STANDING_RESTS:
        fail(st, RESOURCE_EXHAUSTED, "was not asked: the pause that it asked for is not over");
        ask->failure.quota = wait_ms >= STANDING_QUOTA_REST_MS / 2;
        break;
    default:
        fail(st, RESOURCE_EXHAUSTED, "was not asked: the limits of the document are reached");
        break;
    }
    wait_ms = wait_ms ? wait_ms : BUSY_HINT_MS;
    st->retry_after_ms = wait_ms < INT32_MAX ? (int32_t)wait_ms : INT32_MAX;
}

void search_ask_judge_share(struct search_ask *ask)
{
    ask->failure = (struct search_failure){.quota = false};
    ask->is_late = ask->in_doubt = false;
    fail(&ask->failure.status, RESOURCE_EXHAUSTED, "was not asked: half of its places are taken by this tenant");
    ask->failure.status.retry_after_ms = BUSY_HINT_MS;
}

/* ---- for the caller ---------------------------------------------------------------------------------------------- */

/* A message is cut before it comes here: its end may be the beginning of the secret. */
static void judge_hide(char *text, const char *secret)
{
    size_t length = strlen(secret), end = strlen(text);
    char *found = text;
    while (length && (found = strstr(found, secret))) {
        memset(found, '*', length);
        found += length;
    }
    for (size_t part = length < end ? length : end; part >= SECRET_PART_MIN; part--)
        if (memcmp(text + end - part, secret, part) == 0)
            memset(text + end - part, '*', part);
}

void search_ask_name_failure(struct search_ask *ask, const char *token)
{
    struct status *st = &ask->failure.status, named = {0};
    judge_hide(st->text, ask->site->setup->key);
    judge_hide(st->text, token);
    fail(&named, st->code, "the search source '%s' %s", ask->site->setup->source.name, st->text);
    named.retry_after_ms = st->retry_after_ms;
    *st = named;
}

/* A source is not judged by a caller that left it less than half of its own time: otherwise a tenant with short
 * deadlines would open the breaker for all tenants. */
static bool judge_was_hurried(const struct search_ask *ask)
{
    return ask->is_late && 2 * ask->transfer.timeout_ms < ask->site->setup->timeout_ms;
}

struct standing_report search_ask_report(const struct search_ask *ask)
{
    const struct search_failure *failure = &ask->failure;
    struct standing_report report = {.place = ask->place, .verdict = STANDING_GOOD};
    enum transfer_end end = ask->transfer.end;
    bool ours = end == TRANSFER_REFUSED || end == TRANSFER_INVALID || end == TRANSFER_UNRECORDED;
    if (failure->status.code != OK)
        standing_judge(&report, failure->status.code, failure->quota, failure->status.retry_after_ms);
    if (ours || judge_was_hurried(ask))
        report.verdict = STANDING_UNKNOWN;
    return report;
}
