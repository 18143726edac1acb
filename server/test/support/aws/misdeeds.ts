import type { Fate } from './cloud.ts'
import { AwsError, type Call, type Fields, type ServiceName } from './wire.ts'

/**
 * What a call meets instead of what it asked for. `cut`: the connection is closed before anything was done, when it was
 * done and not answered, or in the middle of the answer. `end`: the act that it begins ends so.
 */
export type Misdeed =
  | { error: string; message?: string; status?: number }
  | { cut: 'before' | 'after' | 'half' }
  | { delay_ms: number }
  | { hang: true }
  | { end: Fate }

/**
 * Which calls: those of an operation (`*`: of every one), of a service, whose input answers `when`; of all of them the first
 * so many are let by.
 */
export type Victims = {
  operation: string
  service?: ServiceName
  when?: (input: Fields) => boolean
  skip?: number
}

type Rule = Victims & { misdeed: Misdeed; left: number; skip: number }

/** What whoever runs a test has asked for, and which of it a call meets. */
export function openMisdeeds() {
  const rules = new Set<Rule>()

  /** The first rule of the sort that a call meets; it is used up by that. */
  const meet = (call: Pick<Call, 'service' | 'operation' | 'input'>, sort: (misdeed: Misdeed) => boolean) => {
    for (const rule of rules) {
      if (!sort(rule.misdeed) || !isMeant(rule, call) || --rule.skip >= 0) continue
      rule.left--
      if (rule.left <= 0) rules.delete(rule)
      return rule.misdeed
    }
    return undefined
  }

  return {
    /** The next so many calls meet it, or all until the answered function is called. */
    add(victims: Victims, misdeed: Misdeed, times = Number.POSITIVE_INFINITY): () => void {
      const rule = { skip: 0, ...victims, misdeed, left: times }
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

const isMeant = (rule: Rule, { service, operation, input }: Pick<Call, 'service' | 'operation' | 'input'>): boolean =>
  (rule.operation === '*' || rule.operation === operation) &&
  (rule.service === undefined || rule.service === service) &&
  rule.when?.(input) !== false

/** The error that a misdeed is to answer, in the words of the service where none are given. */
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
