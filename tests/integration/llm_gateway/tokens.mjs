// The gateway's estimate of tokens against OpenAI's own vocabulary o200k_base (js-tiktoken of npm), on texts that the
// estimate's averages were not taken from.
// RENGA_BIN=<folder of token-estimates> node tokens.mjs; one line a check, exit 1 when one fails.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { Tiktoken } from 'js-tiktoken/lite'
import o200k from 'js-tiktoken/ranks/o200k_base'

// How far the sum over all texts may be off, and each text; in percent.
const KINDS = [
  { name: 'english', whole: 10, each: 15 },
  { name: 'japanese', whole: 10, each: 15 },
  { name: 'chinese', whole: 15, each: 25 },
  { name: 'code', whole: 15, each: 30 },
  { name: 'json', whole: 15, each: 25 },
  { name: 'numbers', whole: 15, each: 25 }
]
const encoding = new Tiktoken(o200k)
const percent = ([estimate, count]) => 100 * (estimate / count - 1)
const said = number => (number < 0 ? '' : '+') + number.toFixed(1) + ' %'

function estimates(texts) {
  const { stdout, status } = spawnSync(`${process.env.RENGA_BIN}/token-estimates`, { input: texts.map(text => text + '\0').join('') })
  if (status !== 0) throw new Error('token-estimates ended with ' + status)
  return stdout.toString().trim().split('\n').map(Number)
}

let failed = false
for (const { name, whole, each } of KINDS) {
  const texts = readFileSync(new URL(`texts/${name}.txt`, import.meta.url), 'utf8').trim().split('\n\n')
  const pairs = estimates(texts).map((estimate, i) => [estimate, encoding.encode(texts[i], [], []).length])
  const sum = pairs.reduce(([a, b], [estimate, count]) => [a + estimate, b + count], [0, 0])
  const errors = pairs.map(percent).sort((a, b) => a - b)
  const good = pairs.length === texts.length && Math.abs(percent(sum)) <= whole && errors.every(error => Math.abs(error) <= each)
  failed ||= !good
  console.log(`${good ? 'ok' : 'not ok'} - ${name}: ${sum[1]} tokens in ${texts.length} texts are estimated ${said(percent(sum))}` +
    ` (bound ${whole} %), each between ${said(errors[0])} and ${said(errors.at(-1))} (bound ${each} %)`)
  if (process.env.VERBOSE || !good)
    for (const [i, pair] of pairs.entries()) console.log(`#   ${said(percent(pair)).padStart(8)} ${pair.join(' for ')}: ${texts[i].slice(0, 40).replaceAll('\n', ' ')}`)
}
process.exit(failed ? 1 : 0)
