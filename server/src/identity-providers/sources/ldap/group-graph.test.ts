import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { flatten, type GroupNode } from './group-graph.ts'

function graphOf(
  groups: Record<string, { people?: readonly string[]; nested?: readonly string[] }>,
): Map<string, GroupNode> {
  return new Map(
    Object.entries(groups).map(([key, { people = [], nested = [] }]) => [
      key,
      { id: key, name: key, people: [...people], nested: [...nested] },
    ]),
  )
}

async function membersOf(groups: ReadonlyMap<string, GroupNode>, limit?: number) {
  const found: Record<string, string[]> = {}
  for await (const { group, people } of flatten(groups, limit)) found[group.id] = [...people].sort()
  return found
}

suite('the people of groups', () => {
  test('are those of nested groups too, each once', async () => {
    const groups = graphOf({
      all: { people: ['ada'], nested: ['staff', 'guests'] },
      staff: { people: ['ada', 'grace'], nested: ['engineers', 'unknown'] },
      engineers: { people: ['alan'] },
      guests: {},
    })
    assert.deepEqual(await membersOf(groups), {
      all: ['ada', 'alan', 'grace'],
      staff: ['ada', 'alan', 'grace'],
      engineers: ['alan'],
      guests: [],
    })
  })

  test('are found where groups contain each other, and themselves', async () => {
    const groups = graphOf({
      a: { people: ['ada'], nested: ['b'] },
      b: { people: ['grace'], nested: ['c'] },
      c: { nested: ['a', 'c'] },
    })
    const everyone = ['ada', 'grace']
    assert.deepEqual(await membersOf(groups), { a: everyone, b: everyone, c: everyone })
  })

  test('are found through a long chain', async () => {
    const chain = Array.from(
      { length: 20_000 },
      (_, index) => [`g${index}`, { people: [`p${index}`], nested: [`g${index + 1}`] }] as const,
    )
    for await (const { people } of flatten(graphOf(Object.fromEntries(chain)))) {
      assert.equal(people.size, 20_000)
      break
    }
  })

  test('are refused where they are too many', async () => {
    const groups = graphOf({ a: { people: ['ada', 'grace'] }, b: { people: ['ada'], nested: ['a'] } })
    await assert.doesNotReject(membersOf(groups, 6))
    await assert.rejects(membersOf(groups, 5), {
      name: 'TargetError',
      kind: 'permanent',
      message: /more than 5 .*group_filter/,
    })
  })
})
