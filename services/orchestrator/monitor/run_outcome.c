/* A log holds no content of a state. An error's own text may quote it, so only its unquoted words are logged. They
 * and the thread's name come from outside: they are quoted, so that they cannot pass for another part of the line. */
#include "run_outcome.h"
#include "graph/agents.h"
#include "thread/run.h"
#include "thread/runner_metrics.h"
#include "thread/shard.h"
#include "thread/thread.h"

#include "base/log.h"
#include "base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define ERROR_WORDS_MAX  257 /* with the NUL: an error's words in one log line */
#define THREAD_NAME_MAX  129 /* likewise: a thread's name */
#define QUOTED_MAX(room) (2 * (room) + 2)
#define ELLIPSIS         "..."
#define CHARACTER_MAX    4 /* bytes */

/* An apostrophe within a word neither opens nor ends a quotation. */
static bool opens_quotation(const char *text, const char *at)
{
    return (*at == '\'' || *at == '"' || *at == '`') && (at == text || !isalnum((unsigned char)at[-1]));
}

/* The last byte of the quotation that begins at `at`; if it has no end, the text's last byte. */
static const char *end_of_quotation(const char *at)
{
    const char *end = at + 1;
    while (*end && (*end != *at || isalnum((unsigned char)end[1])))
        end++;
    return *end ? end : end - 1;
}

/* The index of a field's element: "sends[0]". */
static bool is_index(const char *at)
{
    size_t digits = strspn(at + 1, "0123456789");
    return digits && at[1 + digits] == ']';
}

/* The bytes of the character at `text`; 1 if it is invalid. */
static size_t report_character_size(const char *text)
{
    size_t size = text_character(text, strnlen(text, CHARACTER_MAX));
    return size ? size : 1;
}

void report_redact(const char *text, char *out, size_t room)
{
    size_t used = 0;
    for (const char *at = text; *at;) {
        bool opens = opens_quotation(text, at), structured = *at == '{' || (*at == '[' && !is_index(at));
        const char *piece = opens || structured ? ELLIPSIS : at;
        size_t size = piece == at ? report_character_size(at) : sizeof ELLIPSIS - 1;
        if (used + size >= room)
            break;
        memcpy(out + used, piece, size);
        used += size;
        if (structured)
            break;
        at = opens ? end_of_quotation(at) + 1 : at + size;
    }
    out[used] = '\0';
}

void report_quote(const char *text, char *out, size_t room)
{
    size_t used = 0, size;
    out[used++] = '"';
    for (; *text; text += size, used += size) {
        bool marked = *text == '"' || *text == '\\';
        size = report_character_size(text);
        if (used + marked + size + 2 > room)
            break;
        if (marked)
            out[used++] = '\\';
        memcpy(out + used, text, size);
    }
    out[used++] = '"';
    out[used] = '\0';
}

static const char *report_value_name(const ProtobufCEnumDescriptor *values, int number)
{
    const ProtobufCEnumValue *value = protobuf_c_enum_descriptor_get_value(values, number);
    return value ? value->name : "unknown";
}

static void log_failed(const struct run *run, const Renga__V1__RunChanged *changed)
{
    char words[ERROR_WORDS_MAX], quoted[QUOTED_MAX(ERROR_WORDS_MAX)], thread[QUOTED_MAX(THREAD_NAME_MAX)];
    const Renga__V1__NodeFailure *first = changed->n_failures ? changed->failures[0] : NULL;
    report_redact(first ? first->message : changed->stop_text, words, sizeof words);
    report_quote(words, quoted, sizeof quoted);
    report_quote(run->thread->id, thread, sizeof thread);
    log_warn("run.failed", "agent %s, run %s, thread %s, node %s%s%s, code %s, reason %s: %s", run->request->agent,
             run->id, thread, first ? first->path : "", first && *first->path ? "/" : "", first ? first->node : "-",
             status_code_name(changed->status_code),
             report_value_name(&renga__v1__stop_reason__descriptor, (int)changed->stop_reason), quoted);
}

void report_run_changed(const struct run *run, const Renga__V1__RunChanged *changed)
{
    const struct thread *thread = run->thread;
    if (!run->ended_ms)
        return;
    runner_metrics_ended(thread->shard->runner->options.runner_metrics, thread->shard->loop,
                         run->agent ? run->agent->name : NULL, changed->state);
    if (changed->state == RENGA__V1__RUN_STATE__RUN_STATE_FAILED &&
        changed->stop_reason != RENGA__V1__STOP_REASON__STOP_REASON_OWNER_CRASHED) /* which has its line: run.parked */
        log_failed(run, changed);
}
