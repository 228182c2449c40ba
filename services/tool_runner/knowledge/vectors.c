#include "knowledge/vectors.h"

#include <math.h>
#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#define LANES   16 /* numbers that are multiplied at once */
#define LONGEST 127

/* ---- one vector -------------------------------------------------------------------------------------------------- */

bool vector_init(struct vector *vector, const float *values, size_t dimensions)
{
    double square = 0, most = 0;
    for (size_t i = 0; i < dimensions; i++) {
        double value = fabs((double)values[i]);
        square += value * value;
        most = value > most ? value : most;
    }
    if (dimensions == 0 || dimensions > VECTOR_DIMENSIONS_MAX || !(square > 0) || !isfinite(square))
        return false;
    vector->dimensions = (unsigned)dimensions;
    vector->scale = (float)(most / LONGEST / sqrt(square));
    for (size_t i = 0; i < dimensions; i++)
        vector->values[i] = (int8_t)lrint((double)values[i] / most * LONGEST);
    return true;
}

/* A piece: dimensions, then scale and numbers of each. */
void vector_append(struct buffer *piece, const struct vector *vector)
{
    uint32_t dimensions = vector->dimensions;
    if (!piece->length)
        buffer_append(piece, &dimensions, sizeof dimensions);
    buffer_append(piece, &vector->scale, sizeof vector->scale);
    buffer_append(piece, vector->values, dimensions);
}

static int32_t vector_dot_plain(const int8_t *a, const int8_t *b, unsigned count)
{
    int32_t sum = 0;
    for (unsigned i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

#ifdef __x86_64__
/* No lane overflows: it gets 2 * 127 * 127 from each block, of at most VECTOR_DIMENSIONS_MAX / LANES. */
__attribute__((target("avx2"))) static int32_t vector_dot_avx2(const int8_t *a, const int8_t *b, unsigned count)
{
    __m256i sums = _mm256_setzero_si256();
    unsigned i = 0;
    for (; i + LANES <= count; i += LANES) {
        __m256i some = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(a + i)));
        __m256i other = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(b + i)));
        sums = _mm256_add_epi32(sums, _mm256_madd_epi16(some, other));
    }
    int32_t lanes[8], sum = vector_dot_plain(a + i, b + i, count - i);
    _mm256_storeu_si256((__m256i *)lanes, sums);
    for (unsigned lane = 0; lane < 8; lane++)
        sum += lanes[lane];
    return sum;
}
#endif

static int32_t vector_dot(const int8_t *a, const int8_t *b, unsigned count)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2"))
        return vector_dot_avx2(a, b, count);
#endif
    return vector_dot_plain(a, b, count);
}

double vector_nearness(const struct vector *vector, float scale, const int8_t *values)
{
    return (double)vector_dot(vector->values, values, vector->dimensions) * (double)vector->scale * (double)scale;
}

/* ---- all of a collection ----------------------------------------------------------------------------------------- */

struct search {
    const struct collection *collection;
    const struct vector *vector;
    const uint16_t *lengths;
    bool answers;
    struct ranked *ranked;
    size_t room, *count;
};

static void vectors_look_at(const struct search *search, uint32_t paragraph, const uint8_t *one)
{
    float scale;
    unsigned length = paragraph < search->collection->next ? search->lengths[paragraph] : 0;
    if (!length || (search->answers && !(length & LENGTH_ANSWER)))
        return;
    memcpy(&scale, one, sizeof scale);
    if (!(scale > 0 && isfinite(scale)))
        return; /* damaged */
    double nearness = vector_nearness(search->vector, scale, (const int8_t *)one + sizeof scale);
    struct ranked found = {search->collection->id, paragraph, nearness < 0 ? 0 : nearness > 1 ? 1 : nearness};
    ranked_insert(search->ranked, search->room, search->count, &found);
}

/* False: it has other dimensions. */
static bool vectors_look_through(const struct search *search, uint32_t first, const uint8_t *piece, size_t size)
{
    uint32_t dimensions = 0;
    size_t one = sizeof(float) + search->vector->dimensions;
    if (size >= sizeof dimensions)
        memcpy(&dimensions, piece, sizeof dimensions);
    if (dimensions != search->vector->dimensions)
        return false;
    for (size_t at = sizeof dimensions; at + one <= size; at += one)
        vectors_look_at(search, first++, piece + at);
    return true;
}

bool vectors_rank(struct tables *tables, const struct collection *collection, const struct vector *vector,
                  const uint16_t *lengths, bool answers, struct ranked *ranked, size_t room, size_t *count,
                  size_t *unusable, size_t *damaged, struct status *st)
{
    struct search search = {collection, vector, lengths, answers, ranked, room, count};
    struct sql *sql = tables_sql(tables, VECTORS_OF, st);
    enum sql_step step;
    if (!sql)
        return false;
    sql_bind(sql, 1, collection->id);
    while ((step = sql_step(sql, st)) == SQL_ROW) {
        size_t size;
        const uint8_t *piece = sql_bytes(sql, 1, &size);
        bool whole = sql_number(sql, 2) != 0;
        *damaged += !whole;
        *unusable += whole && !vectors_look_through(&search, (uint32_t)sql_number(sql, 0), piece, size);
    }
    sql_reset(sql);
    return step == SQL_DONE;
}
