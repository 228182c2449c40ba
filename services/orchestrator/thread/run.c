#include "run.h"
#include "frame.h"
#include "graph/agents.h"
#include "shard.h"
#include "thread.h"

#include "telemetry/spans.h"

#include <assert.h>
#include <stdlib.h>

void run_leave_frames(struct run *run)
{
    for (struct frame *frame = run->dirty; frame; frame = frame->dirty_next)
        frame->is_dirty = false;
    for (struct frame *frame = run->to_begin; frame; frame = frame->begin_next)
        frame->awaits = false;
    run->dirty = run->to_begin = run->last_to_begin = NULL;
}

void run_free(struct run *run)
{
    struct thread *thread = run->thread;
    assert(!run->waiters && !run->quiet_waiters);
    run_leave_frames(run);
    if (run->in_shard)
        shard_remove_run(thread->shard, run);
    if (run->agent)
        agent_release(thread->shard->runner->options.agents, run->agent);
    span_end(&run->span);
    free(run->pending_events);
    free(run->pending_event_ms);
    arena_fini(&run->pending_event_arena);
    arena_fini(&run->arena);
    free(run);
}
