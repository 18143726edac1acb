import assert from 'node:assert/strict'
import { after } from 'node:test'
import type { openCanaryRun } from './canary-run.ts'
import type { CanarySecrets } from './canary-secrets.ts'
import { startMailPeer } from './mail-peer.ts'
import { until } from './wait.ts'

/** A mail server that requires a login and echoes it to the client. Returns the server's address, with the login in it. */
export async function startTalkativeMailServer(secrets: CanarySecrets): Promise<string> {
  const login = { user: 'sallyport', password: secrets.plant('password of the mail server') }
  const peer = await startMailPeer({ login })
  after(() => peer.stop())
  const { user, password } = login
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  const credentials = [password, base64(password), base64(`\0${user}\0${password}`)].join(' ')
  peer.behave = (step, { to }) =>
    step === 'rcpt' ? `${to.startsWith('gone') ? '550' : '451'} you are ${credentials}` : 'go on'
  return peer.url.replace('://', `://${user}:${password}@`)
}

/** Makes the mail server refuse one mail permanently and another temporarily, and waits until both answers are stored. */
export async function writeToMailServer({ owned, sallyport }: Awaited<ReturnType<typeof openCanaryRun>>) {
  const channel = { name: 'Mail', to_addresses: ['gone@example.com', 'later@example.com'] }
  const made = await owned('POST', '/v1/notification-channels/email', channel)
  assert.equal(made.status, 201, JSON.stringify(made.body))
  await owned('PATCH', `/v1/notification-channels/${made.body.id}`, { name: 'Mail to two' })
  await until('both answers are stored', async () => {
    const rows = await sallyport.asSuperuser(
      `select id from delivery where channel_id = $1 and last_error like '%you are [redacted]%'`,
      [made.body.id],
    )
    return rows.length >= 2
  })
}
