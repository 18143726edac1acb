import type { Fate } from './cloud.ts'
import { AwsError, type Call, type Fields, type ServiceName } from './wire.ts'

/**
 * A fault that a call meets. `cut`: the connection is closed before the call has an effect, after the effect and before the
 * answer, or in the middle of the answer. `end`: the end of the act that the call begins.
 */
export type Misdeed =
  | { error: string; message?: string; status?: number }
  | { cut: 'before' | 'after' | 'half' }
  | { delay_ms: number }
  | { hang: true }
  | { end: Fate }

/**
 * The calls that meet it: those of an operation (`*`: of every one), of a service, in a region, whose input satisfies `when`; the
 * first `skip` of them do not, and then only each `every`th.
 */
export type Victims = {
  operation: string
  service?: ServiceName
  region?: string
  when?: (input: Fields) => boolean
  skip?: number
  every?: number
}

type Meeting = Pick<Call, 'service' | 'operation' | 'input'> & Partial<Pick<Call, 'region'>>

type Rule = Victims & { misdeed: Misdeed; left: number; skip: number; every: number; met: number }

/** The misdeeds that a test has set, and the one that a call meets. */
export function openMisdeeds() {
  const rules = new Set<Rule>()

  /** The first misdeed of that kind that applies to a call; this uses it up. */
  const meet = (call: Meeting, sort: (misdeed: Misdeed) => boolean) => {
    for (const rule of rules) {
      if (!sort(rule.misdeed) || !isMeant(rule, call) || --rule.skip >= 0) continue
      rule.met += 1
      if (rule.met % rule.every !== 0) continue
      rule.left--
      if (rule.left <= 0) rules.delete(rule)
      return rule.misdeed
    }
    return undefined
  }

  return {
    /** The next `times` calls meet it, or all until the returned function is called. */
    add(victims: Victims, misdeed: Misdeed, times = Number.POSITIVE_INFINITY): () => void {
      const rule = { skip: 0, every: 1, ...victims, misdeed, left: times, met: 0 }
      rules.add(rule)
      return () => void rules.delete(rule)
    },
    clear: (): void => rules.clear(),
    ofCall: (call: Call): Exclude<Misdeed, { end: Fate }> | undefined =>
      meet(call, (misdeed) => !('end' in misdeed)) as Exclude<Misdeed, { end: Fate }> | undefined,
    fateOf: (operation: string, input: object): Fate | undefined => {
      const misdeed = meet({ service: 'sso', operation, input: input as Fields }, (one) => 'end' in one)
      return misdeed !== undefined && 'end' in misdeed ? misdeed.end : undefined
    },
  }
}

const isMeant = (rule: Rule, { service, region, operation, input }: Meeting): boolean =>
  (rule.operation === '*' || rule.operation === operation) &&
  (rule.service === undefined || rule.service === service) &&
  (rule.region === undefined || rule.region === region) &&
  rule.when?.(input) !== false

/** The error of a misdeed, with the service's own message if none is given. */
export const errorOf = ({ error, message, status }: { error: string; message?: string; status?: number }): AwsError =>
  new AwsError(error, message ?? words[error] ?? error, { status: status ?? (serverFaults.has(error) ? 500 : 400) })

const words: Readonly<Record<string, string>> = {
  ThrottlingException: 'Rate exceeded',
  ConflictException: 'There is a conflicting operation in process. Please try again later.',
  AccessDeniedException: 'You do not have sufficient access to perform this action.',
  InternalServerException: 'The request processing has failed because of an unknown error.',
  ServiceQuotaExceededException: 'You have exceeded a quota.',
}
const serverFaults = new Set(['InternalServerException', 'InternalServerError', 'ServiceException', 'InternalFailure'])
