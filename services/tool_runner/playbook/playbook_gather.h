/* Makes a playbook of its rows, page by page, in workers; without a store. */
#ifndef RENGA_TOOL_RUNNER_PLAYBOOK_GATHER_H
#define RENGA_TOOL_RUNNER_PLAYBOOK_GATHER_H

#include "playbook/playbook.h"
#include "playbook/playbook_rows.h"

/* A playbook with the fields of the head only: no bullets and no proposals. */
struct playbook *playbook_gather_begin(const struct playbook_key *key, const struct playbook_head *head,
                                       struct playbook_slot *slot);
/* Adds the rows of a page of bullets or proposals. A row that cannot be read is added as damaged. DATA_LOSS: its key
 * cannot be read either; RESOURCE_EXHAUSTED: no memory. */
bool playbook_gather_bullets(struct playbook *playbook, const struct store_scan *page, struct status *st);
bool playbook_gather_proposals(struct playbook *playbook, const struct store_scan *page, struct status *st);
/* Puts all in order. DATA_LOSS: rows are missing, or one is damaged and `takes_damaged` is false. */
bool playbook_gather_end(struct playbook *playbook, const struct playbook_head *head, bool takes_damaged,
                         struct status *st);

#endif
