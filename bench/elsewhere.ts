import { fork } from 'node:child_process'
import { once } from 'node:events'

/**
 * The answer of a process of its own to an order. `module`: what the process runs, which answers its first message with one.
 * @throws Error where the process ends without an answer
 */
export async function askProcess<Answer>(module: URL, order: object): Promise<Answer> {
  const child = fork(module, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const failed = once(child, 'exit').then(([code]) => {
    throw new Error(`the process that asks ended with ${code}`)
  })
  child.send(order)
  const [answer] = (await Promise.race([once(child, 'message'), failed])) as [Answer]
  failed.catch(() => undefined)
  child.disconnect()
  return answer
}
