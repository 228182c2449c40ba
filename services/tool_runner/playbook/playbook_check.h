/* Checks requests about playbooks against the bounds of the contract. INVALID_ARGUMENT names the field. */
#ifndef RENGA_TOOL_RUNNER_PLAYBOOK_CHECK_H
#define RENGA_TOOL_RUNNER_PLAYBOOK_CHECK_H

#include "playbook/playbook.h"

#define PLAYBOOK_OPERATIONS_MAX 256
#define PLAYBOOK_ACCEPT_MAX     100
#define PLAYBOOK_REQUEST_ID_MAX 128
#define PLAYBOOK_WHY_MAX        1024
#define PLAYBOOK_MERGE_MAX      16
#define PLAYBOOK_BUDGET_MIN     100
#define PLAYBOOK_BUDGET_MAX     1000000

/* The parts that do not depend on the playbook. Linear in the request's bytes. */
bool playbook_check_put(const Renga__V1__PutPlaybookRequest *request, struct status *st);
bool playbook_check_restore(const Renga__V1__RestorePlaybookRequest *request, struct status *st);

/* A bullet from outside: `field` is the name of the bullet ("bullets[3]"). */
bool playbook_check_bullet(const char *field, const Renga__V1__Bullet *bullet, struct status *st);
bool playbook_check_id(const char *field, const char *id, struct status *st);

#endif
