import { moment } from '../kernel/plain-words.ts'
import { accessFacts, untilWhen, whatOf, whenFact, whoIs } from './access-words.ts'
import type { GrantEvent, GrantFacts } from './event-facts.ts'
import type { Draft, Fact, Template } from './message.ts'

/** Messages about grants. */
export const grantMessages: Record<GrantEvent, Template<GrantFacts>> = {
  'grant.activated': (facts) => {
    const has = `${facts.holder.name} has ${whatOf(facts)}`
    return held(facts, {
      title: has,
      sentence: `${has}${untilWhen(facts.expires_at, facts.zone)}.`,
      facts: [endFact(facts)],
      connect: facts.connect,
    })
  },
  'grant.expiring': (facts) =>
    held(facts, {
      title: `Ends soon: ${whose(facts)}`,
      sentence: `${whose(facts)} ends${atItsEnd(facts)}.`,
      facts: [endFact(facts)],
      next: goesOn(facts) ?? moreTime(facts),
    }),
  'grant.expired': (facts) => {
    const ended = `${whose(facts)} ended on time`
    const next = goesOn(facts) ?? removal(facts)
    return held(facts, { title: ended, sentence: `${ended}${atItsEnd(facts)}.`, next })
  },
  'grant.revoked': (facts) =>
    held(facts, {
      title: facts.is_own
        ? `${facts.actor} gave back ${whatOf(facts)} early`
        : `${facts.actor} ended ${whose(facts)} early`,
      quotes: [['Because', facts.end_reason]],
      next: removal(facts),
    }),
  'grant.failed': (facts) => {
    if (hasEnded(facts)) return notTakenAway(facts)
    return facts.provisioning_status === 'deprovisioning_failed' ? maybeLeft(facts) : notGiven(facts)
  },
  'grant.credentials_issued': (facts) => {
    const received = `${facts.holder.name} received a password for ${whatOf(facts)}`
    return held(facts, {
      title: received,
      sentence: `${received}: any earlier one has ended.`,
      facts: [['Login', textOf(facts.data.login)], endFact(facts)],
    })
  },
  'grant.objects_left': (facts) => objectsLeft(facts),
  'grant.drifted': drifted,
}

/** Undefined where no other access extends it. */
function goesOn({ extended_until, zone }: GrantFacts): string | undefined {
  return extended_until === null ? undefined : `It was extended: the access goes on${untilWhen(extended_until, zone)}.`
}

function moreTime({ extension }: GrantFacts): string {
  if (extension === 'waits') return 'An extension of it waits for a decision.'
  return `If it is needed for longer, ${extension === 'possible' ? 'extend it before it ends' : 'request it again'}.`
}

/** What follows the end; undefined when no access was given. */
function removal({ provisioning_status, expires_at }: GrantFacts): string | undefined {
  if (provisioning_status !== 'not_attempted') {
    return 'It is now taken away at its target, unless another grant holds it. If that fails, another message says so.'
  }
  return expires_at === null ? undefined : 'It was at the target before the grant began, and stays there.'
}

function notGiven(facts: GrantFacts): Draft {
  const failed = `${facts.holder.name} could not be given ${whatOf(facts)}`
  return held(facts, {
    title: `Failed: ${failed}`,
    sentence: `${failed}.`,
    quotes: [
      ['Because', facts.end_reason],
      ['Target said', facts.last_error],
    ],
    next:
      'If its target still gives it late, Sallyport takes it away. The operator of Sallyport can fix the cause; then retry ' +
      'the grant, or request the access again.',
  })
}

const handRemoval =
  'Sallyport tries until it is gone. If it must not wait, take it away at the target by hand: Sallyport notices.'

function notTakenAway(facts: GrantFacts): Draft {
  const has = `${facts.holder.name} still has ${whatOf(facts)}`
  return held(facts, {
    title: `NOT TAKEN AWAY: ${has}`,
    sentence: `${has}: it has ended, and its target has not yet taken it away.`,
    facts: [endFact(facts)],
    quotes: [['Target said', facts.last_error]],
    next: handRemoval,
  })
}

function maybeLeft(facts: GrantFacts): Draft {
  const left = `${whatOf(facts)} may be left at its target for ${facts.holder.name}`
  return held(facts, {
    title: `NOT TAKEN AWAY: ${left}`,
    sentence: `${left}: giving it failed, and its target has not taken away what was begun.`,
    quotes: [['Target said', facts.last_error]],
    next: handRemoval,
  })
}

function drifted(facts: GrantFacts): Draft {
  if (facts.data.drift === 'changed') return changedByHand(facts)
  return facts.data.drift === 'added' ? addedByHand(facts) : removedByHand(facts)
}

/** It is put back whatever the provisioner corrects, so the message reveals none of its settings. */
function changedByHand(facts: GrantFacts): Draft {
  const changed = `What Sallyport made for ${whose(facts)} was changed`
  return held(facts, {
    title: `${changed} by hand`,
    sentence: `${changed} at its target by hand, not by Sallyport: until it is put back, the access may be more or less than was approved.`,
    facts: [endFact(facts)],
    next: 'It is put back at once: find out who changed it.',
  })
}

function removedByHand(facts: GrantFacts): Draft {
  const lost = `${whose(facts)} was removed`
  return held(facts, {
    title: `${lost} by hand`,
    sentence: `${lost} at its target by hand, not by Sallyport.`,
    facts: [endFact(facts)],
    next: byCorrection(facts, 'It is given again.', 'It is left so: request the access again if it is needed.'),
  })
}

function addedByHand(facts: GrantFacts): Draft {
  const back = `${facts.holder.name} has ${whatOf(facts)} again`
  return held(facts, {
    title: `Added by hand: ${back}`,
    sentence: `${back}: it had ended and was taken away, and was added at its target by hand, not by Sallyport.`,
    facts: [endFact(facts)],
    next: byCorrection(
      facts,
      'It is taken away again.',
      'It is left so, and Sallyport will not end it: find out who added it, and whether it may stay.',
    ),
  })
}

/** Names that a message lists. */
const maxListed = 10

function objectsLeft(facts: GrantFacts): Draft {
  const total = Number(facts.data.total)
  const left = `${total} ${total === 1 ? 'object is' : 'objects are'} left by ${whose(facts)}`
  const objects = Array.isArray(facts.data.objects) ? (facts.data.objects as { kind?: unknown; name?: unknown }[]) : []
  const listed = objects.slice(0, maxListed).map(({ kind, name }) => `${textOf(kind) ?? ''} ${textOf(name) ?? ''}`)
  return held(facts, {
    title: left,
    sentence: `${left}: they stay at its target, where functions and triggers among them are disarmed.`,
    quotes: [['Objects', listed.join(', ')]],
    next: 'An administrator of the target can give them to another role, or drop them.',
  })
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

/** Adds the holder, the access, the target and the reason before the draft's own facts and quotes. */
function held(facts: GrantFacts, { facts: further = [], quotes = [], ...draft }: Draft): Draft {
  const { holder, provisioner, reason } = facts
  return {
    ...draft,
    facts: [['Who', whoIs(holder)], ...accessFacts(facts), ['Target', provisioner], whenFact(facts), ...further],
    quotes: [['Reason', reason], ...quotes],
  }
}

function byCorrection({ corrects_drift }: GrantFacts, corrected: string, left: string): string | undefined {
  return corrects_drift === null ? undefined : corrects_drift ? corrected : left
}

/** Whether the access ended and must still be taken away. A grant that never began has failed outright. */
function hasEnded({ status }: GrantFacts): boolean {
  return status === 'expired' || status === 'revoked'
}

/** `ReadOnlyAccess on account Production (123456789012) of Ada Lovelace`. */
function whose(facts: GrantFacts): string {
  return `${whatOf(facts)} of ${facts.holder.name}`
}

function atItsEnd({ expires_at, zone }: GrantFacts): string {
  return expires_at === null ? '' : ` at ${moment(expires_at, zone)}`
}

function endFact(facts: GrantFacts): Fact {
  const { expires_at, zone } = facts
  return [hasEnded(facts) ? 'Was to end' : 'Ends', expires_at === null ? null : moment(expires_at, zone)]
}
