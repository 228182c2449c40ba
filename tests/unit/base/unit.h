/* cmocka with what it needs before it. cmocka has a macro named fail, our status.h a function: the macro goes, and what
 * uses it is written anew. Include this last. */
#ifndef RENGA_UNIT_H
#define RENGA_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#undef fail
#undef fail_msg
#define fail_msg(...)                                                                                                  \
    do {                                                                                                               \
        print_error(__VA_ARGS__);                                                                                      \
        print_error("\n");                                                                                             \
        _fail(__FILE__, __LINE__);                                                                                     \
    } while (0)

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define assert_contains(text, part)                                                                                    \
    do {                                                                                                               \
        if (strstr(text, part) == NULL)                                                                                \
            fail_msg("'%s' is not in '%s'", part, text);                                                               \
    } while (0)

#define assert_lacks(text, part)                                                                                       \
    do {                                                                                                               \
        if (strstr(text, part) != NULL)                                                                                \
            fail_msg("'%s' is in '%s'", part, text);                                                                   \
    } while (0)

/* How a child that ran `body` in silence ended, as waitpid tells it. */
static inline int run_in_child(void (*body)(void))
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(STDERR_FILENO);
        body();
        _exit(0);
    }
    int ended = 0;
    assert_int_equal(waitpid(child, &ended, 0), child);
    return ended;
}

/* That `body` runs into an assertion; nothing where they are compiled out. */
static inline void assert_asserts(void (*body)(void))
{
#ifdef NDEBUG
    (void)body;
#else
    int ended = run_in_child(body);
    assert_true(WIFSIGNALED(ended) && WTERMSIG(ended) == SIGABRT);
#endif
}

#endif
