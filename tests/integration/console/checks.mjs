// Checks as sentences, and what the scripts of the console share.
import { spawnSync } from 'node:child_process'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

export const HERE = dirname(fileURLToPath(import.meta.url))
export const CONSOLE = resolve(HERE, '../../../services/edge/console')
export const ESBUILD = join(HERE, '../node_modules/.bin/esbuild')
// A script takes a pattern as its argument: only checks with such a sentence are made.
let failed = 0, onFailure = null

export const whenFailed = act => { onFailure = act }

export function expect(holds, why) {
  if (!holds) throw new Error(typeof why === 'string' ? why : JSON.stringify(why))
}

export async function check(sentence, body) {
  if (process.argv[2] && !new RegExp(process.argv[2]).test(sentence)) return true
  try {
    const note = await body()
    console.log(`ok - ${sentence}${note ? ': ' + note : ''}`)
    return true
  } catch (error) {
    failed++
    await onFailure?.(sentence).catch(() => {})
    console.log(`not ok - ${sentence}: ${String(error.stack ?? error).split('\n').slice(0, 6).join(' | ')}`)
    return false
  }
}

export function finish() {
  process.exit(failed ? 1 : 0)
}

export function run(command, ...args) {
  const done = spawnSync(command, args, { encoding: 'utf8', env: { ...process.env, ESBUILD } })
  expect(done.status === 0, `${command}: ${done.stderr || done.stdout || done.error}`)
  return done.stdout
}
