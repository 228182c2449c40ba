// Holds resources (JSON, a list, on stdin) against the schemas of Kubernetes, as the npm package kubernetes-models has
// them: values by its validators, unknown fields by its types. Prints a line for each fault.
import { spawnSync } from 'child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'fs'
import { join } from 'path'

const resources = JSON.parse(await new Promise(resolve => {
  let text = ''
  process.stdin.on('data', chunk => { text += chunk }).on('end', () => resolve(text))
}))
const place = apiVersion => `kubernetes-models/${apiVersion}`
const name = resource => `${resource.kind} ${resource.metadata.name}`

for (const resource of resources) {
  const models = await import(place(resource.apiVersion)).catch(() => ({}))
  const Model = models[resource.kind]
  if (!Model) {
    console.log(`${name(resource)}: there is no ${resource.kind} in ${resource.apiVersion}`)
    continue
  }
  try {
    new Model(resource).validate()
  } catch (error) {
    console.log(`${name(resource)}: ${error.message}`)
  }
}

// One line a resource, so that a line's number tells whose fault it is.
const folder = mkdtempSync(join(import.meta.dirname, 'types-'))
try {
  const file = join(folder, 'resources.mts')
  writeFileSync(file, resources.map(resource =>
    `(${JSON.stringify(resource)} satisfies ` +
    `import('${place(resource.apiVersion)}').I${resource.kind});\n`).join(''))
  const tsc = join(import.meta.dirname, '..', 'node_modules', '.bin', 'tsc')
  const { error, stdout } = spawnSync(tsc, ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2022',
    '--pretty', 'false', '--typeRoots', folder, file], { encoding: 'utf8' })
  if (error) throw error
  for (const [, line, text] of stdout.matchAll(/\((\d+),\d+\): error TS\d+: (.*)/g)) {
    console.log(`${name(resources[line - 1])}: ${text}`)
  }
} finally {
  rmSync(folder, { recursive: true })
}
