/* The options that every daemon has. Private to shared/daemon. */
#ifndef RENGA_DAEMON_OPTIONS_H
#define RENGA_DAEMON_OPTIONS_H

#include "base/config.h"
#include "daemon/daemon.h"

/* The common table with this daemon's own defaults; lives as long as the process. */
const struct option *daemon_options(const struct daemon *daemon);

#endif
