import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { anySeed } from '../support/chance.ts'
import { findServer } from '../support/database.ts'
import { pointAt } from './crash-points.ts'
import { openPair, type Pair } from './pair.ts'
import type { Outcome } from './under-fire.ts'

let pair: Pair
const stops: (() => Promise<void>)[] = []
before(async () => {
  const { server, stop } = await findServer()
  pair = await openPair(server, 'shortened', 'sandbox')
  stops.push(pair.close, stop)
})
after(async () => {
  for (const stop of stops) await stop()
})

function assertSound({ reached, faults }: Outcome): void {
  assert.ok(reached, 'the point was never reached: if its statement has changed, change the step in crash-points.ts')
  assert.deepEqual(faults, [])
}

test('two processes on one database both work, and each task is done once', async () => {
  const outcome = await pair.share(anySeed())
  assertSound(outcome)
  assert.ok(
    outcome.claims.every((count) => count > 0),
    `one of them did nothing: ${outcome.claims.join()}`,
  )
})

test('a process is killed in the middle of an act, and the other takes over its work (F1)', async () => {
  assertSound(await pair.loseOne(pointAt('after', 'create sent'), anySeed()))
})

/** What a worker may be about to write when it is stopped; without a fence, resuming would corrupt it. */
const sleeping = {
  'create sent': 'gives no access that was revoked meanwhile',
  polled: 'repeats no act that was undone meanwhile',
  'presence kept': 'activates no access that has ended meanwhile',
  'absence kept': 'does not mark access as gone that was given again meanwhile',
} as const

for (const [name, promise] of Object.entries(sleeping)) {
  test(`stopped past its lease before: ${name}, a resumed worker ${promise} (F2)`, async () => {
    assertSound(await pair.putToSleep(pointAt('before', name as keyof typeof sleeping)))
  })
}
