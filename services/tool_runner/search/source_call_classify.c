#include "search/source_call_classify.h"

#include "base/clock.h"
#include "upstream/retry_hint.h"

#include <stdio.h>
#include <string.h>

#define BUSY_HINT_MS 500 /* all slots are taken: a slot becomes free within this time, or the source is slow */

#define SECRET_PART_MIN 4 /* bytes of a secret that are not shown */

static const char *classify_header(const void *transfer, const char *name)
{
    return transfer_header(transfer, name);
}

static int64_t classify_waited_ms(const struct source_call *call)
{
    return (clock_now_ns() - call->began_ns) / NS_PER_MS;
}

/* ---- an answer that is an error ---------------------------------------------------------------------------------- */

static void classify_error(struct source_call *call)
{
    const struct search_setup *setup = call->site->setup;
    const struct search_provider *provider = setup->source.provider;
    struct search_failure *failure = &call->failure;
    const struct search_reply reply = {.http_status = call->transfer.http_status,
                                       .body = call->transfer.content,
                                       .size = call->transfer.content_size,
                                       .header = classify_header,
                                       .from = &call->transfer,
                                       .arena = &call->answer.arena};
    failure->status.retry_after_ms = retry_hint_ms(classify_header, &call->transfer, clock_wall_ns() / NS_PER_MS);
    if (provider->read_error)
        provider->read_error(&setup->source, &reply, failure);
    else
        search_failure_of_http(failure, reply.http_status, NULL);
    if (failure->status.code == OK) /* a provider without an opinion */
        search_failure_of_http(failure, reply.http_status, NULL);
    if (failure->status.code == RESOURCE_EXHAUSTED && failure->status.retry_after_ms >= SEARCH_QUOTA_HINT_MS)
        failure->quota = true;
    if (failure->quota) {
        struct status *st = &failure->status;
        struct status told = {0};
        fail(&told, RESOURCE_EXHAUSTED, "has no quota left: it %s", st->text);
        told.retry_after_ms = st->retry_after_ms;
        *st = told;
    }
    if (failure->status.code != UNAVAILABLE && failure->status.code != RESOURCE_EXHAUSTED)
        failure->status.retry_after_ms = 0;
}

/* ---- no answer --------------------------------------------------------------------------------------------------- */

/* The source may have had the request, and have counted it. */
static void classify_doubt(struct source_call *call)
{
    call->in_doubt = true;
    call->is_final |= call->once;
}

static void classify_late(struct source_call *call)
{
    call->is_late = true;
    fail(&call->failure.status, UNAVAILABLE, "did not answer within %lld ms", (long long)classify_waited_ms(call));
    classify_doubt(call);
}

static void classify_break(struct source_call *call)
{
    struct status *st = &call->failure.status;
    switch (call->transfer.end) {
    case TRANSFER_LATE:
    case TRANSFER_SILENT:
        classify_late(call);
        return;
    case TRANSFER_TOO_LARGE:
        fail(st, DATA_LOSS, "answers with more than %lld bytes", (long long)call->site->setup->answer_max);
        classify_doubt(call);
        call->is_final = true;
        return;
    case TRANSFER_CUT:
    case TRANSFER_MALFORMED:
        fail(st, UNAVAILABLE, "broke its answer off, or answered with something that is not HTTP");
        classify_doubt(call);
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
             call->site->setup->place);
        return;
    case TRANSFER_UNRECORDED:
        fail(st, NOT_FOUND, "has no answer to this search in the file that it is replayed from");
        return;
    default:
        fail(st, CANCELLED, "was told to stop, as the caller left");
        call->in_doubt = call->transfer.state != TRANSFER_IDLE || call->sent;
        return;
    }
}

void source_call_classify(struct source_call *call)
{
    call->failure = (struct search_failure){.quota = false};
    call->is_late = call->in_doubt = false;
    if (call->transfer.end == TRANSFER_COMPLETE)
        classify_error(call);
    else
        classify_break(call);
}

void source_call_classify_unread(struct source_call *call)
{
    call->failure = call->unread;
    call->is_late = false;
    classify_doubt(call);
}

void source_call_classify_refusal(struct source_call *call, enum endpoint_refusal refusal, int64_t wait_ms)
{
    struct status *st = &call->failure.status;
    call->failure = (struct search_failure){.quota = false};
    call->is_late = call->in_doubt = false;
    switch (refusal) {
    case ENDPOINT_CIRCUIT_OPEN:
        fail(st, UNAVAILABLE, "was not asked: its circuit breaker is open after repeated failures");
        break;
    case ENDPOINT_BACKING_OFF:
        fail(st, RESOURCE_EXHAUSTED, "was not asked: the pause that it asked for is not over");
        call->failure.quota = wait_ms >= ENDPOINT_QUOTA_BACKOFF_MS / 2;
        break;
    default:
        fail(st, RESOURCE_EXHAUSTED, "was not asked: the limits of the document are reached");
        break;
    }
    wait_ms = wait_ms ? wait_ms : BUSY_HINT_MS;
    st->retry_after_ms = wait_ms < INT32_MAX ? (int32_t)wait_ms : INT32_MAX;
}

void source_call_classify_slots(struct source_call *call)
{
    call->failure = (struct search_failure){.quota = false};
    call->is_late = call->in_doubt = false;
    fail(&call->failure.status, RESOURCE_EXHAUSTED, "was not asked: half of its places are taken by this tenant");
    call->failure.status.retry_after_ms = BUSY_HINT_MS;
}

/* ---- for the caller ---------------------------------------------------------------------------------------------- */

/* A message is cut before it comes here: its end may be the beginning of the secret. */
static void classify_hide(char *text, const char *secret)
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

void source_call_name_failure(struct source_call *call, const char *token)
{
    struct status *st = &call->failure.status, named = {0};
    classify_hide(st->text, call->site->setup->key);
    classify_hide(st->text, token);
    fail(&named, st->code, "the search source '%s' %s", call->site->setup->source.name, st->text);
    named.retry_after_ms = st->retry_after_ms;
    *st = named;
}

/* A source is not judged by a caller that left it less than half of its own time: otherwise a tenant with short
 * deadlines would open the breaker for all tenants. */
static bool classify_was_hurried(const struct source_call *call)
{
    return call->is_late && 2 * call->transfer.timeout_ms < call->site->setup->timeout_ms;
}

struct endpoint_report source_call_report(const struct source_call *call)
{
    const struct search_failure *failure = &call->failure;
    struct endpoint_report report = {.place = call->place, .verdict = ENDPOINT_SUCCEEDED};
    enum transfer_end end = call->transfer.end;
    bool ours = end == TRANSFER_REFUSED || end == TRANSFER_INVALID || end == TRANSFER_UNRECORDED;
    if (failure->status.code != OK)
        endpoint_report_of(&report, failure->status.code, failure->quota, failure->status.retry_after_ms);
    if (ours || classify_was_hurried(call))
        report.verdict = ENDPOINT_UNKNOWN;
    return report;
}
