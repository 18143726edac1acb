import { spawn } from 'node:child_process'
import { delimiter, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

/** `npm run check`: all checks of the source that do not need a running service, concurrently. */
const steps = {
  'format and lint': ['biome', 'ci', '--error-on-warnings', '--colors=off', '.'],
  types: ['tsc', '--project', '.'],
  'types in pages': ['tsc', '--project', 'server/src/http/one-time-link-pages'],
  'types of the client': ['tsc', '--project', 'client'],
  'types of the console': ['tsc', '--project', 'console'],
  'types of the console’s tests': ['tsc', '--project', 'console/tsconfig.test.json'],
  'nothing unused': ['knip'],
  'house rules': ['node', '--test', '--test-reporter=dot', 'server/test/house-rules/house-rules.test.ts'],
  'generated files are fresh': ['node', 'server/test/generate.ts', '--check'],
} as const satisfies Record<string, readonly [string, ...string[]]>

const root = fileURLToPath(new URL('../../', import.meta.url))
const env = { ...process.env, PATH: [join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter) }

type Outcome = { name: string; passed: boolean; output: string }

/** Runs one step, reports its result in one line, and keeps its output. */
async function run(name: string, [command, ...rest]: readonly [string, ...string[]]): Promise<Outcome> {
  const begin = performance.now()
  const child = spawn(command, rest, {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: process.platform === 'win32',
  })
  const ended = new Promise<boolean>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve(code === 0))
  })
  const [passed, output, errors] = await Promise.all([ended, text(child.stdout), text(child.stderr)])
  console.log(`${passed ? 'ok    ' : 'FAILED'} ${name} (${((performance.now() - begin) / 1000).toFixed(1)} s)`)
  return { name, passed, output: `${output}${errors}`.trim() }
}

const outcomes = await Promise.all(Object.entries(steps).map(([name, command]) => run(name, command)))
const failed = outcomes.filter(({ passed }) => !passed)
for (const { name, output } of failed) console.log(`\n── ${name} ──\n${output}`)
if (failed.length > 0) process.exitCode = 1
