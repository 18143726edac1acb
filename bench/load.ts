import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Order, Outcome } from './load-process.ts'

/** The process that asks, for as many orders as are given it. */
export function startLoad() {
  const child = fork(fileURLToPath(new URL('load-process.ts', import.meta.url)), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  return {
    /** Answers right answers in a second. @throws where one of them was another than 200. */
    async ask(order: Order): Promise<number> {
      child.send(order)
      const [outcome] = (await once(child, 'message')) as [Outcome]
      if (outcome.wrong > 0) throw new Error(`${outcome.wrong} answers were wrong; the first:\n${outcome.firstWrong}`)
      return outcome.answered / outcome.seconds
    },
    async stop(): Promise<void> {
      child.disconnect()
      await once(child, 'exit')
    },
  }
}
