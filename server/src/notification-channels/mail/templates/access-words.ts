import { duration, line, moment } from '../../../kernel/plain-words.ts'
import type { AskedType } from '../../../policies/cedar/schema.ts'
import type { Access, Fact, Person, RequestFacts } from './template.ts'

/** What each type of resource is called where its id follows. */
const nouns: Record<AskedType, string> = {
  cloud_account: 'account',
  cloud_permission_set: 'permission set',
  cloud_storage_bucket: 'bucket',
  cloud_db_instance: 'database',
  cloud_compute_instance: 'instance',
  cloud_organizational_unit: 'organizational unit',
}

/** `account Production (123456789012)`, `bucket reports`. */
function whereOf({ resource_type, resource_id, accounts }: Access): string {
  const noun = Object.hasOwn(nouns, resource_type) ? nouns[resource_type as AskedType] : resource_type
  const known = resource_type === 'cloud_account' && accounts.find(({ account_id }) => account_id === resource_id)
  return `${noun} ${known ? accountName(known) : named(resource_id)}`
}

/** `ReadOnlyAccess on account Production (123456789012)`. */
export function whatOf(access: Access): string {
  return `${named(access.action)} on ${whereOf(access)}`
}

/** What and where, row by row. */
export function accessFacts(access: Access): Fact[] {
  const { accounts, account_count, resource_type } = access
  const further = account_count - accounts.length
  const names = [...accounts.map(accountName), ...(further > 0 ? [`${further} more`] : [])].join(', ')
  return [
    ['What', access.action],
    ['Where', whereOf(access)],
    [account_count > 1 ? 'Accounts' : 'Account', resource_type === 'cloud_account' ? null : names],
  ]
}

/** Who asked for what, for how long and why. */
export function askedFacts(facts: RequestFacts): Fact[] {
  return [
    ['Who', whoIs(facts.requester)],
    ...accessFacts(facts),
    ['For', duration(facts.duration_seconds)],
    ['Reason', quoted(facts.reason)],
    ['Asked', moment(facts.asked_at, facts.zone)],
    ['Emergency', facts.approval_mode === 'break_glass' ? 'yes: taken without an approver' : null],
    ['Audited', facts.audit_session ? 'yes: what is done in the session is recorded' : null],
  ]
}

export function whoIs({ name, email }: Person): string {
  return `${name} (${email})`
}

/** How many characters of a name stand in a sentence; rows of facts have all of it. */
const longestName = 120

/** What a user called something, so that a sentence of ours cannot go on in it: more than one word in quotation marks. */
export function named(text: string): string {
  const name = line(text, longestName)
  return /[\s“”]/.test(name) ? `“${name.replace(/[“”]/g, '"')}”` : name
}

/** What somebody wrote, in quotation marks; null where they wrote nothing. */
export function quoted(text: string | null): string | null {
  return text === null || text.trim() === '' ? null : `“${text.trim()}”`
}

/** When the event happened. */
export function whenFact({ at, zone }: { at: string; zone: string }): Fact {
  return ['When', moment(at, zone)]
}

/** To stand behind a sentence; empty where there is no end. */
export function untilWhen(end: string | null, zone: string): string {
  return end === null ? '' : ` until ${moment(end, zone)}`
}

function accountName({ account_id, name }: { account_id: string; name: string | null }): string {
  return name === null || name === account_id ? account_id : `${named(name)} (${account_id})`
}
