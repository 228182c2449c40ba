/* The orchestrator and, on top of it, the typed services of the five agents, as rows in the table of a binary. */
#ifndef RENGA_ORCHESTRATOR_H
#define RENGA_ORCHESTRATOR_H

#include "daemon/service.h"

extern const struct service orchestrator_service;
extern const struct service helpdesk_service;
extern const struct service form_interview_service;
extern const struct service deep_research_service;
extern const struct service autonomous_research_service;
extern const struct service ace_generator_service;

#endif
