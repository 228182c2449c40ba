/* The heap of a process that gets requests with bodies of some MiB. */
#include "base/buffer.h"
#include "daemon/trim.h"

#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BODIES   8
#define BODY_MAX ((size_t)8 << 20)
#define PIECE    ((size_t)32 << 10)
#define ROUNDS   5
#define HEAP_MAX                                                                                                       \
    ((size_t)4 << 20) /* the eight bodies while each of them is below PROCESS_LARGE_BLOCK, and as much again */

/* All of them grow side by side, as the bodies of eight connections do, and a small block stays behind each piece. */
static void receive_bodies(struct buffer *bodies, void **kept)
{
    static const char piece[PIECE];
    for (size_t at = 0; at < BODY_MAX; at += PIECE)
        for (size_t i = 0; i < BODIES; i++)
            buffer_append(&bodies[i], piece, PIECE);
    for (size_t i = 0; i < BODIES; i++) {
        assert_int_equal(bodies[i].length, BODY_MAX);
        buffer_fini(&bodies[i]);
        kept[i] = malloc(PIECE / BODIES);
    }
}

static void large_bodies_leave_no_holes_in_the_heap(void **state)
{
    struct buffer bodies[BODIES];
    void *kept[ROUNDS][BODIES];
    size_t before = mallinfo2().arena;
    for (size_t i = 0; i < BODIES; i++)
        buffer_init(&bodies[i], BODY_MAX);
    for (size_t round = 0; round < ROUNDS; round++)
        receive_bodies(bodies, kept[round]);
    size_t after = mallinfo2().arena;
    for (size_t i = 0; i < ROUNDS * BODIES; i++)
        free(kept[i / BODIES][i % BODIES]);
    assert_in_range(after - before, 0, HEAP_MAX);
}

int main(void)
{
    process_bound_heap();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_bodies_leave_no_holes_in_the_heap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
