#include "base/arena.h"

#include "unit.h"

#define MIB ((size_t)1 << 20)

static void allocations_are_aligned_and_apart(void **state)
{
    _Alignas(1) char storage[1 + 512];
    struct arena arena;
    arena_init(&arena, storage + 1, 512, MIB);
    char *before = NULL;
    size_t before_size = 0;
    for (size_t size = 0; size < 200; size++) {
        char *bytes = arena_alloc(&arena, size);
        assert_non_null(bytes);
        assert_int_equal((uintptr_t)bytes % 16, 0);
        memset(bytes, (int)size, size);
        if (before != NULL && before_size > 0)
            assert_int_equal((unsigned char)before[before_size - 1], before_size);
        before = bytes;
        before_size = size;
    }
    arena_fini(&arena);
}

static void a_small_call_stays_in_the_owners_storage(void **state)
{
    char storage[1024];
    struct arena arena;
    arena_init(&arena, storage, sizeof storage, MIB);
    for (int i = 0; i < 10; i++) {
        char *text = arena_printf(&arena, "%d", i);
        assert_true(text >= storage && text < storage + sizeof storage);
    }
    assert_int_equal(arena.used, 0);
    arena_alloc(&arena, 2000);
    assert_true(arena.used >= 2000);
    arena_reset(&arena);
    assert_int_equal(arena.used, 0);
    char *again = arena_alloc(&arena, 900);
    assert_true(again >= storage && again < storage + sizeof storage);
    arena_fini(&arena);
}

static void nothing_is_given_beyond_the_limit(void **state)
{
    static const size_t limits[] = {0, 1, 100, 4096, 5000, 100000, MIB};
    for (size_t i = 0; i < COUNT(limits); i++) {
        for (size_t size = 1; size < 9000; size = size * 3 + 1) {
            struct arena arena;
            size_t given = 0;
            arena_init(&arena, NULL, 0, limits[i]);
            while (arena_alloc(&arena, size) != NULL)
                given += size;
            assert_true(arena.exhausted);
            assert_true(arena.used <= limits[i] && given <= limits[i]);
            /* Headers, alignment and the rest of blocks cost less than half of a limit of some blocks. */
            if (limits[i] >= 100000 && size >= 13)
                assert_true(given > limits[i] / 2);
            arena_fini(&arena);
        }
    }
}

static void exhaustion_stays_marked_until_the_reset(void **state)
{
    struct arena arena;
    arena_init(&arena, NULL, 0, 10000);
    assert_null(arena_alloc(&arena, 20000));
    assert_non_null(arena_alloc(&arena, 10));
    assert_true(arena.exhausted);
    arena_reset(&arena);
    assert_false(arena.exhausted);
    arena_fini(&arena);
}

static void sizes_that_overflow_are_refused(void **state)
{
    struct arena arena;
    arena_init(&arena, NULL, 0, SIZE_MAX / 2);
    for (size_t less = 0; less < 64; less++)
        assert_null(arena_alloc(&arena, SIZE_MAX - less));
    assert_null(arena_strndup(&arena, "", SIZE_MAX));
    arena_fini(&arena);
}

/* The sanitizers' own malloc ends the process instead. */
static void a_heap_that_is_out_marks_the_arena(void **state)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    struct arena arena;
    arena_init(&arena, NULL, 0, SIZE_MAX);
    assert_null(arena_alloc(&arena, SIZE_MAX / 4));
    assert_true(arena.exhausted);
    assert_int_equal(arena.used, 0);
    assert_non_null(arena_alloc(&arena, 1));
    arena_fini(&arena);
#endif
}

static void a_large_request_leaves_the_current_block_in_use(void **state)
{
    struct arena arena;
    arena_init(&arena, NULL, 0, 10 * MIB);
    char *first = arena_alloc(&arena, 16);
    assert_non_null(arena_alloc(&arena, MIB));
    char *second = arena_alloc(&arena, 16);
    assert_ptr_equal(second, first + 16);
    arena_fini(&arena);
}

static void blocks_grow_so_that_there_are_few(void **state)
{
    struct arena arena;
    arena_init(&arena, NULL, 0, 64 * MIB);
    size_t blocks = 0, used = 0;
    for (int i = 0; i < 100000; i++) {
        assert_non_null(arena_alloc(&arena, 64));
        blocks += arena.used != used;
        used = arena.used;
    }
    assert_true(blocks < 120);
    arena_fini(&arena);
}

static void size_zero_gives_a_valid_pointer(void **state)
{
    struct arena arena;
    arena_init(&arena, NULL, 0, MIB);
    assert_non_null(arena_alloc(&arena, 0));
    assert_non_null(arena_copy(&arena, NULL, 0));
    arena_fini(&arena);
}

static void copies_and_prints_are_whole(void **state)
{
    struct arena arena;
    char longer[1000];
    memset(longer, 'y', sizeof longer);
    arena_init(&arena, NULL, 0, MIB);
    assert_string_equal(arena_strndup(&arena, "abcdef", 3), "abc");
    assert_string_equal(arena_strdup(&arena, "語"), "語");
    assert_string_equal(arena_printf(&arena, "%s-%d", "a", 5), "a-5");
    char *text = arena_printf(&arena, "%.*s!", (int)sizeof longer, longer);
    assert_int_equal(strlen(text), sizeof longer + 1);
    assert_int_equal(text[sizeof longer], '!');
    char *zeros = arena_zalloc(&arena, 100);
    for (int i = 0; i < 100; i++)
        assert_int_equal(zeros[i], 0);
    arena_fini(&arena);
}

#ifdef __SANITIZE_ADDRESS__
static void write_past_an_allocation(void)
{
    static char storage[256];
    struct arena arena;
    arena_init(&arena, storage, sizeof storage, 0);
    volatile char *text = arena_alloc(&arena, 5);
    text[5] = 'x';
}
#endif

static void a_write_past_an_allocation_is_found(void **state)
{
#ifdef __SANITIZE_ADDRESS__
    assert_int_not_equal(run_in_child(write_past_an_allocation), 0);
#endif
}

static void nothing_at_all_takes_no_new_block(void **state)
{
    struct arena arena;
    arena_init(&arena, NULL, 0, 1 << 20);
    void *first = arena_alloc(&arena, 0);
    size_t used = arena.used;
    for (int i = 0; i < 10; i++)
        assert_ptr_not_equal(arena_alloc(&arena, 0), first);
    assert_int_equal(arena.used, used);
    arena_fini(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_at_all_takes_no_new_block),
        cmocka_unit_test(allocations_are_aligned_and_apart),
        cmocka_unit_test(a_small_call_stays_in_the_owners_storage),
        cmocka_unit_test(nothing_is_given_beyond_the_limit),
        cmocka_unit_test(exhaustion_stays_marked_until_the_reset),
        cmocka_unit_test(sizes_that_overflow_are_refused),
        cmocka_unit_test(a_heap_that_is_out_marks_the_arena),
        cmocka_unit_test(a_large_request_leaves_the_current_block_in_use),
        cmocka_unit_test(blocks_grow_so_that_there_are_few),
        cmocka_unit_test(size_zero_gives_a_valid_pointer),
        cmocka_unit_test(copies_and_prints_are_whole),
        cmocka_unit_test(a_write_past_an_allocation_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
