#include "base/container_of.h"
#include "base/turns.h"

#include <stdio.h>
#include <string.h>

#include "unit.h"

#define PIECES 16

enum { ANNA = 1, BERT, CARL };

/* Turns by a letter of their owner; `came` writes it down. */
struct piece {
    struct turn turn;
    bool leaves_at_once;
};

static struct turn_gate gate;
static struct piece pieces[PIECES];
static char order[PIECES + 1];
static unsigned depth, deepest; /* of `came` within `came` */

static void piece_came(struct turn *turn)
{
    struct piece *piece = CONTAINER_OF(turn, struct piece, turn);
    size_t length = strlen(order);
    snprintf(order + length, sizeof order - length, "%c", (char)('a' + turn->owner - ANNA));
    deepest = ++depth > deepest ? depth : deepest;
    if (piece->leaves_at_once)
        turn_give(&gate, turn);
    depth--;
}

static bool take(unsigned piece, uint64_t owner)
{
    pieces[piece].turn.owner = owner;
    pieces[piece].turn.came = piece_came;
    return turn_take(&gate, &pieces[piece].turn);
}

static void give(unsigned piece, size_t cost)
{
    pieces[piece].turn.cost = cost;
    turn_give(&gate, &pieces[piece].turn);
}

static int open_gate(void **state)
{
    memset(pieces, 0, sizeof pieces);
    *order = '\0';
    turn_gate_init(&gate, 2);
    return 0;
}

static int close_gate(void **state)
{
    turn_gate_fini(&gate);
    return 0;
}

static void a_few_are_held_and_the_next_comes_when_one_ends(void **state)
{
    assert_true(take(0, ANNA));
    assert_true(take(1, ANNA));
    assert_false(take(2, ANNA));
    assert_true(turn_is_taken(&pieces[2].turn));
    assert_string_equal(order, "");
    give(0, 0);
    assert_string_equal(order, "a");
    assert_false(turn_is_taken(&pieces[0].turn));
    assert_false(take(3, ANNA));
    give(1, 0);
    give(2, 0);
    give(3, 0);
    assert_true(take(4, ANNA));
    assert_string_equal(order, "aa");
}

static void owners_take_turns_though_one_has_a_long_queue(void **state)
{
    for (unsigned i = 0; i < 6; i++)
        take(i, ANNA);
    take(6, BERT);
    take(7, CARL);
    take(8, BERT);
    give(0, 0);
    give(1, 0);
    assert_string_equal(order, "bc");
    give(6, 0);
    give(7, 0);
    give(2, 0);
    give(8, 0);
    assert_string_equal(order, "bcabaa");
}

static void behind_a_costly_turn_more_of_the_others_come(void **state)
{
    take(0, ANNA);
    take(1, BERT);
    for (unsigned i = 2; i < 6; i++)
        take(i, ANNA);
    for (unsigned i = 6; i < 10; i++)
        take(i, BERT);
    give(0, 250);
    give(1, 100);
    for (unsigned i = 6; i < 9; i++)
        give(i, 100);
    assert_string_equal(order, "bbbaa");
}

static void an_owner_that_comes_back_pays_for_its_costly_turn_while_others_wait(void **state)
{
    take(0, ANNA);
    take(1, BERT);
    for (unsigned i = 2; i < 5; i++)
        take(i, BERT);
    give(0, 250); /* Anna has no turn any more */
    take(5, ANNA);
    give(1, 100);
    give(2, 100);
    assert_string_equal(order, "bbb");
    give(3, 100);
    assert_string_equal(order, "bbba");
}

static void without_others_a_costly_turn_is_forgotten(void **state)
{
    take(0, ANNA);
    give(0, 1000000);
    assert_null(gate.first);
    take(1, BERT);
    take(2, BERT);
    take(3, BERT);
    take(4, ANNA);
    give(1, 0);
    assert_string_equal(order, "a");
}

static void a_turn_that_waits_can_be_withdrawn(void **state)
{
    for (unsigned i = 0; i < 4; i++)
        take(i, ANNA);
    give(2, 0);
    assert_false(turn_is_taken(&pieces[2].turn));
    give(2, 0); /* no effect */
    give(0, 0);
    assert_string_equal(order, "a");
    assert_true(turn_is_taken(&pieces[3].turn));
}

static void a_turn_may_end_as_it_comes(void **state)
{
    for (unsigned i = 0; i < 6; i++)
        take(i, ANNA);
    pieces[2].leaves_at_once = pieces[3].leaves_at_once = true;
    give(0, 0);
    assert_string_equal(order, "aaa");
    assert_true(turn_is_taken(&pieces[4].turn));
    assert_int_equal(gate.held, 2);
    assert_int_equal(gate.waiting, 1);
}

static void turns_that_end_as_they_come_do_not_recurse(void **state)
{
    (void)state;
    deepest = 0;
    for (unsigned i = 0; i < PIECES; i++) {
        take(i, ANNA + i % 3);
        pieces[i].leaves_at_once = true;
    }
    give(0, 0);
    assert_int_equal(strlen(order), PIECES - 2); /* two were held from the beginning */
    assert_int_equal(deepest, 1);
    assert_int_equal(gate.held, 1);
    assert_int_equal(gate.waiting, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_few_are_held_and_the_next_comes_when_one_ends, open_gate, close_gate),
        cmocka_unit_test_setup_teardown(owners_take_turns_though_one_has_a_long_queue, open_gate, close_gate),
        cmocka_unit_test_setup_teardown(behind_a_costly_turn_more_of_the_others_come, open_gate, close_gate),
        cmocka_unit_test_setup_teardown(an_owner_that_comes_back_pays_for_its_costly_turn_while_others_wait, open_gate,
                                        close_gate),
        cmocka_unit_test_setup_teardown(without_others_a_costly_turn_is_forgotten, open_gate, close_gate),
        cmocka_unit_test_setup_teardown(a_turn_that_waits_can_be_withdrawn, open_gate, close_gate),
        cmocka_unit_test_setup_teardown(a_turn_may_end_as_it_comes, open_gate, close_gate),
        cmocka_unit_test_setup_teardown(turns_that_end_as_they_come_do_not_recurse, open_gate, close_gate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
