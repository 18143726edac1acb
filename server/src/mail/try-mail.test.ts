import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { readMail, startMailPeer } from '../../test/support/mail-peer.ts'
import { readConfig } from '../config/config.ts'
import { tryMail } from './try-mail.ts'

test('a test mail returns the answer of the mail server, or what to fix', async () => {
  const peer = await startMailPeer()
  after(() => peer.stop())
  const config = readConfig({ SMTP_URL: peer.url, MAIL_FROM: 'sallyport@ops.example' })
  assert.match((await tryMail(config, 'ada@example.com')) ?? '', /^250 .*taken$/)
  const [taken] = peer.taken
  assert.ok(taken !== undefined)
  assert.equal((await readMail(taken)).subject, 'A test mail of Sallyport')
  peer.behave = (step) => (step === 'rcpt' ? '550 no such user' : 'go on')
  await assert.rejects(tryMail(config, 'ada@example.com'), /refused the recipient: 550 .*no such user/)
  await assert.rejects(tryMail(config, 'ada@example.com, bob@example.com'), /is not an e-mail address/)
  await assert.rejects(tryMail(readConfig({}), 'ada@example.com'), /SMTP_URL is not set/)
})
