/* WatchRun: finds the run and the version of its agent; the room watch/ does the rest. */
#include "watch_run.h"
#include "runner.h"
#include "thread/request.h"
#include "thread/run.h"
#include "thread/thread.h"
#include "upgrade/agent_versions.h"
#include "watch/subscribers.h"

#include "base/status.h"

void request_watch_run(struct request *request, struct thread *thread)
{
    struct agent *agent;
    const struct run *run = thread_find_run(thread, request->run_id);
    const Renga__V1__RunRow *row = request->place;
    if (!run && !row)
        request_refuse(request, NULL, NOT_FOUND, "there is no run '%.64s'", request->run_id);
    else if (request_find_agent_if_any(request, thread, run ? run->begun->graph_version : row->run->graph_version,
                                       &agent))
        subscribers_add(request, thread, agent);
}

void runner_watch(struct runner *runner, struct watcher *watcher)
{
    runner_run(runner, subscription_open(watcher));
}
