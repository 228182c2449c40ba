#include "search/fuse.h"

#include "base/hash.h"
#include "http/canonical.h"

#include <stdlib.h>
#include <string.h>

#define FUSE_CONSTANT 60

struct fused {
    Renga__V1__SearchHit *hit;
    const char *key;
    size_t length;
    uint64_t hash;
    double score;
    unsigned rank, list; /* of the hit that stays; the list that was counted last, from 1 */
    size_t order;
};

struct fusion {
    struct arena *arena;
    struct buffer form; /* of the address in hand */
    struct fused *rows;
    size_t count;
};

/* Writes the key of a hit; false if its address is broken. Of documents the source is a part of it, as two
 * stores may have the same names. */
static bool fuse_write_key(struct fusion *fusion, const struct fuse_list *list, const Renga__V1__SearchHit *hit)
{
    struct buffer *form = &fusion->form;
    if (hit->collection[0]) {
        buffer_clear(form);
        buffer_printf(form, "%s\n%s\n%s\n%d", hit->source, hit->collection, hit->uri, hit->line_from);
        return !form->failed;
    }
    enum canonical_kind kind = canonical_write(hit->uri, form);
    if (kind == CANONICAL_BROKEN || (list->of_web && kind != CANONICAL_WEB))
        return false;
    if (kind == CANONICAL_NAME)
        buffer_printf(form, "\n%s", hit->source);
    return !form->failed;
}

static struct fused *fuse_find(struct fusion *fusion, uint64_t hash)
{
    size_t length = fusion->form.length;
    for (size_t i = 0; i < fusion->count; i++) {
        struct fused *row = &fusion->rows[i];
        if (row->hash == hash && row->length == length && memcmp(row->key, fusion->form.data, length) == 0)
            return row;
    }
    return NULL;
}

static struct fused *fuse_append(struct fusion *fusion, const Renga__V1__SearchHit *hit, uint64_t hash, unsigned rank)
{
    Renga__V1__SearchHit *copy = fusion->count < FUSE_HITS_MAX ? arena_copy(fusion->arena, hit, sizeof *hit) : NULL;
    char *key = copy ? arena_strndup(fusion->arena, buffer_text(&fusion->form), fusion->form.length) : NULL;
    if (!key)
        return NULL;
    struct fused *row = &fusion->rows[fusion->count];
    *row = (struct fused){
        .hit = copy, .key = key, .length = fusion->form.length, .hash = hash, .rank = rank, .order = fusion->count++};
    return row;
}

static void fuse_fill(char **text, char *other)
{
    if (!(*text)[0])
        *text = other;
}

/* Keeps the better ranked of two hits. */
static void fuse_merge(struct fused *row, const Renga__V1__SearchHit *hit, unsigned rank)
{
    Renga__V1__SearchHit other = *hit;
    if (rank < row->rank) {
        other = *row->hit;
        *row->hit = *hit;
        row->rank = rank;
    }
    fuse_fill(&row->hit->title, other.title);
    fuse_fill(&row->hit->snippet, other.snippet);
    fuse_fill(&row->hit->published_date, other.published_date);
}

static void fuse_add_list(struct fusion *fusion, const struct fuse_list *list, unsigned number)
{
    unsigned rank = 0;
    for (size_t i = 0; i < list->count; i++) {
        const Renga__V1__SearchHit *hit = list->hits[i];
        if (!fuse_write_key(fusion, list, hit))
            continue;
        uint64_t hash = hash_bytes(fusion->form.data, fusion->form.length);
        struct fused *row = fuse_find(fusion, hash);
        if (row && row->list == number) /* the same page twice in a list */
            continue;
        rank++;
        if (row)
            fuse_merge(row, hit, rank);
        else if (!(row = fuse_append(fusion, hit, hash, rank)))
            return;
        row->list = number;
        row->score += (FUSE_CONSTANT + 1.0) / (FUSE_CONSTANT + rank);
    }
}

static int fuse_by_score(const void *a, const void *b)
{
    const struct fused *one = a, *other = b;
    if (one->score != other->score)
        return one->score > other->score ? -1 : 1;
    return one->order < other->order ? -1 : one->order > other->order;
}

size_t fuse_lists(struct arena *arena, const struct fuse_list *lists, size_t count, Renga__V1__SearchHit **hits,
                  size_t room)
{
    struct fusion fusion = {.arena = arena, .rows = arena_alloc(arena, FUSE_HITS_MAX * sizeof(struct fused))};
    size_t given = 0;
    if (!fusion.rows)
        return 0;
    buffer_init(&fusion.form, CANONICAL_MAX + 256);
    for (size_t i = 0; i < count; i++)
        fuse_add_list(&fusion, &lists[i], (unsigned)i + 1);
    qsort(fusion.rows, fusion.count, sizeof *fusion.rows, fuse_by_score);
    for (; given < fusion.count && given < room; given++) {
        hits[given] = fusion.rows[given].hit;
        if (count != 1 || !lists[0].keeps_scores)
            hits[given]->score = fusion.rows[given].score / (double)count;
    }
    buffer_fini(&fusion.form);
    return given;
}
