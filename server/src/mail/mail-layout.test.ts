import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { createTransport } from 'nodemailer'
import PostalMime from 'postal-mime'
import { forgingMarks, hostileTexts, poisoned } from '../../test/support/poisoned-facts.ts'
import { messageEvents, messageWith, sampleFacts } from '../../test/support/sample-messages.ts'
import { html } from '../kernel/html.ts'
import { writeMessage } from '../messages/message.ts'
import { type Mail, writeMail } from './mail-layout.ts'

const frame = { subject_prefix: undefined, link: undefined, why: 'because' }
const hello = writeMessage({ title: 'Hello' })

suite('a mail', () => {
  test('has its prefix before its subject, and truncates a long subject', () => {
    assert.equal(writeMail(hello, { ...frame, subject_prefix: '[prod]' }).subject, '[prod] Hello')
    const long = writeMessage({ title: 'x'.repeat(150) })
    assert.equal(writeMail(long, { ...frame, subject_prefix: '[prod]' }).subject, `[prod] ${'x'.repeat(142)}…`)
  })

  test('escapes its content in HTML', () => {
    const message = writeMessage({ title: 'Hello', quotes: [['Reason', '<b>&"\'']] })
    const { html: page, text } = writeMail(message, frame)
    assert.ok(page.includes('<bdi>“&lt;b&gt;&amp;&quot;&#39;”</bdi>'))
    assert.ok(text.includes('Reason: “<b>&"\'”'))
  })

  test('refuses a link to a script', () => {
    assert.throws(() => writeMail(hello, { ...frame, link: 'javascript:alert(1)' }), /must be an http or https URL/)
    assert.equal(html`<a href="${'https://a.example/?a=1&b'}">`.text, '<a href="https://a.example/?a=1&amp;b">')
  })
})

const link = 'https://sallyport.example.com/requests/01989c5e-7b1a-7c3d-9e2f-4a5b6c7d8e9f'

/** The tags of a page with their attributes, in order, which no text may change. */
function tagsOf({ html }: Mail): string[] {
  return html.replace(/<title>[^<]*<\/title>/, '<title></title>').match(/<[^>]*>/g) ?? []
}

const mailOf = (...[type, facts, why = 'because']: [...Parameters<typeof messageWith>, why?: string]) =>
  writeMail(messageWith(type, facts), { subject_prefix: '[acme]', link, why })

suite('the mail about an event', () => {
  for (const type of messageEvents) {
    test(`${type}: user text stays plain text on its own line (J9)`, () => {
      for (const facts of sampleFacts(type)) {
        const sound = mailOf(type, facts)
        for (const poison of hostileTexts) {
          const mail = mailOf(type, poisoned(facts, poison), poison)
          assert.deepEqual(tagsOf(mail), tagsOf(sound))
          assert.equal(mail.text.split('\n').length, sound.text.split('\n').length)
          assert.equal(mail.text.split('\n').filter((row) => row === link).length, 1)
          assert.ok([...mail.subject].length <= 150 && mail.subject.startsWith('[acme] '))
          assert.doesNotMatch(`${mail.subject}${mail.text}${mail.html}`.replaceAll('\n', ''), forgingMarks)
        }
      }
    })
  }
})

suite('a sent mail', () => {
  const transport = createTransport({ streamTransport: true, buffer: true })
  const sent = async (mail: Mail) => {
    const { message } = await transport.sendMail({ from: 'a@example.com', to: 'b@example.com', ...mail })
    return PostalMime.parse(message as Buffer)
  }

  for (const type of ['request.created', 'grant.failed', 'policy.updated'] as const) {
    test(`${type}: user text adds no header, and arrives unchanged (J9)`, async () => {
      const [facts] = sampleFacts(type)
      assert.ok(facts !== undefined)
      const namesOf = ({ headers }: Awaited<ReturnType<typeof sent>>) => headers.map(({ key }) => key)
      const expected = namesOf(await sent(mailOf(type, facts)))
      for (const poison of hostileTexts) {
        const mail = mailOf(type, poisoned(facts, poison), poison)
        const arrived = await sent(mail)
        assert.deepEqual(namesOf(arrived), expected)
        assert.equal(arrived.subject, mail.subject)
        assert.equal(arrived.text?.trim(), mail.text.trim())
        assert.equal(arrived.html?.trim(), mail.html.trim())
        assert.deepEqual(arrived.attachments, [])
      }
    })
  }
})
