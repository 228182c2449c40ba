/* A playbook that this process has at an earlier revision, brought to the revision of a head by the changes between:
 * rows w, which never change. So a change by another tool-runner costs the rows of that change, and a reader comes
 * to an end while others write all the time. The earlier playbook may be one with pages read at different moments: a
 * change writes each of its bullets whole, so it may be applied to bullets that have it. */
#ifndef RENGA_TOOL_RUNNER_PLAYBOOK_REDO_H
#define RENGA_TOOL_RUNNER_PLAYBOOK_REDO_H

#include "playbook/playbook.h"
#include "playbook/playbook_rows.h"
#include "store/store.h"

#define PLAYBOOK_REDO_MAX 256 /* changes; beyond them the bullets are read */

/* Whether the changes between are kept and few. */
bool playbook_redo_is_possible(const struct playbook *base, const struct playbook_head *head);
/* The range of their rows, in the arena. */
void playbook_redo_range(struct arena *arena, const struct playbook *base, const struct playbook_head *head,
                         struct store_bytes *from, struct store_bytes *to);
/* In a worker: the playbook at the head, without proposals, held for the caller. NULL: a row is missing or damaged, or
 * the number of bullets is another than the head's; read the bullets. */
struct playbook *playbook_redo(const struct playbook *base, const struct playbook_head *head,
                               const struct store_scan *rows);

#endif
