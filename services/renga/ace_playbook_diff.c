/* `renga ace playbook diff`: the bullets of two revisions, compared by their ids. */
#include "ace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REASONS_MAX 10

static int ace_diff_compare(const void *a, const void *b)
{
    return strcmp((*(Renga__V1__Bullet *const *)a)->id, (*(Renga__V1__Bullet *const *)b)->id);
}

static void ace_diff_line(const struct ace *ace, const char *sequence, char sign, const Renga__V1__Bullet *bullet)
{
    printf("%s%c [", colour(&ace->client, sequence), sign);
    show_text(bullet->id);
    printf("] helpful=%d harmful=%d ", bullet->helpful, bullet->harmful);
    show_text(bullet->section);
    fputs(" :: ", stdout);
    show_text(bullet->content);
    printf("%s\n", colour(&ace->client, PLAIN));
}

static bool ace_diff_equal(const Renga__V1__Bullet *a, const Renga__V1__Bullet *b)
{
    return a->helpful == b->helpful && a->harmful == b->harmful && strcmp(a->section, b->section) == 0 &&
           strcmp(a->content, b->content) == 0;
}

/* A bullet of which the counts alone have changed takes one line. */
static void ace_diff_change(const struct ace *ace, const Renga__V1__Bullet *a, const Renga__V1__Bullet *b)
{
    if (strcmp(a->section, b->section) == 0 && strcmp(a->content, b->content) == 0) {
        printf("%s~ [", colour(&ace->client, YELLOW));
        show_text(b->id);
        printf("] helpful %d → %d, harmful %d → %d%s\n", a->helpful, b->helpful, a->harmful, b->harmful,
               colour(&ace->client, PLAIN));
        return;
    }
    ace_diff_line(ace, RED, '-', a);
    ace_diff_line(ace, GREEN, '+', b);
}

static size_t ace_diff_bullets(const struct ace *ace, const Renga__V1__GetPlaybookResponse *from,
                               const Renga__V1__GetPlaybookResponse *to)
{
    size_t i = 0, j = 0, differences = 0;
    while (i < from->n_bullets && j < to->n_bullets) {
        const Renga__V1__Bullet *a = from->bullets[i], *b = to->bullets[j];
        int order = strcmp(a->id, b->id);
        i += order <= 0;
        j += order >= 0;
        differences += order || !ace_diff_equal(a, b);
        if (order < 0)
            ace_diff_line(ace, RED, '-', a);
        else if (order > 0)
            ace_diff_line(ace, GREEN, '+', b);
        else if (!ace_diff_equal(a, b))
            ace_diff_change(ace, a, b);
    }
    differences += from->n_bullets - i + to->n_bullets - j;
    for (; i < from->n_bullets; i++)
        ace_diff_line(ace, RED, '-', from->bullets[i]);
    for (; j < to->n_bullets; j++)
        ace_diff_line(ace, GREEN, '+', to->bullets[j]);
    return differences;
}

static bool ace_diff_revisions(struct ace *ace, int64_t *from, int64_t *to)
{
    if (ace->rest_count && !ace_read_revision(ace, ace->rest[0], from))
        return false;
    return ace->rest_count < 2 || ace_read_revision(ace, ace->rest[1], to);
}

/* Why: of the last changes between the two revisions, the newest first. */
static void ace_diff_reasons(struct ace *ace, FILE *out, int64_t from, int64_t to)
{
    Renga__V1__ListPlaybookChangesRequest request = RENGA__V1__LIST_PLAYBOOK_CHANGES_REQUEST__INIT;
    request.dataset = command_text(ace->dataset);
    const Renga__V1__ListPlaybookChangesResponse *page = (const Renga__V1__ListPlaybookChangesResponse *)ace_ask(
        ace, ace->tool_runner, "ListPlaybookChanges", &request.base);
    size_t shown = 0;
    for (size_t i = 0; page && i < page->n_changes && shown < REASONS_MAX; i++) {
        const Renga__V1__PlaybookChange *change = page->changes[i];
        if (change->revision <= from || change->revision > to || !*change->reason)
            continue;
        fprintf(out, "%srevision %" PRId64 ": ", colour(&ace->client, DIM), change->revision);
        show_text_on(out, change->reason);
        fprintf(out, "%s\n", colour(&ace->client, PLAIN));
        shown++;
    }
}

int ace_playbook_diff(struct ace *ace)
{
    int64_t from = 0, to = 0;
    Renga__V1__GetPlaybookResponse empty = RENGA__V1__GET_PLAYBOOK_RESPONSE__INIT;
    if (!ace_diff_revisions(ace, &from, &to))
        return COMMAND_USAGE;
    const Renga__V1__GetPlaybookResponse *last =
        ace_get_playbook(ace, to, RENGA__V1__PLAYBOOK_FORMAT__PLAYBOOK_FORMAT_UNSPECIFIED);
    if (!last)
        return COMMAND_FAILED;
    if (!ace->rest_count)
        from = last->revision - 1;
    const Renga__V1__GetPlaybookResponse *first =
        from ? ace_get_playbook(ace, from, RENGA__V1__PLAYBOOK_FORMAT__PLAYBOOK_FORMAT_UNSPECIFIED) : &empty;
    if (!first)
        return COMMAND_FAILED;
    if (first->n_bullets)
        qsort(first->bullets, first->n_bullets, sizeof *first->bullets, ace_diff_compare);
    if (last->n_bullets)
        qsort(last->bullets, last->n_bullets, sizeof *last->bullets, ace_diff_compare);
    size_t differences = ace_diff_bullets(ace, first, last);
    if (ace->quiet)
        return COMMAND_OK;
    FILE *out = ace->client.terminal ? stdout : stderr;
    fprintf(out, "%srevision %" PRId64 " → %" PRId64 ": %zu %s changed%s\n", colour(&ace->client, DIM), from,
            last->revision, differences, ACE_BULLETS(differences), colour(&ace->client, PLAIN));
    ace_diff_reasons(ace, out, from, last->revision);
    return COMMAND_OK;
}
