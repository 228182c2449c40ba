/* A learning as it goes, on a terminal a line that is drawn anew, and its figures at the end. */
#include "ace.h"

#include "rpc/message_json.h"
#include "json/writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LINE_SIZE  512
#define LINE_BYTES ((size_t)1 << 16)

static const char *ace_stage_word(const struct ace_learning *learning)
{
    static const char *const words[] = {"measuring before", "learning", "measuring after"};
    return learning->stage == ACE_BEFORE && !learning->measured.count ? "measuring" : words[learning->stage];
}

/* ---- as it goes -------------------------------------------------------------------------------------------------- */

static const char *ace_learn_view_verdict_word(const Renga__V1__AdaptedSample *sample)
{
    return *sample->error_message                                        ? "failed"
           : sample->verdict == RENGA__V1__ACE_VERDICT__ACE_VERDICT_GOOD ? "right"
           : sample->verdict == RENGA__V1__ACE_VERDICT__ACE_VERDICT_BAD  ? "wrong"
                                                                         : "not judged";
}

static void ace_view_line(const struct ace_learning *learning, const Renga__V1__AdaptedSample *sample)
{
    const char *text = *sample->error_message ? sample->error_message : sample->answer;
    fprintf(stderr, "%s %d: ", ace_stage_word(learning), learning->epoch);
    show_text_on(stderr, sample->id);
    fprintf(stderr, ": %s, revision %" PRId64 ": ", ace_learn_view_verdict_word(sample), sample->revision);
    char first[161];
    snprintf(first, sizeof first, "%.*s", (int)strcspn(text, "\n"), text);
    show_text_on(stderr, first);
    fputc('\n', stderr);
}

static void ace_view_draw(struct ace_learning *learning, const Renga__V1__AdaptedSample *sample)
{
    size_t count =
        learning->stage == ACE_LEARN || !learning->measured.count ? learning->samples.count : learning->measured.count;
    char line[LINE_SIZE];
    size_t width = live_back(&learning->live);
    snprintf(line, sizeof line, "%s, epoch %d: %zu of %zu samples; %s: %s; revision %" PRId64, ace_stage_word(learning),
             learning->epoch, learning->done, count, sample->id, ace_learn_view_verdict_word(sample), sample->revision);
    fputs(colour(&learning->ace->client, DIM), stdout);
    size_t columns = live_print(line, width);
    fputs(colour(&learning->ace->client, PLAIN), stdout);
    live_end_line(&learning->live, columns);
    fflush(stdout);
}

void ace_view_sample(struct ace_learning *learning, const Renga__V1__AdaptedSample *sample)
{
    const struct ace *ace = learning->ace;
    if (ace->client.json)
        message_print_json(&sample->base);
    else if (ace->client.terminal && !ace->quiet)
        ace_view_draw(learning, sample);
    else if (learning->verbose)
        ace_view_line(learning, sample);
}

void ace_view_erase(struct ace_learning *learning)
{
    if (learning->live.count)
        live_erase(&learning->live);
    learning->live.count = 0;
}

/* ---- at the end -------------------------------------------------------------------------------------------------- */

static void ace_view_share(const struct ace_learning *learning, const char *title, enum ace_stage stage)
{
    char share[128];
    const Renga__V1__AdaptResult *sum = &learning->sums[stage];
    ace_put_share(share, sizeof share, sum->correct, sum->judged);
    printf("%-10s %s%s%s", title, colour(&learning->ace->client, BOLD), share, colour(&learning->ace->client, PLAIN));
    if (sum->failed)
        printf("; %s%d failed%s", colour(&learning->ace->client, RED), sum->failed,
               colour(&learning->ace->client, PLAIN));
    putchar('\n');
}

static void ace_view_playbook(const Renga__V1__AdaptResult *sum)
{
    const struct {
        int32_t count;
        const char *word;
    } parts[] = {{sum->added, "added"},
                 {sum->updated, "changed"},
                 {sum->merged, "merged"},
                 {sum->deleted, "removed"},
                 {sum->dropped, "left for the budget"},
                 {sum->proposed, "proposed to you"}};
    bool any = false;
    printf("%-10s revision %" PRId64 " → %" PRId64, "playbook", sum->revision_before, sum->revision_after);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].count) {
            printf("%s%d %s", any ? ", " : ": ", parts[i].count, parts[i].word);
            any = true;
        }
    puts(any ? "" : ": nothing was learnt");
}

/* {"stage": "before", "result": AdaptResult}, a line for each stage that was gone through. */
static void ace_view_json(struct ace_learning *learning)
{
    static const char *const names[] = {"before", "learn", "after"};
    for (int stage = 0; stage < ACE_STAGES; stage++) {
        struct buffer line;
        struct json_writer out;
        Renga__V1__AdaptResult *sum = &learning->sums[stage];
        if (!learning->gone[stage])
            continue;
        ace_share_bounds(sum->correct, sum->judged, &sum->accuracy_low, &sum->accuracy_high);
        buffer_init(&line, LINE_BYTES);
        json_writer_init(&out, &line);
        json_write_object(&out, NULL);
        json_write_string(&out, "stage", names[stage]);
        message_write_json(&out, "result", &sum->base);
        json_write_end(&out);
        puts(buffer_text(&line));
        buffer_fini(&line);
    }
}

void ace_view_end(struct ace_learning *learning)
{
    bool learns = learning->stage != ACE_BEFORE;
    char cost[128];
    if (learning->ace->client.json) {
        ace_view_json(learning);
        return;
    }
    if (!learns)
        ace_view_share(learning, "accuracy", ACE_BEFORE);
    if (learns && learning->measured.count)
        ace_view_share(learning, "before", ACE_BEFORE);
    if (learns)
        ace_view_share(learning, "learning", ACE_LEARN);
    if (learns && learning->measured.count)
        ace_view_share(learning, "after", ACE_AFTER);
    if (learns)
        ace_view_playbook(&learning->sums[ACE_LEARN]);
    ace_put_cost(cost, sizeof cost, &learning->usage);
    if (!learning->ace->quiet)
        printf("%s%-10s %s%s\n", colour(&learning->ace->client, DIM), "cost", cost,
               colour(&learning->ace->client, PLAIN));
    if (learning->resumed)
        fprintf(stderr, ACE ": %" PRId64 " parts had been done before, and were not paid again\n", learning->resumed);
}
