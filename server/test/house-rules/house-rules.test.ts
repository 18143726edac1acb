import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { builtinImportsOf, importsOf, readSources, type Source } from '../support/source-files.ts'
import { houseRules } from './house-rules.ts'
import { findCycle, graphOf } from './import-cycles.ts'
import { moduleOf } from './import-rules.ts'
import { libraryEntryPoints, listedPairs, mayImport } from './import-table.ts'
import { outsideModules } from './outside-modules.ts'
import { trials, verb } from './trials.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const workspaces = ['server/src', 'server/test', 'client/src', 'cli/src', 'console/src', 'bench', 'packaging']

suite('the house rules', () => {
  const sources = new Map(readSources(root, workspaces).map((source) => [source.path, source]))

  for (const [name, rule] of Object.entries(houseRules)) {
    test(rule.sentence, () => {
      const faults = [...sources.values()].flatMap((source) =>
        rule.find(source, sources).map(({ line, what }) => `${source.path}:${line}  ${what}`),
      )
      assert.ok(faults.length === 0, [`${name}: ${rule.sentence}`, ...faults].join('\n  '))
    })
  }
})

suite('the import table', () => {
  const sources = readSources(root, ['server/src']).filter(({ path }) => !path.endsWith('.test.ts'))
  const imported = sources.flatMap((source) => importsOf(source).map((one) => ({ from: source.path, ...one })))
  const files = imported.flatMap((one) => ('target' in one ? [[one.from, one.target] as const] : []))
  const modules = files.map(([from, to]) => [moduleOf(from), moduleOf(to)] as const)
  const top = (module: string) => module.replace(/\/.*/, '')
  const allowed = [
    ...Object.entries(mayImport).flatMap(([from, all]) => all.map((to) => [from, to] as const)),
    ...Object.keys(listedPairs).map((pair) => pair.split(' → ') as [string, string]),
  ]

  for (const [what, pairs] of [
    ['the files import', files],
    ['the modules import', modules],
    ['the outermost folders import', modules.map(([from, to]) => [top(from), top(to)] as const)],
    ['the table lets modules import', allowed],
    ['the table lets the outermost folders import', allowed.map(([from, to]) => [top(from), top(to)] as const)],
  ] as const) {
    test(`${what} each other without a cycle`, () => assert.equal(findCycle(graphOf(pairs))?.join(' → '), undefined))
  }

  test('every listed place of a Node module is used', () => {
    const unused = Object.entries(outsideModules).flatMap(([module, { at = {} }]) =>
      Object.keys(at).filter(
        (place) =>
          !sources.some(
            (source) => source.path.startsWith(place) && builtinImportsOf(source).some((one) => one.module === module),
          ),
      ),
    )
    assert.deepEqual(unused, [])
  })

  test('every listed pair, module and library entry point is used', () => {
    const used = new Set(modules.map(([from, to]) => `${from} → ${to}`))
    const folders = new Set(sources.map(({ path }) => moduleOf(path)))
    const libraries = imported.flatMap((one) => ('library' in one ? [`${one.from} → ${one.library}`] : []))
    const isUsed = (library: string, place: string) =>
      libraries.some((one) => one.startsWith(`server/src/${place}`) && one.includes(` → ${library.replace(/\*$/, '')}`))
    assert.deepEqual(
      [
        ...Object.keys(listedPairs).filter((pair) => !used.has(pair)),
        ...Object.keys(mayImport).filter((module) => !folders.has(module)),
        ...Object.entries(libraryEntryPoints).flatMap(([library, all]) =>
          all.filter((place) => !isUsed(library, place)).map((place) => `${place} → ${library}`),
        ),
      ],
      [],
    )
  })
})

suite('a cycle is found', () => {
  const cases: [string, [string, string][], string | undefined][] = [
    [
      'between two',
      [
        ['a', 'b'],
        ['b', 'a'],
      ],
      'a → b → a',
    ],
    [
      'between three, reached from a node outside the cycle',
      [
        ['x', 'a'],
        ['a', 'b'],
        ['b', 'c'],
        ['c', 'a'],
      ],
      'a → b → c → a',
    ],
    [
      'after a path without a cycle',
      [
        ['a', 'b'],
        ['a', 'c'],
        ['c', 'd'],
        ['d', 'c'],
      ],
      'c → d → c',
    ],
    [
      'not if two paths lead to one node',
      [
        ['a', 'b'],
        ['a', 'c'],
        ['b', 'd'],
        ['c', 'd'],
      ],
      undefined,
    ],
    ['not in a node that imports itself', [['a', 'a']], undefined],
  ]
  for (const [name, pairs, cycle] of cases) {
    test(name, () => assert.equal(findCycle(graphOf(pairs))?.join(' → '), cycle))
  }
})

suite('each house rule can fail', () => {
  const neighbours: Source[] = [
    { path: 'server/src/users/user.ts', text: 'export const user = 1\n' },
    { path: 'server/src/users/list-users.ts', text: verb('listUsers') },
    { path: 'server/src/users/user-store.ts', text: 'export const read = 1\n' },
    { path: 'server/src/users/join.flow.ts', text: 'export const join = 1\n' },
    { path: 'server/src/http/kept-store.ts', text: 'export const kept = 1\n' },
    { path: 'server/src/users/sweep.job.ts', text: 'export const sweep = 1\n' },
    { path: 'server/src/users/tell.subscriber.ts', text: 'export const tell = 1\n' },
  ]
  const all = new Map(neighbours.map((source) => [source.path, source]))

  for (const [rule, name, path, text, lines] of trials) {
    test(`${rule} ${name}`, () => {
      const found = houseRules[rule].find({ path, text }, all)
      assert.deepEqual(
        found.map(({ line }) => line),
        lines,
      )
    })
  }

  test('every rule has a file that breaks it', () => {
    const broken = new Set(trials.filter(([, , , , lines]) => lines.length > 0).map(([rule]) => rule))
    assert.deepEqual(new Set(Object.keys(houseRules)), broken)
  })
})
