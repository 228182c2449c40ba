/* An orchestrator that has answered and falls silent, is frozen or started anew, is asked again until it answers or
 * --patience is over. An orchestrator that has never answered is not asked again: then the address is wrong, or has no
 * server.
 *
 *      struct reconnect reconnect = {.client = &client};
 *      while (!orchestrator_client_try(…))                    // calls reconnect_succeeded with each message
 *          if (!reconnect_retry(&reconnect))
 *              return COMMAND_FAILED; */
#ifndef RENGA_RECONNECT_H
#define RENGA_RECONNECT_H

#include "orchestrator_client.h"

struct reconnect {
    const struct orchestrator_client *client;
    bool known;      /* it has answered before */
    int64_t lost_ns; /* since when it is silent; 0: it is not */
};

/* In the loop of the call. */
void reconnect_succeeded(struct reconnect *reconnect);
/* Call it after a failed try; client->status has the reason. True after a pause if the try is to be repeated; else
 * standard error says why. */
bool reconnect_retry(struct reconnect *reconnect);

#endif
