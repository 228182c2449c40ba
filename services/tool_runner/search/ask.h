/* Asks a single source a single question: sends requests until the source answers, or the retry policy ends.
 *
 *      search_ask_start --> SENDING --> READING --> ended
 *                            ^   |         |
 *                            |   '----.----'  failed, and may mend
 *                            '-- WAITING
 *
 * Before each request the source's standing is asked (breaker, rest, limits). Embedded in its owner, zeroed; all from
 * inside its loop. Key and token are in no error's text. */
#ifndef RENGA_TOOL_RUNNER_ASK_H
#define RENGA_TOOL_RUNNER_ASK_H

#include "base/trace.h"
#include "http/client.h"
#include "loop/jobs.h"
#include "search/sources.h"

struct span;
struct tool_runner;

/* A rest that a source asks for with a 429, from which on it counts as a quota that is used up, not as a rate. */
#define SEARCH_QUOTA_HINT_MS 600000

enum search_ask_state { ASK_IDLE, ASK_SENDING, ASK_READING, ASK_WAITING, ASK_ENDED };

struct search_ask {
    /* Set by the owner; borrowed until `ended`. */
    struct search_site *site;
    struct tool_runner *runner;
    struct search_question question; /* without key and token */
    const struct trace_context *trace;
    uint64_t job_owner;
    const char *tenant; /* "": no tenant */
    int64_t deadline_ns;
    bool once;                             /* a request that the source may have had is not sent again */
    bool has_stand_in;                     /* another source is asked if this one fails */
    void (*ended)(struct search_ask *ask); /* once, later, from the loop */
    void *owner;

    /* The outcome, for `ended`; until search_ask_fini. */
    struct search_answer answer; /* if failure.status is OK */
    struct search_failure failure;
    bool in_doubt; /* it failed, and the source may have had, and counted, a request */
    unsigned sent; /* requests */

    /* Its own. */
    unsigned state;
    bool cancelled, is_late, is_final;
    unsigned attempts;
    int64_t began_ns;
    struct standing_place place;
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

void search_ask_start(struct search_ask *ask);
/* It ends soon, with CANCELLED; a request under way is cut at once. */
void search_ask_cancel(struct search_ask *ask);
/* No further request is sent. True: a request is under way and goes on to its end, within its own time. */
bool search_ask_finish(struct search_ask *ask);
/* After `ended`, or for an ask that was never started. */
void search_ask_fini(struct search_ask *ask);

#endif
