import { duration } from '../../../kernel/plain-words.ts'
import { askedFacts, quoted, untilWhen, whatOf, whenFact } from './access-words.ts'
import { countIn, textIn } from './record-words.ts'
import type { Fact, MailContent, MailedEvent, RequestFacts, Template } from './template.ts'

export type RequestMail = Extract<MailedEvent, `request.${string}`>

/** What is said of requests. */
export const requestMails: Record<RequestMail, Template<RequestFacts>> = {
  'request.created': (facts) => {
    const { name } = facts.requester
    if (facts.approval_mode === 'require') return waiting(facts, 'asks for')
    return {
      subject: `${name} asked for ${whatOf(facts)}`,
      headline: `${name} asked for ${whatOf(facts)} for ${duration(facts.duration_seconds)}, and a rule approved it at once.`,
      facts: [...askedFacts(facts), ['Approved by', 'a rule, no person']],
    }
  },
  'request.reminded': (facts) => waiting(facts, 'still waits for'),
  'request.unapprovable': (facts) => {
    const what = `${facts.requester.name} asks for ${whatOf(facts)}`
    return {
      subject: `Nobody may approve: ${what}`,
      headline: `${what}, and nobody may approve it.`,
      facts: [...askedFacts(facts), nowFact(facts, 'pending')],
      next: `It waits${untilWhen(facts.waits_until, facts.zone)}, in vain unless somebody gets the right to approve it: by a role with requests:approve, and by a policy that permits them to.`,
    }
  },
  'request.break_glass': (facts) => {
    const took = `${facts.requester.name} took ${whatOf(facts)}`
    return {
      subject: `EMERGENCY: ${took} without an approver`,
      headline: `${took} in an emergency, for ${duration(facts.duration_seconds)}, without an approver.`,
      facts: askedFacts(facts),
      next: 'Make sure that the emergency is real. If it is not, end the access: revoke the grants of this request.',
    }
  },
  'request.approved': (facts) => {
    const { name } = facts.requester
    const approver = facts.decided_by ?? 'A rule'
    return {
      subject: `${approver} approved: ${whatOf(facts)} for ${name}`,
      headline: `${approver} approved that ${name} gets ${whatOf(facts)} for ${duration(facts.duration_seconds)}.`,
      facts: decidedFacts(facts, 'Approved by'),
      next: 'The access begins once its target has confirmed it; its time is counted from then.',
    }
  },
  'request.denied': (facts) => {
    const denied = `${facts.decided_by ?? 'Somebody'} denied ${facts.requester.name} ${whatOf(facts)}`
    return { subject: denied, headline: `${denied}.`, facts: decidedFacts(facts, 'Denied by') }
  },
  'request.expired': (facts) => {
    const asked = `${facts.requester.name} asked for ${whatOf(facts)}`
    return {
      subject: `Nobody decided: ${asked}`,
      headline: `${asked}, and nobody decided in time.`,
      facts: [...askedFacts(facts), whenFact(facts)],
      next: `${facts.requester.name} may ask again.`,
    }
  },
  'request.cancelled': (facts) => {
    const whose = facts.is_own ? 'their own request' : `the request of ${facts.requester.name}`
    const cancelled = `${facts.actor} cancelled ${whose} for ${whatOf(facts)}`
    return {
      subject: cancelled,
      headline: `${cancelled}.`,
      facts: [...askedFacts(facts), ['Because', textIn(facts.data, 'reason')], whenFact(facts)],
    }
  },
}

/** A request that waits for an approver, as far as that is still so. */
function waiting(facts: RequestFacts, verb: string): MailContent {
  const asks = `${facts.requester.name} ${verb} ${whatOf(facts)}`
  return {
    subject: asks,
    headline: `${asks}.`,
    facts: [...askedFacts(facts), ['Reminder', countIn(facts.data, 'nth')], nowFact(facts, 'pending')],
    next:
      facts.status === 'pending' ? `It waits for an approver${untilWhen(facts.waits_until, facts.zone)}.` : undefined,
  }
}

function decidedFacts(facts: RequestFacts, by: string): Fact[] {
  return [
    ...askedFacts(facts),
    [by, facts.decided_by ?? 'a rule, no person'],
    ['Note', quoted(facts.decision_reasoning)],
    whenFact(facts),
  ]
}

/** A mail may come late: how the request stands, where that is no longer what the event says. */
function nowFact({ status, decided_by }: RequestFacts, then: RequestFacts['status']): Fact {
  const by = decided_by === null ? '' : ` by ${decided_by}`
  return ['By now', status === then ? null : `${status}${by}`]
}
