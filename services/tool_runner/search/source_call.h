/* Asks a single source a single question: sends requests until the source answers, or the retry policy ends.
 *
 *      source_call_start --> SENDING --> READING --> ended
 *                            ^   |         |
 *                            |   '----.----'  failed, and may mend
 *                            '-- WAITING
 *
 * Before each request the source's health is asked (breaker, rest, limits). Embedded in its owner, zeroed; all from
 * inside its loop. Key and token are in no error's text. */
#ifndef RENGA_TOOL_RUNNER_SOURCE_CALL_H
#define RENGA_TOOL_RUNNER_SOURCE_CALL_H

#include "base/trace.h"
#include "http/client.h"
#include "loop/jobs.h"
#include "search/sources.h"

struct span;
struct tool_runner;

/* A rest that a source asks for with a 429, from which on it counts as a quota that is used up, not as a rate. */
#define SEARCH_QUOTA_HINT_MS 600000

enum source_call_state {
    SOURCE_CALL_IDLE,
    SOURCE_CALL_SENDING,
    SOURCE_CALL_READING,
    SOURCE_CALL_WAITING,
    SOURCE_CALL_ENDED
};

struct source_call {
    /* Set by the owner; borrowed until `ended`. */
    struct search_site *site;
    struct tool_runner *runner;
    struct search_question question; /* without key and token */
    const struct trace_context *trace;
    uint64_t job_owner;
    const char *tenant; /* "": no tenant */
    int64_t deadline_ns;
    bool once;                               /* a request that the source may have had is not sent again */
    bool has_stand_in;                       /* another source is asked if this one fails */
    void (*ended)(struct source_call *call); /* once, later, from the loop */
    void *owner;

    /* The outcome, for `ended`; until source_call_fini. */
    struct search_answer answer; /* if failure.status is OK */
    struct search_failure failure;
    bool in_doubt; /* it failed, and the source may have had, and counted, a request */
    unsigned sent; /* requests */

    /* Its own. */
    unsigned state;
    bool cancelled, is_late, is_final;
    unsigned attempts;
    int64_t began_ns;
    struct endpoint_slot place;
    struct search_request request;
    struct http_url *url;
    struct transfer transfer;
    struct transfer_keep kept;
    struct job reading;
    struct search_failure unread;
    struct timer wait;
    struct work work;
    struct span *span;
};

void source_call_start(struct source_call *call);
/* It ends soon, with CANCELLED; a request under way is cut at once. */
void source_call_cancel(struct source_call *call);
/* No further request is sent. True: a request is under way and goes on to its end, within its own time. */
bool source_call_finish(struct source_call *call);
/* After `ended`, or for a call that was never started. */
void source_call_fini(struct source_call *call);

#endif
