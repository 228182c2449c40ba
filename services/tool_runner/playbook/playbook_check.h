/* Checks requests about playbooks against the bounds of the contract. INVALID_ARGUMENT names the field. */
#ifndef RENGA_TOOL_RUNNER_PLAYBOOK_CHECK_H
#define RENGA_TOOL_RUNNER_PLAYBOOK_CHECK_H

#include "playbook/playbook.h"

/* The parts that do not depend on the playbook. Linear in the request's bytes. */
bool playbook_check_put(const Renga__V1__PutPlaybookRequest *request, struct status *st);
bool playbook_check_restore(const Renga__V1__RestorePlaybookRequest *request, struct status *st);

#endif
