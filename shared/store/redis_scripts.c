#include "store/redis_scripts.h"

/* An error of one word would get ERR before it. */

/* Of a thousand processes the last piece is remembered; who is older than that has ended long ago. */
static const char register_script[] =
    "local kinds = {'zset', 'hash', 'hash'}\n"
    "for i, kind in ipairs(kinds) do\n"
    "  local there = redis.call('TYPE', KEYS[i]).ok\n"
    "  if there ~= 'none' and there ~= kind then return redis.error_reply('RENGA_ALIEN a key has another kind') end\n"
    "end\n"
    "local writers = KEYS[3]\n"
    "local form = redis.call('HGET', writers, 'form')\n"
    "if form and form ~= '1' then return redis.error_reply('RENGA_FORM the form is newer') end\n"
    "redis.call('HSET', writers, 'form', '1')\n"
    "local count = redis.call('HINCRBY', writers, 'count', 1)\n"
    "redis.call('HSET', writers, ARGV[1], string.format('%d 0 ', count))\n"
    "if redis.call('HLEN', writers) > 1100 then\n"
    "  local all = redis.call('HGETALL', writers)\n"
    "  for i = 1, #all, 2 do\n"
    "    local came = string.match(all[i + 1], '^(%d+) ')\n"
    "    if came and tonumber(came) <= count - 1000 then redis.call('HDEL', writers, all[i]) end\n"
    "  end\n"
    "end\n"
    "return '1'\n";

/* Redis refuses a script for want of memory at its first write alone, and only where that is one that may take more: so
 * the writer's record comes first; where a piece only takes away, a deletion of nothing does, and the record last.
 * Expectations stand first in their batch. */
static const char write_script[] =
    "local rows, values, writers = KEYS[1], KEYS[2], KEYS[3]\n"
    "local call, id, own = redis.call, ARGV[1], ARGV[3]\n"
    "local record = call('HGET', writers, id)\n"
    "local came, last, answer = string.match(record or '', '^(%d+) (%d+) (.*)$')\n"
    "if last == own then return answer end\n"
    "if last ~= ARGV[2] then return redis.error_reply('RENGA_LOST the last piece is another') end\n"
    "record = came .. ' ' .. own .. ' '\n"
    "if ARGV[4] == '1' then call('HDEL', writers, '') else call('HSET', writers, id, record) end\n"
    "local function take_away(min, max)\n"
    "  repeat\n"
    "    local keys = call('ZRANGEBYLEX', rows, min, max, 'LIMIT', 0, 1000)\n"
    "    if #keys > 0 then\n"
    "      call('HDEL', values, unpack(keys))\n"
    "      call('ZREM', rows, unpack(keys))\n"
    "    end\n"
    "  until #keys < 1000\n"
    "end\n"
    "local left_out, batch, at, size = {}, 0, 5, #ARGV\n"
    "while at <= size do\n"
    "  local behind = at + 1 + tonumber(ARGV[at])\n"
    "  local expectation = 0\n"
    "  batch, at = batch + 1, at + 1\n"
    "  while at < behind do\n"
    "    local verb, key = ARGV[at], ARGV[at + 1]\n"
    "    if verb == 'p' then\n"
    "      if call('HSET', values, key, ARGV[at + 2]) == 1 then call('ZADD', rows, 0, key) end\n"
    "      at = at + 3\n"
    "    elseif verb == 'd' then\n"
    "      if call('HDEL', values, key) == 1 then call('ZREM', rows, key) end\n"
    "      at = at + 2\n"
    "    elseif verb == 'r' then\n"
    "      take_away(key, ARGV[at + 2])\n"
    "      at = at + 3\n"
    "    else\n"
    "      local there = call('HGET', values, key)\n"
    "      local wanted = false\n"
    "      if verb == 'e' then wanted = ARGV[at + 2] end\n"
    "      if there ~= wanted then\n"
    "        left_out[#left_out + 1] = batch .. ' ' .. expectation\n"
    "        at = behind\n"
    "      else\n"
    "        at = at + (verb == 'e' and 3 or 2)\n"
    "      end\n"
    "      expectation = expectation + 1\n"
    "    end\n"
    "  end\n"
    "end\n"
    "answer = table.concat(left_out, ' ')\n"
    "if ARGV[4] == '1' or answer ~= '' then call('HSET', writers, id, record .. answer) end\n"
    "return answer\n";

/* A few rows at a time, so that one that is much larger than is asked for costs little. */
static const char scan_script[] =
    "local rows, values = KEYS[1], KEYS[2]\n"
    "local call, min, max, backwards = redis.call, ARGV[1], ARGV[2], ARGV[5] == '1'\n"
    "local limit, room = tonumber(ARGV[3]), tonumber(ARGV[4])\n"
    "local found, count, size = {'0'}, 0, 0\n"
    "while true do\n"
    "  local some, keys = math.min(32, limit - count + 1)\n"
    "  if backwards then keys = call('ZREVRANGEBYLEX', rows, max, min, 'LIMIT', 0, some)\n"
    "  else keys = call('ZRANGEBYLEX', rows, min, max, 'LIMIT', 0, some) end\n"
    "  if #keys == 0 then return found end\n"
    "  local got = call('HMGET', values, unpack(keys))\n"
    "  for i, key in ipairs(keys) do\n"
    "    if not got[i] then return redis.error_reply('RENGA_TORN a row has no value') end\n"
    "    size = size + #key + #got[i]\n"
    "    if count == limit or (count > 0 and size > room) then\n"
    "      found[1] = '1'\n"
    "      return found\n"
    "    end\n"
    "    count = count + 1\n"
    "    found[count * 2], found[count * 2 + 1] = key, got[i]\n"
    "  end\n"
    "  if #keys < some then return found end\n"
    "  if backwards then max = '(' .. keys[#keys] else min = '(' .. keys[#keys] end\n"
    "end\n";

const char *const redis_scripts[REDIS_SCRIPTS] = {
    [REDIS_REGISTER] = register_script,
    [REDIS_WRITE] = write_script,
    [REDIS_SCAN] = scan_script,
};
