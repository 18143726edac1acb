import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Order } from './load-process.ts'

const run = promisify(execFile)

/** Whether the system has wrk, which calls over HTTP as cheaply as pgbench calls PostgreSQL. */
export async function hasWrk(): Promise<boolean> {
  // It has no option that only prints its version, and exits with 1 after printing it.
  const output = await run('wrk', ['--version']).catch((error: { stdout?: string }) => error)
  return output.stdout?.startsWith('wrk ') === true
}

/**
 * Returns successful answers per second.
 * @throws if one of them was other than 2xx, or none came.
 */
export async function measureByWrk({ port, connections, seconds, request, ids }: Order): Promise<number> {
  const home = await mkdtemp(join(tmpdir(), 'sallyport-wrk-'))
  const script = join(home, 'ask.lua')
  try {
    await writeFile(script, scriptOf(request, ids))
    const options = ['-t1', `-c${connections}`, `-d${Math.ceil(seconds)}s`, '-s', script]
    const { stdout } = await run('wrk', [...options, `http://127.0.0.1:${port}`])
    const [, answered, wrong, took] = /^answered (\d+) wrong (\d+) in ([\d.]+)$/m.exec(stdout) ?? []
    if (answered === undefined || wrong !== '0')
      throw new Error(`wrk: ${wrong ?? 'not all'} answers were right:\n${stdout}`)
    return Number(answered) / Number(took)
  } finally {
    await rm(home, { recursive: true })
  }
}

/** A script in wrk's language: the request, with a random row's id if it has one; and the report at the end. */
function scriptOf([head, tail]: Order['request'], ids: Order['ids']): string {
  const id = ids && `..${quoted(ids.head)}..string.format("%.0f", ${ids.first} + math.random(0, ${ids.count - 1}))..`
  return `local head, tail = ${quoted(head)}, ${quoted(tail)}
function request() return head${id ?? '..'}tail end
function done(summary)
  local wrong = 0
  for _, count in pairs(summary.errors) do wrong = wrong + count end
  io.write(string.format("answered %d wrong %d in %.6f\\n", summary.requests, wrong, summary.duration / 1e6))
end
`
}

function quoted(text: string): string {
  return JSON.stringify(text)
}
