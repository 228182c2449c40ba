/* PDF by pdftotext (poppler-utils) in a process of its own: parsers of PDF are large and are attacked often.
 *
 * The process is isolated (child/child.h), and bounded in memory, time of the processor, time and output. Its input is
 * a file in memory that no other process can open. A place is a page. A page's lines are joined to paragraphs: a line
 * that fills most of the width goes on in the next line. */
#include "documents/pdf.h"

#include "base/clock.h"
#include "base/text.h"
#include "child/child.h"
#include "documents/encoding.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROGRAM     "pdftotext"
#define TIME_MS     20000
#define MEMORY_MAX  ((int64_t)768 << 20) /* bytes of its addresses */
#define TEXT_MAX    ((size_t)16 << 20)   /* bytes of its output */
#define ERRORS_MAX  4096                 /* bytes of its error output; more is ignored */
#define LOOK_MS     20                   /* how often the caller is asked whether to go on */
#define MARK_WITHIN 1024                 /* first bytes that must contain the mark of a PDF */
#define PIECE       65536
#define SAID_MAX    200 /* bytes of its words in an error */

struct pdf {
    const struct document_means *means;
    struct child child;
    int64_t deadline_ns;
    struct buffer text, said;
    bool ended[2]; /* its output, its errors */
};

static const char *pdf_program_of(const struct document_means *means)
{
    return means && means->pdf_program ? means->pdf_program : PROGRAM;
}

static int64_t pdf_time_of(const struct document_means *means)
{
    return means && means->pdf_time_ms ? means->pdf_time_ms : TIME_MS;
}

/* ---- the process ------------------------------------------------------------------------------------------------- */

static int pdf_make_input(struct piece bytes, struct status *st)
{
    int fd = memfd_create("renga-pdf", MFD_CLOEXEC);
    size_t written = 0;
    while (fd >= 0 && written < bytes.length) {
        ssize_t size = write(fd, bytes.at + written, bytes.length - written);
        if (size < 0 && errno == EINTR)
            continue;
        if (size <= 0)
            break;
        written += (size_t)size;
    }
    if (fd >= 0 && written == bytes.length && lseek(fd, 0, SEEK_SET) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    fail(st, RESOURCE_EXHAUSTED, "is a PDF document for which there is no memory");
    return -1;
}

static bool pdf_spawn_reader(struct pdf *pdf, int input, struct status *st)
{
    const char *program = pdf_program_of(pdf->means);
    const char *const argv[] = {program, "-htmlmeta", "-enc", "UTF-8", "-", "-", NULL};
    static const char *const env[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", NULL};
    struct child_options options = {
        .argv = argv,
        .env = env,
        .memory_max = MEMORY_MAX,
        .cpu_max_s = pdf_time_of(pdf->means) / 1000 + 1,
        .input = input,
        .isolated = true,
    };
    struct status why = {0};
    if (child_user_find(NULL, &options.user, &why) && child_spawn(&options, &pdf->child, &why))
        return true;
    if (why.code == NOT_FOUND)
        return fail(st, FAILED_PRECONDITION,
                    "is a PDF document, and '%.100s' is not installed, which reads it (Debian's package poppler-utils; "
                    "tool_runner.pdf_program)",
                    program);
    return fail(st, why.code, "is a PDF document, and its reader cannot be started: %.300s", why.text);
}

/* False at the end of the stream. Bytes beyond `most` are dropped for errors, and end the reading for text. */
static bool pdf_take_piece(int fd, struct buffer *out, size_t most)
{
    char piece[PIECE];
    ssize_t got = read(fd, piece, sizeof piece);
    if (got < 0)
        return errno == EINTR || errno == EAGAIN;
    size_t room = most - out->length;
    buffer_append(out, piece, (size_t)got < room ? (size_t)got : room);
    return got > 0;
}

static bool pdf_in_time(const struct pdf *pdf, struct status *st)
{
    if (!document_goes_on(pdf->means, st))
        return false;
    return clock_now_ns() < pdf->deadline_ns ||
           fail(st, RESOURCE_EXHAUSTED, "is a PDF document that takes more than %lld ms to read (tool_runner.pdf_time)",
                (long long)pdf_time_of(pdf->means));
}

/* Until both streams have ended. */
static bool pdf_read_streams(struct pdf *pdf, struct status *st)
{
    while (!pdf->ended[0] || !pdf->ended[1]) {
        struct pollfd polls[] = {{pdf->ended[0] ? -1 : pdf->child.output, POLLIN, 0},
                                 {pdf->ended[1] ? -1 : pdf->child.error, POLLIN, 0}};
        if (!pdf_in_time(pdf, st))
            return false;
        if (poll(polls, 2, LOOK_MS) <= 0)
            continue;
        if (polls[0].revents)
            pdf->ended[0] = !pdf_take_piece(pdf->child.output, &pdf->text, TEXT_MAX + 1);
        if (polls[1].revents)
            pdf->ended[1] = !pdf_take_piece(pdf->child.error, &pdf->said, ERRORS_MAX);
        if (pdf->text.length > TEXT_MAX)
            return fail(st, RESOURCE_EXHAUSTED, "is a PDF document of more than %zu MiB of text", TEXT_MAX >> 20);
    }
    return true;
}

/* Waits for it to end, or kills it: at once if the reading has failed, else when its time is over. */
static bool pdf_end_child(struct pdf *pdf, bool good, int *ending, struct status *st)
{
    while (good && waitpid(pdf->child.pid, ending, WNOHANG) == 0) {
        good = pdf_in_time(pdf, st);
        poll(NULL, 0, 1);
    }
    if (!good) {
        kill(pdf->child.pid, SIGKILL); /* it cannot have started another */
        while (waitpid(pdf->child.pid, ending, 0) < 0 && errno == EINTR)
            continue;
    }
    close(pdf->child.output);
    close(pdf->child.error);
    return good;
}

/* ---- how it ended ------------------------------------------------------------------------------------------------ */

/* Its last line that is not blank. */
static struct piece pdf_last_words(struct buffer *said)
{
    struct lines lines = {buffer_text(said), buffer_text(said) + said->length, 0};
    struct piece line, last = {"it does not say why", 19};
    while (lines_next(&lines, &line))
        if (piece_trim(line).length)
            last = piece_trim(line);
    if (!text_is_clean(last.at, last.length))
        return (struct piece){"it says no text", 15};
    return (struct piece){last.at, text_cut(last.at, last.length, SAID_MAX)};
}

static bool pdf_judge_ending(struct pdf *pdf, int ending, struct status *st)
{
    struct piece words = pdf_last_words(&pdf->said);
    if (WIFSIGNALED(ending))
        return fail(st, RESOURCE_EXHAUSTED,
                    "is a PDF document at which its reader died by signal %d: it is damaged, or takes more than %lld "
                    "MiB of memory",
                    WTERMSIG(ending), (long long)MEMORY_MAX >> 20);
    if (WEXITSTATUS(ending) == 0)
        return true;
    if (strstr(buffer_text(&pdf->said), "Incorrect password"))
        return fail(st, INVALID_ARGUMENT, "is a PDF document that is encrypted with a password; save it without");
    if (WEXITSTATUS(ending) == 3)
        return fail(st, INVALID_ARGUMENT, "is a PDF document whose text may not be copied; save it without this limit");
    return fail(st, INVALID_ARGUMENT, "is a PDF document that is damaged: %.*s", (int)words.length, words.at);
}

static bool pdf_run_reader(struct pdf *pdf, struct piece bytes, struct status *st)
{
    int input = pdf_make_input(bytes, st);
    if (input < 0)
        return false;
    pdf->deadline_ns = clock_now_ns() + pdf_time_of(pdf->means) * NS_PER_MS;
    bool good = pdf_spawn_reader(pdf, input, st);
    close(input);
    if (!good)
        return false;
    int ending = 0;
    good = pdf_read_streams(pdf, st);
    return pdf_end_child(pdf, good, &ending, st) && pdf_judge_ending(pdf, ending, st);
}

/* ---- the reader ------------------------------------------------------------------------------------------------- */

bool read_pdf(struct document *document, struct piece bytes, const struct document_means *means, struct status *st)
{
    struct pdf pdf = {.means = means};
    struct buffer clean;
    if (!memmem(bytes.at, bytes.length < MARK_WITHIN ? bytes.length : MARK_WITHIN, "%PDF-", 5))
        return fail(st, INVALID_ARGUMENT, "is no PDF document: it does not begin with \"%%PDF-\"");
    buffer_init(&pdf.text, TEXT_MAX + 1);
    buffer_init(&pdf.said, ERRORS_MAX);
    buffer_init(&clean, 4 * TEXT_MAX);
    bool read = pdf_run_reader(&pdf, bytes, st);
    struct piece output = {buffer_text(&pdf.text), pdf.text.length};
    if (read && !text_is_clean(output.at, output.length) &&
        encoding_read_named("utf-8", output.at, output.length, &clean))
        output = (struct piece){buffer_text(&clean), clean.length};
    read = read && pdf_read_output(document, output, means ? means->about : NULL, st);
    buffer_fini(&clean);
    buffer_fini(&pdf.said);
    buffer_fini(&pdf.text);
    return read;
}
