import { setTimeout as pause } from 'node:timers/promises'
import { styleText } from 'node:util'
import { Unexpected } from './caller.ts'

/** A step that failed: `claim` is its sentence. */
export class FailedStep extends Error {
  readonly claim: string

  constructor(claim: string, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.claim = claim
  }
}

/** Runs the demo: each step is executed, checked, and only then printed. */
export type Stage = {
  scene(title: string): void
  /** Prints the claim once `act` has succeeded, and the lines of `detail` below it. @throws FailedStep */
  step<Value>(claim: string, act: () => Promise<Value>, detail?: (value: Value) => string): Promise<Value>
  steps(): number
}

type Style = Parameters<typeof styleText>[0]

/** Colours if the terminal has them: NO_COLOR and pipes get plain text. */
export function styled(style: Style, text: string): string {
  return styleText(style, text, { stream: process.stdout })
}

/** Prints the demo on standard output. */
export function openStage(): Stage {
  let steps = 0
  return {
    scene(title) {
      console.log(`\n${styled('bold', title)}`)
    },
    async step(claim, act, detail) {
      const value = await act().catch((error: unknown) => {
        throw new FailedStep(claim, error)
      })
      steps += 1
      console.log(`  ${styled('green', '✓')} ${claim}`)
      if (detail !== undefined) console.log(styled('dim', detail(value).replace(/^/gm, '    ')))
      return value
    },
    steps: () => steps,
  }
}

/** @throws Unexpected with the sentence if the condition does not hold */
export function require(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new Unexpected(otherwise)
}

const maxWaitMs = 10_000
const pollEveryMs = 40

/** Polls until there is an answer. @throws Unexpected if that takes too long */
export async function until<Value>(what: string, poll: () => Promise<Value | undefined>): Promise<Value> {
  const deadline = performance.now() + maxWaitMs
  for (;;) {
    const answer = await poll()
    if (answer !== undefined) return answer
    require(performance.now() < deadline, `waited ${maxWaitMs / 1000} s without success until ${what}`)
    await pause(pollEveryMs)
  }
}
