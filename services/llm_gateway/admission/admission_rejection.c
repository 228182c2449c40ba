/* Texts of rejections: the limit, its amount, and the time of a retry. */
#include "admission_priv.h"

#include "base/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define HINT_MIN_MS   100
#define HINT_MAX_MS   30000
#define MEAN_OF       8      /* intervals, about */
#define IN_SECONDS_MS 120000 /* waits longer than that are told in minutes */

/* ---- the queue's pace -------------------------------------------------------------------------------------------- */

void admission_record_departure(struct admission *admission)
{
    int64_t now_ns = clock_now_ns();
    int64_t interval_ns = now_ns - admission->departed_ns;
    admission->interval_ns += (interval_ns - admission->interval_ns) / (admission->interval_ns ? MEAN_OF : 1);
    admission->departed_ns = now_ns;
}

/* The time until the present queue has been served. */
int32_t admission_queue_hint_ms(const struct admission *admission, int64_t now_ns)
{
    int64_t stalled_ns = admission->waiting ? now_ns - admission->departed_ns : 0;
    int64_t interval_ns = stalled_ns > admission->interval_ns ? stalled_ns : admission->interval_ns;
    if (interval_ns >= HINT_MAX_MS * NS_PER_MS)
        return HINT_MAX_MS;
    int64_t ms = interval_ns * ((int64_t)admission->waiting + 1) / NS_PER_MS;
    return ms < HINT_MIN_MS ? HINT_MIN_MS : ms > HINT_MAX_MS ? HINT_MAX_MS : (int32_t)ms;
}

const char *admission_exhausted_by(const struct ticket *ticket)
{
    if (!ticket->exhausted)
        return NULL;
    if (strncmp(ticket->exhausted, "client/", 7) == 0)
        return ticket->client;
    return strncmp(ticket->exhausted, "tenant/", 7) == 0 ? ticket->tenant : NULL;
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

struct wait_text {
    char text[32];
};

static struct wait_text wait_text(int64_t ms)
{
    struct wait_text wait;
    if (ms <= IN_SECONDS_MS)
        snprintf(wait.text, sizeof wait.text, "%.1f s", (double)ms / 1000);
    else
        snprintf(wait.text, sizeof wait.text, "%" PRId64 " min", (ms + 59999) / 60000);
    return wait;
}

void admission_reject_shortage(struct ticket *ticket, const struct admission_shortage *shortage)
{
    const char *of = shortage->tenant ? "tenant" : "client";
    ticket->exhausted = shortage->limit;
    if (shortage->wait_ms == ADMISSION_NEVER) {
        fail(&ticket->status, RESOURCE_EXHAUSTED,
             "%s '%s' has %" PRId64 " %s and this request may need %" PRId64
             " at once: it can never pass; make it smaller, or have the limit raised",
             of, shortage->consumer, shortage->allowed, shortage->what, shortage->asked);
        return;
    }
    fail(&ticket->status, RESOURCE_EXHAUSTED,
         "%s '%s' has %" PRId64 " %s, of which %" PRId64 " are left and this request may need %" PRId64
         "; come back in %s",
         of, shortage->consumer, shortage->allowed, shortage->what, shortage->left, shortage->asked,
         wait_text(shortage->wait_ms).text);
    ticket->status.retry_after_ms = (int32_t)shortage->wait_ms;
}

/* "all places" or "all places of the model 'x'". */
struct of_text {
    char text[160];
};

static struct of_text of_text(const struct admission *admission)
{
    struct of_text of = {""};
    if (admission->model)
        snprintf(of.text, sizeof of.text, " of the model '%s'", admission->model);
    return of;
}

void admission_reject_full(struct ticket *ticket, int32_t hint_ms)
{
    const struct admission *admission = ticket->admission;
    ticket->exhausted = admission->model ? "model/queue" : "process/queue";
    fail(&ticket->status, RESOURCE_EXHAUSTED,
         "all places%s are taken and %u requests, as many as may, wait for one; come back in %s",
         of_text(admission).text, admission->queue_max, wait_text(hint_ms).text);
    ticket->status.retry_after_ms = hint_ms;
}

void admission_reject_crowded_out(struct ticket *ticket, int32_t hint_ms)
{
    const struct admission *admission = ticket->admission;
    ticket->exhausted = admission->model ? "model/queue" : "process/queue";
    fail(&ticket->status, RESOURCE_EXHAUSTED,
         "%u requests, as many as may, wait for a place%s, and this one had to make room for one of higher priority or "
         "of a client with fewer; come back in %s",
         admission->queue_max, of_text(admission).text, wait_text(hint_ms).text);
    ticket->status.retry_after_ms = hint_ms;
}

static const char *exhausted_of(const struct admission *admission, const struct admission_consumer *full)
{
    if (full)
        return full->tenant ? "tenant/concurrency" : "client/concurrency";
    return admission->model ? "model/concurrency" : "process/in_flight";
}

void admission_reject_timeout(struct ticket *ticket, const struct admission_consumer *full, int64_t places,
                              int64_t waited_ms, int32_t hint_ms)
{
    const struct admission *admission = ticket->admission;
    const char *whose = full ? full->tenant ? "tenant" : "client" : "model",
               *name = full ? full->name : admission->model;
    struct wait_text again = wait_text(hint_ms);
    if (name)
        fail(&ticket->status, RESOURCE_EXHAUSTED,
             "%s '%s' has %" PRId64 " places, and none was free for %" PRId64 " ms; come back in %s", whose, name,
             places, waited_ms, again.text);
    else
        fail(&ticket->status, RESOURCE_EXHAUSTED,
             "this process has %" PRId64 " places, and none was free for %" PRId64 " ms; come back in %s", places,
             waited_ms, again.text);
    ticket->exhausted = exhausted_of(admission, full);
    ticket->status.retry_after_ms = hint_ms;
}
