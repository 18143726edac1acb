import { spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type Durations, planBatches } from './runner/batches.ts'
import { runBatches } from './runner/pool.ts'
import { prepareConsole } from './runner/prepare-console.ts'
import { endRemains, findRemains } from './runner/remains.ts'
import { describe, type Outcome, slowest, summarize } from './runner/report.ts'
import { makeRunFolder } from './runner/run-folder.ts'
import { findTestFiles } from './runner/test-files.ts'
import { longVariable } from './support/race.ts'
import { serverVariable, startTestServer, startTestServerOn15 } from './support/server.ts'
import { skipPostgres15 } from './support/system-postgres.ts'

const usage = `npm test -- [options] [words]

Runs every test on an embedded PostgreSQL of the run's own, or those whose file's path contains one of the words.

  --long          the long tests, and random tests many times as often
  --postgres-15   what can differ there, on the PostgreSQL 15 of the system
  --all           with --postgres-15: everything
  --record        writes how long files took to server/test/durations.json, by which they are spread over processes
`
const { values, positionals: words } = parseArgs({
  allowPositionals: true,
  options: {
    long: { type: 'boolean', default: false },
    'postgres-15': { type: 'boolean', default: false },
    all: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
const on15 = values['postgres-15']
if (values.help) {
  console.log(usage)
  process.exit(0)
}
if (on15 && skipPostgres15 !== false) {
  console.log(`skipped: ${skipPostgres15}`)
  process.exit(0)
}

const began = performance.now()
const root = fileURLToPath(new URL('../../', import.meta.url))
const files = await findTestFiles(root, { words, long: values.long, on15, all: values.all })
if (files.length === 0) {
  console.error(`no test file's path holds ${words.map((word) => `\`${word}\``).join(' or ')}`)
  process.exit(1)
}

/** Breaks servers, or changes the process that it runs in, so it shares its process with no other file. */
const alone = (file: string) => /\/(db\/embedded|kill|outage)\//.test(file)
const durationsFile = join(root, 'server/test/durations.json')
const durations = JSON.parse(readFileSync(durationsFile, 'utf8')) as Durations
const batches = planBatches(files, durations, alone)

// The name of this folder marks everything that the run makes and starts, so all of it can be found however the run ends.
const folder = makeRunFolder()
const watchdog = spawn(process.execPath, [join(root, 'server/test/runner/watchdog.ts')], {
  stdio: ['pipe', 'ignore', 'inherit'],
  detached: true,
})
watchdog.stdin.write(folder)
process.env.TMPDIR = folder
const ending = new AbortController()
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => ending.abort(name))

const [{ server, stop }] = await Promise.all([
  on15 ? startTestServerOn15() : startTestServer(),
  prepareConsole(ending.signal),
])
const outcomes: Outcome[] = []
await runBatches(batches, {
  root,
  // Tests spend much time waiting: run three more at a time than there are cores.
  width: availableParallelism() + 3,
  env: {
    ...process.env,
    NODE_COMPILE_CACHE: join(folder, 'compiled'),
    [serverVariable]: JSON.stringify(server),
    ...(values.long && { [longVariable]: 'yes' }),
  },
  hangMs: values.long ? 1_200_000 : 120_000,
  signal: ending.signal,
  onOutcome(outcome) {
    outcomes.push(outcome)
    process.stdout.write(describe(outcome, `[${outcomes.length}/${files.length}]`, words.length > 0))
  },
})
await stop()

const remains = ending.signal.aborted ? [] : findRemains(folder)
await endRemains(folder)
watchdog.stdin.end()
if (values.record) {
  // Those of other files stay: a part of the tests is recorded by itself.
  const others = Object.entries(durations).filter(([file]) => existsSync(join(root, file)))
  const known = new Map([
    ...others,
    ...outcomes.map(({ file, seconds }) => [file, Math.round(seconds * 10) / 10] as const),
  ])
  writeFileSync(durationsFile, `${JSON.stringify(Object.fromEntries([...known].sort()), undefined, 2)}\n`)
}

const seconds = (performance.now() - began) / 1_000
if (words.length === 0) console.log(['the ten longest files:', ...slowest(outcomes, 10)].join('\n'))
for (const { pid, command } of remains) console.log(`✖ left running by a test: ${command} (pid ${pid})`)
if (ending.signal.aborted) console.log(`✖ ended by ${ending.signal.reason}`)
console.log(summarize(outcomes, seconds))
const passed = !ending.signal.aborted && remains.length === 0 && outcomes.every(({ totals }) => totals.success)
process.exit(passed ? 0 : 1)
