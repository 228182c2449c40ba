/* GetUsage: checked in the call's loop, answered by the reader thread, ended in the loop again.
 *
 *      waits --(reader)--> is answered --(posted)--> ends the call
 *        '---- the client leaves -------------------> ends the call
 *
 * A report is read after a flush, so that a call that has just ended is in it. */
#include "usage/ledger_priv.h"

#include "base/clock.h"
#include "base/list.h"
#include "base/log.h"
#include "rpc/rpc.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define REPORTS_MAX        64 /* that wait or are being answered */
#define REPORTS_CLIENT_MAX 16 /* of one client */
#define REPORT_MAX_MS      30000
#define REPORT_MEMORY_MAX  ((size_t)4 << 20) /* bytes of a page: 1,000 rows of the longest names are a fourth of it */

struct report {
    struct work work;
    struct ledger *ledger;
    struct rpc_call *call;
    struct loop *loop;
    Renga__V1__GetUsageResponse_Closure reply;
    const Renga__V1__GetUsageRequest *request;
    struct report *next, *previous;
    bool waits; /* in the queue; under the ledger's lock, as the two above */
    const char *client;
    atomic_bool cancelled;
    int64_t asked_ms, complete_ms;
    int64_t deadline_ns; /* of ledger_clock_ns */
    struct usage_query query;
    struct usage_answer answer;
    struct arena arena;
    struct status status;
};

/* ---- in the loop ------------------------------------------------------------------------------------------------- */

static void give_answer(struct report *report)
{
    Renga__V1__GetUsageResponse response = RENGA__V1__GET_USAGE_RESPONSE__INIT;
    char token[PAGE_TOKEN_SIZE];
    response.rows = report->answer.rows;
    response.n_rows = report->answer.count;
    response.totals = report->answer.totals;
    response.complete_until_ms = report->complete_ms;
    response.damaged_rows = report->query.damaged;
    if (report->answer.more) {
        page_token_write(token, report->request, report->asked_ms, report->query.skip + report->query.limit);
        response.next_page_token = token;
    }
    report->reply(&response, report->call);
}

static void ledger_report_finish(struct report *report)
{
    if (report->status.code == OK)
        give_answer(report);
    else
        rpc_fail(report->call, &report->status);
    arena_fini(&report->arena);
    free(report);
}

static void ledger_report_answered(struct work *work)
{
    ledger_report_finish(CONTAINER_OF(work, struct report, work));
}

static void ledger_report_unqueue(struct ledger *ledger, struct report *report)
{
    LIST_REMOVE(ledger->reports_first, ledger->reports_last, report);
    report->waits = false;
}

/* One that is being answered ends when it comes back from the reader, soon. */
static void ledger_report_client_left(struct rpc_call *call, void *data)
{
    struct report *report = data;
    struct ledger *ledger = report->ledger;
    atomic_store(&report->cancelled, true);
    pthread_mutex_lock(&ledger->lock);
    bool waited = report->waits;
    if (waited) {
        ledger_report_unqueue(ledger, report);
        ledger->reports--;
    }
    pthread_cond_broadcast(&ledger->flushed);
    pthread_mutex_unlock(&ledger->lock);
    if (!waited)
        return;
    fail(&report->status, CANCELLED, "the client has left");
    ledger_report_finish(report);
}

static bool ledger_report_may_wait(const struct ledger *ledger, const struct report *report, struct status *st)
{
    unsigned own = 0;
    for (const struct report *other = ledger->reports_first; other; other = other->next)
        own += strcmp(other->client, report->client) == 0;
    if (ledger->reports < REPORTS_MAX && (own < REPORTS_CLIENT_MAX || !report->client[0]))
        return true;
    st->retry_after_ms = 1000;
    return fail(st, RESOURCE_EXHAUSTED, "%u reports wait for the accounts already, %u of them this client's; ask again",
                ledger->reports, own);
}

static bool submit(struct ledger *ledger, struct report *report, struct status *st)
{
    pthread_mutex_lock(&ledger->lock);
    bool waits = ledger_report_may_wait(ledger, report, st);
    if (waits) {
        report->waits = true;
        LIST_APPEND(ledger->reports_first, ledger->reports_last, report);
        ledger->reports++;
        pthread_cond_signal(&ledger->reader_wake);
    }
    pthread_mutex_unlock(&ledger->lock);
    return waits;
}

static bool ledger_report_begin(struct ledger *ledger, struct report *report, bool sees_all, struct status *st)
{
    const struct rpc_principal *caller = rpc_call_principal(report->call);
    report->asked_ms = clock_wall_ns() / NS_PER_MS;
    if (!usage_query_init(&report->query, report->request, caller, sees_all, &report->asked_ms, st))
        return false;
    report->client = caller->name;
    int64_t longest_ns = REPORT_MAX_MS * NS_PER_MS, deadline_ns = rpc_call_deadline_ns(report->call);
    int64_t left_ns = deadline_ns == TIME_NEVER ? longest_ns : deadline_ns - clock_now_ns();
    report->deadline_ns = ledger_clock_ns() + (left_ns < longest_ns ? left_ns : longest_ns);
    arena_init(&report->arena, NULL, 0, REPORT_MEMORY_MAX);
    return submit(ledger, report, st);
}

void ledger_report(struct ledger *ledger, struct rpc_call *call, const Renga__V1__GetUsageRequest *request,
                   bool sees_all, Renga__V1__GetUsageResponse_Closure reply)
{
    struct status st = {0};
    struct report *report = calloc(1, sizeof *report);
    if (!report) {
        rpc_fail_with(call, RESOURCE_EXHAUSTED, "no memory for a report");
        return;
    }
    report->work.run = ledger_report_answered;
    report->ledger = ledger;
    report->call = call;
    report->loop = rpc_call_loop(call);
    report->reply = reply;
    report->request = request;
    if (ledger_report_begin(ledger, report, sees_all, &st)) {
        rpc_call_on_cancel(call, ledger_report_client_left, report);
        return;
    }
    free(report);
    rpc_fail(call, &st);
}

/* ---- in the reader thread ---------------------------------------------------------------------------------------- */

static bool ledger_report_is_over(void *data)
{
    const struct report *report = data;
    return atomic_load(&report->cancelled) || atomic_load(&report->ledger->reader_closing) ||
           ledger_clock_ns() >= report->deadline_ns;
}

static bool ledger_report_fail_over(const struct report *report, struct status *st)
{
    if (atomic_load(&report->cancelled))
        return fail(st, CANCELLED, "the client has left");
    if (atomic_load(&report->ledger->reader_closing))
        return fail(st, UNAVAILABLE, "the accounts are being closed");
    return fail(st, DEADLINE_EXCEEDED, "the report took too long; ask for a shorter time, or for one client or run");
}

static bool fail_unavailable(struct status *st, const struct status *why)
{
    return fail(st, UNAVAILABLE, "the accounts cannot be read now: %s; calls to models go on", why->text);
}

/* Waits until earlier notes are in the file; `st` has the reason if they are not. */
static bool await_flush(struct ledger *ledger, struct report *report, struct status *st)
{
    pthread_mutex_lock(&ledger->lock);
    uint64_t number = ++ledger->flush_asked;
    pthread_cond_signal(&ledger->writer_wake);
    while (ledger->flush_done < number && !ledger_report_is_over(report))
        ledger_wait_until(&ledger->flushed, &ledger->lock, report->deadline_ns);
    bool done = ledger->flush_done >= number;
    struct status trouble = ledger->trouble;
    report->complete_ms = ledger->complete_ms;
    pthread_mutex_unlock(&ledger->lock);
    if (!done)
        return ledger_report_fail_over(report, st);
    return trouble.code == OK || fail_unavailable(st, &trouble);
}

static bool ledger_report_open_file(struct ledger *ledger, struct sql_file **database, struct status *st)
{
    struct status why = {0};
    if (*database && !ledger->in_memory && sql_moved(*database))
        sql_close(database);
    if (!*database)
        *database = ledger_open(ledger, &why);
    return *database || fail_unavailable(st, &why);
}

static bool ledger_report_ask(struct ledger *ledger, struct report *report, struct sql_file **database,
                              struct status *st)
{
    struct status why = {0};
    if (ledger_report_is_over(report))
        return ledger_report_fail_over(report, st);
    if (!await_flush(ledger, report, st) || !ledger_report_open_file(ledger, database, st))
        return false;
    sql_limit(*database, ledger_report_is_over, report);
    bool asked = ledger_ask(*database, &report->query, &report->arena, &report->answer, &why);
    sql_limit(*database, NULL, NULL);
    if (asked && report->query.damaged)
        log_error("ledger.damaged", "%" PRId64 " rows of the accounts in '%s' are damaged and left out of a report",
                  report->query.damaged, ledger->path);
    if (asked)
        return true;
    if (why.code == ABORTED)
        return ledger_report_fail_over(report, st);
    if (why.code == RESOURCE_EXHAUSTED) {
        *st = why;
        return false;
    }
    log_warn("ledger.unreadable", "a report could not be read from '%s': %s", ledger->path, why.text);
    sql_close(database);
    return fail_unavailable(st, &why);
}

/* The next waiting report; NULL: no report waits and the ledger closes. */
static struct report *take_report(struct ledger *ledger)
{
    pthread_mutex_lock(&ledger->lock);
    while (!ledger->reports_first && !atomic_load(&ledger->reader_closing))
        pthread_cond_wait(&ledger->reader_wake, &ledger->lock);
    struct report *report = ledger->reports_first;
    if (report)
        ledger_report_unqueue(ledger, report);
    pthread_mutex_unlock(&ledger->lock);
    return report;
}

void *ledger_reader_run(void *data)
{
    struct ledger *ledger = data;
    struct sql_file *database = NULL;
    struct report *report;
    while ((report = take_report(ledger))) {
        ledger_report_ask(ledger, report, &database, &report->status);
        pthread_mutex_lock(&ledger->lock);
        ledger->reports--;
        pthread_mutex_unlock(&ledger->lock);
        loop_post(report->loop, &report->work);
    }
    sql_close(&database);
    return NULL;
}
