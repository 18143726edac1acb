import { createLruCache } from '../../kernel/lru-cache.ts'

/**
 * What the permission sets of an instance are called. AWS finds none by its name, and a name never changes: what was
 * described once is kept.
 */
export type SetNames = {
  arnOf(name: string): string | undefined
  nameOf(arn: string): string | undefined
  keep(name: string, arn: string): void
  drop(arn: string): void
  /** A set of this name may have been made: the call that was to make it was not answered. */
  doubt(name: string): void
  isDoubtful(name: string): boolean
  /** Whoever asks for the same set at the same time waits for the same call. */
  once(arn: string, describe: () => Promise<string | undefined>): Promise<string | undefined>
}

const maxNames = 10_000
const doubtfulForMs = 60_000

export function openSetNames(): SetNames {
  const arns = createLruCache<string>(maxNames)
  const names = createLruCache<string>(maxNames)
  const doubts = createLruCache<number>(maxNames)
  const asked = new Map<string, Promise<string | undefined>>()
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
      const answer = asked.get(arn) ?? describe().finally(() => asked.delete(arn))
      asked.set(arn, answer)
      return answer
    },
  }
}
