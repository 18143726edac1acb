import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { startMailPeer } from '../server/test/support/mail-peer.ts'

const mailMs = 50

/** A mail server that takes its time for each mail, and a target that accepts every call and never answers. */
export async function startPeers() {
  const mail = await startMailPeer()
  mail.behave = async (step): Promise<'go on'> => {
    if (step === 'end') await pause(mailMs)
    return 'go on'
  }
  let hanging = 0
  const target = createServer((request, reply) => {
    hanging += 1
    request.resume()
    reply.once('close', () => {
      hanging -= 1
    })
  })
  target.listen(0, '127.0.0.1')
  await once(target, 'listening')
  return {
    smtp_url: mail.url,
    target_url: `http://127.0.0.1:${(target.address() as AddressInfo).port}`,
    /** The calls that hang now. */
    hanging: () => hanging,
    /** Whether a mail was sent to another recipient since the last `takeMails`. */
    hasMailBeside: (recipient: string) => mail.taken.some(({ to }) => to !== recipient),
    /** The mails since the last call: all of them, and those of this recipient. */
    takeMails(recipient: string): { all: number; his: number } {
      mail.steps.length = 0
      const taken = mail.taken.splice(0)
      return { all: taken.length, his: taken.filter(({ to }) => to === recipient).length }
    },
    async stop(): Promise<void> {
      await mail.stop()
      target.closeAllConnections()
      target.close()
    },
  }
}

export type CrowdsPeers = Awaited<ReturnType<typeof startPeers>>
