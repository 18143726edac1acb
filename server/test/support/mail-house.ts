import { after, beforeEach } from 'node:test'
import { readConfig } from '../../src/config/config.ts'
import type { DueWork } from '../../src/jobs/work-list.ts'
import { openMailer } from '../../src/mail/mailer.flow.ts'
import type { Mailing } from '../../src/mail/send-mail.flow.ts'
import { type House, openHouse } from './house.ts'
import { startMailPeer } from './mail-peer.ts'
import { startWorkers } from './workers.ts'

export const public_url = 'https://sallyport.example.com'

/**
 * A house, and a mail server that takes its mails once a test starts the sending of them, by the job that `jobOf` makes. Before each test
 * nothing is sent, and nothing was taken.
 */
export async function openMailHouse(jobOf: (mailing: Mailing & { public_url: string }, house: House) => DueWork) {
  const peer = await startMailPeer()
  const env = { SMTP_URL: peer.url, SMTP_MESSAGES_PER_SECOND: '0', MAIL_FROM: 'sallyport@ops.example' }
  const house = await openHouse({ ...env, PUBLIC_URL: public_url })
  const mailer = openMailer(readConfig(env))
  after(async () => {
    mailer.close()
    await peer.stop()
  })

  let workers: ReturnType<typeof startWorkers> | undefined
  /** Mails what is due from now on, as a process of the service does. */
  function startMailing() {
    workers ??= startWorkers(house, [jobOf({ mailer, public_url, leaving: new AbortController().signal }, house)])
    return workers
  }
  async function stopMailing(): Promise<void> {
    await workers?.stop()
    workers = undefined
  }
  beforeEach(async () => {
    await stopMailing()
    peer.behave = () => 'go on'
    peer.taken.length = 0
  })
  return { peer, house, startMailing, stopMailing }
}
