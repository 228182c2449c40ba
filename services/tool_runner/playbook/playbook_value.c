#include "playbook/playbook_value.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HALF_LIFE_MS   (90.0 * 24 * 3600 * 1000) /* of the bonus of a new bullet */
#define NEW_BONUS      0.25
#define USE_BONUS      0.25 /* for each doubling of its uses */
#define HELPFUL_WEIGHT 0.5  /* how much a helpful share above one half raises a search weight */

double playbook_helpful_share(const Renga__V1__Bullet *bullet)
{
    return ((double)bullet->helpful + 1) / ((double)bullet->helpful + (double)bullet->harmful + 2);
}

double playbook_search_weight(const Renga__V1__Bullet *bullet)
{
    double share = playbook_helpful_share(bullet);
    return share < 0.5 ? 2 * share : 1 + HELPFUL_WEIGHT * (share - 0.5);
}

double playbook_value(const Renga__V1__Bullet *bullet, int64_t now_ms)
{
    double age_ms = (double)now_ms - (double)bullet->updated_ms, balance = (double)bullet->helpful - bullet->harmful;
    double use = balance > 0 ? log2(1 + balance) : 0;
    return playbook_helpful_share(bullet) * (1 + USE_BONUS * use) +
           NEW_BONUS * exp2(-(age_ms > 0 ? age_ms : 0) / HALF_LIFE_MS);
}

struct playbook_valued {
    double value;
    Renga__V1__Bullet *bullet;
};

static int playbook_by_value(const void *a, const void *b)
{
    const struct playbook_valued *one = a, *other = b;
    if (one->value < other->value || one->value > other->value)
        return one->value < other->value ? -1 : 1;
    if (one->bullet->updated_ms != other->bullet->updated_ms)
        return one->bullet->updated_ms < other->bullet->updated_ms ? -1 : 1;
    return strcmp(one->bullet->id, other->bullet->id);
}

void playbook_sort_by_value(Renga__V1__Bullet **bullets, size_t count, int64_t now_ms)
{
    struct playbook_valued *valued = xmalloc((count ? count : 1) * sizeof *valued);
    for (size_t i = 0; i < count; i++)
        valued[i] = (struct playbook_valued){playbook_value(bullets[i], now_ms), bullets[i]};
    qsort(valued, count, sizeof *valued, playbook_by_value);
    for (size_t i = 0; i < count; i++)
        bullets[i] = valued[i].bullet;
    free(valued);
}
