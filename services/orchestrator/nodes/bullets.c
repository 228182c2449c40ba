/* Reads bullets of a playbook by their ids, and the revision of the playbook. */
#include "bullet_table.h"
#include "service_call.h"

#include "rpc/message_json.h"

#include "renga/v1/tool_runner.pb-c.h"

#include <string.h>

#define IDS_MAX   100                 /* as Trajectory.used_bullet_ids */
#define BYTES_MAX ((size_t)256 << 10) /* of all contents, for prompts */

enum { BULLETS_DATASET, BULLETS_IDS, BULLETS_INTO, BULLETS_REVISION };

static const struct node_parameter parameters[] = {
    [BULLETS_DATASET] = {"dataset", READS_STRING, REQUIRED, "The data set of the playbook, a string."},
    [BULLETS_IDS] = {"ids", READS_STRINGS, OPTIONAL, "Ids of bullets, a string[]; the first 100 are read."},
    [BULLETS_INTO] = {"into", WRITES_OBJECTS, OPTIONAL,
                      "A list of objects that gets those that are there (Bullet), in the order of the ids, as far as "
                      "their contents have 256 KiB. Give it the reducer \"replace\"."},
    [BULLETS_REVISION] = {"revision", WRITES_INTEGER, OPTIONAL,
                          "An integer that gets the revision of the playbook; 0 if there is none."},
    {.name = NULL},
};
static const char *const outcomes[] = {"read", NULL};

static bool bullets_check(const struct node *node, struct status *st)
{
    if (!node_argument(node, BULLETS_INTO)->field && !node_argument(node, BULLETS_REVISION)->field)
        return fail_field(st, "into", "is not there, and neither is \"revision\"; nothing would be read");
    return true;
}

struct bullets {
    struct service_call base; /* first */
    Renga__V1__GetPlaybookRequest request;
    struct bullet_table table;
};

static void bullets_playbook_loaded(const Renga__V1__GetPlaybookResponse *answer, void *data)
{
    struct bullets *bullets = ((struct rpc_client_call *)data)->owner;
    struct task *task = bullets->base.task;
    const char *into = update_field(task, BULLETS_INTO), *revision = update_field(task, BULLETS_REVISION);
    struct bullet_entry *entry;
    struct update update;
    size_t room = BYTES_MAX;
    if (!answer && (bullets->base.call.status.code != NOT_FOUND || bullets->base.cancelled)) {
        service_call_failed(&bullets->base);
        return;
    }
    for (size_t i = 0; answer && i < answer->n_bullets; i++)
        if ((entry = bullet_table_find(&bullets->table, answer->bullets[i]->id, false)))
            entry->now = answer->bullets[i];
    update_begin(&update);
    if (into)
        json_write_array(&update.out, into);
    for (size_t i = 0; into && i < bullets->table.count; i++) {
        const Renga__V1__Bullet *now = bullets->table.entries[i].now;
        size_t length = now ? strlen(now->content) : 0;
        if (!now || length > room)
            continue;
        room -= length;
        message_write_json(&update.out, NULL, &now->base);
    }
    if (into)
        json_write_end(&update.out);
    if (revision)
        json_write_int(&update.out, revision, answer ? answer->revision : 0);
    update_finish(&update, task, outcomes[0]);
}

static bool bullets_read_ids(struct bullets *bullets, struct status *st)
{
    char **ids;
    size_t count;
    if (!bullet_table_open(&bullets->table, task_arena(bullets->base.task), IDS_MAX))
        return fail(st, RESOURCE_EXHAUSTED, "no memory for the bullets");
    if (!service_call_texts(&bullets->base, BULLETS_IDS, &ids, &count, st))
        return false;
    for (size_t i = 0; i < count; i++)
        bullet_table_find(&bullets->table, ids[i], true);
    renga__v1__get_playbook_request__init(&bullets->request);
    bullets->request.dataset = service_call_text(&bullets->base, BULLETS_DATASET);
    return true;
}

static void bullets_start(struct task *task)
{
    struct bullets *bullets = task_data(task);
    struct status st = {0};
    bool good = service_call_open(&bullets->base, task, PEER_TOOL_RUNNER, &st) && bullets_read_ids(bullets, &st);
    service_call_close(&bullets->base);
    if (good)
        renga__v1__tool_runner__get_playbook(bullets->base.peer, &bullets->request, bullets_playbook_loaded,
                                             &bullets->base.call);
    else
        task_fail(task, &st);
}

extern const struct node_kind bullets_kind;
const struct node_kind bullets_kind = {
    .name = "bullets",
    .help = "Reads bullets of a playbook by their ids.",
    .parameters = parameters,
    .outcomes = outcomes,
    .check = bullets_check,
    .size = sizeof(struct bullets),
    .start = bullets_start,
    .cancel = service_call_cancel,
    .travels = true,
};
