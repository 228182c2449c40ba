/* A watcher of a run gets its events in its own loop, in their order, and a NULL at the end. Embedded in its owner,
 * alive from runner_watch (runtime/runner.h) to runner_unwatch. The functions here run in the loop of the watcher. */
#ifndef RENGA_ORCHESTRATOR_WATCH_H
#define RENGA_ORCHESTRATOR_WATCH_H

#include "thread/access_control.h"

#include "base/status.h"

#include "renga/v1/orchestrator.pb-c.h"

#include <stdbool.h>

struct loop;
struct subscription;

/* A watcher of a run. `came` runs in its loop for each event, in their order, and with NULL at the end (`status`).
 * With `came_packed` that function gets the events, as packed messages, and `came` only the end: a watcher that sends
 * events on need not read them. A watcher that does not keep up (`paused`) is caught up from the log. */
struct watcher {
    struct loop *loop;
    const char *tenant;
    struct access_control access;
    const Renga__V1__WatchRunRequest *request;
    bool in_call; /* as the request's; and the run goes on to its end */
    void (*came)(struct watcher *watcher, const Renga__V1__RunEvent *event);
    void (*came_packed)(struct watcher *watcher, const uint8_t *bytes, size_t size); /* may be NULL */
    void *owner;
    struct status status;
    const char *handoff_address; /* as the request's; until runner_unwatch */

    /* The runner's. */
    struct subscription *subscription;
};
void runner_watch_pause(struct watcher *watcher);
void runner_watch_resume(struct watcher *watcher);
/* `came` does not run any more; also from within it, and also after the NULL at the end: until then there is a
 * subscription. */
void runner_unwatch(struct watcher *watcher);

#endif
