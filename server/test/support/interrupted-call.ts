import type { AwsTarget } from './aws-stage.ts'

/**
 * The interruption: at the call of that number, before it has an effect, or after the effect and before the answer. `dies`:
 * the process dies with it.
 */
export type Cut = { call: number; cut: 'before' | 'after'; dies: boolean }

/** Interrupts a call, counted from the next one. Returns whether that has happened, as a function. */
export function interruptCall(aws: AwsTarget['aws'], { call, cut, dies }: Cut): () => boolean {
  const from = aws.entries().length
  aws.next({ operation: '*', skip: call }, { cut })
  // From its death on, none of its calls has an effect.
  if (dies) aws.always({ operation: '*', skip: call }, { cut: 'before' })
  return () =>
    aws
      .entries()
      .slice(from)
      .some(({ outcome }) => outcome.startsWith('cut'))
}
