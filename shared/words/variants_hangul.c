/* Korean: particles after a word are left out, so that 서울은, 서울에서 and 서울 have the same terms. */
#include "words/variants_rows.h"

#include <pthread.h>

#define PARTICLE_ROUNDS 3 /* 서울에서는 has two */
#define PARTICLE_MAX    4
#define HOW_MANY        0xBA87 /* 몇 */
#define WORD_LEAST      2      /* syllables that stay before a particle */

static const char particles_text[] =
    "은 는 이 가 을 를 의 에 와 과 도 만 로 들 에서 에게 으로 까지 부터 처럼 보다 "
    "이나 하고 이며 이란 이라고 로서 로써 이든 "
    "께서 한테 마다 밖에 조차 마저 이라 적인 이다 이요 입니까 "
    "한 된 하는 되는 하여 되어 했던 되었던 했다 하였다 되었다 했는가 하였는가 되었는가 하는가 되는가 한다 된다 "
    "하였던 했으며 되었으며 하기 하였으며 인가 이었다 였다 였는가 이었는가 이란 하며 되며 했고 하였고 되었고 해 하게";

/* Whole words that carry little meaning. */
static const char words_text[] =
    "그 이 저 것 수 등 및 또 또는 그리고 그러나 하지만 때문 때문에 위해 위한 위하여 대해 대한 대하여 통해 의해 의하여 "
    "따라 따른 "
    "관한 관련 있는 있다 있던 있었던 있었다 없는 없다 하는 하다 한다 했다 했던 하였다 한 할 해 된 되는 된다 되었다 "
    "됐다 될 인 이다 "
    "이었다 였다 무엇 무엇을 무엇이 무엇인가 무엇인가요 무엇이며 무슨 뭐 뭘 누구 누가 누구의 누구인가 언제 언제인가 "
    "어디 어디에서 "
    "어디서 어디에 어디인가 어느 어떤 어떻게 어떠한 왜 얼마 얼마나 몇 몇번째 때 중 중에 가장 더 매우 모든 다른 같은 "
    "이러한 그러한 "
    "이런 그런 이후 당시 당한 것은 것이 것을 수는 수가 번째 날은 날짜는 사람은 곳은 이름은 인물은 말하는 하나요 있나요 "
    "있습니까 "
    "합니까 입니까 인가 인가요 일까 할까 했나 했는가 하였는가 했나요 되나요 됩니까 알려줘 알려주세요 설명해줘";

/* Pairs of syllables within endings of verbs. */
static const char pairs_text[] = "했다 하였 였다 었다 았다 있다 있는 없다 없는 한다 하는 하고 하기 하여 되었 되어 된다 "
                                 "되는 됐다 습니 니다 입니 합니 됩니 니까 "
                                 "는가 인가 은가 나요 가요 까요 세요 었던 았던 였던 했던 이다 에서 으로 에게 부터 까지 "
                                 "무엇 누구 언제 어디 어떤 어떻 떻게 얼마 "
                                 "어느 때문 위해 위한 대한 대해 그리 리고 또한 이라 라는 라고 다는 다고 지만 면서 으며 "
                                 "하며 했으 었으 았으 였으 려고 도록";

static struct variant_rows particles, words, pairs;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void variants_hangul_read_rows(void)
{
    variant_rows_read(&particles, particles_text);
    variant_rows_read(&words, words_text);
    variant_rows_read(&pairs, pairs_text);
}

/* A counter keeps a single syllable: 1989년에 is 1989년. */
static bool variants_hangul_is_counter(uint32_t code)
{
    return code == 0xB144 || code == 0xC6D4 || code == 0xC77C || code == 0xBA85 || code == 0xAC1C || code == 0xC6D0;
}

/* The syllables of the longest particle at the end of run[from, to), or 0. */
static unsigned particle_at_end(const struct run_character *run, unsigned from, unsigned to)
{
    unsigned least = variants_hangul_is_counter(run[from].code) ? 1 : WORD_LEAST;
    for (unsigned size = PARTICLE_MAX; size > 0; size--) {
        if (to - from < size + least)
            continue;
        const struct variant_row *row = variant_rows_find(&particles, run, to, to - size);
        if (row != NULL && row->from_length == size)
            return size;
    }
    return 0;
}

unsigned variants_hangul(struct run_character *run, unsigned length)
{
    pthread_once(&once, variants_hangul_read_rows);
    unsigned written = 0;
    for (unsigned at = 0, end; at < length; at = end) {
        for (end = at; end < length && run[end].script == SCRIPT_HANGUL;)
            end++;
        unsigned kept = end;
        for (unsigned round = 0, size; round < PARTICLE_ROUNDS && kept > at; round++, kept -= size) {
            size = particle_at_end(run, at, kept);
            if (size == 0)
                break;
        }
        for (unsigned i = at; i < kept; i++)
            run[written++] = run[i];
        if (end > kept)
            variants_drop(run, written, &run[end - 1]);
        if (end == at)
            run[written++] = run[end++];
    }
    return written;
}

bool hangul_is_stop_run(const struct run_character *run, unsigned length)
{
    pthread_once(&once, variants_hangul_read_rows);
    const struct variant_row *row = run[0].script == SCRIPT_HANGUL ? variant_rows_find(&words, run, length, 0) : NULL;
    return row != NULL && row->from_length == length;
}

bool hangul_weak_pair(uint32_t first, uint32_t second)
{
    struct run_character pair[2] = {{.code = first}, {.code = second}};
    pthread_once(&once, variants_hangul_read_rows);
    return first == HOW_MANY || variant_rows_find(&pairs, pair, 2, 0) != NULL;
}
