import { spawn } from 'node:child_process'
import { glob, mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { longVariable } from './support/race.ts'
import { serverVariable, startTestServer, startTestServerOn15 } from './support/server.ts'
import { skipPostgres15 } from './support/system-postgres.ts'

/**
 * `npm test`: every test, on one embedded PostgreSQL that goes when they are done. `npm test -- server/src/policies`
 * runs those whose path holds one of the words given; with `--postgres-15` on the system's PostgreSQL 15, the oldest that
 * we serve, where it is there. `npm run test:races` is the races alone, many times as long.
 */
const on15 = process.argv.includes('--postgres-15')
if (on15 && skipPostgres15 !== false) {
  console.log(`passed over: ${skipPostgres15}`)
  process.exit(0)
}
const long = process.argv.includes('--long')
const wanted = process.argv.slice(2).filter((word) => !word.startsWith('--'))
const root = new URL('../../', import.meta.url)
const files: string[] = []
/**
 * What asks no database, starts the embedded one whatever it is told, or is about what stands before any database (HTTP,
 * strangers at every door, providers of identity): trying it on another would try the same again.
 */
const onNoOther =
  /src\/(aws|db\/embedded|http|kernel|policies\/(cedar|deciding|invariants|nearest)|provisioners\/[\w-]+)\/|test\/(attacks|aws|kill|limits|oidc|outage)\/|test\/(bench|house-rules|patterns|reference|http|hostile-\w+|large-bodies|slow-connections)\.|journeys\/(a-day|heaviest|killed-in|start-and|told-by)-/
/** Much of a test is waiting: two more at a time than there are cores. */
const atOnce = availableParallelism() + 2
for await (const file of glob('server/{src,test}/**/*.test.ts', { cwd: root.pathname })) {
  if (on15 && wanted.length === 0 && onNoOther.test(file)) continue
  if (wanted.length === 0 || wanted.some((word) => file.includes(word))) files.push(file)
}
if (files.length === 0) {
  console.error(`no test file's path holds ${wanted.map((word) => `\`${word}\``).join(' or ')}`)
  process.exit(1)
}

const { server, stop } = await (on15 ? startTestServerOn15() : startTestServer())
// Hundreds of processes load the same modules: the first strips their types and compiles them for all.
const compiled = await mkdtemp(join(tmpdir(), 'sallyport-compiled-'))
const child = spawn(
  process.execPath,
  [
    '--test',
    `--test-concurrency=${atOnce}`,
    `--test-timeout=${long ? 1_200_000 : 120_000}`,
    '--test-reporter=spec',
    ...files.sort(),
  ],
  {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...process.env,
      NODE_COMPILE_CACHE: compiled,
      [serverVariable]: JSON.stringify(server),
      ...(long && { [longVariable]: 'yes' }),
    },
  },
)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
const code = await new Promise<number>((resolve) => child.on('exit', (exit) => resolve(exit ?? 1)))
await stop()
await rm(compiled, { recursive: true, force: true })
process.exitCode = code
