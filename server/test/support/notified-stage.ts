import assert from 'node:assert/strict'
import { after, beforeEach } from 'node:test'
import { readConfig } from '../../src/config/config.ts'
import { openMailer } from '../../src/mail/mailer.flow.ts'
import { mailNotifications } from '../../src/notifications/mail-notifications.job.ts'
import { extensionStage } from './extension-stage.ts'
import { type House, openHouse, type Person } from './house.ts'
import { type MailPeer, readMail, startMailPeer } from './mail-peer.ts'
import { notifyAll } from './notify-all.ts'
import { until } from './wait.ts'
import { startWorkers } from './workers.ts'

export const public_url = 'https://sallyport.example.com'
const env = { SMTP_MESSAGES_PER_SECOND: '0', MAIL_FROM: 'sallyport@ops.example' }

/** A tenant whose people have verified addresses, and a mail server that takes their mails. Before each test nothing waits. */
export async function notifiedStage(name: string) {
  const peer = await startMailPeer()
  const settings = { ...env, SMTP_URL: peer.url }
  const house = await openHouse({ ...settings, PUBLIC_URL: public_url })
  const mailer = openMailer(readConfig(settings))
  after(async () => {
    mailer.close()
    await peer.stop()
  })
  startWorkers(house)
  const on = await extensionStage(house, name)
  const { owner, people, tenant_id } = on

  const notify = (mails = true) => notifyAll(house, mails)
  const rows = () =>
    house.asSuperuser<{
      id: string
      user_id: string
      kind: string
      state: string
      attempts: number
      last_error: string
    }>('select id, user_id, kind, state, attempts, last_error from notification_mail order by kind, user_id, id')
  const waiting = async () => (await rows()).filter(({ state }) => state === 'pending')
  const failed = async () => (await rows()).filter(({ state }) => state === 'failed')

  let mailing: ReturnType<typeof startWorkers> | undefined
  function startMailing() {
    mailing ??= startWorkers(house, [mailNotifications({ mailer, public_url, leaving: new AbortController().signal })])
    return mailing
  }
  async function stopMailing(): Promise<void> {
    await mailing?.stop()
    mailing = undefined
  }
  /** Sends what waits, and waits until nothing does. */
  async function mail(): Promise<void> {
    await notify()
    startMailing()
    await until('no mail waits', async () => (await waiting()).length === 0)
  }
  beforeEach(async () => {
    await stopMailing()
    await notify()
    peer.behave = () => 'go on'
    peer.taken.length = 0
    await house.asSuperuser('truncate notification_mail, notification_mail_queue')
    await house.asSuperuser(`update tenant_user set email_verified = true, mail_choices = '{}' where tenant_id = $1`, [
      tenant_id,
    ])
  })

  const mailbox = await openMailboxes(house, peer)
  const prefer = async (person: Person, kinds: Record<string, { mail: boolean }>) => {
    const reply = await on.call(person, 'PUT', '/v1/users/me/notification-preferences', { kinds })
    assert.equal(reply.status, 200, reply.text)
  }
  return {
    ...{ ...on, ...mailbox, house, peer, everybody: [owner, ...Object.values(people)] },
    ...{ notify, rows, waiting, failed, startMailing, stopMailing, mail, prefer },
  }
}

/** What people got at the addresses that they have now. */
async function openMailboxes(house: House, peer: MailPeer) {
  const users = await house.asSuperuser<{ id: string; email: string }>('select id, email from tenant_user')
  const emails = new Map(users.map(({ id, email }) => [id, email] as const))
  const addressOf = ({ user_id }: Person) => emails.get(user_id) ?? ''
  /** The mails that a person got, in the order of their subjects. */
  async function mailsOf(person: Person) {
    const taken = peer.taken.filter(({ to }) => to === addressOf(person))
    const read = await Promise.all(taken.map(readMail))
    return read.toSorted((one, other) => String(one.subject).localeCompare(String(other.subject)))
  }
  const subjectsOf = async (person: Person) => (await mailsOf(person)).map(({ subject }) => subject)
  return { addressOf, mailsOf, subjectsOf }
}
