/* An orchestrator that has answered and falls silent, is frozen or started anew, is asked again until it answers or
 * --patience is over. Who was not heard at all is not waited for: then the address is wrong, or nobody is there.
 *
 *      struct patience patience = {.orchestra = &orchestra};
 *      while (!orchestra_try(…))                    // calls patience_heard with what comes
 *          if (!patience_again(&patience))
 *              return COMMAND_FAILED; */
#ifndef RENGA_PATIENCE_H
#define RENGA_PATIENCE_H

#include "orchestra.h"

struct patience {
    const struct orchestra *orchestra;
    bool known;      /* it has answered before */
    int64_t lost_ns; /* since when it is silent; 0: it is not */
};

/* In the loop of the call. */
void patience_heard(struct patience *patience);
/* After a try that failed as orchestra->status tells. True where it is to be made again, after a while that has passed;
 * else standard error says why. */
bool patience_again(struct patience *patience);

#endif
