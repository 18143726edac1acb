import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Order, Outcome } from './load-process.ts'
import { askByWrk, hasWrk } from './wrk.ts'

/** The process that asks, for as many orders as are given it; wrk, where the system has it and the order of rows is by chance. */
export async function startLoad() {
  const byWrk = await hasWrk()
  const child = fork(fileURLToPath(new URL('load-process.ts', import.meta.url)), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  return {
    byWrk,
    /** Answers right answers in a second. @throws where one of them was another than 200. */
    async ask(order: Order): Promise<number> {
      if (byWrk && order.ids?.order !== 'once') return askByWrk(order)
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
