#include "live_event.h"
#include "thread.h"

#include <stdlib.h>

void live_drop_first(struct thread *thread)
{
    struct live_event *event = thread->live;
    thread->live = event->next;
    if (!thread->live)
        thread->last_live = NULL;
    thread->live_count--;
    thread->live_bytes -= event->size;
    free(event);
}

void live_drop(struct thread *thread)
{
    while (thread->live)
        live_drop_first(thread);
}
