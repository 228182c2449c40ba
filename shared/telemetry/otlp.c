/* The exporter's round:
 *
 *      OTLP_IDLE --- interval over, or a batch has gathered ---> OTLP_SENDING --- answered ---> OTLP_IDLE
 *                                                                   ^   | to be tried again
 *                                                                   `-- OTLP_WAITING (Retry-After, backoff)
 *
 * `wake` is the only step function: a timer, a full batch, an answer and a flush all end there. */
#include "telemetry/otlp.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/random.h"
#include "telemetry/otlp_json.h"
#include "telemetry/otlp_protobuf.h"
#include "json/json.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_DEFAULT_MAX   512
#define INTERVAL_DEFAULT_MS 1000
#define RETRY_DEFAULT_MS    30000
#define REQUEST_TIMEOUT_MS  10000
#define BACKOFF_FIRST_MS    500
#define BACKOFF_MOST_MS     8000
#define BODY_MAX            (32u << 20)  /* bytes of a request; collectors take 64 MiB at most */
#define ANSWER_MAX          (256u << 10) /* bytes */

enum otlp_state { OTLP_IDLE, OTLP_SENDING, OTLP_WAITING };

struct otlp {
    struct loop *loop;
    struct http_client *client;
    struct spans *spans;
    struct otlp_options options;
    struct http_url *url;
    struct http_headers *headers;
    char *resource;

    enum otlp_state state;
    struct timer timer;
    struct work gathered; /* posted by the thread that ends the span that fills a batch */
    atomic_bool posted;
    bool closing; /* destroyed, but the transfer or the post still has to come back */
    struct transfer transfer;
    struct buffer body;
    unsigned batch_count;
    int64_t batch_since_ns, backoff_ms;
    bool failing; /* said so once, until it works again */

    bool flushing;
    struct timer flush_limit;
    struct work flush_report;
    void (*flushed)(void *data);
    void *flushed_data;
    atomic_uint_fast64_t exported, failed;
};

static void otlp_wake(struct otlp *otlp);

/* ---- a batch's end ----------------------------------------------------------------------------------------------- */

static void batch_done(struct otlp *otlp, unsigned rejected)
{
    atomic_fetch_add_explicit(&otlp->exported, otlp->batch_count - rejected, memory_order_relaxed);
    atomic_fetch_add_explicit(&otlp->failed, rejected, memory_order_relaxed);
    if (otlp->failing)
        log_info("trace.export_recovered", "spans reach %s again", http_url_origin(otlp->url));
    otlp->failing = false;
    otlp->state = OTLP_IDLE;
    otlp_wake(otlp);
}

static void batch_failed(struct otlp *otlp, const char *why)
{
    atomic_fetch_add_explicit(&otlp->failed, otlp->batch_count, memory_order_relaxed);
    if (!otlp->failing)
        log_warn("trace.export_failed", "%u spans were not taken by %s and are lost: %s", otlp->batch_count,
                 http_url_origin(otlp->url), why);
    otlp->failing = true;
    otlp->state = OTLP_IDLE;
    otlp_wake(otlp);
}

/* {"partialSuccess":{"rejectedSpans":"3","errorMessage":"..."}}: rejected spans must not be sent again. */
static unsigned rejected_of(const struct transfer *transfer)
{
    struct status st;
    const char *kind = transfer_header(transfer, "Content-Type");
    if (kind && strstr(kind, "protobuf")) {
        uint64_t rejected = otlp_protobuf_rejected(transfer->content, transfer->content_size);
        return rejected < UINT_MAX ? (unsigned)rejected : UINT_MAX;
    }
    cJSON *answer = transfer->content_size ? json_parse(transfer->content, transfer->content_size, NULL, &st) : NULL;
    const cJSON *partial = cJSON_GetObjectItemCaseSensitive(answer, "partialSuccess");
    const cJSON *rejected = cJSON_GetObjectItemCaseSensitive(partial, "rejectedSpans");
    long long count = cJSON_IsNumber(rejected)   ? (long long)rejected->valuedouble
                      : cJSON_IsString(rejected) ? strtoll(rejected->valuestring, NULL, 10)
                                                 : 0;
    cJSON_Delete(answer);
    return count > 0 ? (unsigned)count : 0;
}

static bool is_passing(const struct transfer *transfer)
{
    if (transfer->status.code != OK)
        return transfer->status.code == UNAVAILABLE || transfer->status.code == DEADLINE_EXCEEDED ||
               transfer->end == TRANSFER_REFUSED;
    return transfer->http_status == 429 || (transfer->http_status >= 502 && transfer->http_status <= 504);
}

static void close_if_idle(struct otlp *otlp)
{
    if (otlp->state == OTLP_SENDING || atomic_load(&otlp->posted))
        return;
    http_url_destroy(&otlp->url);
    http_headers_destroy(&otlp->headers);
    buffer_fini(&otlp->body);
    free(otlp->resource);
    free(otlp);
}

static void otlp_answered(struct transfer *transfer)
{
    struct otlp *otlp = CONTAINER_OF(transfer, struct otlp, transfer);
    if (otlp->closing) {
        otlp->state = OTLP_IDLE;
        close_if_idle(otlp);
        return;
    }
    if (transfer->status.code == OK && transfer->http_status >= 200 && transfer->http_status < 300) {
        unsigned rejected = rejected_of(transfer);
        batch_done(otlp, rejected < otlp->batch_count ? rejected : otlp->batch_count);
        return;
    }
    char why[STATUS_TEXT_MAX];
    if (transfer->status.code == OK)
        snprintf(why, sizeof why, "it answered %d", transfer->http_status);
    else
        snprintf(why, sizeof why, "%s", transfer->status.text);

    const char *text = transfer_header(transfer, "Retry-After");
    char *end;
    long seconds = text ? strtol(text, &end, 10) : -1;
    int64_t wait_ms = text && end != text && seconds >= 0 && seconds < 3600 ? seconds * 1000 : -1;
    if (wait_ms < 0) {
        wait_ms = otlp->backoff_ms / 2 + (int64_t)random_below((uint64_t)otlp->backoff_ms);
        otlp->backoff_ms = otlp->backoff_ms * 2 < BACKOFF_MOST_MS ? otlp->backoff_ms * 2 : BACKOFF_MOST_MS;
    }
    int64_t spent_ms = (clock_now_ns() - otlp->batch_since_ns) / NS_PER_MS;
    if (!is_passing(transfer) || otlp->flushing || spent_ms + wait_ms > otlp->options.retry_max_ms) {
        batch_failed(otlp, why);
        return;
    }
    otlp->state = OTLP_WAITING;
    loop_arm_after(otlp->loop, &otlp->timer, wait_ms);
}

/* ---- sending ----------------------------------------------------------------------------------------------------- */

static void send_batch(struct otlp *otlp)
{
    transfer_init(&otlp->transfer, otlp->url, otlp_answered);
    otlp->transfer.method = "POST";
    otlp->transfer.headers = otlp->headers;
    otlp->transfer.body = otlp->body.data;
    otlp->transfer.body_size = otlp->body.length;
    otlp->transfer.timeout_ms = REQUEST_TIMEOUT_MS;
    otlp->transfer.response_max = ANSWER_MAX;
    otlp->transfer.may_repeat = true; /* a span that arrives twice is the same span */
    otlp->state = OTLP_SENDING;
    transfer_start(otlp->client, &otlp->transfer);
}

static bool take_batch(struct otlp *otlp)
{
    struct span *first = spans_take(otlp->spans, otlp->options.batch_max, &otlp->batch_count);
    if (!first)
        return false;
    buffer_clear(&otlp->body);
    if (otlp->options.protobuf)
        otlp_protobuf_request(&otlp->body, otlp->resource, first);
    else
        otlp_json_request(&otlp->body, otlp->resource, first);
    while (first) {
        struct span *next = first->next;
        span_destroy(first);
        first = next;
    }
    otlp->batch_since_ns = clock_now_ns();
    otlp->backoff_ms = BACKOFF_FIRST_MS;
    loop_arm_after(otlp->loop, &otlp->timer, otlp->options.interval_ms);
    return true;
}

/* Does the next step. */
static void otlp_wake(struct otlp *otlp)
{
    if (otlp->state == OTLP_SENDING)
        return;
    if (otlp->state == OTLP_WAITING) {
        send_batch(otlp);
        return;
    }
    bool due =
        otlp->flushing || clock_now_ns() >= otlp->timer.at_ns || spans_queued(otlp->spans) >= otlp->options.batch_max;
    if (due && take_batch(otlp)) {
        if (otlp->body.failed)
            batch_failed(otlp, "the batch is too large");
        else
            send_batch(otlp);
        return;
    }
    if (otlp->flushing)
        loop_defer(otlp->loop, &otlp->flush_report);
    if (due || !otlp->timer.place)
        loop_arm_after(otlp->loop, &otlp->timer, otlp->options.interval_ms);
}

static void timer_expired(struct timer *timer)
{
    otlp_wake(CONTAINER_OF(timer, struct otlp, timer));
}

static void batch_gathered(struct work *work)
{
    struct otlp *otlp = CONTAINER_OF(work, struct otlp, gathered);
    atomic_store(&otlp->posted, false);
    if (otlp->closing)
        close_if_idle(otlp);
    else if (otlp->state == OTLP_IDLE)
        otlp_wake(otlp);
}

/* In the thread that ended a span. */
static void tell_gathered(void *data)
{
    struct otlp *otlp = data;
    if (!atomic_exchange(&otlp->posted, true))
        loop_post(otlp->loop, &otlp->gathered);
}

/* ---- flushing ---------------------------------------------------------------------------------------------------- */

static void report_flushed(struct work *work)
{
    struct otlp *otlp = CONTAINER_OF(work, struct otlp, flush_report);
    void (*flushed)(void *data) = otlp->flushed;
    loop_disarm(otlp->loop, &otlp->flush_limit);
    otlp->flushing = false;
    otlp->flushed = NULL;
    if (flushed)
        flushed(otlp->flushed_data);
}

static void flush_limit_passed(struct timer *timer)
{
    report_flushed(&CONTAINER_OF(timer, struct otlp, flush_limit)->flush_report);
}

void otlp_flush(struct otlp *otlp, int64_t limit_ms, void (*flushed)(void *data), void *data)
{
    assert(!otlp->flushed);
    otlp->flushing = true;
    otlp->flushed = flushed;
    otlp->flushed_data = data;
    loop_arm_after(otlp->loop, &otlp->flush_limit, limit_ms);
    otlp_wake(otlp);
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

struct header_status {
    struct http_headers *headers;
    struct status *st;
    bool failed;
};

static void otlp_add_header(void *data, const char *name, const char *value)
{
    struct header_status *adding = data;
    if (!adding->failed)
        adding->failed = !http_headers_add(adding->headers, name, value, adding->st);
}

static bool otlp_prepare(struct otlp *otlp, struct status *st)
{
    const struct otlp_options *options = &otlp->options;
    size_t length = strlen(options->endpoint);
    char *location = xmalloc(length + sizeof "/v1/traces");
    memcpy(location, options->endpoint, length + 1);
    while (!options->endpoint_is_whole && length && location[length - 1] == '/')
        location[--length] = '\0';
    if (!options->endpoint_is_whole)
        strcpy(location + length, "/v1/traces");
    otlp->url = http_url_parse(location, st);
    free(location);
    otlp->headers = http_headers_create();
    struct header_status adding = {.headers = otlp->headers, .st = st};
    otlp_add_header(&adding, "Content-Type", options->protobuf ? "application/x-protobuf" : "application/json");
    if (options->headers)
        otlp_pairs(options->headers, otlp_add_header, &adding);
    return otlp->url && !adding.failed;
}

struct otlp *otlp_create(struct loop *loop, struct http_client *client, struct spans *spans,
                         const struct otlp_options *options, struct status *st)
{
    assert(loop_current() == loop);
    struct otlp *otlp = xcalloc(1, sizeof *otlp);
    otlp->loop = loop;
    otlp->client = client;
    otlp->spans = spans;
    otlp->options = *options;
    otlp->options.batch_max = options->batch_max ? options->batch_max : BATCH_DEFAULT_MAX;
    otlp->options.interval_ms = options->interval_ms ? options->interval_ms : INTERVAL_DEFAULT_MS;
    otlp->options.retry_max_ms = options->retry_max_ms ? options->retry_max_ms : RETRY_DEFAULT_MS;
    otlp->timer.expired = timer_expired;
    otlp->flush_limit.expired = flush_limit_passed;
    otlp->flush_report.run = report_flushed;
    otlp->gathered.run = batch_gathered;
    buffer_init(&otlp->body, BODY_MAX);
    if (!otlp_prepare(otlp, st)) {
        otlp_destroy(&otlp);
        return NULL;
    }
    struct buffer resource;
    buffer_init(&resource, ANSWER_MAX);
    otlp_json_resource(&resource, options->service, options->resource);
    otlp->resource = xnonnull(buffer_take(&resource, NULL));
    loop_arm_after(loop, &otlp->timer, otlp->options.interval_ms);
    spans_notify(spans, otlp->options.batch_max, tell_gathered, otlp);
    return otlp;
}

void otlp_destroy(struct otlp **otlp_pointer)
{
    struct otlp *otlp = *otlp_pointer;
    if (!otlp)
        return;
    *otlp_pointer = NULL;
    assert(loop_current() == otlp->loop);
    spans_notify(otlp->spans, 0, NULL, NULL);
    loop_disarm(otlp->loop, &otlp->timer);
    loop_disarm(otlp->loop, &otlp->flush_limit);
    loop_undefer(otlp->loop, &otlp->flush_report);
    otlp->closing = true;
    if (otlp->state == OTLP_SENDING)
        transfer_cancel(&otlp->transfer);
    close_if_idle(otlp);
}

/* ---- its metrics ------------------------------------------------------------------------------------------------- */

struct sources {
    const struct spans *spans;
    const struct otlp *otlp;
};

static const struct metric recorded = {.name = "renga_spans_recorded_total", .help = "Spans that ended."};
static const struct metric dropped = {.name = "renga_spans_dropped_total",
                                      .help = "Spans dropped because the queue was full."};
static const struct metric exported = {.name = "renga_spans_exported_total", .help = "Spans the collector took."};
static const struct metric lost = {.name = "renga_spans_failed_total", .help = "Spans the collector did not take."};
static const struct metric queued = {
    .name = "renga_spans_queued", .help = "Spans that wait to be sent.", .kind = METRIC_GAUGE};

static void otlp_collect(struct buffer *out, void *data)
{
    const struct sources *sources = data;
    metrics_show(out, &recorded, NULL, (double)spans_recorded(sources->spans));
    metrics_show(out, &dropped, NULL, (double)spans_dropped(sources->spans));
    metrics_show(out, &queued, NULL, spans_queued(sources->spans));
    if (!sources->otlp)
        return;
    metrics_show(out, &exported, NULL, (double)atomic_load(&sources->otlp->exported));
    metrics_show(out, &lost, NULL, (double)atomic_load(&sources->otlp->failed));
}

void otlp_metrics_add(struct metrics *metrics, const struct spans *spans, const struct otlp *otlp)
{
    struct sources *sources = xmalloc(sizeof *sources);
    *sources = (struct sources){spans, otlp};
    metrics_collect(metrics, otlp_collect, free, sources);
}
