#include "playbook/playbook_index_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TERMS_ARENA_MAX ((size_t)8 << 20) /* of the terms of a bullet: its content has at most 8 KiB */

/* ---- the dictionary ---------------------------------------------------------------------------------------------- */

static size_t playbook_term_slot(const struct playbook_index *index, uint64_t hash)
{
    size_t at = hash & index->hash_mask;
    while (index->by_hash[at] && index->terms[index->by_hash[at] - 1].hash != hash)
        at = (at + 1) & index->hash_mask;
    return at;
}

const struct playbook_index_term *playbook_postings_find(const struct playbook_index *index, uint64_t hash)
{
    uint32_t number = index->by_hash ? index->by_hash[playbook_term_slot(index, hash)] : 0;
    return number && index->terms[number - 1].count ? &index->terms[number - 1] : NULL;
}

static void playbook_terms_grow(struct playbook_index *index)
{
    size_t room = index->term_room ? 2 * index->term_room : 256, slots = 2 * room;
    index->terms = playbook_index_resize(index, index->terms, index->term_room * sizeof *index->terms,
                                         room * sizeof *index->terms);
    size_t before = index->by_hash ? (index->hash_mask + 1) * sizeof *index->by_hash : 0;
    index->by_hash = playbook_index_resize(index, index->by_hash, before, slots * sizeof *index->by_hash);
    memset(index->by_hash, 0, slots * sizeof *index->by_hash);
    index->hash_mask = slots - 1;
    index->term_room = room;
    for (size_t i = 0; i < index->term_count; i++)
        index->by_hash[playbook_term_slot(index, index->terms[i].hash)] = (uint32_t)i + 1;
}

static uint32_t playbook_term_number(struct playbook_index *index, uint64_t hash)
{
    if (index->term_count == index->term_room)
        playbook_terms_grow(index);
    size_t at = playbook_term_slot(index, hash);
    if (index->by_hash[at])
        return index->by_hash[at] - 1;
    index->terms[index->term_count] = (struct playbook_index_term){.hash = hash};
    index->empty_terms++;
    index->by_hash[at] = (uint32_t)++index->term_count;
    return index->by_hash[at] - 1;
}

/* ---- postings ---------------------------------------------------------------------------------------------------- */

static void playbook_posting_push(struct playbook_index *index, uint32_t number, struct playbook_posting posting)
{
    struct playbook_index_term *term = &index->terms[number];
    if (term->count == term->room) {
        uint32_t room = term->room ? 2 * term->room : 2;
        term->postings = playbook_index_resize(index, term->postings, term->room * sizeof *term->postings,
                                               room * sizeof *term->postings);
        term->room = room;
    }
    index->empty_terms -= term->count == 0;
    term->postings[term->count++] = posting;
}

static uint16_t playbook_bounded(double value)
{
    return value < UINT16_MAX ? (uint16_t)lround(value) : UINT16_MAX;
}

/* Terms of content and section; both lists are sorted by hash. */
static void playbook_postings_write(struct playbook_index *index, uint32_t place, const struct playbook_term *content,
                                    size_t content_count, const struct playbook_term *section, size_t section_count)
{
    struct playbook_index_bullet *bullet = &index->bullets[place];
    for (size_t i = 0, j = 0; i < content_count || j < section_count;) {
        bool here = i < content_count && (j == section_count || content[i].hash <= section[j].hash);
        bool above = j < section_count && (i == content_count || section[j].hash <= content[i].hash);
        uint32_t number = playbook_term_number(index, here ? content[i].hash : section[j].hash);
        struct playbook_posting posting = {.place = place, .halves = above};
        if (here) {
            posting.halves = playbook_bounded(2.0 * content[i].times + above);
            posting.weight = playbook_bounded((double)content[i].weight * POSTING_WEIGHT_ONE);
            bullet->length += content[i].times;
            bullet->weight += content[i].weight;
        }
        playbook_posting_push(index, number, posting);
        bullet->terms[bullet->term_count++] = number;
        i += here;
        j += above;
    }
    index->length += bullet->length;
}

void playbook_postings_add(struct playbook_index *index, uint32_t place)
{
    struct playbook_index_bullet *bullet = &index->bullets[place];
    const Renga__V1__Bullet *texts = &bullet->bullet->bullet;
    size_t content_count = 0, section_count = 0;
    struct arena arena;
    arena_init(&arena, NULL, 0, TERMS_ARENA_MAX);
    const struct playbook_term *content =
        playbook_terms(&arena, texts->content, strlen(texts->content), &content_count);
    const struct playbook_term *section =
        playbook_terms(&arena, texts->section, strlen(texts->section), &section_count);
    size_t most = content && section ? content_count + section_count : 0;
    bullet->terms = playbook_index_resize(index, NULL, 0, most * sizeof *bullet->terms);
    bullet->term_count = bullet->length = 0;
    bullet->weight = 0;
    if (most)
        playbook_postings_write(index, place, content, content_count, section, section_count);
    bullet->terms = playbook_index_resize(index, bullet->terms, most * sizeof *bullet->terms,
                                          bullet->term_count * sizeof *bullet->terms);
    arena_fini(&arena);
}

void playbook_postings_remove(struct playbook_index *index, uint32_t place)
{
    struct playbook_index_bullet *bullet = &index->bullets[place];
    for (uint32_t i = 0; i < bullet->term_count; i++) {
        uint32_t number = bullet->terms[i];
        struct playbook_index_term *term = &index->terms[number];
        uint32_t at = term->count - 1;
        while (term->postings[at].place != place)
            at--;
        term->postings[at] = term->postings[--term->count];
        index->empty_terms += term->count == 0;
    }
    playbook_index_resize(index, bullet->terms, bullet->term_count * sizeof *bullet->terms, 0);
    index->length -= bullet->length;
    bullet->terms = NULL;
    bullet->term_count = 0;
}

void playbook_postings_clear(struct playbook_index *index)
{
    for (size_t i = 0; i < index->term_count; i++)
        playbook_index_resize(index, index->terms[i].postings, index->terms[i].room * sizeof(struct playbook_posting),
                              0);
    for (size_t i = 0; i < index->places; i++) {
        struct playbook_index_bullet *bullet = &index->bullets[i];
        playbook_index_resize(index, bullet->terms, bullet->term_count * sizeof *bullet->terms, 0);
        bullet->terms = NULL;
        bullet->term_count = 0;
    }
    playbook_index_resize(index, index->terms, index->term_room * sizeof *index->terms, 0);
    if (index->by_hash)
        playbook_index_resize(index, index->by_hash, (index->hash_mask + 1) * sizeof *index->by_hash, 0);
    index->terms = NULL;
    index->by_hash = NULL;
    index->term_count = index->term_room = index->empty_terms = index->hash_mask = 0;
    index->length = 0;
}
