/* An orchestrator that has answered and falls silent, is frozen or started anew, is asked again until it answers or
 * --patience is over. An orchestrator that has never answered is not asked again: then the address is wrong, or has no
 * server.
 *
 *      struct patience patience = {.orchestra = &orchestra};
 *      while (!orchestra_try(…))                    // calls patience_heard with each message
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
/* Call it after a failed try; orchestra->status has the reason. True after a pause if the try is to be repeated; else
 * standard error says why. */
bool patience_again(struct patience *patience);

#endif
