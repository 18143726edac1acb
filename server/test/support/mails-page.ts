import { writeMail } from '../../src/notification-channels/mail/mail-layout.ts'
import { isRecordMail } from '../../src/notification-channels/mail/templates/mail-templates.ts'
import type { MailedEvent } from '../../src/notification-channels/mail/templates/template.ts'
import { code, type Page, table } from './markdown.ts'
import { contentWith, mailedEvents, sampleFacts } from './sample-mails.ts'

/** What the mail of each event says, with sample facts: those of requests and grants in full, the others by row. */
export function mailsPage(): Page {
  const inFull = mailedEvents.filter((type) => !isRecordMail(type))
  return {
    title: 'Mails',
    from: 'server/src/notification-channels/mail/templates/ and the facts of server/test/support/sample-mails.ts',
    about:
      'What a channel of mailboxes is sent of each event: as plain text, as here, and the same as HTML, without images and ' +
      'style sheets. Moments stand in the time zone of the tenant (`timezone.default`, here Europe/Berlin). The prefix of ' +
      'the channel stands before the subject; below a line of `--` each mail says which channel and event it comes from. ' +
      'What users wrote stands on one line, up to 1,000 characters of it. Links lead to a page that decides nothing.',
    body: `${inFull.map(section).join('\n\n')}\n\n## Of records\n\n${recordTable()}`,
  }
}

function section(type: MailedEvent): string {
  const samples = sampleFacts(type).map((facts) => {
    const noun = type.startsWith('request.') ? 'requests' : 'grants'
    const link = `https://sallyport.example.com/${noun}/${facts.subject_id}`
    const { subject, text } = writeMail(contentWith(facts), { subject_prefix: undefined, link, why: '' })
    return `\`\`\`\nSubject: ${subject}\n\n${text.slice(0, text.indexOf('\n-- ')).trimEnd()}\n\`\`\``
  })
  return `## ${type}\n\n${samples.join('\n\n')}`
}

function recordTable(): string {
  const rows = mailedEvents.filter(isRecordMail).flatMap((type) =>
    sampleFacts(type).map((facts) => {
      const { subject, facts: rest, next = '' } = contentWith(facts)
      const told = rest.filter(([name, value]) => value && name !== 'Id' && name !== 'When')
      return [code(type), subject, told.map(([name, value]) => `${name}: ${value}`).join('; '), next]
    }),
  )
  return table(['event', 'subject', 'beside its id and when', 'what comes of it'], rows)
}
