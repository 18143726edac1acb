import { type GrantMail, grantMails } from './grant-mails.ts'
import { peopleMails } from './people-mails.ts'
import { policyMails } from './policy-mails.ts'
import { type RequestMail, requestMails } from './request-mails.ts'
import { setupMails } from './setup-mails.ts'
import type { GrantFacts, MailedEvent, RecordFacts, RequestFacts, Template } from './template.ts'

type RecordMail = Exclude<MailedEvent, RequestMail | GrantMail>

const recordMails: Record<RecordMail, Template<RecordFacts>> = { ...policyMails, ...peopleMails, ...setupMails }

/** The mail of every event that a channel is told of: an event without one is a type error here. */
export const mailTemplates = { ...requestMails, ...grantMails, ...recordMails } satisfies {
  [Event in MailedEvent]: Template<
    Event extends RequestMail ? RequestFacts : Event extends GrantMail ? GrantFacts : RecordFacts
  >
}

export function isRequestMail(type: string): type is RequestMail {
  return Object.hasOwn(requestMails, type)
}

export function isGrantMail(type: string): type is GrantMail {
  return Object.hasOwn(grantMails, type)
}

export function isRecordMail(type: string): type is RecordMail {
  return Object.hasOwn(recordMails, type)
}
