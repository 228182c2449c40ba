/* The options of a daemon: its own, those of its services, and those that all have. Private to shared/daemon. */
#ifndef RENGA_DAEMON_OPTIONS_H
#define RENGA_DAEMON_OPTIONS_H

#include "config/config.h"
#include "daemon/daemon.h"

/* All options at this daemon's own defaults, to be read; NULL if a table or a default contradicts itself. */
struct config *daemon_create_config(const struct daemon *daemon, struct status *st);

#endif
