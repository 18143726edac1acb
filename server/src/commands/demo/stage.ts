import { setTimeout as pause } from 'node:timers/promises'
import { styleText } from 'node:util'
import { Untold } from './caller.ts'

/** A step that did not go as told: `claim` is its sentence. */
export class FailedStep extends Error {
  readonly claim: string

  constructor(claim: string, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.claim = claim
  }
}

/** Where the story is told: each step is acted, checked, and only then claimed. */
export type Stage = {
  scene(title: string): void
  /** Prints the claim once `act` has come true, and the lines of `detail` below it. @throws FailedStep */
  step<Value>(claim: string, act: () => Promise<Value>, detail?: (value: Value) => string): Promise<Value>
  steps(): number
}

type Style = Parameters<typeof styleText>[0]

/** Colours where the terminal has them: NO_COLOR and pipes get plain text. */
export function styled(style: Style, text: string): string {
  return styleText(style, text, { stream: process.stdout })
}

/** Tells the story on standard output. */
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

/** @throws Untold with the sentence where the condition does not hold */
export function require(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new Untold(otherwise)
}

const maxWaitMs = 10_000
const betweenLooksMs = 40

/** Looks again and again until there is an answer. @throws Untold when that takes too long */
export async function until<Value>(what: string, look: () => Promise<Value | undefined>): Promise<Value> {
  const deadline = performance.now() + maxWaitMs
  for (;;) {
    const seen = await look()
    if (seen !== undefined) return seen
    require(performance.now() < deadline, `waited ${maxWaitMs / 1000} s in vain until ${what}`)
    await pause(betweenLooksMs)
  }
}
