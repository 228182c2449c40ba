/* Each call that a store and its loop make of the system fails once, the first, the second, and so on to the last; so
 * does each piece of memory. Whatever it was: an error or an end of the process, and no acknowledgement of what is not
 * there. A process of its own for each, whose work is looked at afterwards. In a suite some are left out where there
 * are many; RENGA_EVERY=1 leaves out none. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "store_fixture.h"

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define MEMORY_IS_OURS 0 /* the sanitizer's */
#else
#define MEMORY_IS_OURS 1
#endif

#define CHILD_MAX_S 60 /* longer is a hang */

/* AHEAD: zeros, as a log that grows ahead has them. */
enum call { OPEN, READ, WRITE, WRITE_PART, AHEAD, TRUNCATE, SYNC, THREAD, EPOLL, EVENT, MEMORY, CALLS };
static const char *const call_names[CALLS] = {"open", "read",   "write", "write in part", "write ahead", "truncate",
                                              "sync", "thread", "epoll", "eventfd",       "memory"};

static struct {
    atomic_int call; /* CALLS: none */
    atomic_long left;
    atomic_bool failed;
} fault = {.call = CALLS};

static bool fails(enum call call, int error)
{
    if (fault.call != (int)call || atomic_fetch_sub(&fault.left, 1) != 1)
        return false;
    fault.failed = true;
    errno = error;
    return true;
}

/* ---- what the store and SQLite call instead of the C library ------------------------------------------------------
 */

#define OPEN_CALL(name)                                                                                                \
    int name(const char *path, int flags, ...)                                                                         \
    {                                                                                                                  \
        va_list rest;                                                                                                  \
        va_start(rest, flags);                                                                                         \
        mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;                                                      \
        va_end(rest);                                                                                                  \
        return fails(OPEN, EMFILE) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);                       \
    }
OPEN_CALL(open)
OPEN_CALL(open64)

ssize_t pread64(int fd, void *bytes, size_t size, off_t at)
{
    return fails(READ, EIO) ? -1 : syscall(SYS_pread64, fd, bytes, size, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off_t at)
{
    bool ahead = size > 0 && *(const char *)bytes == 0 && memcmp(bytes, (const char *)bytes + 1, size - 1) == 0;
    if (fails(ahead ? AHEAD : WRITE, ENOSPC))
        return -1;
    if (fault.call == WRITE_PART && fault.failed) { /* the rest is refused: the disk is full */
        errno = ENOSPC;
        return -1;
    }
    return syscall(SYS_pwrite64, fd, bytes, !ahead && fails(WRITE_PART, 0) ? size / 2 : size, at);
}

int ftruncate64(int fd, off_t size)
{
    return fails(TRUNCATE, EIO) ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}

int fdatasync(int fd)
{
    return fails(SYNC, EIO) ? -1 : (int)syscall(SYS_fdatasync, fd);
}

int fsync(int fd)
{
    return fails(SYNC, EIO) ? -1 : (int)syscall(SYS_fsync, fd);
}

int epoll_create1(int flags)
{
    return fails(EPOLL, EMFILE) ? -1 : (int)syscall(SYS_epoll_create1, flags);
}

int eventfd(unsigned count, int flags)
{
    return fails(EVENT, EMFILE) ? -1 : (int)syscall(SYS_eventfd2, count, flags);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *data)
{
    static int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (create == NULL)
        *(void **)&create = dlsym(RTLD_NEXT, "pthread_create");
    return fails(THREAD, EAGAIN) ? EAGAIN : create(thread, attributes, run, data);
}

#if MEMORY_IS_OURS
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *bytes, size_t size);

void *malloc(size_t size)
{
    return fails(MEMORY, ENOMEM) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails(MEMORY, ENOMEM) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *bytes, size_t size)
{
    return fails(MEMORY, ENOMEM) ? NULL : __libc_realloc(bytes, size);
}
#endif

/* ---- the work ---------------------------------------------------------------------------------------------------- */

#define BATCHES      12
#define ROWS         3
#define ROW_BYTES    900
#define LARGE        7 /* this batch is written in several pieces */
#define LARGE_BYTES  60000
#define BACK         4 /* each fourth batch deletes the one so far before it, and has it forgotten */
#define NOT_TOLD     (-1)
#define EXIT_REACHED 10 /* the fault came, and the work went on to its end */
#define EXIT_BEYOND  11 /* there are fewer such calls */

/* Shared with the parent. */
static struct told {
    int codes[BATCHES]; /* what each batch was told */
    bool tried[BATCHES], wrong;
} * told;

static struct store_bytes row_key(int batch, int row)
{
    static char key[32];
    return (struct store_bytes){key, (size_t)snprintf(key, sizeof key, "%d/%02d", row, batch)};
}

static void fill(struct written *written, int number)
{
    static char value[LARGE_BYTES];
    struct store_batch *batch = begin(written);
    memset(value, 'a' + number, sizeof value);
    store_expect(batch, row_key(number, 0), ABSENT);
    for (int row = 0; row < ROWS; row++)
        store_put(batch, row_key(number, row), (struct store_bytes){value, number == LARGE ? LARGE_BYTES : ROW_BYTES});
    if (number % BACK != 0 || number == 0)
        return;
    for (int row = 0; row < ROWS; row++)
        store_delete(batch, row_key(number - BACK, row));
    store_forget(batch);
}

/* Two at a time. */
static void commit_pair(int number)
{
    struct written pair[2];
    for (int i = 0; i < 2; i++) {
        fill(&pair[i], number + i);
        told->tried[number + i] = true;
        commit(&pair[i]);
    }
    settle();
    for (int i = 0; i < 2; i++) {
        told->codes[number + i] = (int)pair[i].batch.status.code;
        told->wrong |= pair[i].runs != 1 || (pair[i].batch.status.code != OK && *pair[i].batch.status.text == '\0');
        store_batch_fini(&pair[i].batch);
    }
}

/* What a batch left may be there in part never, where it was told OK not at all never, and after its deletion never. */
static bool rows_are_right(const int *rows)
{
    bool right = true;
    for (int i = 0; i < BATCHES; i++) {
        int by = i % BACK == 0 && i + BACK < BATCHES ? i + BACK : -1; /* who deletes it */
        bool gone = by >= 0 && told->codes[by] == OK, may_be_gone = by >= 0 && told->tried[by];
        right &= rows[i] == 0 || rows[i] == ROWS;
        right &= !gone || rows[i] == 0;
        right &= may_be_gone || told->codes[i] != OK || rows[i] == ROWS;
        right &= told->codes[i] != ABORTED || rows[i] == 0;
        right &= told->tried[i] || rows[i] == 0;
    }
    return right;
}

/* False where they cannot be read. */
static bool count_rows(int *rows)
{
    struct looked looked;
    look(&looked, ABSENT, NO_END);
    const struct store_scan *scan = &looked.scan;
    start_scan(&looked);
    settle();
    told->wrong |= looked.runs != 1;
    bool read = looked.runs == 1 && scan->status.code == OK;
    memset(rows, 0, BATCHES * sizeof *rows);
    for (size_t i = 0; read && i < scan->count; i++)
        rows[(((const char *)scan->rows[i].key.bytes)[2] - '0') * 10 + ((const char *)scan->rows[i].key.bytes)[3] -
             '0']++;
    store_scan_fini(&looked.scan);
    return read;
}

static void work(void)
{
    int rows[BATCHES];
    struct status st = {0};
    site.loop = loop_create(0);
    site.store = store_open(site.url, &st);
    told->wrong |= site.store == NULL && (st.code == OK || *st.text == '\0');
    if (site.store == NULL)
        return;
    for (int i = 0; i < BATCHES; i += 2)
        commit_pair(i);
    told->wrong |= count_rows(rows) && !rows_are_right(rows);
    store_close(&site.store);
    loop_destroy(&site.loop);
}

/* Signals that cmocka would take for a failed test, and go on in the child. */
static const int cmocka_catches[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS, SIGABRT};

static int work_in_child(enum call call, long which)
{
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(CHILD_MAX_S);
        for (size_t i = 0; i < COUNT(cmocka_catches); i++)
            signal(cmocka_catches[i], SIG_DFL);
        if (freopen("/dev/null", "w", stderr) == NULL)
            _exit(EXIT_BEYOND + 1);
        fault.left = which;
        fault.call = (int)call;
        work();
        fault.call = CALLS;
        _exit(fault.failed ? EXIT_REACHED : EXIT_BEYOND);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status))
        fail_msg("%s %ld: ended by signal %d", call_names[call], which, WTERMSIG(status));
    return WEXITSTATUS(status);
}

/* ---- what is left ------------------------------------------------------------------------------------------------ */

static void remove_store(void)
{
    static const char *const ends[] = {"", "-wal", "-shm", "-journal", ".lock"};
    for (size_t i = 0; i < COUNT(ends); i++) {
        char path[128];
        snprintf(path, sizeof path, "%s%s", site.path, ends[i]);
        unlink(path);
    }
}

static void look_at_what_is_left(enum call call, long which)
{
    int rows[BATCHES];
    site.loop = loop_create(0);
    open_store();
    assert_true(count_rows(rows));
    if (!rows_are_right(rows))
        fail_msg("%s %ld: what is there is not what was told", call_names[call], which);
    store_close(&site.store);
    loop_destroy(&site.loop);
}

/* False where there is no such call any more. */
static bool fail_one(enum call call, long which)
{
    for (int i = 0; i < BATCHES; i++)
        told->codes[i] = NOT_TOLD;
    memset(told->tried, 0, sizeof told->tried);
    told->wrong = false;
    int code = work_in_child(call, which);
    if (code != EXIT_REACHED && code != EXIT_BEYOND && code != EXIT_FAILURE)
        fail_msg("%s %ld: ended with %d", call_names[call], which, code);
    if (told->wrong)
        fail_msg("%s %ld: something else was told than was so", call_names[call], which);
    look_at_what_is_left(call, which);
    remove_store();
    return code != EXIT_BEYOND;
}

/* One of how many fails in a suite: odd, so that it does not fall in with a pattern. */
static const long call_every[CALLS] = {1, 9, 3, 3, 33, 1, 1, 1, 1, 1, 33};

static void fail_each(enum call call)
{
    const char *asked = getenv("RENGA_EVERY");
    long which = 1, every = asked != NULL ? strtol(asked, NULL, 10) : call_every[call];
    while (fail_one(call, which))
        which += every;
    print_message("%s: %ld\n", call_names[call], (which - 1) / every);
    assert_true(which > 1);
}

static void each_call_of_the_system_may_fail(void **state)
{
    for (enum call call = 0; call < MEMORY; call++)
        fail_each(call);
}

static void each_piece_of_memory_may_be_missing(void **state)
{
    if (!MEMORY_IS_OURS)
        skip();
    fail_each(MEMORY);
}

static int set_up_folder(void **state)
{
    site = (struct site){.kind = SITE_SQLITE};
    snprintf(site.folder, sizeof site.folder, "/dev/shm/renga_store_XXXXXX"); /* a sync costs nothing there */
    assert_non_null(mkdtemp(site.folder));
    snprintf(site.path, sizeof site.path, "%s/store.db", site.folder);
    snprintf(site.url, sizeof site.url, "sqlite:%s", site.path);
    told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(told, MAP_FAILED);
    return 0;
}

static int tear_down_folder(void **state)
{
    munmap(told, sizeof *told);
    remove_folder();
    return 0;
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, set_up_folder, tear_down_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(each_call_of_the_system_may_fail),
        IN_FOLDER(each_piece_of_memory_may_be_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
