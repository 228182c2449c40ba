/* Ctrl-C ends the wait for a line and not the process. The signal may come in any thread, so its handler writes into a
 * pipe. */
#include "prompt_line.h"

#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static int prompt_pipe[2];

static void prompt_line_interrupted(int number)
{
    int before = errno;
    (void)number;
    if (write(prompt_pipe[1], "", 1) < 0) /* the pipe is full of earlier ones */
        errno = before;
}

bool prompt_watch_begin(struct sigaction *before)
{
    struct sigaction action = {.sa_handler = prompt_line_interrupted};
    return pipe2(prompt_pipe, O_CLOEXEC | O_NONBLOCK) == 0 && sigaction(SIGINT, &action, before) == 0;
}

void prompt_watch_end(const struct sigaction *before)
{
    sigaction(SIGINT, before, NULL);
    close(prompt_pipe[0]);
    close(prompt_pipe[1]);
}

bool prompt_watch_wait(bool for_line)
{
    struct pollfd ready[] = {{.fd = prompt_pipe[0], .events = POLLIN}, {.fd = STDIN_FILENO, .events = POLLIN}};
    while (poll(ready, for_line ? 2 : 1, for_line ? -1 : 0) < 0 && errno == EINTR)
        continue;
    return ready[0].revents == 0;
}

/* Ctrl-C is watched for before the prompt invites it. True when there is a line, false for Ctrl-C. */
static bool prompt_line_wait(const char *prompt)
{
    struct sigaction before;
    if (!prompt_watch_begin(&before))
        return false;
    fputs(prompt, stdout);
    fflush(stdout);
    bool line = prompt_watch_wait(true);
    prompt_watch_end(&before);
    return line;
}

enum prompt_line prompt_line_read(const char *prompt, struct buffer *line, size_t limit)
{
    bool fits = true;
    char c;
    ssize_t got = 0;
    buffer_clear(line);
    if (!prompt_line_wait(prompt))
        return PROMPT_INTERRUPTED;
    while ((got = read(STDIN_FILENO, &c, 1)) == 1 && c != '\n') {
        fits = fits && line->length < limit;
        if (fits)
            buffer_put(line, c);
    }
    if (got <= 0 && !line->length)
        return PROMPT_ENDED;
    if (fits && text_is_clean(line->data ? line->data : "", line->length))
        return PROMPT_LINE;
    fprintf(stderr, fits ? "the line is not UTF-8\n" : "the line is too long: at most %zu bytes\n", limit);
    return PROMPT_REFUSED;
}
