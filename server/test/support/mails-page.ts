import { type Mail, writeMail } from '../../src/mail/mail-layout.ts'
import { grantMessage, isRecordEvent, isRequestEvent, requestMessage } from '../../src/messages/message-table.ts'
import { withheldOfRequest } from '../../src/notification-channels/email/mail-facts-store.ts'
import {
  withheldOfGrant,
  withheldOfRequest as withheldOfPerson,
} from '../../src/notifications/notification-facts-store.ts'
import { extending, writeNotificationMail } from '../../src/notifications/notification-mail.ts'
import { code, type Page, table } from './markdown.ts'
import {
  type MessageEvent,
  messageEvents,
  messageWith,
  sampleFacts,
  sampleGrant,
  sampleRequest,
} from './sample-messages.ts'

/** The service and the tenant of the samples. */
const of = { public_url: 'https://sallyport.example.com', tenant_id: '01989c5e-1a2b-7c3d-8e4f-5a6b7c8d9e0f' }

/** The page of mails, written from sample facts: those of requests and grants in full, the others as table rows. */
export function mailsPage(): Page {
  const inFull = messageEvents.filter((type) => !isRecordEvent(type))
  return {
    title: 'Mails',
    from: 'server/src/messages/ and the facts of server/test/support/sample-messages.ts',
    about:
      'What a channel of mailboxes is sent of each event: as plain text, as here, and the same as HTML, without images and ' +
      'style sheets. Moments stand in the time zone of the tenant (`timezone.default`, here Europe/Berlin). The prefix of ' +
      'the channel stands before the subject; below a line of `--` each mail says which channel and event it comes from, and whether the tenant rehearses. ' +
      'What users wrote stands on one line, up to 1,000 characters of it. Links lead to a page that decides nothing.',
    body: `${inFull.map(section).join('\n\n')}\n\n## Of records\n\n${recordTable()}\n\n## To people\n\n${peopleSection()}`,
  }
}

function section(type: MessageEvent): string {
  const samples = sampleFacts(type).map((sample) => {
    const facts = isRequestEvent(type) ? { ...sample, ...withheldOfRequest } : sample
    const noun = type.startsWith('request.') ? 'requests' : 'grants'
    const link = `${of.public_url}/${noun}/${facts.subject_id}?t=${of.tenant_id}`
    const { subject, text } = writeMail(messageWith(type, facts), { link, why: '' })
    return shown({ subject, text: text.slice(0, text.indexOf('\n-- ')) })
  })
  return `## ${type}\n\n${samples.join('\n\n')}`
}

function shown({ subject, text }: Pick<Mail, 'subject' | 'text'>): string {
  return `\`\`\`\nSubject: ${subject}\n\n${text.trimEnd()}\n\`\`\``
}

/** Mails of notifications: they leave out what notifications leave out. */
function peopleSection(): string {
  const about = { tenant: 'Acme', mode: 'live' } as const
  const person = { name: 'Ada Lovelace', email: null }
  const request = { ...sampleRequest, ...withheldOfPerson, requester: person, zone: 'Europe/Berlin' }
  const grant = { ...sampleGrant, ...withheldOfGrant, holder: person, zone: 'Europe/Berlin' }
  const { subject_id } = request
  const ofRequest = { ...about, event: { subject_type: 'request', subject_id } }
  const ofGrant = { ...about, event: { subject_type: 'grant', subject_id } }
  const mails = [
    writeNotificationMail(
      { to: 'eligible_approvers', message: requestMessage('request.created', request) },
      { ...ofRequest, kind: 'decision_needed' },
      of,
    ),
    writeNotificationMail(
      { to: 'holder', message: grantMessage('grant.activated', grant) },
      { ...ofGrant, kind: 'access_active' },
      of,
    ),
    writeNotificationMail(
      {
        to: 'holder',
        message: grantMessage('grant.expiring', { ...grant, extension: 'possible' }),
        opening: extending,
      },
      { ...ofGrant, kind: 'access_ending' },
      of,
    ),
  ]
  return `[Notifications](notifications.md) are mailed to their people, in their own time zone. Three of them:\n\n${mails.map(shown).join('\n\n')}`
}

function recordTable(): string {
  const rows = messageEvents.filter(isRecordEvent).flatMap((type) =>
    sampleFacts(type).map((facts) => {
      const { title, facts: all, next = '' } = messageWith(type, facts)
      const shownFacts = all.filter(([label]) => label !== 'Id' && label !== 'When')
      return [code(type), title, shownFacts.map(([label, value]) => `${label}: ${value}`).join('; '), next]
    }),
  )
  return table(['event', 'subject', 'beside its id and when', 'what comes of it'], rows)
}
