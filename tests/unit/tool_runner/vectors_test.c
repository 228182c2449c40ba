/* Nearness of vectors: the processor's wide instructions and the plain loop give the same number. */
#include "knowledge/vectors.h"

#include <math.h>

#include "unit.h"

/* Numbers from -127 to 127 that repeat in no power of two. */
static int8_t number_at(unsigned seed, unsigned i)
{
    return (int8_t)((int)((i * 89 + seed * 37) % 255) - 127);
}

static void assert_nearness(unsigned dimensions, bool extreme)
{
    static struct vector a, b;
    double sum = 0;
    a.dimensions = b.dimensions = dimensions;
    a.scale = b.scale = 1;
    for (unsigned i = 0; i < dimensions; i++) {
        a.values[i] = extreme ? -127 : number_at(1, i);
        b.values[i] = extreme ? 127 : number_at(2, i);
        sum += (double)a.values[i] * (double)b.values[i];
    }
    assert_true(fabs(vector_nearness(&a, 1, b.values) - sum) < 0.5);
}

static void nearness_is_the_scalar_product_for_each_number_of_dimensions(void **state)
{
    (void)state;
    for (unsigned dimensions = 1; dimensions <= 100; dimensions++)
        assert_nearness(dimensions, false);
    assert_nearness(1536, false);
}

static void the_longest_vectors_of_extreme_numbers_do_not_overflow(void **state)
{
    (void)state;
    assert_nearness(VECTOR_DIMENSIONS_MAX, true);
    assert_nearness(VECTOR_DIMENSIONS_MAX - 1, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nearness_is_the_scalar_product_for_each_number_of_dimensions),
        cmocka_unit_test(the_longest_vectors_of_extreme_numbers_do_not_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
