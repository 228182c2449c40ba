/* Searches the index: exact ids, BM25, nearness of vectors, and reciprocal rank fusion of both lists (Cormack, Clarke,
 * Büttcher, SIGIR 2009). */
#include "playbook/playbook_index.h"

#include "playbook/playbook_index_priv.h"
#include "playbook/playbook_value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* BM25's own, as in knowledge/rank.c. */
#define SATURATION 0.9
#define EVENING    0.4

#define TERMS_MAX         192    /* of a query that are looked for: the heaviest */
#define POSTINGS_MAX      400000 /* of one search, some 1 ms: beyond them the commonest terms are left out */
#define STOP_WORD_WEIGHT  0.5    /* the weight of stop words beside content terms */
#define QUERY_ARENA_MAX   ((size_t)16 << 20)
#define RANKED_MAX        200 /* of each list that is fused */
#define FUSION            60
#define TAIL_SHARE        0.6  /* of the best relevance of a list: bullets of less are not fused */
#define SEARCH_WEIGHT_MAX 1.25 /* of playbook_search_weight */
#define SIMILAR_MARGIN    0.01

#define ID_CHARACTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"

struct playbook_ranked {
    uint32_t place;
    double score;     /* relevance, weighted */
    double relevance; /* 0 to 1 */
};

/* A list of the best places. */
struct playbook_ranking {
    const struct playbook_index *index;
    struct playbook_ranked ranked[2 * RANKED_MAX];
    size_t count, room;
};

static bool playbook_is_better(const struct playbook_index *index, const struct playbook_ranked *one,
                               const struct playbook_ranked *other)
{
    if (one->score > other->score || one->score < other->score)
        return one->score > other->score;
    return strcmp(index->bullets[one->place].bullet->bullet.id, index->bullets[other->place].bullet->bullet.id) < 0;
}

static void playbook_rank_insert(struct playbook_ranking *ranking, uint32_t place, double score, double relevance)
{
    const struct playbook_ranked one = {place, score, relevance};
    struct playbook_ranked *ranked = ranking->ranked;
    size_t at = ranking->count;
    if (at == ranking->room && (at == 0 || !playbook_is_better(ranking->index, &one, &ranked[at - 1])))
        return;
    at -= at == ranking->room;
    for (; at > 0 && playbook_is_better(ranking->index, &one, &ranked[at - 1]); at--)
        ranked[at] = ranked[at - 1];
    ranked[at] = one;
    ranking->count += ranking->count < ranking->room;
}

/* Inserts a bullet by its relevance and how often it helped. */
static void playbook_rank_weighted(struct playbook_ranking *ranking, uint32_t place, double relevance)
{
    relevance = relevance < 1 ? relevance : 1;
    if (ranking->count == ranking->room && relevance < ranking->ranked[ranking->count - 1].score)
        return; /* no weight would bring it in; the bullet need not be looked at */
    double weight = playbook_search_weight(&ranking->index->bullets[place].bullet->bullet);
    playbook_rank_insert(ranking, place, relevance * weight / SEARCH_WEIGHT_MAX, relevance);
}

/* ---- by words ---------------------------------------------------------------------------------------------------- */

struct playbook_query_term {
    const struct playbook_index_term *term;
    double weight;
    bool stop_word;
};

struct playbook_query_terms {
    struct playbook_query_term *terms;
    size_t count;
    double most; /* the score of a bullet that has all strong terms */
};

static double playbook_rarity(const struct playbook_index *index, uint32_t found)
{
    return log(1 + ((double)index->count - found + 0.5) / (found + 0.5));
}

static double playbook_query_weight(const struct playbook_index *index, const struct playbook_term *term,
                                    uint32_t found)
{
    double times = term->times < 3 ? term->times : 3, share = (double)term->weight / term->times;
    return playbook_rarity(index, found) * share * (1 + 0.5 * (times - 1));
}

/* Strong ones first, the heaviest first. */
static int playbook_by_weight(const void *a, const void *b)
{
    const struct playbook_query_term *one = a, *other = b;
    if (one->stop_word != other->stop_word)
        return one->stop_word - other->stop_word;
    return (one->weight < other->weight) - (one->weight > other->weight);
}

/* The terms of the query that some bullet has. */
static bool playbook_query_read(const struct playbook_index *index, struct arena *arena, const char *text,
                                struct playbook_query_terms *query)
{
    size_t count = 0;
    const struct playbook_term *terms = playbook_terms(arena, text, strlen(text), &count);
    *query = (struct playbook_query_terms){.terms = arena_alloc(arena, count * sizeof *query->terms)};
    if (!terms || !query->terms)
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct playbook_index_term *term = playbook_postings_find(index, terms[i].hash);
        double weight = playbook_query_weight(index, &terms[i], term ? term->count : 0);
        query->most += terms[i].stop_word ? 0 : weight * (SATURATION + 1);
        if (term)
            query->terms[query->count++] = (struct playbook_query_term){term, weight, terms[i].stop_word};
    }
    qsort(query->terms, query->count, sizeof *query->terms, playbook_by_weight);
    return true;
}

/* Beside content terms, a stop word counts only in a paragraph that has one of them. */
static void playbook_score_term(struct playbook_index *index, const struct playbook_query_term *term, bool beside,
                                double mean)
{
    float weight = (float)(term->weight * (SATURATION + 1) * (beside ? STOP_WORD_WEIGHT : 1));
    float base = SATURATION * (1 - EVENING), slope = (float)(SATURATION * EVENING / mean);
    for (uint32_t i = 0; i < term->term->count; i++) {
        const struct playbook_posting *posting = &term->term->postings[i];
        float times = (float)posting->halves / 2, length = (float)index->bullets[posting->place].length;
        if (beside && index->scores[posting->place] <= 0)
            continue;
        index->scores[posting->place] += weight * times / (times + base + slope * length);
    }
}

static void playbook_rank_words(struct playbook_index *index, const char *text, struct playbook_ranking *ranking)
{
    struct playbook_query_terms query;
    struct arena arena;
    arena_init(&arena, NULL, 0, QUERY_ARENA_MAX);
    memset(index->scores, 0, index->places * sizeof *index->scores);
    if (playbook_query_read(index, &arena, text, &query)) {
        double mean = index->count && index->length ? (double)index->length / (double)index->count : 1;
        bool strong = query.count && !query.terms[0].stop_word;
        size_t read = 0;
        for (size_t i = 0; i < query.count && i < TERMS_MAX; i++) {
            const struct playbook_query_term *term = &query.terms[i];
            if ((read += term->term->count) > POSTINGS_MAX && i > 0)
                break;
            playbook_score_term(index, term, term->stop_word && strong, mean);
        }
        for (size_t i = 0; i < index->places; i++)
            if (index->scores[i] > 0)
                playbook_rank_weighted(ranking, (uint32_t)i,
                                       (double)index->scores[i] /
                                           (query.most > 0 ? query.most : (double)index->scores[i]));
    }
    arena_fini(&arena);
}

/* ---- by vectors -------------------------------------------------------------------------------------------------- */

/* Drops weak matches before lists are fused: a weak match must not gain from being in both lists. A matching harmful
 * bullet stays, as its weight does not count here. */
static void playbook_cut_tail(struct playbook_ranking *ranking)
{
    double best = 0;
    size_t kept = 0;
    for (size_t i = 0; i < ranking->count; i++)
        best = ranking->ranked[i].relevance > best ? ranking->ranked[i].relevance : best;
    for (size_t i = 0; i < ranking->count; i++)
        if (ranking->ranked[i].relevance >= TAIL_SHARE * best)
            ranking->ranked[kept++] = ranking->ranked[i];
    ranking->count = kept;
}

/* The share of a bullet's rank in a list; the first of both lists has 1. Equal scores have the same rank. */
static double playbook_rank_share(const struct playbook_ranking *ranking, size_t at)
{
    while (at > 0 && ranking->ranked[at - 1].score <= ranking->ranked[at].score)
        at--;
    return (FUSION + 1) / 2.0 / (double)(FUSION + 1 + at);
}

static void playbook_fuse(const struct playbook_ranking *words, const struct playbook_ranking *vectors,
                          struct playbook_ranking *fused)
{
    struct playbook_ranking all = {.index = fused->index, .count = 0};
    for (size_t i = 0; i < words->count; i++)
        all.ranked[all.count++] = (struct playbook_ranked){words->ranked[i].place, playbook_rank_share(words, i), 0};
    for (size_t i = 0; i < vectors->count; i++) {
        size_t at = 0;
        while (at < words->count && all.ranked[at].place != vectors->ranked[i].place)
            at++;
        if (at == words->count) {
            at = all.count++;
            all.ranked[at] = (struct playbook_ranked){vectors->ranked[i].place, 0, 0};
        }
        all.ranked[at].score += playbook_rank_share(vectors, i);
    }
    for (size_t i = 0; i < all.count; i++)
        playbook_rank_insert(fused, all.ranked[i].place, all.ranked[i].score, 0);
}

/* ---- ids --------------------------------------------------------------------------------------------------------- */

/* A word of the query is an id if it looks like one, or is the whole query: "misc" is a word as well. */
static bool playbook_looks_like_id(const char *word, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if ((word[i] >= '0' && word[i] <= '9') || word[i] == '-' || word[i] == '_')
            return true;
    return false;
}

static bool playbook_has_hit(const struct playbook_hit *hits, size_t count, const Renga__V1__Bullet *bullet)
{
    for (size_t i = 0; i < count; i++)
        if (hits[i].bullet == bullet)
            return true;
    return false;
}

static size_t playbook_find_ids(const struct playbook_index *index, const char *text, struct playbook_hit *hits,
                                size_t room)
{
    size_t count = 0, whole = strlen(text);
    for (const char *at = text; *at && count < room;) {
        size_t length = strspn(at, ID_CHARACTERS);
        int64_t place = -1;
        if (length && length <= PLAYBOOK_ID_MAX && (length == whole || playbook_looks_like_id(at, length)))
            place = playbook_index_place(index, at, length);
        if (place >= 0 && !playbook_has_hit(hits, count, &index->bullets[place].bullet->bullet))
            hits[count++] = (struct playbook_hit){&index->bullets[place].bullet->bullet, 1};
        at += length;
        at += strcspn(at, ID_CHARACTERS);
    }
    return count;
}

/* ---- a search ---------------------------------------------------------------------------------------------------- */

static size_t playbook_take_hits(const struct playbook_ranking *ranking, struct playbook_hit *hits, size_t count,
                                 size_t room)
{
    size_t exact = count;
    for (size_t i = 0; i < ranking->count && count < room; i++) {
        Renga__V1__Bullet *bullet = &ranking->index->bullets[ranking->ranked[i].place].bullet->bullet;
        if (!playbook_has_hit(hits, exact, bullet))
            hits[count++] = (struct playbook_hit){bullet, ranking->ranked[i].score};
    }
    return count;
}

size_t playbook_index_search(struct playbook_index *index, const struct playbook_query *query,
                             struct playbook_hit *hits, size_t room)
{
    struct playbook_ranking words = {.index = index, .room = RANKED_MAX}, vectors = words, fused = words;
    room = room < PLAYBOOK_HITS_MAX ? room : PLAYBOOK_HITS_MAX;
    if (index->count == 0)
        return 0;
    size_t count = playbook_find_ids(index, query->text, hits, room);
    if (query->by_words)
        playbook_rank_words(index, query->text, &words);
    if (!query->vector)
        return playbook_take_hits(&words, hits, count, room);
    for (size_t i = 0; i < index->places; i++) {
        const struct playbook_vector *known = index->bullets[i].vector;
        if (!known || known->dimensions != query->vector->dimensions)
            continue;
        double nearness = vector_nearness(query->vector, known->scale, known->values);
        if (nearness > 0)
            playbook_rank_weighted(&vectors, (uint32_t)i, nearness);
    }
    if (!query->by_words)
        return playbook_take_hits(&vectors, hits, count, room);
    playbook_cut_tail(&words);
    playbook_cut_tail(&vectors);
    playbook_fuse(&words, &vectors, &fused);
    return playbook_take_hits(&fused, hits, count, room);
}

/* ---- similar bullets --------------------------------------------------------------------------------------------- */

size_t playbook_index_similar(struct playbook_index *index, const char *content, double least,
                              struct playbook_hit *hits, size_t room)
{
    struct playbook_ranking ranking = {.index = index, .room = room < RANKED_MAX ? room : RANKED_MAX};
    struct arena arena;
    size_t count = 0;
    double all = 0;
    arena_init(&arena, NULL, 0, QUERY_ARENA_MAX);
    const struct playbook_term *terms = playbook_terms(&arena, content, strlen(content), &count);
    if (index->places)
        memset(index->scores, 0, index->places * sizeof *index->scores);
    for (size_t i = 0; terms && i < count; i++) {
        const struct playbook_index_term *term = playbook_postings_find(index, terms[i].hash);
        float weight = terms[i].weight * POSTING_WEIGHT_ONE;
        all += (double)terms[i].weight;
        for (uint32_t j = 0; term && j < term->count; j++) {
            float known = term->postings[j].weight;
            index->scores[term->postings[j].place] += known < weight ? known : weight;
        }
    }
    for (size_t i = 0; terms && i < index->places; i++) {
        double both = all + (double)index->bullets[i].weight;
        double similarity = both > 0 ? 2 * (double)index->scores[i] / POSTING_WEIGHT_ONE / both : 0;
        if (index->bullets[i].bullet && similarity >= least - SIMILAR_MARGIN)
            playbook_rank_insert(&ranking, (uint32_t)i, similarity < 1 ? similarity : 1, similarity);
    }
    arena_fini(&arena);
    for (size_t i = 0; i < ranking.count; i++)
        hits[i] =
            (struct playbook_hit){&index->bullets[ranking.ranked[i].place].bullet->bullet, ranking.ranked[i].score};
    return ranking.count;
}
