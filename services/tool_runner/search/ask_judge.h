/* The verdict on a request to a source. */
#ifndef RENGA_TOOL_RUNNER_ASK_JUDGE_H
#define RENGA_TOOL_RUNNER_ASK_JUDGE_H

#include "search/ask.h"

/* A transfer that ended without an answer of 2xx: fills ask->failure, is_late, is_final and in_doubt. */
void search_ask_judge(struct search_ask *ask);

/* An answer that could not be read. */
void search_ask_judge_unread(struct search_ask *ask);

/* The standing refuses a request; `wait_ms` is when it may be asked again. */
/* The tenant has its share of the places already. */
void search_ask_judge_share(struct search_ask *ask);
void search_ask_judge_refusal(struct search_ask *ask, enum standing_refusal refusal, int64_t wait_ms);

/* Puts the source's name before the text, and takes its key and `token` out of it. */
void search_ask_name_failure(struct search_ask *ask, const char *token);

/* The verdict on the source that the failure (or its absence) stands for. */
struct standing_report search_ask_report(const struct search_ask *ask);

#endif
