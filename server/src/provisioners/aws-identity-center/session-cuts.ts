import { isDeepStrictEqual } from 'node:util'
import { isObject } from '../../kernel/is-object.ts'
import { parseExactly } from './exact-json.ts'

/**
 * The statements in a permission set's inline policy that deny people their older sessions, beside the statements of the
 * organization. Rules only, without I/O.
 */

/** The person's sessions that were issued before that moment are denied; a moment in whole seconds. */
export type Cut = { person: string; before: Date }

/** Why a cut cannot be written. */
export type NoCut = 'unreadable' | 'full'

type Statement = Record<string, unknown>
type Policy = { whole: Record<string, unknown>; theirs: readonly Statement[]; cuts: readonly Cut[] }

/** No session of a permission set lives longer. */
export const maxSessionSeconds = 12 * 3_600

/** A role's inline policies have at most so many characters. IAM does not count white space; here all characters count. */
export const maxPolicyLength = 10_240

const roomForSome = 1_000

const sidPrefix = 'SallyportCut'

/**
 * The policy with the cut; unchanged if it denies those sessions already. A later cut of a person moves the moment forward. Cuts that
 * deny nothing any more go: those older than any session, or, if the policy is full without it, than a session of the set.
 */
export function withCut(
  text: string,
  cut: Cut,
  now: Date,
  session_seconds: number,
): { policy: string } | { why: NoCut } {
  const policy = readPolicy(text)
  if (policy === undefined) return { why: 'unreadable' }
  if (isPast(cut, now, maxSessionSeconds) || denies(policy, cut)) return { policy: text }
  const others = policy.cuts.filter(({ person }) => person !== cut.person)
  for (const seconds of [maxSessionSeconds, Math.min(session_seconds, maxSessionSeconds)]) {
    const cuts = [...others.filter((one) => !isPast(one, now, seconds)), cut]
    const written = write(policy, cuts)
    if (written.length <= maxPolicyLength) return { policy: written }
  }
  return { why: 'full' }
}

/** The policy without cuts older than any session; unchanged if there are none. Empty: nothing is left in it. */
export function withoutPastCuts(text: string, now: Date): string {
  const policy = readPolicy(text)
  const cuts = policy?.cuts.filter((one) => !isPast(one, now, maxSessionSeconds)) ?? []
  if (policy === undefined || cuts.length === policy.cuts.length) return text
  return policy.theirs.length + cuts.length === 0 ? '' : write(policy, cuts)
}

/** Whether the policy denies those sessions, or none of them can live any more. */
export function hasCut(text: string, cut: Cut, now: Date): boolean {
  const policy = readPolicy(text)
  return isPast(cut, now, maxSessionSeconds) || (policy !== undefined && denies(policy, cut))
}

/** Why no cut could be written beside the statements of the organization; undefined if there is room for those of a few people. */
export function findNoCut(text: string): NoCut | undefined {
  const policy = readPolicy(text)
  if (policy === undefined) return 'unreadable'
  return write(policy, []).length > maxPolicyLength - roomForSome ? 'full' : undefined
}

function denies({ cuts }: Policy, { person, before }: Cut): boolean {
  return cuts.some((one) => one.person === person && one.before >= before)
}

function isPast({ before }: Cut, now: Date, session_seconds: number): boolean {
  return before.getTime() + session_seconds * 1_000 <= now.getTime()
}

function write({ whole, theirs }: Policy, cuts: readonly Cut[]): string {
  return JSON.stringify({ ...whole, Statement: [...theirs, ...cuts.map(statementOf)] })
}

function statementOf({ person, before }: Cut) {
  return {
    Sid: `${sidPrefix}${person.replaceAll('-', '')}`,
    Effect: 'Deny',
    Action: '*',
    Resource: '*',
    Condition: {
      StringEquals: { 'identitystore:UserId': person },
      DateLessThan: { 'aws:TokenIssueTime': before.toISOString().replace('.000Z', 'Z') },
    },
  }
}

/**
 * Undefined for a policy that cannot be written again without a change of its meaning: it is not JSON, or JSON would lose a part of
 * it, such as a name that occurs twice; or it has a statement with the name of a cut that is none.
 */
function readPolicy(text: string): Policy | undefined {
  if (text.trim() === '') return { whole: { Version: '2012-10-17' }, theirs: [], cuts: [] }
  const whole = parseExactly(text)
  if (!isObject(whole)) return undefined
  const statements = [whole.Statement].flat()
  if (!statements.every(isObject)) return undefined
  const theirs = statements.filter((one) => cutOf(one) === undefined)
  if (theirs.some(({ Sid }) => typeof Sid === 'string' && Sid.startsWith(sidPrefix))) return undefined
  return { whole, theirs, cuts: statements.flatMap((one) => cutOf(one) ?? []) }
}

/** The cut that a statement is; undefined if it is not exactly the statement of a cut. */
function cutOf(statement: Statement): Cut | undefined {
  const { StringEquals, DateLessThan } = (statement.Condition ?? {}) as Record<string, Record<string, unknown> | null>
  const [person, moment] = [StringEquals?.['identitystore:UserId'], DateLessThan?.['aws:TokenIssueTime']]
  if (typeof person !== 'string' || typeof moment !== 'string') return undefined
  const before = new Date(moment)
  if (Number.isNaN(before.getTime())) return undefined
  const cut = { person, before }
  return isDeepStrictEqual(statementOf(cut), statement) ? cut : undefined
}
