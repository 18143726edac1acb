import assert from 'node:assert/strict'
import { beforeEach } from 'node:test'
import { mailNotifications } from '../../src/notifications/mail-notifications.job.ts'
import { extensionStage } from './extension-stage.ts'
import type { House, Person } from './house.ts'
import { openMailHouse } from './mail-house.ts'
import { type MailPeer, readMail } from './mail-peer.ts'
import { notifyAll } from './notify-all.ts'
import { until } from './wait.ts'
import { startWorkers } from './workers.ts'

/** A tenant whose people have verified addresses, and a mail server that takes their mails. Before each test nothing waits. */
export async function notifiedStage(name: string) {
  const mailHouse = await openMailHouse(mailNotifications)
  const { peer, house, startMailing } = mailHouse
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

  /** Sends what waits, and waits until nothing does. */
  async function mail(): Promise<void> {
    await notify()
    startMailing()
    await until('no mail waits', async () => (await waiting()).length === 0)
  }
  beforeEach(async () => {
    await notify()
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
    ...{ ...on, ...mailHouse, ...mailbox, everybody: [owner, ...Object.values(people)] },
    ...{ notify, rows, waiting, failed, mail, prefer },
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
