/* What became of a request, for the judges of all kinds (ask_kind.judge). Each false has filled ask->failure. */
#ifndef RENGA_LLM_GATEWAY_ASK_JUDGE_H
#define RENGA_LLM_GATEWAY_ASK_JUDGE_H

#include "ask.h"

/* The caller is still there, and reads. */
bool ask_judge_caller(struct ask *ask);

/* An HTTP status of 300 and up. Always false. */
bool ask_judge_error(struct ask *ask);

/* llm_gateway.timeout has passed, and not the caller's own deadline. */
bool ask_is_late(const struct ask *ask);

/* A transport that gave up. Always false. */
bool ask_judge_break(struct ask *ask);

#endif
