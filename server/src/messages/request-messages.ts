import { askedFacts, forHowLong, untilWhen, whatOf, whenFact } from './access-words.ts'
import type { RequestEvent, RequestFacts } from './event-facts.ts'
import type { Draft, Fact, Template } from './message.ts'
import { countIn, textIn } from './record-words.ts'

/** Messages about requests. */
export const requestMessages: Record<RequestEvent, Template<RequestFacts>> = {
  'request.created': (facts) =>
    facts.approval_mode === 'require'
      ? waiting(facts, requests(facts), `${requests(facts)} ${howLong(facts)}.`)
      : requestDraft(facts, {
          title: `${facts.requester.name} requested ${whatOf(facts)}`,
          sentence: `${facts.requester.name} requested ${whatOf(facts)} ${howLong(facts)}, and a rule approved it at once.`,
          facts: [['Approved by', 'a rule, no person']],
        }),
  'request.commented': (facts) => {
    const whose = facts.is_own ? 'their own request' : `the request of ${facts.requester.name}`
    const toRead = facts.comment === null ? 'The comment is shown with the request. ' : undefined
    const toDo = toRead ?? (facts.is_own ? '' : 'Answer it by a comment on the request. ')
    return requestDraft(facts, {
      title: `${facts.actor} commented on ${whose} for ${whatOf(facts)}`,
      facts: [whenFact(facts), nowFact(facts)],
      quotes: [['Comment', facts.comment]],
      next: facts.status === 'pending' ? `${toDo}${waitsUntil(facts)}` : toRead?.trim(),
    })
  },
  'request.reminded': (facts) =>
    waiting(
      facts,
      `Reminder: ${requests(facts)}`,
      `${requests(facts)} ${howLong(facts)}, ${facts.is_own ? 'and asks for a decision: ' : 'and '}nobody has decided yet.`,
    ),
  'request.unapprovable': (facts) =>
    waiting(
      facts,
      `Nobody may approve: ${requests(facts)}`,
      `${requests(facts)} ${howLong(facts)}. As rules and roles are now, nobody may approve it.`,
      'A user needs the right to approve it: a role with requests:approve, and a policy that permits the approval. ',
    ),
  'request.break_glass': (facts) => {
    const took = `${facts.requester.name} took ${whatOf(facts)}`
    return requestDraft(facts, {
      title: `EMERGENCY: ${took} without an approver`,
      sentence: `${took} in an emergency, ${howLong(facts)}, without an approver.`,
      next: 'Make sure that the emergency is real. If it is not, end the access: revoke the grants of this request.',
    })
  },
  'request.approved': (facts) => {
    const approved = `${facts.decided_by ?? 'A rule'} approved ${whatOf(facts)}`
    return requestDraft(facts, {
      title: `${approved} for ${facts.requester.name}`,
      sentence: `${approved} ${howLong(facts)} for ${facts.requester.name}.`,
      facts: [['Approved by', facts.decided_by ?? 'a rule, no person'], whenFact(facts)],
      quotes: [['Note', facts.decision_reasoning]],
      next: facts.is_extension
        ? 'The access goes on without a gap once its target has confirmed it.'
        : 'The access begins once its target has confirmed it; its time is counted from then.',
    })
  },
  'request.denied': (facts) =>
    requestDraft(facts, {
      title: `${facts.decided_by ?? 'Somebody'} denied ${whatOf(facts)} for ${facts.requester.name}`,
      facts: [['Denied by', facts.decided_by], whenFact(facts)],
      quotes: [['Note', facts.decision_reasoning]],
    }),
  'request.expired': (facts) => {
    const wanted = `${facts.requester.name} requested ${whatOf(facts)}`
    return requestDraft(facts, {
      title: `Nobody decided: ${wanted}`,
      sentence: `${wanted}, and nobody decided in time.`,
      facts: [whenFact(facts)],
      next: 'If the access is still needed, request it again.',
    })
  },
  'request.cancelled': (facts) => {
    const whose = facts.is_own ? 'their own request' : `the request of ${facts.requester.name}`
    return requestDraft(facts, {
      title: `${facts.actor} cancelled ${whose} for ${whatOf(facts)}`,
      facts: [['Because', textIn(facts.data, 'reason')], whenFact(facts)],
    })
  },
}

function requests(facts: RequestFacts): string {
  return `${facts.requester.name} requests ${whatOf(facts)}`
}

function howLong(facts: RequestFacts): string {
  return `for ${forHowLong(facts)}`
}

/** Adds the requested access and the reason before the draft's own facts and quotes. */
function requestDraft(facts: RequestFacts, { facts: further = [], quotes = [], ...draft }: Draft): Draft {
  return { ...draft, facts: [...askedFacts(facts), ...further], quotes: [['Reason', facts.reason], ...quotes] }
}

/** A request that waited for a decision at the event. While it still waits, `next` is `toDo` and the end of the wait. */
function waiting(facts: RequestFacts, title: string, sentence: string, toDo = ''): Draft {
  return requestDraft(facts, {
    title,
    sentence,
    facts: [['Reminder', countIn(facts.data, 'nth')], nowFact(facts)],
    next: facts.status === 'pending' ? `${toDo}${waitsUntil(facts)}` : undefined,
  })
}

function waitsUntil({ waits_until, zone }: RequestFacts): string {
  return `The request waits for an approver${untilWhen(waits_until, zone)}, and expires without a decision.`
}

/** A message may arrive late: the current status, when the request no longer waits. */
function nowFact({ status, decided_by }: RequestFacts): Fact {
  const by = decided_by === null ? '' : ` by ${decided_by}`
  return ['By now', status === 'pending' ? null : `${status}${by}`]
}
