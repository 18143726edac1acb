/** The thread of `beside.ts`: calls functions by module and name, several at once where they yield to the event loop. */
import { setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import type { Answer, Call } from './beside.ts'
import { Problem } from './errors.ts'

// Where processors are few, requests go first. Elsewhere than on Linux, a priority is that of the whole process.
if (process.platform === 'linux') setPriority(10)

type Module = Record<string, (...args: unknown[]) => unknown>

async function answerTo({ id, url, name, args }: Call): Promise<Answer> {
  try {
    const work = ((await import(url)) as Module)[name]
    if (work === undefined) throw new Error(`\`${url}\` exports no \`${name}\``)
    return { id, result: await work(...args) }
  } catch (error) {
    if (!(error instanceof Problem)) return { id, error }
    const { code, message, details } = error
    return { id, problem: { code, message, details } }
  }
}

parentPort?.on('message', async (call: Call) => parentPort?.postMessage(await answerTo(call)))
