/* Which attempt numbers are used up. A node gets each number once, also after a stop or a death between two attempts.
 * The log shows when an attempt began, and a crash may hide an attempt that had begun since the last record. */
#include "run_priv.h"

static uint32_t attempt_higher(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* ---- from the log ------------------------------------------------------------------------------------------------ */

/* The graph at the place. If no record has opened it yet, NULL, and `holder` is the node that it belongs to. */
static struct frame *frame_if_open(struct thread *thread, const Renga__V1__ShownEvent *shown, struct due **holder)
{
    struct frame *frame = thread->root;
    *holder = NULL;
    for (size_t i = 0; frame && i + 2 < shown->n_place; i += 3) {
        struct due *due = due_find(frame, shown->place[i], shown->place[i + 1]);
        uint32_t item = shown->place[i + 2];
        frame = due && item < due->branch_count ? due->branches[item].frame : NULL;
        *holder = due;
    }
    return frame;
}

static void fold_started(struct thread *thread, const Renga__V1__ShownEvent *shown)
{
    struct due *holder;
    const struct frame *frame = frame_if_open(thread, shown, &holder);
    if (!frame && holder) {
        holder->taken_up = attempt_higher(holder->taken_up, shown->attempts_before + 1);
        holder->begun_in_log = true;
    }
    for (struct due *due = frame ? frame->due : NULL; due; due = due->next) {
        if (due->node->index != shown->node || due->branch != shown->branch || due->state == DUE_FINISHED ||
            node_holds_graph(due->node))
            continue;
        due->attempts = attempt_higher(due->attempts, shown->attempts_before + 1);
        due->begun_in_log = true;
    }
}

static void fold_retried(struct thread *thread, const Renga__V1__ShownEvent *shown)
{
    struct status ignored = {0};
    const struct frame *frame = frame_at(thread, shown->place, shown->n_place, &ignored);
    for (struct due *due = frame ? frame->due : NULL; due; due = due->next) {
        if (due->node->index != shown->node || due->branch != shown->branch || due->state == DUE_FINISHED)
            continue;
        due->attempts = attempt_higher(due->attempts, (uint32_t)shown->retried->attempt);
        due->begun_in_log = false;
    }
}

void fold_attempts(struct thread *thread, const Record *record)
{
    for (size_t i = 0; i < record->n_shown; i++) {
        const Renga__V1__ShownEvent *shown = record->shown[i];
        if (shown->retried)
            fold_retried(thread, shown);
        else if (!*shown->progress_json)
            fold_started(thread, shown);
    }
}

/* ---- going on ---------------------------------------------------------------------------------------------------- */

void attempts_resume(struct due *due, bool recovered)
{
    bool hidden = recovered && !due->begun_in_log; /* an attempt may have begun since the last record */
    due->taken_up += hidden;
    if (hidden && due->state == DUE_PENDING && !due->branches)
        due->attempts++;
    due->begun_in_log = false;
}

static uint32_t highest_in(const struct frame *frame)
{
    uint32_t most = 0;
    for (const struct due *due = frame->due; due; due = due->next)
        most = attempt_higher(most, node_holds_graph(due->node) ? attempts_within(due) : due->attempts);
    return most;
}

uint32_t attempts_within(const struct due *due)
{
    uint32_t most = due->taken_up;
    for (size_t i = 0; i < due->branch_count; i++)
        if (due->branches[i].frame)
            most = attempt_higher(most, highest_in(due->branches[i].frame));
    return most;
}
