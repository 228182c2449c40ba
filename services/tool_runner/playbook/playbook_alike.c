#include "playbook_alike.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define CANDIDATE_MIN  0.6 /* similarity of terms from which on texts are compared word by word */
#define CANDIDATES_MAX 8
#define SCRATCH_MAX    ((size_t)8 << 20) /* bytes for two contents: 100 a byte */

struct playbook_bullet_terms {
    size_t count;
    struct playbook_term terms[];
};

/* The first of several threads that have read them keeps them. */
static const struct playbook_bullet_terms *terms_of(struct arena *scratch, struct playbook_bullet *bullet)
{
    struct playbook_bullet_terms *none = NULL, *known = atomic_load(&bullet->terms);
    size_t count = 0;
    if (known)
        return known;
    const struct playbook_term *read =
        playbook_terms(scratch, bullet->bullet.content, strlen(bullet->bullet.content), &count);
    count = read ? count : 0;
    struct playbook_bullet_terms *made = xmalloc(sizeof *made + count * sizeof(*made->terms));
    made->count = count;
    if (count)
        memcpy(made->terms, read, count * sizeof(*made->terms));
    if (atomic_compare_exchange_strong(&bullet->terms, &none, made))
        return made;
    free(made);
    return none;
}

struct candidate {
    const Renga__V1__Bullet *bullet;
    double similarity;
};

/* Keeps the best; `count` of them are there. */
static void take_candidate(struct candidate *candidates, size_t *count, struct candidate one)
{
    size_t at = *count < CANDIDATES_MAX ? (*count)++ : CANDIDATES_MAX;
    while (at > 0 && candidates[at - 1].similarity < one.similarity) {
        if (at < CANDIDATES_MAX)
            candidates[at] = candidates[at - 1];
        at--;
    }
    if (at < CANDIDATES_MAX)
        candidates[at] = one;
}

static bool is_excepted(const char *id, char *const *except, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(except[i], id) == 0)
            return true;
    return false;
}

static size_t playbook_alike_find_candidates(struct playbook_draft *draft, struct arena *scratch, const char *content,
                                             char *const *except, size_t except_count, struct candidate *candidates)
{
    struct arena own;
    size_t found = 0, count = 0;
    arena_init(&own, NULL, 0, SCRATCH_MAX);
    const struct playbook_term *terms = playbook_terms(&own, content, strlen(content), &count);
    for (size_t i = 0; terms && i < draft->count; i++) {
        struct playbook_bullet *bullet = draft->entries[i].now;
        if (!bullet || is_excepted(bullet->bullet.id, except, except_count))
            continue;
        const struct playbook_bullet_terms *its = terms_of(scratch, bullet);
        arena_reset(scratch);
        double similarity = playbook_terms_similarity(terms, count, its->terms, its->count);
        if (similarity >= CANDIDATE_MIN)
            take_candidate(candidates, &found, (struct candidate){&bullet->bullet, similarity});
    }
    arena_fini(&own);
    return found;
}

struct playbook_alike playbook_alike_find(struct playbook_draft *draft, const char *content, char *const *except,
                                          size_t except_count)
{
    struct candidate candidates[CANDIDATES_MAX];
    struct playbook_alike best = {.bullet = NULL};
    struct arena scratch;
    arena_init(&scratch, NULL, 0, SCRATCH_MAX);
    size_t count = playbook_alike_find_candidates(draft, &scratch, content, except, except_count, candidates);
    for (size_t i = 0; i < count; i++) {
        struct playbook_similarity how;
        arena_reset(&scratch);
        playbook_compare(&scratch, candidates[i].bullet->content, content, &how);
        bool better = how.similarity >= PLAYBOOK_SIMILAR_ENOUGH &&
                      (!best.bullet || how.similarity > best.how.similarity ||
                       (how.difference == PLAYBOOK_SAME && best.how.difference != PLAYBOOK_SAME));
        if (better)
            best = (struct playbook_alike){candidates[i].bullet, how};
    }
    arena_fini(&scratch);
    return best;
}
