import { duration, line, moment } from '../kernel/plain-words.ts'
import type { AskedType } from '../policy-engine/cedar/schema.ts'
import type { Access, Person, RequestFacts } from './event-facts.ts'
import { type Fact, quoted } from './message.ts'

/** The noun of each type of resource, written before its id. */
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

/** The access that is requested or held; a permission set is shown by the end of its ARN. */
type What = Access & { permission_set?: string | null }

function actionOf({ action, permission_set }: What): string {
  return permission_set ? `${action} (${permission_set.split(':').at(-1)})` : action
}

/** `ReadOnlyAccess on account Production (123456789012)`. */
export function whatOf(what: What): string {
  return `${named(actionOf(what))} on ${whereOf(what)}`
}

/** The rows What, Where and Account. */
export function accessFacts(what: What): Fact[] {
  const { accounts, account_count, resource_type } = what
  const further = account_count - accounts.length
  const names = [...accounts.map(accountName), ...(further > 0 ? [`${further} more`] : [])].join(', ')
  return [
    ['What', actionOf(what)],
    ['Where', whereOf(what)],
    [account_count > 1 ? 'Accounts' : 'Account', resource_type === 'cloud_account' ? null : names],
  ]
}

/** The requester, the access and its duration. */
export function askedFacts(facts: RequestFacts): Fact[] {
  return [
    ['Who', whoIs(facts.requester)],
    ...accessFacts(facts),
    ['For', forHowLong(facts)],
    ['Asked', moment(facts.asked_at, facts.zone)],
    ['Emergency', facts.approval_mode === 'break_glass' ? 'yes: taken without an approver' : null],
    ['Audited', facts.audit_session ? 'yes: what is done in the session is recorded' : null],
  ]
}

/** `2 h`, `1 h of the 2 h requested`, `30 min more` where access is extended. */
export function forHowLong({ duration_seconds, approved_duration_seconds: given, is_extension }: RequestFacts): string {
  const requested = duration(duration_seconds)
  const more = is_extension ? ' more' : ''
  return given === null ? `${requested}${more}` : `${duration(given)}${more} of the ${requested} requested`
}

export function whoIs({ name, email }: Person): string {
  return email === null ? name : `${name} (${email})`
}

/** The characters of a name shown in a sentence, at most; rows of facts show all of it. */
const maxNameLength = 120

/** A name given by a user. More than one word is put in quotation marks, so that the name cannot pose as part of the sentence. */
export function named(text: string): string {
  const name = line(text, maxNameLength)
  return /[\s“”]/.test(name) ? quoted(name) : name
}

/** When the event happened. */
export function whenFact({ at, zone }: { at: string; zone: string }): Fact {
  return ['When', moment(at, zone)]
}

/** The ending of a sentence; empty when there is no end. */
export function untilWhen(end: string | null, zone: string): string {
  return end === null ? '' : ` until ${moment(end, zone)}`
}

function accountName({ account_id, name }: { account_id: string; name: string | null }): string {
  return name === null || name === account_id ? account_id : `${named(name)} (${account_id})`
}
