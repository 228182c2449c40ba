/* A child is started on a stack of its own in our memory, which is ours again afterwards. */
#include "child/child.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

#define CHILDREN 4
#define MAPPINGS 8
#define SIZE     ((size_t)64 << 10)

static void run_child(const char *program)
{
    const char *const argv[] = {program, NULL}, *const env[] = {NULL};
    const struct child_options options = {.argv = argv, .env = env, .without_landlock = true};
    struct child child;
    struct status st = {0};
    if (!child_spawn(&options, &child, &st)) {
        assert_string_equal(program, "/nonexistent");
        return;
    }
    int told;
    assert_int_equal(waitpid(child.pid, &told, 0), child.pid);
    assert_true(WIFEXITED(told) && WEXITSTATUS(told) == 0);
    close(child.input);
    close(child.output);
    close(child.error);
}

/* Of interest to the address sanitizer: frames of a child that never returned must not count as live ones. */
static void memory_mapped_after_a_child_has_started_can_be_written(void **state)
{
    static const char *const programs[] = {"/bin/true", "/nonexistent"};
    for (int i = 0; i < CHILDREN; i++) {
        run_child(programs[i % 2]);
        char *mappings[MAPPINGS];
        for (int k = 0; k < MAPPINGS; k++) {
            mappings[k] = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            assert_true(mappings[k] != MAP_FAILED);
            memset(mappings[k], 1, SIZE);
        }
        for (int k = 0; k < MAPPINGS; k++)
            munmap(mappings[k], SIZE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_mapped_after_a_child_has_started_can_be_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
