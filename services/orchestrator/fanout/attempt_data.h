/* Private to the orchestrator: the data of one attempt at a node; engine/attempt.h has its life. */
#ifndef RENGA_ORCHESTRATOR_ATTEMPT_DATA_H
#define RENGA_ORCHESTRATOR_ATTEMPT_DATA_H

#include "fanout.h"
#include "nodes/task.h"
#include "thread/frame.h"

#include "loop/loop.h"

#include <stdbool.h>
#include <stdint.h>

struct span;
struct thread;
struct token_buffer;

struct attempt {
    struct activation *activation; /* NULL: no result of it counts any more */
    struct thread *thread;
    uint32_t run_number;
    bool ended, held, late; /* held: it is not to be freed yet; late: its time was over */
    bool dispatched;
    int64_t began_ns;
    struct token_buffer *token_buffer; /* tokens so far; NULL: no tokens */
    struct timer limit, idle_limit;
    struct span *span;
    struct dispatch dispatch; /* if it is dispatched */
    struct task task;         /* else; and the request of either */
    _Alignas(16) char data[];
};

#endif
