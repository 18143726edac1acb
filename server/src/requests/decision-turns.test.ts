import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { newId } from '../kernel/id.ts'
import { type DecisionTurn, decisionTurns } from './decision-turns.ts'

/** A call with decisions that each run until they are told to end. */
function openCall(caller: { tenant_id: string; user_id: string }, count = 1) {
  const begun: number[] = []
  const ends = Array.from({ length: count }, () => Promise.withResolvers<void>())
  const refused: string[] = []
  const done = decisionTurns(caller, async (inTurn: DecisionTurn) => {
    for (const [index, { promise }] of ends.entries()) {
      await inTurn(async () => {
        begun.push(index)
        await promise
      }).catch((error: Error) => refused.push(error.message))
    }
  })
  return { done, begun, refused, end: (index: number) => ends[index]?.resolve() }
}

/** Lets everything run that waits for nothing else. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve))

suite('calls that decide several requests', () => {
  test('of one person run one at a time, and beyond three that wait are refused', async () => {
    const [tenant_id, user_id] = [newId(), newId()]
    const calls = Array.from({ length: 4 }, () => openCall({ tenant_id, user_id }))
    await assert.rejects(openCall({ tenant_id, user_id }).done, { code: 'unavailable' })
    await settle()
    assert.deepEqual(
      calls.map(({ begun }) => begun.length),
      [1, 0, 0, 0],
    )
    const other = openCall({ tenant_id, user_id: newId() })
    other.end(0)
    await other.done
    for (const { end } of calls) end(0)
    await Promise.all(calls.map(({ done }) => done))
  })

  test('of one tenant have two turns; its people go between the decisions of a call, and other tenants do not wait', async () => {
    const tenant_id = newId()
    const long = openCall({ tenant_id, user_id: 'long' }, 3)
    const [second, third] = ['second', 'third'].map((user_id) => openCall({ tenant_id, user_id }))
    await settle()
    assert.deepEqual([long.begun, second?.begun, third?.begun], [[0], [0], []])
    const elsewhere = openCall({ tenant_id: newId(), user_id: 'long' })
    elsewhere.end(0)
    await elsewhere.done
    long.end(0)
    await settle()
    assert.deepEqual([long.begun, third?.begun], [[0], [0]], 'the third has waited longer')
    third?.end(0)
    await settle()
    assert.deepEqual(long.begun, [0, 1])
    for (const index of [1, 2]) long.end(index)
    second?.end(0)
    await Promise.all([long, second, third].map((call) => call?.done))
  })

  test('begin no decision after eight seconds, and wait no longer for a turn', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const tenant_id = newId()
    const running = openCall({ tenant_id, user_id: 'running' }, 3)
    const second = openCall({ tenant_id, user_id: 'second' })
    const waiting = openCall({ tenant_id, user_id: 'waiting' }, 2)
    const behind = openCall({ tenant_id, user_id: 'running' })
    await settle()
    t.mock.timers.tick(7_999)
    await settle()
    assert.deepEqual([running.refused, waiting.refused], [[], []])
    t.mock.timers.tick(1)
    await waiting.done
    await assert.rejects(behind.done, { code: 'unavailable' })
    assert.equal(waiting.refused.length, 2)
    running.end(0)
    second.end(0)
    await running.done
    assert.deepEqual([running.begun, running.refused.length], [[0], 2])
    assert.match(running.refused[0] ?? '', /took too long/)
  })
})
