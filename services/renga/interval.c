#include "interval.h"

#include <math.h>
#include <stdlib.h>

#define Z             1.959964 /* of 95 %, two-sided */
#define SEED          UINT64_C(20261123)
#define RESAMPLES     1000
#define RESAMPLES_MIN 200
#define DRAWS_MAX     ((size_t)4000000) /* of one interval; more questions are drawn less often */

struct interval interval_of_share(int64_t part, int64_t all)
{
    const double n = (double)all, share = all ? (double)part / n : 0;
    if (!all)
        return (struct interval){0};
    double middle = (share + Z * Z / (2 * n)) / (1 + Z * Z / n);
    double half = Z * sqrt(share * (1 - share) / n + Z * Z / (4 * n * n)) / (1 + Z * Z / n);
    return (struct interval){share, fmax(0, middle - half), fmin(1, middle + half)};
}

/* ---- bootstrap --------------------------------------------------------------------------------------------------- */

/* The generator SplitMix64 (G. L. Steele and others, OOPSLA 2014). */
static uint64_t interval_random(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static size_t interval_draw(uint64_t *state, size_t count)
{
    return (size_t)(((interval_random(state) >> 32) * (uint64_t)count) >> 32);
}

static int interval_compare(const void *one, const void *other)
{
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

static double interval_divide(double over, double under)
{
    return under != 0 ? over / under : 0;
}

static size_t interval_resamples(size_t count)
{
    size_t most = DRAWS_MAX / (count + 1);
    return most > RESAMPLES ? RESAMPLES : most < RESAMPLES_MIN ? RESAMPLES_MIN : most;
}

/* `sides` 1: the ratio; 2: the second ratio minus the first. */
static struct interval interval_bootstrap(const double *over[2], const double *under[2], int sides, size_t count)
{
    struct interval interval = {0};
    size_t resamples = interval_resamples(count);
    double *drawn = count ? calloc(resamples, sizeof *drawn) : NULL;
    uint64_t state = SEED;
    for (size_t k = 0; drawn && k <= resamples; k++) { /* the last one is the sample itself */
        double sums[2][2] = {{0}};
        for (size_t i = 0; i < count; i++) {
            size_t at = k < resamples ? interval_draw(&state, count) : i;
            for (int side = 0; side < sides; side++) {
                sums[side][0] += over[side][at];
                sums[side][1] += under[side][at];
            }
        }
        double ratio = interval_divide(sums[0][0], sums[0][1]);
        ratio = sides == 2 ? interval_divide(sums[1][0], sums[1][1]) - ratio : ratio;
        if (k < resamples)
            drawn[k] = ratio;
        else
            interval.value = ratio;
    }
    if (!drawn)
        return interval;
    qsort(drawn, resamples, sizeof *drawn, interval_compare);
    interval.low = drawn[resamples / 40];
    interval.high = drawn[resamples - 1 - resamples / 40];
    free(drawn);
    return interval;
}

struct interval interval_of_ratio(const double *over, const double *under, size_t count)
{
    const double *overs[2] = {over, NULL}, *unders[2] = {under, NULL};
    return interval_bootstrap(overs, unders, 1, count);
}

struct interval interval_of_change(const double *over[2], const double *under[2], size_t count)
{
    return interval_bootstrap(over, under, 2, count);
}

/* ---- order and chance -------------------------------------------------------------------------------------------- */

static double interval_value_at(const double *sorted, size_t count, double rank)
{
    double last = (double)(count - 1), at = rank < 0 ? 0 : rank > last ? last : rank;
    return sorted[(size_t)(at + 0.5)];
}

/* The number of values below the quantile is binomial; its normal approximation gives the ranks of the bounds. */
struct interval interval_of_quantile(double *values, size_t count, double share)
{
    if (!count)
        return (struct interval){0};
    qsort(values, count, sizeof *values, interval_compare);
    double rank = share * (double)(count - 1), half = Z * sqrt((double)count * share * (1 - share));
    return (struct interval){interval_value_at(values, count, rank), interval_value_at(values, count, rank - half),
                             interval_value_at(values, count, rank + half)};
}

double interval_mcnemar(int64_t better, int64_t worse)
{
    int64_t all = better + worse, fewer = better < worse ? better : worse;
    double chance = 0;
    for (int64_t k = 0; k <= fewer; k++)
        chance +=
            exp(lgamma((double)all + 1) - lgamma((double)k + 1) - lgamma((double)(all - k) + 1) - (double)all * log(2));
    return all ? fmin(1, 2 * chance) : 1;
}
