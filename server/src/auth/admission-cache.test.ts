import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../kernel/id.ts'
import { createAdmissionCache, digestOf, type Proof } from './admission-cache.ts'

const began = Date.parse('2026-01-01T00:00:00Z')
const always = () => true
const [acme, other] = [newId(), newId()]

type Held = { tenant_id?: string; fresh?: () => boolean; limit?: number }

/** A cache on a clock that the test sets. `admit` checks with the answer of the test; `countChecks` counts the checks. */
function stage({ fresh = always, limit = 100 }: Held = {}) {
  const clock = { ms: 0 }
  const cache = createAdmissionCache({ isFresh: fresh, limit, clock: () => clock.ms })
  let checks = 0
  const proof = (scopes: string[], isLive: Proof['isLive'] = always, tenant_id = acme): Proof => {
    const actor = { kind: 'user', user_id: newId(), api_key_id: null, scopes: new Set(scopes) } as const
    return {
      admission: {
        tenant_id,
        actor,
        via: 'token',
        session: null,
        tenant_suspended: false,
        now: new Date(began + clock.ms),
      },
      isLive,
    }
  }
  const admit = async (digest: string, answer: () => Proof | undefined | Promise<Proof | undefined>) => {
    const admission = await cache.admit(digest, async () => {
      checks += 1
      return answer()
    })
    return admission && [...admission.actor.scopes]
  }
  return { clock, cache, proof, admit, countChecks: () => checks }
}

test('a credential is checked once in five seconds, and a cached check is never older (A6, A9)', async () => {
  const { clock, proof, admit, countChecks } = stage()
  assert.deepEqual(await admit('a', () => proof(['before'])), ['before'])
  clock.ms = 4_999
  assert.deepEqual(await admit('a', () => proof(['after'])), ['before'])
  clock.ms = 5_000
  assert.deepEqual(await admit('a', () => proof(['after'])), ['after'])
  assert.equal(countChecks(), 2)
})

test('the age of a check counts from its start, not from a late answer', async () => {
  const { clock, proof, admit } = stage()
  await admit('a', () => {
    clock.ms = 4_000
    return proof(['before'])
  })
  clock.ms = 5_000
  assert.deepEqual(await admit('a', () => proof(['after'])), ['after'])
})

test('`drop` forgets the checks of one tenant, and `clear` forgets all (A6)', async () => {
  const { cache, proof, admit, countChecks } = stage()
  const admitBoth = async () => {
    await admit('a', () => proof([], always, acme))
    await admit('o', () => proof([], always, other))
    return countChecks()
  }
  assert.deepEqual([await admitBoth(), await admitBoth()], [2, 2])
  cache.drop(acme)
  assert.equal(await admitBoth(), 3)
  cache.clear()
  assert.equal(await admitBoth(), 5)
})

for (const forget of ['drop', 'clear'] as const) {
  test(`an answer from before a ${forget} is neither cached nor shared with later callers (A6)`, async () => {
    const { cache, proof, admit } = stage()
    const slow = Promise.withResolvers<Proof>()
    const early = admit('a', () => slow.promise)
    cache[forget](acme)
    const late = admit('a', () => proof(['after']))
    slow.resolve(proof(['before']))
    assert.deepEqual([await early, await late], [['before'], ['after']])
    assert.deepEqual(await admit('a', () => undefined), ['after'])
  })
}

test('while notices of changes do not arrive, every request is checked, and none shares a check (F15)', async () => {
  let fresh = true
  const { proof, admit, countChecks } = stage({ fresh: () => fresh })
  await admit('a', () => proof(['before']))
  fresh = false
  const slow = Promise.withResolvers<Proof>()
  const first = admit('a', () => slow.promise)
  assert.deepEqual(await admit('a', () => proof(['after'])), ['after'])
  slow.resolve(proof(['before']))
  assert.deepEqual(await first, ['before'])
  assert.equal(countChecks(), 3)
})

test('concurrent requests with one credential share one check', async () => {
  const { proof, admit, countChecks } = stage()
  const slow = Promise.withResolvers<Proof>()
  const all = Array.from({ length: 50 }, () => admit('a', () => slow.promise))
  slow.resolve(proof(['one']))
  assert.deepEqual(new Set((await Promise.all(all)).map(String)), new Set(['one']))
  assert.equal(countChecks(), 1)
})

test('a check that has run for five seconds is not shared', async () => {
  const { clock, proof, admit } = stage()
  const slow = Promise.withResolvers<Proof>()
  const first = admit('a', () => slow.promise)
  clock.ms = 5_000
  const second = admit('a', () => proof(['after']))
  slow.resolve(proof(['before']))
  assert.deepEqual([await first, await second], [['before'], ['after']])
  assert.deepEqual(await admit('a', () => undefined), ['after'])
})

test('an invalid credential is checked again each time, and so is a failed check', async () => {
  const { proof, admit } = stage()
  assert.equal(await admit('a', () => undefined), undefined)
  await assert.rejects(
    admit('a', () => Promise.reject(new Error('down'))),
    /down/,
  )
  assert.deepEqual(await admit('a', () => proof(['made since'])), ['made since'])
})

test('a credential that has expired by the extrapolated clock is checked again (A9)', async () => {
  const { clock, proof, admit } = stage()
  const live = (now: Date) => now.getTime() < began + 1_000
  await admit('a', () => proof(['before'], live))
  clock.ms = 999
  assert.deepEqual(await admit('a', () => undefined), ['before'])
  clock.ms = 1_000
  assert.equal(await admit('a', () => undefined), undefined)
})

test('expiry is measured from the start of the check, and `now` from its answer, so that both err to the safe side', async () => {
  const { clock, cache, proof } = stage()
  const seen: number[] = []
  await cache.admit('a', async () => {
    const answer = proof([], (now) => seen.push(now.getTime() - began) > 0)
    clock.ms = 300
    return answer
  })
  clock.ms = 1_000
  const again = await cache.admit('a', async () => undefined)
  assert.deepEqual([seen, again?.now.getTime()], [[1_000], began + 700])
})

test('the number of cached admissions is limited, and those checked longest ago are evicted', async () => {
  const { proof, admit, countChecks } = stage({ limit: 2 })
  for (const digest of ['a', 'b', 'c', 'c', 'b']) await admit(digest, () => proof([]))
  assert.equal(countChecks(), 3)
  await admit('a', () => proof([]))
  assert.equal(countChecks(), 4)
})

test('a digest depends on the kind of the credential: a token sent as a key has another one', () => {
  assert.notEqual(digestOf('token', 'x'), digestOf('api_key', 'x'))
  assert.match(digestOf('token', 'x'), /^[\w-]{43}$/)
})
