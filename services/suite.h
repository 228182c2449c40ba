/* What all binaries of the suite have in common: the contract, and where the services find each other. */
#ifndef RENGA_SERVICES_SUITE_H
#define RENGA_SERVICES_SUITE_H

#include "daemon/daemon.h"

/* A daemon of the suite, to be completed by its addresses. `services` is NULL-terminated; all is borrowed. */
struct daemon suite_daemon(const char *name, const char *summary, const struct service *const *services);
/* Runs are this process's own affair: peers.orchestrator, which may stand in the environment for other commands, is
 * read and not followed. */
void suite_keep_runs(struct daemon *daemon);
/* The agents' own services, of Helpdesk and the others, are where peers.orchestrator says. */
void suite_call_agents(struct daemon *daemon);

#endif
