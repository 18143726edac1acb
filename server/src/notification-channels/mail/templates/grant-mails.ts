import { moment } from '../../../kernel/plain-words.ts'
import { accessFacts, quoted, untilWhen, whatOf, whenFact, whoIs } from './access-words.ts'
import type { Fact, GrantFacts, MailContent, MailedEvent, Template } from './template.ts'

export type GrantMail = Extract<MailedEvent, `grant.${string}`>

/** What is said of grants. */
export const grantMails: Record<GrantMail, Template<GrantFacts>> = {
  'grant.activated': (facts) => {
    const has = `${facts.holder.name} has ${whatOf(facts)}`
    return {
      subject: has,
      headline: `${has}${untilWhen(facts.expires_at, facts.zone)}.`,
      facts: [...heldFacts(facts), endFact(facts)],
    }
  },
  'grant.expiring': (facts) => ({
    subject: `Ends soon: ${whatOf(facts)} of ${facts.holder.name}`,
    headline: `${facts.holder.name} has ${whatOf(facts)}${untilWhen(facts.expires_at, facts.zone)}, and no longer.`,
    facts: [...heldFacts(facts), endFact(facts)],
    next: `It is taken away then. ${facts.holder.name} may ask again.`,
  }),
  'grant.expired': (facts) => ended(facts, `${whatOf(facts)} of ${facts.holder.name} ended on time`),
  'grant.revoked': (facts) =>
    ended(
      facts,
      facts.is_own
        ? `${facts.actor} gave back ${whatOf(facts)} early`
        : `${facts.actor} ended ${whatOf(facts)} of ${facts.holder.name} early`,
    ),
  'grant.failed': (facts) => (hasEnded(facts) ? notTakenAway(facts) : notGiven(facts)),
  'grant.drifted': (facts) => (facts.data.drift === 'added' ? addedByHand(facts) : removedByHand(facts)),
}

function ended(facts: GrantFacts, what: string): MailContent {
  return {
    subject: what,
    headline: `${what}.`,
    facts: [...heldFacts(facts), ['Because', facts.end_reason]],
    next: 'It is taken away at its target now; should that not succeed, it is told.',
  }
}

function notGiven(facts: GrantFacts): MailContent {
  const failed = `${facts.holder.name} could not be given ${whatOf(facts)}`
  return {
    subject: `Failed: ${failed}`,
    headline: `${failed}.`,
    facts: [...heldFacts(facts), ['Because', facts.end_reason], ['Target said', quoted(facts.last_error)]],
    next: `Nothing was given. Once the cause is mended, ${facts.holder.name} may have it tried again, or ask again.`,
  }
}

function notTakenAway(facts: GrantFacts): MailContent {
  const has = `${facts.holder.name} still has ${whatOf(facts)}`
  return {
    subject: `NOT TAKEN AWAY: ${has}`,
    headline: `${has}: it has ended, and its target does not take it away.`,
    facts: [...heldFacts(facts), endFact(facts), ['Target said', quoted(facts.last_error)]],
    next: 'It is tried for ever. If it must not wait, take it away at the target by hand: that is noticed.',
  }
}

function removedByHand(facts: GrantFacts): MailContent {
  const lost = `${whatOf(facts)} of ${facts.holder.name} was removed by hand`
  return {
    subject: lost,
    headline: `${lost}, past Sallyport.`,
    facts: [...heldFacts(facts), endFact(facts)],
    next: facts.corrects_drift ? 'It is given again.' : `It is left so: ${facts.holder.name} may ask again.`,
  }
}

function addedByHand(facts: GrantFacts): MailContent {
  const back = `${facts.holder.name} has ${whatOf(facts)} again`
  return {
    subject: `Added by hand: ${back}`,
    headline: `${back}: it had ended and was taken away, and was added by hand, past Sallyport.`,
    facts: [...heldFacts(facts), endFact(facts)],
    next: facts.corrects_drift
      ? 'It is taken away again.'
      : 'It is left so, and Sallyport will not end it: find out who added it, and whether it may stay.',
  }
}

/** An access that ended and still needs taking away; one that never began has failed outright. */
function hasEnded({ status }: GrantFacts): boolean {
  return status === 'expired' || status === 'revoked'
}

function heldFacts(facts: GrantFacts): Fact[] {
  return [
    ['Who', whoIs(facts.holder)],
    ...accessFacts(facts),
    ['Target', facts.provisioner],
    ['Reason', quoted(facts.reason)],
    whenFact(facts),
  ]
}

function endFact(facts: GrantFacts): Fact {
  const { expires_at, zone } = facts
  return [hasEnded(facts) ? 'Was to end' : 'Ends', expires_at === null ? null : moment(expires_at, zone)]
}
