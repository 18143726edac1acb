import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Order, Outcome } from './load-process.ts'
import { hasWrk, measureByWrk } from './wrk.ts'

/** The load process, reused for every order; wrk, if the system has it and the order of rows is random. */
export async function startLoad() {
  const byWrk = await hasWrk()
  const child = fork(fileURLToPath(new URL('load-process.ts', import.meta.url)), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  return {
    byWrk,
    /**
     * Returns successful answers per second.
     * @throws if one of them was other than 200.
     */
    async measure(order: Order): Promise<number> {
      if (byWrk && order.ids?.order !== 'once') return measureByWrk(order)
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
