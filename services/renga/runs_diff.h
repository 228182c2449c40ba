/* Private to `renga runs diff`: lists of two runs, compared. */
#ifndef RENGA_RUNS_DIFF_H
#define RENGA_RUNS_DIFF_H

#include "base/arena.h"
#include "orchestrator_client.h"

#include <cJSON.h>

#define DIFF_ENTRIES_MAX 2000 /* of a list; the rest is not compared, and the result says so */

/* Entries with the keys by which they are compared. */
struct diff_list {
    const char **keys, **texts;
    size_t count;
    bool cut; /* there were more entries than DIFF_ENTRIES_MAX */
};

/* Entries are texts, or objects with the text of `key` (and a "title", which is shown before it); addresses are
 * compared by their canonical form. `value` may be NULL. Memory is that of the arena; false when it is out. */
bool diff_list_read(struct diff_list *list, const cJSON *value, const char *key, struct arena *arena);
/* The sentences of a text. */
bool diff_list_sentences(struct diff_list *list, const char *text, struct arena *arena);

enum diff_mark { DIFF_SAME, DIFF_REMOVED, DIFF_ADDED };

/* Calls `show` for each entry: in the order of a longest common subsequence (`ordered`), or as sets. False when memory
 * is out. Time and memory: O(entries of a × entries of b), for sets O(n log n). */
bool diff_lists(const struct diff_list *a, const struct diff_list *b, bool ordered, struct arena *arena,
                void (*show)(enum diff_mark mark, const char *text, void *data), void *data);

/* `renga runs diff A B`, both of the orchestrator's arguments behind "diff". Gives the exit code: 0 the same, 1 they
 * differ, 2 it failed. */
int runs_diff(struct orchestrator_client *client);

#endif
