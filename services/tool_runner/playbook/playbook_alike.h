/* Finds the bullet of a draft that is nearly the same as a content. The terms of a bullet are read once and kept beside
 * it, so a search costs some 100 ns a bullet. */
#ifndef RENGA_TOOL_RUNNER_PLAYBOOK_ALIKE_H
#define RENGA_TOOL_RUNNER_PLAYBOOK_ALIKE_H

#include "playbook/playbook_draft.h"
#include "playbook/playbook_similar.h"

struct playbook_alike {
    const Renga__V1__Bullet *bullet; /* NULL: no bullet is nearly the same */
    struct playbook_similarity how;
};

/* The one that is most alike and not among `except`: similarity at least PLAYBOOK_SIMILAR_ENOUGH. In a worker. */
struct playbook_alike playbook_alike_find(struct playbook_draft *draft, const char *content, char *const *except,
                                          size_t except_count);

#endif
