import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { libraryEntryPoints, listedPairs, mayImport } from './house-map.ts'
import { houseRules, moduleOf } from './house-rules.ts'
import { findCycle, graphOf } from './support/import-cycles.ts'
import { importsOf, readSources, type Source } from './support/source-files.ts'

type RuleName = keyof typeof houseRules

const root = fileURLToPath(new URL('../../', import.meta.url))
const workspaces = ['server/src', 'server/test', 'client/src', 'cli/src', 'console/src', 'bench']

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

const from = (path: string) => `import { thing } from '${path}'\n`
const verb = (name: string) => `export const ${name} = operation({ method: 'GET' })\n`

/** Rule, test name, path and text of a file, and the lines where the file breaks the rule. */
const trials: [RuleName, string, string, string, number[]][] = [
  ['imports', 'refuses any import in the kernel', 'server/src/kernel/page.ts', from('../config/config.ts'), [1]],
  ['imports', 'refuses a type as well', 'server/src/db/sql.ts', "import type { X } from '../http/schema.ts'\n", [1]],
  ['imports', 'refuses a type named in place', 'server/src/db/sql.ts', "\nlet x: import('../http/schema.ts').X\n", [2]],
  ['imports', 'refuses an import at run time', 'server/src/db/sql.ts', "await import('../http/server.ts')\n", [1]],
  ['imports', 'refuses a re-export', 'server/src/db/sql.ts', "export { x } from '../http/server.ts'\n", [1]],
  ['imports', 'refuses one over several lines', 'server/src/db/a.ts', "import {\n  x,\n} from '../http/a.ts'\n", [3]],
  ['imports', 'refuses an import for its side effect', 'server/src/db/a.ts', "import '../http/a.ts'\n", [1]],
  ['imports', 'refuses another slice that is not listed', 'server/src/users/a.ts', from('../cloud/account.ts'), [1]],
  ['imports', 'refuses the database in a target', 'server/src/provisioners/webhook/a.ts', from('../../db/sql.ts'), [1]],
  [
    'imports',
    'refuses another target in a target',
    'server/src/provisioners/webhook/a.ts',
    from('../sandbox/a.ts'),
    [1],
  ],
  [
    'imports',
    'refuses the database in the policy language',
    'server/src/policy-engine/cedar/a.ts',
    from('../../db/sql.ts'),
    [1],
  ],
  ['imports', 'refuses an entry point', 'server/src/users/user.ts', from('../app.ts'), [1]],
  ['imports', 'refuses test support', 'server/src/users/user.ts', from('../../test/support/server.ts'), [1]],
  ['imports', 'refuses a module that is not listed', 'server/src/attic/box.ts', from('../kernel/page.ts'), [1]],
  ['imports', 'takes what the table lists', 'server/src/http/pipeline.ts', from('../kernel/page.ts'), []],
  ['imports', 'takes the database in the sandbox', 'server/src/provisioners/sandbox/a.ts', from('../../db/sql.ts'), []],
  [
    'imports',
    'takes the driver interface in a target',
    'server/src/provisioners/webhook/a.ts',
    from('../provisioner.ts'),
    [],
  ],
  ['imports', 'takes the same module', 'server/src/users/user-store.ts', from('./user.ts'), []],
  ['imports', 'takes anything in a test', 'server/src/kernel/page.test.ts', from('../http/server.ts'), []],
  ['imports', 'takes anything in an entry point', 'server/src/app.ts', from('./users/list-users.ts'), []],
  ['imports', 'takes what a comment mentions', 'server/src/kernel/page.ts', `/*\n${from('../db/sql.ts')}*/\n`, []],
  ['verbs', 'refuses a verb in its own slice', 'server/src/users/user.ts', from('./list-users.ts'), [1]],
  ['verbs', 'refuses a job', 'server/src/users/user.ts', from('./sweep.job.ts'), [1]],
  ['verbs', 'refuses a subscriber', 'server/src/users/user.ts', from('./tell.subscriber.ts'), [1]],
  ['verbs', 'takes a verb in app.ts', 'server/src/app.ts', from('./users/list-users.ts'), []],
  ['verbs', 'takes a noun', 'server/src/users/list-users.ts', from('./user.ts') + verb('listUsers'), []],
  ['kinds', 'refuses a store in a noun', 'server/src/users/user.ts', from('./user-store.ts'), [1]],
  ['kinds', 'refuses a flow in a noun', 'server/src/users/user.ts', from('./join.flow.ts'), [1]],
  ['kinds', 'refuses a flow in a store', 'server/src/users/user-store.ts', from('./join.flow.ts'), [1]],
  ['kinds', 'refuses the store of another slice', 'server/src/roles/role.ts', from('../users/user-store.ts'), [1]],
  ['kinds', 'takes a store in a store', 'server/src/users/a-store.ts', from('./user-store.ts'), []],
  [
    'kinds',
    'takes both in a verb',
    'server/src/users/a.ts',
    from('./user-store.ts') + from('./join.flow.ts') + verb('a'),
    [],
  ],
  ['kinds', 'takes both in a job', 'server/src/users/a.job.ts', from('./user-store.ts') + from('./join.flow.ts'), []],
  ['kinds', 'takes a store in a flow', 'server/src/users/a.flow.ts', from('./user-store.ts'), []],
  ['kinds', 'takes a store outside the slices', 'server/src/http/a.ts', from('./kept-store.ts'), []],
  ['libraries', 'refuses pg in a slice', 'server/src/users/user-store.ts', from('pg'), [1]],
  ['libraries', 'refuses a part of a library', 'server/src/users/user.ts', from('jose/jwt/verify'), [1]],
  ['libraries', 'refuses a scope of libraries', 'server/src/users/user.ts', from('@fastify/swagger'), [1]],
  ['libraries', 'refuses a library without an entry point', 'server/src/users/user.ts', from('lodash'), [1]],
  ['libraries', 'refuses the command line in a slice', 'server/src/users/user.ts', from('commander'), [1]],
  ['libraries', 'takes pg in its entry point', 'server/src/db/client/connect.ts', from('pg'), []],
  ['libraries', 'takes the command line in admin.ts', 'server/src/commands/admin.ts', from('commander'), []],
  ['libraries', "takes Node's own modules anywhere", 'server/src/users/user.ts', from('node:crypto') + from('fs'), []],
  ['workspaces', 'refuses the server in the console', 'console/src/users/a.tsx', from('../../../server/src/a.ts'), [1]],
  ['workspaces', 'refuses the server by its name', 'cli/src/users/list.ts', from('@sallyport/server/a.ts'), [1]],
  ['workspaces', 'refuses the server in the client', 'client/src/client.ts', from('../../server/src/a.ts'), [1]],
  ['workspaces', 'takes the server in a bench', 'bench/a.ts', from('../server/src/a.ts'), []],
  ['workspaces', 'takes the client', 'cli/src/users/list.ts', from('@sallyport/client') + from('../ask.ts'), []],
  ['names', 'refuses camel case', 'server/src/users/userStore.ts', '', [1]],
  ['names', 'refuses snake case', 'server/src/users/user_store.ts', '', [1]],
  ['names', 'refuses a folder in camel case', 'server/src/apiKeys/key.ts', '', [1]],
  ['names', 'refuses a word that does not describe the content', 'server/src/users/user-service.ts', '', [1]],
  ['names', 'refuses such a folder', 'server/src/utils/page.ts', '', [1]],
  ['names', 'refuses each such word', 'server/src/common/types.test.ts', '', [1, 1]],
  ['names', 'takes a name that describes the content', 'server/src/users/end-access.subscriber.ts', '', []],
  ['names', 'takes a flow', 'server/src/users/end-access.flow.ts', '', []],
  ['length', 'refuses 301 lines', 'server/src/users/user.ts', 'x\n'.repeat(301), [301]],
  ['length', 'takes 300 lines', 'server/src/users/user.ts', 'x\n'.repeat(300), []],
  ['exports', 'refuses a default export', 'server/src/users/user.ts', '\nexport default user\n', [2]],
  ['exports', 'refuses an index', 'server/src/users/index.ts', '', [1]],
  ['exports', 'refuses re-exporting everything', 'server/src/users/user.ts', "export * from './a.ts'\n", [1]],
  ['exports', 'refuses re-exporting a name', 'server/src/users/user.ts', "export type { A } from './a.ts'\n", [1]],
  [
    'exports',
    'takes an entry point that re-exports its library',
    'server/src/policy-engine/cedar/engine.ts',
    "export type { A } from 'cedar'\n",
    [],
  ],
  ['exports', 'takes named exports', 'server/src/users/user.ts', 'export { user }\nexport const a = 1\n', []],
  ['environment', 'refuses a slice', 'server/src/users/user.ts', 'const url = process.env.URL\n', [1]],
  ['environment', 'takes config/', 'server/src/config/config.ts', 'const url = process.env.URL\n', []],
  ['environment', 'takes what a comment mentions', 'server/src/users/user.ts', '// not process.env\n', []],
  ['clock', 'refuses new Date()', 'server/src/grants/grant.ts', 'const now = new Date()\n', [1]],
  ['clock', 'refuses Date.now', 'server/src/grants/grant.ts', '\n\nif (end < Date.now()) {}\n', [3]],
  ['clock', 'takes a date made from a value', 'server/src/grants/grant.ts', 'new Date(ctx.now)\n', []],
  ['clock', 'takes a test', 'server/src/grants/grant.test.ts', 'new Date()\n', []],
  ['statements', 'refuses the tag in a verb', 'server/src/users/list-users.ts', 'tx.read(sql`select 1`)\n', [1]],
  ['statements', 'refuses the tag with a row type', 'server/src/users/a.ts', 'sql<{ id: string }>`select 1`\n', [1]],
  ['statements', 'refuses plain text', 'server/src/users/user.ts', "query('delete from app_user')\n", [1]],
  ['statements', 'takes a store', 'server/src/users/user-store.ts', 'sql`select 1`\n', []],
  ['statements', 'takes words that are not SQL', 'server/src/users/user.ts', "'select one, or update it'\n", []],
]

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
      'not where two paths lead to one node',
      [
        ['a', 'b'],
        ['a', 'c'],
        ['b', 'd'],
        ['c', 'd'],
      ],
      undefined,
    ],
    ['not in one that imports itself', [['a', 'a']], undefined],
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
