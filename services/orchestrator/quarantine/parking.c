/* After too many deaths of its owners a run fails, with all that is known of it. */
#include "crashes.h"
#include "crashes_priv.h"
#include "engine/run_lifecycle.h"
#include "log/ids.h"
#include "thread/apply.h"
#include "thread/crash_state.h"
#include "thread/frame.h"
#include "thread/run.h"
#include "thread/runner_metrics.h"
#include "thread/shard.h"
#include "thread/thread.h"

#include "base/buffer.h"
#include "base/log.h"

#include <stdio.h>

#define OWNERS_TEXT (CRASH_OWNERS_MAX * (ID_MAX + 2))

static void names_of_owners(const struct crash_record *record, char text[OWNERS_TEXT])
{
    size_t length = 0;
    *text = '\0';
    for (unsigned i = 0; i < record->count; i++)
        length += (size_t)snprintf(text + length, OWNERS_TEXT - length, "%s%s", i ? ", " : "", record->owners[i]);
}

/* ---- parked ------------------------------------------------------------------------------------------------------ */

/* The first node that may have been at work when the owner died. */
static const struct activation *first_at_work(const struct frame *frame)
{
    for (const struct activation *activation = frame->activations; activation; activation = activation->next) {
        for (size_t i = 0; i < activation->branch_count; i++) {
            const struct frame *inner = activation->branches[i].frame;
            const struct activation *within = inner ? first_at_work(inner) : NULL;
            if (within)
                return within;
        }
        if (activation->state == ACTIVATION_PENDING)
            return activation;
    }
    return NULL;
}

static void parking_name_node(const struct thread *thread, struct buffer *out)
{
    const struct activation *activation =
        thread->root && run_is_at_work(thread->run) ? first_at_work(thread->root) : NULL;
    if (!activation) {
        buffer_print(out, "before its first node");
        return;
    }
    buffer_print(out, "while it worked on node '");
    frame_path(activation->frame, out);
    buffer_printf(out, "%s%s'", activation->frame->parent ? "/" : "", activation->node->name);
}

static void parking_park_run(struct thread *thread, struct run *run)
{
    struct buffer node;
    char owners[OWNERS_TEXT];
    unsigned count = thread->crashes.record->count;
    buffer_init(&node, PATH_MAX_BYTES);
    parking_name_node(thread, &node);
    names_of_owners(thread->crashes.record, owners);
    log_error("run.parked", "run %s of thread %s: its owners died %u times %s (%s); it has failed and is not taken up",
              run->id, thread->id, count, buffer_text(&node), owners);
    runner_metrics_owner(thread->shard->runner->options.runner_metrics, thread->shard->loop, OWNER_PARKED, 1);
    crashes_clear(thread, thread->last + 1);
    run_change(run, RENGA__V1__RUN_STATE__RUN_STATE_FAILED, RENGA__V1__STOP_REASON__STOP_REASON_OWNER_CRASHED, INTERNAL,
               "its orchestrator died %u times %s (%s), with no step committed between; it is not taken up by itself "
               "any more; to let it go on, resume the run %s",
               count, buffer_text(&node), owners, run->id);
    buffer_fini(&node);
}

void crashes_park(struct thread *thread)
{
    struct run *run = thread->run;
    thread->crashes.parks = false;
    if (!run_is_at_work(run)) {
        parking_park_run(thread, thread->queue);
        run_next(thread);
        return;
    }
    thread->last += RECORDS_LOST_MAX; /* as for a run that goes on */
    run_resume(run, &(struct resumption){.recovered = true});
    run_halt(run);
    if (run_is_at_work(run))
        parking_park_run(thread, run);
}
