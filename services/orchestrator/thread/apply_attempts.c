/* Which attempt numbers are used up. A node gets each number once, also after a stop or a death between two attempts.
 * The log shows when an attempt began, and a crash may hide an attempt that had begun since the last record. */
#include "apply.h"
#include "branches.h"
#include "frame.h"
#include "thread.h"

#include "base/status.h"

static uint32_t attempt_higher(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* ---- from the log ------------------------------------------------------------------------------------------------ */

/* The graph at the place. If no record has opened it yet, NULL, and `holder` is the node that it belongs to. */
static struct frame *frame_if_open(struct thread *thread, const Renga__V1__ShownEvent *pending,
                                   struct activation **holder)
{
    struct frame *frame = thread->root;
    *holder = NULL;
    for (size_t i = 0; frame && i + 2 < pending->n_place; i += 3) {
        struct activation *activation = activation_find(frame, pending->place[i], pending->place[i + 1]);
        uint32_t item = pending->place[i + 2];
        frame = activation && item < activation->branch_count ? activation->branches[item].frame : NULL;
        *holder = activation;
    }
    return frame;
}

static void apply_started(struct thread *thread, const Renga__V1__ShownEvent *pending)
{
    struct activation *holder;
    const struct frame *frame = frame_if_open(thread, pending, &holder);
    if (!frame && holder) {
        holder->taken_up = attempt_higher(holder->taken_up, pending->attempts_before + 1);
        holder->begun_in_log = true;
    }
    for (struct activation *activation = frame ? frame->activations : NULL; activation; activation = activation->next) {
        if (activation->node->index != pending->node || activation->branch != pending->branch ||
            activation->state == ACTIVATION_FINISHED || node_holds_graph(activation->node))
            continue;
        activation->attempts = attempt_higher(activation->attempts, pending->attempts_before + 1);
        activation->begun_in_log = true;
    }
}

static void apply_retried(struct thread *thread, const Renga__V1__ShownEvent *pending)
{
    struct status ignored = {0};
    const struct frame *frame = frame_at(thread, pending->place, pending->n_place, &ignored);
    for (struct activation *activation = frame ? frame->activations : NULL; activation; activation = activation->next) {
        if (activation->node->index != pending->node || activation->branch != pending->branch ||
            activation->state == ACTIVATION_FINISHED)
            continue;
        activation->attempts = attempt_higher(activation->attempts, (uint32_t)pending->retried->attempt);
        activation->begun_in_log = false;
    }
}

void apply_attempts(struct thread *thread, const Record *record)
{
    for (size_t i = 0; i < record->n_shown; i++) {
        const Renga__V1__ShownEvent *pending = record->shown[i];
        if (pending->retried)
            apply_retried(thread, pending);
        else if (!*pending->progress_json)
            apply_started(thread, pending);
    }
}

/* ---- going on ---------------------------------------------------------------------------------------------------- */

void attempts_resume(struct activation *activation, bool recovered)
{
    bool hidden = recovered && !activation->begun_in_log; /* an attempt may have begun since the last record */
    activation->taken_up += hidden;
    if (hidden && activation->state == ACTIVATION_PENDING && !activation->branches)
        activation->attempts++;
    activation->begun_in_log = false;
}

static uint32_t highest_in(const struct frame *frame)
{
    uint32_t most = 0;
    for (const struct activation *activation = frame->activations; activation; activation = activation->next)
        most = attempt_higher(most,
                              node_holds_graph(activation->node) ? attempts_within(activation) : activation->attempts);
    return most;
}

uint32_t attempts_within(const struct activation *activation)
{
    uint32_t most = activation->taken_up;
    for (size_t i = 0; i < activation->branch_count; i++)
        if (activation->branches[i].frame)
            most = attempt_higher(most, highest_in(activation->branches[i].frame));
    return most;
}
