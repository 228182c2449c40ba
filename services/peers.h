/* Where the services of the suite find each other: one option each. */
#ifndef RENGA_SERVICES_PEERS_H
#define RENGA_SERVICES_PEERS_H

#include "base/config.h"
#include "daemon/daemon.h"

extern const struct peer peers[];
extern const struct option peer_options[];

#endif
