/* The index and its life: which bullets it has, from one revision to the next. */
#include "playbook/playbook_index.h"

#include "base/hash.h"
#include "base/memory.h"
#include "playbook/playbook_index_priv.h"

#include <stdlib.h>
#include <string.h>

#define PLACES_LEAST   64
#define REBUILD_SHARE  8    /* with more than 1 / 8 of the bullets new or gone, all postings are made anew */
#define EMPTY_TERMS    4096 /* ... and with so many more terms of no bullet than of any */
#define MISSING_ASK_NS (60 * INT64_C(1000000000))

void *playbook_index_resize(struct playbook_index *index, void *memory, size_t before, size_t after)
{
    index->bytes += after - before;
    if (after == 0) {
        free(memory);
        return NULL;
    }
    void *more = xrealloc(memory, after);
    return more;
}

/* ---- ids --------------------------------------------------------------------------------------------------------- */

static size_t playbook_id_slot(const struct playbook_index *index, const char *id, size_t length)
{
    size_t at = hash_bytes(id, length) & index->id_mask;
    for (; index->by_id[at]; at = (at + 1) & index->id_mask) {
        const char *known = index->bullets[index->by_id[at] - 1].bullet->bullet.id;
        if (strncmp(known, id, length) == 0 && known[length] == '\0')
            break;
    }
    return at;
}

int64_t playbook_index_place(const struct playbook_index *index, const char *id, size_t length)
{
    return index->by_id ? (int64_t)index->by_id[playbook_id_slot(index, id, length)] - 1 : -1;
}

static void playbook_ids_make(struct playbook_index *index)
{
    size_t slots = PLACES_LEAST, before = index->by_id ? (index->id_mask + 1) * sizeof *index->by_id : 0;
    while (slots < 2 * index->count)
        slots *= 2;
    index->by_id = playbook_index_resize(index, index->by_id, before, slots * sizeof *index->by_id);
    memset(index->by_id, 0, slots * sizeof *index->by_id);
    index->id_mask = slots - 1;
    for (size_t i = 0; i < index->places; i++)
        if (index->bullets[i].bullet) {
            const char *id = index->bullets[i].bullet->bullet.id;
            index->by_id[playbook_id_slot(index, id, strlen(id))] = (uint32_t)i + 1;
        }
}

/* ---- places ------------------------------------------------------------------------------------------------------ */

static uint32_t playbook_place_free(struct playbook_index *index, size_t *from)
{
    while (*from < index->places && index->bullets[*from].bullet)
        ++*from;
    if (*from < index->places)
        return (uint32_t)*from;
    if (index->places == index->room) {
        size_t room = index->room ? 2 * index->room : PLACES_LEAST;
        index->bullets = playbook_index_resize(index, index->bullets, index->room * sizeof *index->bullets,
                                               room * sizeof *index->bullets);
        index->scores = playbook_index_resize(index, index->scores, index->room * sizeof *index->scores,
                                              room * sizeof *index->scores);
        index->room = room;
    }
    index->bullets[index->places] = (struct playbook_index_bullet){.bullet = NULL};
    return (uint32_t)index->places++;
}

static size_t playbook_vector_size(const struct playbook_vector *vector)
{
    return vector ? sizeof *vector + vector->dimensions : 0;
}

static void playbook_place_clear(struct playbook_index *index, struct playbook_index_bullet *place)
{
    playbook_index_resize(index, place->vector, playbook_vector_size(place->vector), 0);
    playbook_bullet_release(place->bullet);
    *place = (struct playbook_index_bullet){.bullet = NULL};
    index->count--;
}

static bool playbook_texts_are_same(const Renga__V1__Bullet *one, const Renga__V1__Bullet *other)
{
    return strcmp(one->section, other->section) == 0 && strcmp(one->content, other->content) == 0;
}

static void playbook_place_fill(struct playbook_index *index, Renga__V1__Bullet *bullet, size_t *from)
{
    uint32_t place = playbook_place_free(index, from);
    index->bullets[place] =
        (struct playbook_index_bullet){.bullet = playbook_bullet_hold(playbook_bullet_of(bullet)), .mark = index->mark};
    index->count++;
}

/* ---- from one revision to the next ------------------------------------------------------------------------------- */

/* Marks the places of bullets that stay; a bullet with other counts takes the place of the one before. Bullets that are
 * new are gathered at the end of `fresh`; returns their number. */
static size_t playbook_index_keep(struct playbook_index *index, Renga__V1__Bullet *const *bullets, size_t count,
                                  Renga__V1__Bullet **fresh)
{
    size_t found = 0;
    index->mark++;
    for (size_t i = 0; i < count; i++) {
        struct playbook_bullet *bullet = playbook_bullet_of(bullets[i]);
        int64_t at = playbook_index_place(index, bullets[i]->id, strlen(bullets[i]->id));
        struct playbook_index_bullet *place = at >= 0 ? &index->bullets[at] : NULL;
        if (bullet->damaged)
            continue;
        if (!place || (place->bullet != bullet && !playbook_texts_are_same(&place->bullet->bullet, bullets[i]))) {
            fresh[found++] = bullets[i];
            continue;
        }
        place->mark = index->mark;
        if (place->bullet == bullet)
            continue;
        playbook_bullet_release(place->bullet);
        place->bullet = playbook_bullet_hold(bullet);
    }
    return found;
}

static size_t playbook_index_gone(const struct playbook_index *index)
{
    size_t gone = 0;
    for (size_t i = 0; i < index->places; i++)
        gone += index->bullets[i].bullet && index->bullets[i].mark != index->mark;
    return gone;
}

void playbook_index_update(struct playbook_index *index, Renga__V1__Bullet *const *bullets, size_t count)
{
    Renga__V1__Bullet **fresh = xcalloc(count ? count : 1, sizeof(Renga__V1__Bullet *));
    size_t from = 0;
    size_t added = playbook_index_keep(index, bullets, count, fresh), gone = playbook_index_gone(index);
    bool rebuild = (added + gone) * REBUILD_SHARE > index->count;
    for (size_t i = 0; gone && i < index->places; i++) {
        struct playbook_index_bullet *place = &index->bullets[i];
        if (!place->bullet || place->mark == index->mark)
            continue;
        if (!rebuild)
            playbook_postings_remove(index, (uint32_t)i);
        uint32_t *terms = place->terms;
        size_t terms_size = place->term_count * sizeof *terms;
        playbook_index_resize(index, terms, terms_size, 0);
        playbook_place_clear(index, place);
    }
    for (size_t i = 0; i < added; i++) {
        playbook_place_fill(index, fresh[i], &from);
        if (!rebuild)
            playbook_postings_add(index, (uint32_t)from);
    }
    if (rebuild || index->empty_terms * 2 > index->term_count + EMPTY_TERMS) {
        playbook_postings_clear(index);
        for (size_t i = 0; i < index->places; i++)
            if (index->bullets[i].bullet)
                playbook_postings_add(index, (uint32_t)i);
    }
    if (added + gone > 0)
        playbook_ids_make(index);
    free(fresh);
}

void playbook_index_follow(struct playbook_index *index, const struct playbook *playbook)
{
    if (index->revision == playbook->revision)
        return;
    playbook_index_update(index, playbook->bullets, playbook->count);
    index->revision = playbook->revision;
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

struct playbook_index *playbook_index_create(void)
{
    struct playbook_index *index = xcalloc(1, sizeof *index);
    index->bytes = sizeof *index;
    return index;
}

void playbook_index_destroy(struct playbook_index **index)
{
    if (!*index)
        return;
    playbook_postings_clear(*index);
    for (size_t i = 0; i < (*index)->places; i++)
        if ((*index)->bullets[i].bullet)
            playbook_place_clear(*index, &(*index)->bullets[i]);
    free((*index)->bullets);
    free((*index)->scores);
    free((*index)->by_id);
    free(*index);
    *index = NULL;
}

size_t playbook_index_bytes(const struct playbook_index *index)
{
    return index->bytes;
}

size_t playbook_index_count(const struct playbook_index *index)
{
    return index->count;
}

/* ---- vectors ----------------------------------------------------------------------------------------------------- */

size_t playbook_index_missing(struct playbook_index *index, Renga__V1__Bullet **bullets, size_t room, int64_t now_ns,
                              bool take)
{
    size_t count = 0;
    for (size_t i = 0; i < index->places && count < room; i++) {
        struct playbook_index_bullet *place = &index->bullets[i];
        if (!place->bullet || place->vector || (place->asked_ns && now_ns - place->asked_ns < MISSING_ASK_NS))
            continue;
        if (take)
            place->asked_ns = now_ns;
        bullets[count++] = &place->bullet->bullet;
    }
    return count;
}

void playbook_index_set_vector(struct playbook_index *index, const Renga__V1__Bullet *bullet,
                               const struct vector *vector)
{
    int64_t at = playbook_index_place(index, bullet->id, strlen(bullet->id));
    struct playbook_index_bullet *place = at >= 0 ? &index->bullets[at] : NULL;
    if (!place || !playbook_texts_are_same(&place->bullet->bullet, bullet))
        return;
    place->vector = playbook_index_resize(index, place->vector, playbook_vector_size(place->vector),
                                          sizeof *place->vector + vector->dimensions);
    place->vector->dimensions = vector->dimensions;
    place->vector->scale = vector->scale;
    memcpy(place->vector->values, vector->values, vector->dimensions);
}
