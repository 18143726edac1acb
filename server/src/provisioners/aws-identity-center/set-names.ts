import { createLruCache } from '../../kernel/lru-cache.ts'

/**
 * A cache of the names of an instance's permission sets. AWS cannot look one up by name, and a name never changes, so each
 * description is cached.
 */
export type SetNames = {
  arnOf(name: string): string | undefined
  nameOf(arn: string): string | undefined
  keep(name: string, arn: string): void
  drop(arn: string): void
  /** A set of this name may exist: the call to create it got no answer. */
  doubt(name: string): void
  isDoubtful(name: string): boolean
  /** Concurrent callers for the same set share one call. */
  once(arn: string, describe: () => Promise<string | undefined>): Promise<string | undefined>
}

const maxNames = 10_000
const doubtfulForMs = 60_000

export function openSetNames(): SetNames {
  const arns = createLruCache<string>(maxNames)
  const names = createLruCache<string>(maxNames)
  const doubts = createLruCache<number>(maxNames)
  const inFlight = new Map<string, Promise<string | undefined>>()
  return {
    arnOf: (name) => arns.get(name),
    nameOf: (arn) => names.get(arn),
    keep(name, arn) {
      arns.set(name, arn)
      names.set(arn, name)
    },
    drop(arn) {
      const name = names.get(arn)
      names.delete(arn)
      if (name !== undefined && arns.get(name) === arn) arns.delete(name)
    },
    doubt: (name) => doubts.set(name, performance.now()),
    isDoubtful: (name) => performance.now() - (doubts.get(name) ?? Number.NEGATIVE_INFINITY) < doubtfulForMs,
    once(arn, describe) {
      const answer = inFlight.get(arn) ?? describe().finally(() => inFlight.delete(arn))
      inFlight.set(arn, answer)
      return answer
    },
  }
}
