/* Names of data sets (ace.proto). A name chooses a playbook and prompts. */
#ifndef RENGA_ORCHESTRATOR_DATASET_H
#define RENGA_ORCHESTRATOR_DATASET_H

#include "base/status.h"

#define DATASET_NAME_MAX 128 /* bytes */

/* True for 1 to DATASET_NAME_MAX bytes of A-Z, a-z, 0-9, '_', '-' and '.' that do not begin with '.'; so no name is a
 * path. INVALID_ARGUMENT names the field and the value. */
bool dataset_check(const char *field, const char *name, struct status *st);

#endif
