/* Private to ask*.c. */
#ifndef RENGA_LLM_GATEWAY_ASK_PRIV_H
#define RENGA_LLM_GATEWAY_ASK_PRIV_H

#include "ask.h"
#include "gateway_priv.h"
#include "route/deployment.h"
#include "route/route.h"

/* ask.c: the one end, whatever led to it. `good` is an answer, else ask->failure says why there is none. */
void ask_end(struct ask *ask, bool good);
void ask_move(struct ask *ask, enum ask_state state);

/* ask_upstream.c: asks a deployment, and others after it as far as the policy goes; ends with ask_end. */
void ask_choose(struct ask *ask);
void ask_pass_turn(struct ask *ask);
/* ask_read.c: the answer is read, perhaps by a worker thread; `was_read` runs in the loop, perhaps at once. `here`: a
 * provider in this process is asked first, after a `before` that failed; else the transfer has just finished. */
void ask_read(struct ask *ask, const struct failure *before, bool here, void (*was_read)(struct ask *ask, bool good));
/* The reading has no waiting request any more; it still ends. */
void ask_read_cancel(struct ask *ask);
/* The rest of the caller's time or of llm_gateway.timeout, the shorter one, in milliseconds. */
int64_t ask_left_ms(const struct ask *ask);

/* ask_settle.c: what the whole of it used goes to the limits, the accounts and the metrics. Before the reply. */
void ask_settle(struct ask *ask, bool good);
void ask_settle_recalled(struct ask *ask);
/* What it will cost, for the limits: of the first target. */
int64_t ask_estimated_micros(const struct ask *ask);
/* What a request of the last attempt used is added up, with its price. */
void ask_add_usage(struct ask *ask);

#endif
