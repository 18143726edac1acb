import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { countAtOnce, fail, refuse, stop, tasksModule, waitFor } from '../../test/support/beside-tasks.ts'
import { openBeside } from './beside.ts'

const beside = openBeside()
const shared = () => new Int32Array(new SharedArrayBuffer(8))
const times = <Item>(count: number, make: () => Item): Item[] => Array.from({ length: count }, make)

suite('a computation beside the main thread', () => {
  test('returns the result of the function', async () => {
    assert.equal(await beside.run('a', tasksModule, waitFor, [new Int32Array([1]), 'done']), 'done')
  })

  test('fails as the function does', async () => {
    const refusal = { name: 'Problem', code: 'invalid_policy', status: 400, details: { field: 'x' } }
    await assert.rejects(beside.run('a', tasksModule, refuse, ['x']), refusal)
    await assert.rejects(beside.run('a', tasksModule, fail, []), { name: 'TypeError', message: 'a mistake' })
  })

  test('of one tenant runs one at a time', async () => {
    const counts = shared()
    await Promise.all(times(20, () => beside.run('a', tasksModule, countAtOnce, [counts, 3])))
    assert.equal(counts[1], 1)
  })

  test('of one tenant does not wait for those of another (J11)', async () => {
    const [flag, calls] = [shared(), 100]
    const many = times(calls, () => beside.run('a', tasksModule, waitFor, [flag, 'late']))
    assert.equal(await beside.run('b', tasksModule, waitFor, [new Int32Array([1]), 'at once']), 'at once')
    Atomics.store(flag, 0, 1)
    assert.deepEqual(
      await Promise.all(many),
      times(calls, () => 'late'),
    )
  })

  test('is refused when 200 of the tenant wait, and only of that tenant (J11)', async () => {
    const flag = shared()
    const many = times(201, () => beside.run('a', tasksModule, waitFor, [flag, 'done']))
    await assert.rejects(beside.run('a', tasksModule, waitFor, [flag, 'done']), { code: 'unavailable' })
    assert.equal(await beside.run('b', tasksModule, waitFor, [new Int32Array([1]), 'done']), 'done')
    Atomics.store(flag, 0, 1)
    assert.equal((await Promise.all(many)).length, 201)
  })

  test('is refused when it has waited too long, and those that run are not', async () => {
    const flag = shared()
    const hasty = openBeside(1)
    const first = hasty.run('a', tasksModule, waitFor, [flag, 'done'])
    await assert.rejects(hasty.run('a', tasksModule, waitFor, [flag, 'done']), { code: 'unavailable' })
    Atomics.store(flag, 0, 1)
    assert.equal(await first, 'done')
  })

  test('fails when the thread ends, and the next one gets another thread', async () => {
    const flag = shared()
    const lost = [beside.run('a', tasksModule, waitFor, [flag, 'never']), beside.run('b', tasksModule, stop, [])]
    for (const one of lost) await assert.rejects(one, { code: 'unavailable', status: 503 })
    assert.equal(await beside.run('a', tasksModule, waitFor, [new Int32Array([1]), 'again']), 'again')
  })
})
