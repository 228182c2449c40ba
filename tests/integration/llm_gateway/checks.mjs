// Checks as sentences and programs that are started, for the scripts beside this file.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export const SLOW = process.env.RENGA_SANITIZE ? 5 : 1
export const here = path => fileURLToPath(new URL(path, import.meta.url))
export const children = []
export const outcome = { failures: 0 }

process.on('exit', () => children.forEach(child => child.kill()))

// The first match of `sign` in the output of a program.
export function start(command, args, sign, stdin = 'ignore') {
  const child = spawn(command, args, { stdio: [stdin, 'pipe', 'pipe'] })
  children.push(child)
  return new Promise((resolve, reject) => {
    let seen = ''
    const look = text => {
      seen += text
      const match = sign.exec(seen)
      if (match) resolve({ child, match, seen })
    }
    child.stdout.on('data', look)
    child.stderr.on('data', look)
    child.on('exit', code => reject(new Error(`${command} ended with ${code}: ${seen}`)))
  })
}

export async function check(sentence, test) {
  try {
    await test()
    console.log(`ok - ${sentence}`)
  } catch (error) {
    outcome.failures++
    console.log(`not ok - ${sentence}: ${String(error?.message ?? error).replace(/\s+/g, ' ')}`)
  }
}

export const failure = async promise => {
  const done = await promise.then(value => ({ value }), error => ({ error }))
  assert(done.error, `it went well: ${JSON.stringify(done.value)}`)
  return done.error
}

export const finish = () => process.exit(outcome.failures ? 1 : 0)
