/* The child is made like a child of posix_spawn (clone with CLONE_VM and CLONE_VFORK, on a stack of its own): no
 * handlers of gRPC for forks run, and a large process costs no more than a small process. Before execve it touches only
 * prepared data, and our other threads go on. */
#include "child/child.h"

#include "base/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK_SIZE ((size_t)64 << 10)
#define PIPES      3

struct launch {
    const struct child_options *options;
    char path[PATH_MAX];
    int ends[PIPES]; /* its standard input, output and error */
    int ruleset;
    struct child_filter filter;
    pid_t parent;
    int report; /* the child writes its error here; closed by execve */
};

struct failure {
    int error;
    const char *step;
};

/* A fork would copy our tables of pages. The thread sanitizer takes any clone for a fork, and requires a fork. */
#ifdef __SANITIZE_THREAD__
#define LAUNCH_FLAGS SIGCHLD
#else
#define LAUNCH_FLAGS (CLONE_VM | CLONE_VFORK | SIGCHLD)
#endif

/* ---- in the child ------------------------------------------------------------------------------------------------ */

static bool limit(int what, rlim_t most)
{
    struct rlimit limits = {.rlim_cur = most, .rlim_max = most};
    return setrlimit(what, &limits) == 0;
}

static bool take_streams(const struct launch *launch)
{
    for (int i = 0; i < PIPES; i++)
        if (dup2(launch->ends[i], i) < 0) /* all are above 2: the parent has seen to that */
            return false;
    return close_range(PIPES, ~0U, CLOSE_RANGE_CLOEXEC) == 0;
}

static void spawn_give_up(const struct launch *launch, const char *step)
{
    struct failure failure = {errno, step};
    ssize_t written = write(launch->report, &failure, sizeof failure);
    (void)written;
    _exit(127);
}

#define TRY(what, condition) ((condition) ? (void)0 : spawn_give_up(launch, what))

static int become(void *data)
{
    const struct launch *launch = data;
    const struct child_options *options = launch->options;
    sigset_t none;
    struct sigaction usual = {.sa_handler = SIG_DFL};
    for (int number = 1; number < NSIG; number++)
        sigaction(number, &usual, NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    TRY("a session of its own", setsid() >= 0); /* it does not get our terminal */
    TRY("its limit of core dumps", limit(RLIMIT_CORE, 0));
    TRY("its limit of open files", limit(RLIMIT_NOFILE, CHILD_FILES_MAX));
    TRY("its limit of time", !options->cpu_max_s || limit(RLIMIT_CPU, (rlim_t)options->cpu_max_s));
    TRY("its limit of files that it writes", !options->isolated || limit(RLIMIT_FSIZE, 0));
    TRY("its limit of memory", !options->memory_max || limit(RLIMIT_AS, (rlim_t)options->memory_max));
    TRY("its limit of processes", !options->user.changes || limit(RLIMIT_NPROC, CHILD_PROCESSES_MAX));
    TRY("its user", child_switch_user(&options->user));
    TRY("a tie to its parent", prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == launch->parent);
    TRY("its working directory", !options->cwd || chdir(options->cwd) == 0);
    TRY("its Landlock rules", child_enforce_ruleset(launch->ruleset));
    TRY("its streams", take_streams(launch));
    TRY("its system calls", child_enforce_filter(&launch->filter));
    execve(launch->path, (char **)(uintptr_t)options->argv, (char **)(uintptr_t)options->env);
    spawn_give_up(launch, "its program");
    return 127;
}

/* ---- before and after -------------------------------------------------------------------------------------------- */

static const char *spawn_path_of(const struct child_options *options)
{
    for (const char *const *variable = options->env; *variable; variable++)
        if (strncmp(*variable, "PATH=", 5) == 0)
            return *variable + 5;
    return "/usr/local/bin:/usr/bin:/bin";
}

static bool find_program(const struct child_options *options, char path[PATH_MAX], struct status *st)
{
    const char *name = options->argv[0], *folders = spawn_path_of(options);
    if (strchr(name, '/')) {
        snprintf(path, PATH_MAX, "%s", name);
        return true;
    }
    while (*folders) {
        size_t length = strcspn(folders, ":");
        snprintf(path, PATH_MAX, "%.*s/%s", (int)length, folders, name);
        if (length && access(path, X_OK) == 0)
            return true;
        folders += length + (folders[length] == ':');
    }
    return fail(st, NOT_FOUND, "there is no program '%.200s' in PATH", name);
}

/* A pipe; neither end is one of the standard streams. */
static bool make_pipe(int ends[2])
{
    int low[2];
    if (pipe2(low, O_CLOEXEC) != 0)
        return false;
    for (int i = 0; i < 2; i++) {
        ends[i] = low[i] > STDERR_FILENO ? low[i] : fcntl(low[i], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        if (ends[i] != low[i])
            close(low[i]);
    }
    return ends[0] >= 0 && ends[1] >= 0;
}

static void spawn_close_all(int *descriptors, int count)
{
    for (int i = 0; i < count; i++)
        if (descriptors[i] >= 0)
            close(descriptors[i]);
}

static bool make_pipes(int ours[PIPES], int its[PIPES], struct status *st)
{
    for (int i = 0; i < PIPES; i++) {
        int ends[2] = {-1, -1};
        bool made = make_pipe(ends);
        ours[i] = ends[i == 0 ? 1 : 0];
        its[i] = ends[i == 0 ? 0 : 1];
        if (!made)
            return fail(st, RESOURCE_EXHAUSTED, "no pipes for a child: errno %d", errno);
        fcntl(ours[i], F_SETFL, O_NONBLOCK);
    }
    return true;
}

/* Instead of the pipe. */
static bool take_input(const struct child_options *options, int ours[PIPES], int its[PIPES], struct status *st)
{
    if (!options->input)
        return true;
    spawn_close_all(ours, 1);
    spawn_close_all(its, 1);
    ours[0] = -1;
    its[0] = fcntl(options->input, F_DUPFD_CLOEXEC, PIPES);
    return its[0] >= 0 || fail(st, RESOURCE_EXHAUSTED, "no descriptor for a child: errno %d", errno);
}

static bool read_report(const struct launch *launch, int report, pid_t pid, struct status *st)
{
    struct failure failure;
    ssize_t size;
    do
        size = read(report, &failure, sizeof failure);
    while (size < 0 && errno == EINTR);
    if (size != sizeof failure)
        return true; /* it is another program by now */
    waitpid(pid, NULL, 0);
    const struct child_user *user = &launch->options->user;
    char as[64] = "";
    if (user->changes)
        snprintf(as, sizeof as, " as user %u, group %u", user->uid, user->gid);
    return fail(st,
                failure.error == ENOENT   ? NOT_FOUND
                : failure.error == EACCES ? PERMISSION_DENIED
                                          : UNAVAILABLE,
                "'%.200s' cannot be started%s: %s: errno %d", launch->options->argv[0], as, failure.step,
                failure.error);
}

static bool launch_child(struct launch *launch, pid_t *pid, struct status *st)
{
    sigset_t all, before;
    int report[2];
    char *stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED)
        return fail(st, RESOURCE_EXHAUSTED, "no stack for a child");
    if (!make_pipe(report)) {
        munmap(stack, STACK_SIZE);
        return fail(st, RESOURCE_EXHAUSTED, "no pipes for a child: errno %d", errno);
    }
    launch->report = report[1];
    launch->parent = getpid();
    int dumpable = prctl(PR_GET_DUMPABLE);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* no handler of ours runs in the child */
    *pid = clone(become, stack + STACK_SIZE, LAUNCH_FLAGS, launch);
    int error = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(report[1]);
    bool good = *pid > 0 ? read_report(launch, report[0], *pid, st)
                         : fail(st, RESOURCE_EXHAUSTED, "no process for a child: errno %d", error);
    if (dumpable == 1)
        prctl(PR_SET_DUMPABLE, 1); /* the child has cleared it with its user: the memory was ours */
    close(report[0]);
    /* The child's frames never return. Under the address sanitizer, the next mapping at this address would inherit
     * them. */
    ASAN_UNPOISON_MEMORY_REGION(stack, STACK_SIZE);
    munmap(stack, STACK_SIZE);
    return good;
}

bool child_spawn(const struct child_options *options, struct child *child, struct status *st)
{
    struct launch launch = {.options = options, .ends = {-1, -1, -1}, .ruleset = -1};
    int ours[PIPES] = {-1, -1, -1};
    bool good = find_program(options, launch.path, st) && child_filter_write(&launch.filter, options->isolated, st) &&
                child_ruleset(options, launch.path, &launch.ruleset, st);
    good = good && make_pipes(ours, launch.ends, st) && take_input(options, ours, launch.ends, st) &&
           launch_child(&launch, &child->pid, st);
    spawn_close_all(launch.ends, PIPES);
    spawn_close_all(&launch.ruleset, 1);
    if (!good) {
        spawn_close_all(ours, PIPES);
        return false;
    }
    child->input = ours[0];
    child->output = ours[1];
    child->error = ours[2];
    return true;
}
