import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WorkCtx } from '../kernel/context.ts'
import { systemActor } from '../kernel/context.ts'
import type { NewEvent } from './emit.ts'
import { createSampler } from './sample.ts'

const ctxOf = (tenant_id: string) => ({ tx: { tenant_id }, actor: systemActor, request_id: 'test' }) as WorkCtx
const event: NewEvent = { type: 'auth.refused', subject_type: 'user', subject_id: 'unknown', data: { cause: 'a' } }

test('of equal events the first twenty are kept, then each power of two, with the count', () => {
  const sample = createSampler()
  const kept = Array.from({ length: 10_000 }, () => sample(ctxOf('acme'), event)).filter((one) => one !== undefined)
  assert.deepEqual(
    kept.map(({ data }) => data?.times),
    [...Array(20).fill(undefined), 32, 64, 128, 256, 512, 1_024, 2_048, 4_096, 8_192],
  )
  assert.deepEqual(kept[0], event)
})

test('events differ by tenant, subject or cause, and the count starts again after a quarter of an hour', () => {
  let now = 5
  const sample = createSampler({ clock: () => now })
  const isKept = (change: Partial<NewEvent> = {}, tenant = 'acme') =>
    sample(ctxOf(tenant), { ...event, ...change }) !== undefined
  for (let times = 0; times < 21; times += 1) isKept()
  assert.equal(isKept(), false)
  assert.ok(isKept({}, 'beta') && isKept({ subject_id: 'anna' }) && isKept({ data: { cause: 'b' } }))
  now += 900_000
  assert.ok(isKept())
})
