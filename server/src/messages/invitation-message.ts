import { line, moment } from '../kernel/plain-words.ts'
import type { Person } from './event-facts.ts'
import { type Message, writeMessage } from './message.ts'

/** What the mail of an invitation says. */
export type InvitationFacts = {
  tenant: string
  invited: Person
  /** The name of the user who invited; null: it is not known any more. */
  inviter: string | null
  /** An instant in UTC. */
  expires_at: string
  zone: string
}

/** Characters of a name in the title, at most: a long name must leave room for the rest. */
const maxName = 60

/** Mail programs make links of what looks like an address. Only the link of the invitation is one, in a mail that goes to strangers. */
function unlinked(name: string): string {
  return name.replaceAll(/(?<=\S)[.:/@](?=\S)/g, '$& ')
}

function shown(name: string): string {
  return line(unlinked(name), maxName)
}

/** The message with which an invitation is mailed to the person. */
export function invitationMessage({ tenant, invited, inviter, expires_at, zone }: InvitationFacts): Message {
  const organization = shown(tenant)
  return writeMessage({
    title: `${organization} invites you to Sallyport`,
    sentence: `${organization} invites you to Sallyport, where you request access and decide requests.`,
    facts: [
      ['Organization', unlinked(tenant)],
      ['For', `${shown(invited.name)} (${invited.email})`],
      ['Invited by', inviter === null ? null : shown(inviter)],
      ['The link works until', moment(expires_at, zone)],
    ],
    next:
      'The link works once and is for you alone: do not pass it on. If you do not know why you were invited, do nothing: ' +
      'a link that is not used ends by itself.',
  })
}
