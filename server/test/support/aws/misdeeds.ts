import type { Fate } from './cloud.ts'
import { AwsError, type Fields } from './wire.ts'

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

/** Which calls: those of an operation, or of every one; of them those whose input answers `when`. */
export type Victims = { operation: string; when?: (input: Fields) => boolean }

type Rule = Victims & { misdeed: Misdeed; left: number }

/** What whoever runs a test has asked for, and which of it a call meets. */
export function openMisdeeds() {
  const rules = new Set<Rule>()

  /** The first rule that a call meets among those of the sort; it is used up by that. */
  const meet = (operation: string, input: Fields, sort: (misdeed: Misdeed) => boolean): Misdeed | undefined => {
    for (const rule of rules) {
      const meant = rule.operation === operation || rule.operation === '*'
      if (!meant || !sort(rule.misdeed) || rule.when?.(input) === false) continue
      rule.left--
      if (rule.left <= 0) rules.delete(rule)
      return rule.misdeed
    }
    return undefined
  }

  return {
    /** The next so many calls meet it, or all until the answered function is called. */
    add(victims: Victims, misdeed: Misdeed, times = Number.POSITIVE_INFINITY): () => void {
      const rule = { ...victims, misdeed, left: times }
      rules.add(rule)
      return () => void rules.delete(rule)
    },
    clear: (): void => rules.clear(),
    ofCall: (operation: string, input: Fields): Exclude<Misdeed, { end: Fate }> | undefined =>
      meet(operation, input, (misdeed) => !('end' in misdeed)) as Exclude<Misdeed, { end: Fate }> | undefined,
    fateOf: (operation: string, input: object): Fate | undefined => {
      const misdeed = meet(operation, input as Fields, (one) => 'end' in one)
      return misdeed !== undefined && 'end' in misdeed ? misdeed.end : undefined
    },
  }
}

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
