/* Clients and tenants by name. Names are those of keys, so the operator decides how many there are; should there be
 * more all the same, what is over shares one place, under the limits of those who have no row of their own. */
#include "gate_priv.h"

#include "base/hash.h"
#include "base/log.h"
#include "rpc/auth.h"

#include <stdlib.h>
#include <string.h>

uint32_t gate_name_hash(const char *name)
{
    return (uint32_t)hash_text(name);
}

static void set_limits(struct gate_party *party, const struct limits *limits, bool only_weights, int64_t now_ns)
{
    party->weight = limits->weight ? limits->weight : 1;
    if (only_weights)
        return;
    party->concurrency = limits->concurrency;
    gate_bucket_limit(&party->requests, limits->requests_per_minute, now_ns);
    gate_bucket_limit(&party->tokens, limits->tokens_per_minute, now_ns);
    party->purse.limit = limits->micros_per_day;
    party->purse.counted = party->budgeted;
    if (!party->budgeted)
        party->purse.spent = 0; /* and what the accounts say */
    party->budgeted = limits->requests_per_minute || limits->tokens_per_minute || limits->micros_per_day;
}

static struct gate_party *party_create(const struct gate_parties *parties, const char *name, uint32_t hash,
                                       const struct limits *limits)
{
    struct gate_party *party = calloc(1, sizeof *party);
    char *copy = strdup(name);
    if (!party || !copy) {
        free(party);
        free(copy);
        return NULL;
    }
    party->name = copy;
    party->hash = hash;
    party->tenant = parties->tenants;
    set_limits(party, limits, parties->only_weights, 0);
    for (int i = 0; i < GATE_PRIORITIES; i++) {
        party->lines[i].client = party;
        gate_list_init(&party->lines[i].tickets);
    }
    return party;
}

static void party_free(struct gate_party *party)
{
    free(party->name);
    free(party);
}

static struct gate_party *party_add(struct gate_parties *parties, const char *name, uint32_t hash,
                                    const struct limits *limits)
{
    struct gate_party *party = party_create(parties, name, hash, limits);
    struct gate_party **head = &parties->heads[hash % GATE_PARTY_HEADS];
    if (!party)
        return NULL;
    party->next = *head;
    *head = party;
    parties->count++;
    return party;
}

static struct gate_party *known(struct gate_parties *parties, const char *name, uint32_t hash)
{
    struct gate_party *party = parties->heads[hash % GATE_PARTY_HEADS];
    while (party && (party->hash != hash || strcmp(party->name, name) != 0))
        party = party->next;
    return party;
}

static int by_name(const void *name, const void *row)
{
    return strcmp(name, ((const struct limits_row *)row)->name);
}

/* Rows are sorted by name. */
static const struct limits *limits_of(const struct limits_table *table, const char *name)
{
    const struct limits_row *row = table->count ? bsearch(name, table->rows, table->count, sizeof *row, by_name) : NULL;
    return row ? &row->limits : &table->fallback;
}

struct gate_party *gate_party_find(struct gate_parties *parties, const char *name, uint32_t hash)
{
    struct gate_party *party = known(parties, name, hash);
    if (!party && parties->count < parties->count_max)
        party = party_add(parties, name, hash, &parties->fallback);
    return party ? party : parties->others;
}

void gate_parties_init(struct gate_parties *parties, const struct limits_table *table)
{
    static const struct limits_table none;
    if (!table)
        table = &none;
    parties->fallback = table->fallback;
    parties->count_max = RPC_AUTH_KEYS_MAX + table->count;
    parties->others = party_create(parties, "others", 0, &table->fallback);
    bool made = parties->others != NULL;
    for (size_t i = 0; i < table->count && made; i++) {
        const struct limits_row *row = &table->rows[i];
        uint32_t hash = gate_name_hash(row->name);
        made = known(parties, row->name, hash) || party_add(parties, row->name, hash, &row->limits);
    }
    if (!made)
        fatal("llm_gateway.memory", "no memory for the limits of %zu names", table->count);
}

void gate_parties_limit(struct gate_parties *parties, const struct limits_table *table, int64_t now_ns)
{
    size_t count_max = RPC_AUTH_KEYS_MAX + table->count;
    parties->fallback = table->fallback;
    parties->count_max = count_max > parties->count_max ? count_max : parties->count_max;
    set_limits(parties->others, &table->fallback, parties->only_weights, now_ns);
    for (size_t i = 0; i < GATE_PARTY_HEADS; i++)
        for (struct gate_party *party = parties->heads[i]; party; party = party->next)
            set_limits(party, limits_of(table, party->name), parties->only_weights, now_ns);
    for (size_t i = 0; i < table->count; i++) {
        const struct limits_row *row = &table->rows[i];
        uint32_t hash = gate_name_hash(row->name);
        if (!known(parties, row->name, hash) && !party_add(parties, row->name, hash, &row->limits))
            fatal("llm_gateway.memory", "no memory for the limits of %zu names", table->count);
    }
}

void gate_parties_fini(struct gate_parties *parties)
{
    for (size_t i = 0; i < GATE_PARTY_HEADS; i++) {
        for (struct gate_party *party = parties->heads[i], *next; party; party = next) {
            next = party->next;
            party_free(party);
        }
    }
    party_free(parties->others);
}
