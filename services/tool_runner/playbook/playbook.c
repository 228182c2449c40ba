/* Bullets and playbooks are counted; the last holder frees them. */
#include "playbook.h"

#include "base/container_of.h"
#include "base/log.h"
#include "base/memory.h"
#include "playbook_text.h"

#include <stdlib.h>
#include <string.h>

#define NUMBER_DIGITS_MAX 18 /* they fit an int64_t */

struct playbook_bullet *playbook_bullet_of(Renga__V1__Bullet *bullet)
{
    return CONTAINER_OF(bullet, struct playbook_bullet, bullet);
}

size_t playbook_bullet_bytes(const Renga__V1__Bullet *bullet)
{
    return strlen(bullet->id) + strlen(bullet->section) + strlen(bullet->content) + strlen(bullet->source);
}

static char *append_text(char **at, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = memcpy(*at, text, size);
    *at += size;
    return copy;
}

struct playbook_bullet *playbook_bullet_create(const Renga__V1__Bullet *bullet, int64_t place)
{
    struct playbook_bullet *copy = xmalloc(sizeof *copy + playbook_bullet_bytes(bullet) + 4);
    char *at = (char *)(copy + 1);
    *copy = (struct playbook_bullet){.bullet = RENGA__V1__BULLET__INIT, .place = place, .holders = 1};
    copy->bullet.id = append_text(&at, bullet->id);
    copy->bullet.section = append_text(&at, bullet->section);
    copy->bullet.content = append_text(&at, bullet->content);
    copy->bullet.source = append_text(&at, bullet->source);
    copy->bullet.helpful = bullet->helpful;
    copy->bullet.harmful = bullet->harmful;
    copy->bullet.created_ms = bullet->created_ms;
    copy->bullet.updated_ms = bullet->updated_ms;
    copy->tokens = (int32_t)playbook_text_tokens(bullet);
    return copy;
}

struct playbook_bullet *playbook_bullet_hold(struct playbook_bullet *bullet)
{
    atomic_fetch_add_explicit(&bullet->holders, 1, memory_order_relaxed);
    return bullet;
}

void playbook_bullet_release(struct playbook_bullet *bullet)
{
    if (bullet && atomic_fetch_sub_explicit(&bullet->holders, 1, memory_order_acq_rel) == 1) {
        free(atomic_load(&bullet->terms));
        free(bullet);
    }
}

/* ---- playbooks --------------------------------------------------------------------------------------------------- */

static struct playbook_slot *slot_create(void)
{
    struct playbook_slot *slot = xcalloc(1, sizeof *slot);
    slot->holders = 1;
    pthread_mutex_init(&slot->lock, NULL);
    return slot;
}

static void slot_release(struct playbook_slot *slot)
{
    if (!slot || atomic_fetch_sub(&slot->holders, 1) != 1)
        return;
    if (slot->index && slot->destroy)
        slot->destroy(&slot->index);
    pthread_mutex_destroy(&slot->lock);
    free(slot);
}

struct playbook *playbook_create(const char *tenant, const char *dataset, struct playbook_slot *slot)
{
    struct playbook *playbook = xcalloc(1, sizeof *playbook);
    arena_init(&playbook->arena, NULL, 0, PLAYBOOK_ARENA_MAX);
    playbook->tenant = arena_strdup(&playbook->arena, tenant);
    playbook->dataset = arena_strdup(&playbook->arena, dataset);
    if (!playbook->tenant || !playbook->dataset)
        fatal("tool_runner.memory", "no memory for a playbook");
    playbook->holders = 1;
    playbook->next_number = playbook->next_proposal = 1;
    playbook->slot = slot ? slot : slot_create();
    if (slot)
        atomic_fetch_add(&slot->holders, 1);
    return playbook;
}

struct playbook *playbook_hold(struct playbook *playbook)
{
    atomic_fetch_add_explicit(&playbook->holders, 1, memory_order_relaxed);
    return playbook;
}

void playbook_release(struct playbook **playbook_pointer)
{
    struct playbook *playbook = *playbook_pointer;
    *playbook_pointer = NULL;
    if (!playbook || atomic_fetch_sub_explicit(&playbook->holders, 1, memory_order_acq_rel) != 1)
        return;
    for (size_t i = 0; i < playbook->count; i++)
        playbook_bullet_release(playbook_bullet_of(playbook->bullets[i]));
    free(playbook->bullets);
    slot_release(playbook->slot);
    arena_fini(&playbook->arena);
    free(playbook);
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

int64_t playbook_id_number(const char *id)
{
    const char *dash = strrchr(id, '-');
    size_t digits = dash ? strspn(dash + 1, "0123456789") : 0;
    return digits && digits <= NUMBER_DIGITS_MAX && !dash[1 + digits] ? strtoll(dash + 1, NULL, 10) : -1;
}

bool playbook_check_dataset(const char *field, const char *dataset, struct status *st)
{
    static const char legal[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.";
    size_t length = strlen(dataset), good = strspn(dataset, legal);
    if (!length)
        return fail_field(st, field, "is empty; it is required");
    if (length > PLAYBOOK_DATASET_MAX)
        return fail_field(st, field, "has %zu bytes; at most %d are allowed", length, PLAYBOOK_DATASET_MAX);
    if (dataset[0] == '.')
        return fail_field(st, field, "is '%s'; it must not begin with '.'", dataset);
    return good == length ||
           fail_field(st, field, "has the byte 0x%02x at %zu; A-Z, a-z, 0-9, '_', '-' and '.' are allowed",
                      (unsigned)(unsigned char)dataset[good], good);
}
