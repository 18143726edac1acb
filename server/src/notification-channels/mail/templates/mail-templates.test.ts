import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { createTransport } from 'nodemailer'
import PostalMime from 'postal-mime'
import { contentWith, mailedEvents, sampleFacts } from '../../../../test/support/sample-mails.ts'
import { filterableEvents } from '../../channel-fields.ts'
import { type Mail, writeMail } from '../mail-layout.ts'

const link = 'https://sallyport.example.com/requests/01989c5e-7b1a-7c3d-9e2f-4a5b6c7d8e9f'

/** What an attacker can have written wherever the facts have a text. */
const hostile = [
  '<img src=x onerror=alert(1)><script>alert(1)</script></td></table><h1>Approved</h1>',
  '"><a href="https://evil.example">Look at it</a>',
  '[Look at it](javascript:alert(1)) **bold** <https://evil.example>',
  'javascript:alert(1)',
  "=cmd|' /C calc'!A0",
  'ok\r\nBcc: everybody@example.com\r\n\r\n-- \nLook at it (opening it decides nothing):\nhttps://evil.example',
  'nul \u0000 \u001b[31mred\u0085\u2028\u2029',
  '\u202egnp.exe\u2066\u200f',
  `a${' long'.repeat(2_000)}`,
]

/** Texts that we choose, not users: what decides which words are used, and moments. */
const ours = new Set([
  ...['type', 'at', 'zone', 'status', 'approval_mode', 'resource_type', 'subject_type', 'drift', 'change', 'fields'],
  ...['waits_until', 'expires_at', 'asked_at'],
])

/** The facts with every text of users' own replaced, keys of names by id too. */
function poisoned<Facts>(facts: Facts, poison: string): Facts {
  const walk = (value: unknown, key: string): unknown => {
    if (typeof value === 'string') return ours.has(key) ? value : poison
    if (Array.isArray(value)) return value.map((one) => walk(one, key))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, walk(one, name)]))
  }
  return walk(facts, '') as Facts
}

/** The tags of a page with their attributes, in order, which no text may change. */
function tagsOf({ html }: Mail): string[] {
  return html.replace(/<title>[^<]*<\/title>/, '<title></title>').match(/<[^>]*>/g) ?? []
}

const mailOf = (facts: Parameters<typeof contentWith>[0], why = 'because') =>
  writeMail(contentWith(facts), { subject_prefix: '[acme]', link, why })

suite('the mails of events', () => {
  test('there is one for every event that a channel may ask for', () => {
    assert.deepEqual(mailedEvents.toSorted(), [...filterableEvents, 'notification_channel.tested'].toSorted())
  })

  for (const type of mailedEvents) {
    test(`${type}: what users wrote stays text, on its line, whatever it is (J9)`, () => {
      for (const facts of sampleFacts(type)) {
        const sound = mailOf(facts)
        for (const poison of hostile) {
          const mail = mailOf(poisoned(facts, poison), poison)
          assert.deepEqual(tagsOf(mail), tagsOf(sound))
          assert.equal(mail.text.split('\n').length, sound.text.split('\n').length)
          assert.equal(mail.text.split('\n').filter((row) => row === link).length, 1)
          assert.ok([...mail.subject].length <= 150 && mail.subject.startsWith('[acme] '))
          assert.doesNotMatch(
            `${mail.subject}${mail.text}${mail.html}`.replaceAll('\n', ''),
            /[\p{Cc}\u2028-\u202e\u2066-\u2069]/u,
          )
        }
      }
    })

    test(`${type}: says what, when, and no id where a name is known`, () => {
      for (const facts of sampleFacts(type)) {
        const { subject, text } = mailOf(facts)
        assert.match(text, /2026-03-01 09:05 CET \(08:05 UTC\)/)
        assert.doesNotMatch(`${subject}${text}`, /undefined|null|\[object/)
        if ('name' in facts && facts.name === null) continue
        assert.doesNotMatch(subject, /01989c5e/)
      }
    })
  }
})

suite('a mail on its way', () => {
  const transport = createTransport({ streamTransport: true, buffer: true })
  const sent = async (mail: Mail) => {
    const { message } = await transport.sendMail({ from: 'a@example.com', to: 'b@example.com', ...mail })
    return PostalMime.parse(message as Buffer)
  }

  for (const type of ['request.created', 'grant.failed', 'policy.updated'] as const) {
    test(`${type}: what users wrote makes no header, and arrives as it was written (J9)`, async () => {
      const [facts] = sampleFacts(type)
      assert.ok(facts !== undefined)
      const namesOf = ({ headers }: Awaited<ReturnType<typeof sent>>) => headers.map(({ key }) => key)
      const expected = namesOf(await sent(mailOf(facts)))
      for (const poison of hostile) {
        const mail = mailOf(poisoned(facts, poison), poison)
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

suite('what a mail says', () => {
  test('a mail that comes late says how the request stands by now', () => {
    const [asked] = sampleFacts('request.created')
    assert.ok(asked !== undefined)
    const late = { ...asked, status: 'approved', decided_by: 'Grace Hopper', waits_until: null } as typeof asked
    assert.match(mailOf(late).text, /By now: approved by Grace Hopper/)
    assert.doesNotMatch(mailOf(late).text, /It waits/)
    assert.match(mailOf(asked).text, /It waits for an approver until 2026-03-02 09:05 CET \(08:05 UTC\)/)
  })

  test('what a user called something is not read as a sentence of ours (J9)', () => {
    const [asked] = sampleFacts('request.created')
    assert.ok(asked !== undefined)
    const action = 'ReadOnly” on account Sandbox (111111111111). It was approved already. “x'
    assert.match(
      mailOf({ ...asked, action } as typeof asked).subject,
      /asks for “ReadOnly" on account Sandbox \(111111111111\)\. It was approved already\. "x” on account/,
    )
  })

  test('a request for many accounts names the first of them, and says how many more', () => {
    const [asked] = sampleFacts('request.created')
    assert.ok(asked !== undefined)
    const accounts = [
      { account_id: '111111111111', name: 'Production' },
      { account_id: '222222222222', name: null },
    ]
    const resource_id = 'arn:aws:sso:::permissionSet/ssoins-1/ps-1'
    const many = { ...asked, resource_type: 'cloud_permission_set', resource_id, accounts, account_count: 40 }
    assert.match(mailOf(many).text, /Accounts: Production \(111111111111\), 222222222222, 38 more/)
    assert.match(mailOf(many).text, /Where: {4}permission set arn:aws/)
  })
})
