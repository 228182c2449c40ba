#include "run_queues.h"
#include "frame.h"
#include "run.h"

void run_push_ready(struct activation *activation)
{
    struct run *run = frame_run(activation->frame);
    activation_move(activation, ACTIVATION_READY);
    if (activation->queued)
        return;
    activation->queued = true;
    activation->queue_next = NULL;
    if (run->ready_last)
        run->ready_last->queue_next = activation;
    else
        run->ready_first = activation;
    run->ready_last = activation;
}

void run_push_opener(struct activation *activation)
{
    struct run *run = frame_run(activation->frame);
    if (activation->opens)
        return;
    activation->opens = true;
    activation->opener_next = NULL;
    if (run->openers_last)
        run->openers_last->opener_next = activation;
    else
        run->openers_first = activation;
    run->openers_last = activation;
}

bool run_pop_ready(struct run *run, struct activation **activation)
{
    while ((*activation = run->ready_first)) {
        run->ready_first = (*activation)->queue_next;
        if (!run->ready_first)
            run->ready_last = NULL;
        (*activation)->queued = false;
        if ((*activation)->state == ACTIVATION_READY)
            return true;
    }
    return false;
}

void run_pop_opener(struct run *run)
{
    struct activation *activation = run->openers_first;
    run->openers_first = activation->opener_next;
    if (!run->openers_first)
        run->openers_last = NULL;
    activation->opens = false;
}

void run_purge_queues(struct run *run)
{
    struct activation *ready = run->ready_first, *openers = run->openers_first;
    run->ready_first = run->ready_last = run->openers_first = run->openers_last = NULL;
    for (struct activation *activation = ready, *next; activation; activation = next) {
        next = activation->queue_next;
        activation->queued = false;
        if (activation->state == ACTIVATION_READY)
            run_push_ready(activation);
    }
    for (struct activation *activation = openers, *next; activation; activation = next) {
        next = activation->opener_next;
        activation->opens = false;
        if (activation->state == ACTIVATION_AT_WORK)
            run_push_opener(activation);
    }
}
