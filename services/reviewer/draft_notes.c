/* The notes of a draft: "[^1]" in the text, and its definition "[^1]: title — address" at the beginning of a line. */
#include "draft_priv.h"

#include "base/hash.h"

#include <ctype.h>
#include <string.h>

#define NOTE_NUMBER_MAX 2000 /* the numbers of notes are below this limit */
#define LABEL_MAX       20
#define TOLD_MOST       10 /* notes that become an issue */

size_t draft_note_read(const char *text, size_t length, int *number)
{
    size_t begin = 1 + (length > 1 && text[1] == '^'), at = begin;
    bool digits = true;
    *number = 0;
    for (; at < length && at < LABEL_MAX && (unsigned char)text[at] > ' ' && text[at] != ']'; at++) {
        digits &= isdigit((unsigned char)text[at]) != 0;
        *number = digits && *number < NOTE_NUMBER_MAX ? *number * 10 + (text[at] - '0') : *number;
    }
    bool closed = text[0] == '[' && at > begin && at < length && text[at] == ']' && (digits || begin == 2);
    *number = digits ? *number : 0;
    return closed ? at + 1 : 0;
}

static size_t note_slot(const struct draft_notes *notes, const char *label, size_t length)
{
    size_t at = hash_bytes(label, length) % NOTE_SLOTS;
    while (notes->slots[at].length &&
           (notes->slots[at].length != length || memcmp(notes->slots[at].label, label, length) != 0))
        at = (at + 1) % NOTE_SLOTS;
    return at;
}

const struct draft_note *draft_note_find(const struct draft_notes *notes, const char *label, size_t length)
{
    const struct draft_note *note = &notes->slots[note_slot(notes, label, length)];
    return note->length ? note : NULL;
}

/* NULL: there are too many notes. */
static struct draft_note *note_take(struct draft_notes *notes, const char *label, size_t length)
{
    struct draft_note *note = &notes->slots[note_slot(notes, label, length)];
    if (note->length)
        return note;
    if (notes->count == NOTE_SLOTS / 2)
        return NULL;
    notes->count++;
    *note = (struct draft_note){.label = label, .length = length};
    return note;
}

void draft_notes_read(struct draft_notes *notes, const Renga__V1__ReviewDraftRequest *request)
{
    const char *draft = request->draft;
    size_t length = strlen(draft);
    struct source_table table = {0};
    draft_sources_index(&table, request);
    for (const char *at = draft; (at = strstr(at, "[^"));) {
        int number;
        size_t left = length - (size_t)(at - draft), end = draft_note_read(at, left, &number);
        struct draft_note *note = end ? note_take(notes, at + 2, end - 3) : NULL;
        bool begins = at == draft || at[-1] == '\n';
        if (note && begins && end < left && at[end] == ':') {
            /* The first definition counts. */
            const char *line = at + end;
            if (!note->defined) {
                note->defined = true;
                note->source = (uint16_t)(draft_source_of(&table, line, strcspn(line, "\n")) + 1);
            }
        } else if (note)
            note->used = true;
        at += end ? end : 2;
    }
    for (size_t i = 0; i < NOTE_SLOTS; i++) {
        const struct draft_note *note = &notes->slots[i];
        notes->undefined += note->length && !note->defined;
        notes->unused += note->length && !note->used;
    }
}

void draft_notes_report(struct draft_reviewing *reviewing, const struct draft_notes *notes)
{
    static const struct note undefined = {.ja = "注 [^%s] の定義がありません", .en = "The note [^%s] is not defined"};
    static const struct note unused = {.ja = "注 [^%s] は本文で使われていません", .en = "The note [^%s] is not used"};
    struct model_task *task = &reviewing->task;
    int told = 0;
    for (size_t i = 0; i < NOTE_SLOTS && told < TOLD_MOST; i++) {
        const struct draft_note *note = &notes->slots[i];
        if (!note->length || (note->defined && note->used))
            continue;
        char *label = model_task_printf(task, "%.*s", (int)note->length, note->label);
        draft_add_issue(reviewing,
                        note->defined ? RENGA__V1__DRAFT_ISSUE_TYPE__DRAFT_ISSUE_TYPE_FORMAT
                                      : RENGA__V1__DRAFT_ISSUE_TYPE__DRAFT_ISSUE_TYPE_FACT_CHECK,
                        note->defined ? RENGA__V1__ISSUE_SEVERITY__ISSUE_SEVERITY_LOW
                                      : RENGA__V1__ISSUE_SEVERITY__ISSUE_SEVERITY_MEDIUM,
                        model_task_compose(task, note->defined ? &unused : &undefined, label, NULL),
                        model_task_printf(task, "[^%s]", label));
        told++;
    }
}
