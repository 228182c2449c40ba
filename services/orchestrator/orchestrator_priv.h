/* Private to services/orchestrator. */
#ifndef RENGA_ORCHESTRATOR_PRIV_H
#define RENGA_ORCHESTRATOR_PRIV_H

#include "base/config.h"

extern const struct option orchestrator_options[];

#endif
