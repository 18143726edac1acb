import { doors, entryPoints, listedPairs, mayImport, slices } from './house-map.ts'
import { type Import, importsOf, linesWith, type Source } from './support/source-files.ts'

/** What a rule finds: where, and what about it. */
export type Finding = { line: number; what: string }

/** A rule of the house: the sentence to read when it is broken, and what it finds in a file among all files. */
export type Rule = { sentence: string; find(source: Source, all: ReadonlyMap<string, Source>): Finding[] }

// ── Who may import whom ────────────────────────────────────────────────────────────────────────────────────────────────

const imports: Rule = {
  sentence: 'a room imports only the rooms that the table lists for it (docs/architecture.md, "Who may import whom")',
  find: (source) =>
    inProduction(source).flatMap(({ line, ...imported }) => {
      if (!('target' in imported) || entryPoints.includes(source.path)) return []
      const [from, to] = [moduleOf(source.path), moduleOf(imported.target)]
      if (mayImport[from] === undefined) return [{ line, what: `\`${from}\` is a room without a line in the table` }]
      if (from === to || mayImport[from].includes(to) || `${from} → ${to}` in listedPairs) return []
      return [{ line, what: `\`${from}\` may not import \`${to}\`` }]
    }),
}

const verbs: Rule = {
  sentence:
    'only the entry points import verbs, jobs and subscribers; a rule that two verbs need belongs to their noun',
  find: (source, all) =>
    inProduction(source).flatMap(({ line, ...imported }) => {
      if (!('target' in imported) || entryPoints.includes(source.path)) return []
      const target = all.get(imported.target)
      return target !== undefined && isVerb(target) ? [{ line, what: `\`${target.path}\` is for app.ts alone` }] : []
    }),
}

/** What is driven from outside and reads what it needs itself: neither noun nor flow. */
const adapters: Exceptions = {
  'server/src/notification-channels/mail/email-carrier.ts': 'a carrier looks up the sender that it may use',
  'server/src/notification-channels/webhook/webhook-carrier.ts': 'a carrier looks up address and secrets of one moment',
  'server/src/notifications/stream-hub.ts': 'the hub of open streams reads what they wait for',
  'server/src/provisioners/drivers.ts': 'opens the driver of a provisioner, and keeps it open',
  'server/src/provisioners/sandbox/': 'a target whose directory is a table',
  'server/src/provisioners/webhook/': 'a target that is told again what it was told',
}

const kinds: Rule = {
  sentence: 'a noun imports no store and no flow, and a store no flow: verbs, jobs and flows call them',
  find: (source, all) => {
    if (Object.keys(adapters).some((place) => source.path.startsWith(place))) return []
    const kind = kindOf(source)
    if (kind !== 'noun' && kind !== 'store') return []
    return inProduction(source).flatMap(({ line, ...imported }) => {
      const target = 'target' in imported ? all.get(imported.target) : undefined
      const called = target && kindOf(target)
      const isAbove = called === 'flow' || (called === 'store' && kind === 'noun')
      return isAbove ? [{ line, what: `a ${kind} imports the ${called} \`${target?.path}\`` }] : []
    })
  },
}

const libraries: Rule = {
  sentence: 'each outside library has one door: only the folder listed beside it imports it',
  find: (source) =>
    inProduction(source).flatMap(({ line, ...imported }) => {
      if (!('library' in imported)) return []
      const { library } = imported
      const listed = doors[library] ?? doors[library.replace(/\/.*/, '/*')]
      if (listed === undefined) return [{ line, what: `\`${library}\` has no door yet: list one` }]
      const inside = listed.some((door) => `${source.path}/`.startsWith(`server/src/${door}/`))
      return inside ? [] : [{ line, what: `\`${library}\` comes in through ${listed.join(', ')}` }]
    }),
}

const workspaces: Rule = {
  sentence:
    'console and cli import the client, the client imports nothing of ours, and none of them the server; bench may',
  find: (source) => {
    const home = source.path.replace(/\/.*/, '')
    if (home === 'server' || home === 'bench') return []
    return importsOf(source).flatMap(({ line, ...imported }) => {
      const stranger =
        'target' in imported ? !imported.target.startsWith(`${home}/`) : imported.library.startsWith('@sallyport/')
      const client = 'library' in imported && imported.library === '@sallyport/client' && home !== 'client'
      return stranger && !client ? [{ line, what: `\`${home}\` reaches into another workspace` }] : []
    })
  },
}

// ── How files look ─────────────────────────────────────────────────────────────────────────────────────────────────────

const kebab = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.(?:flow|job|subscriber|config))?(?:\.long)?(?:\.test)?\.tsx?$/
const bannedWords = /^(?:utils?|helpers?|common|managers?|services?|types?)$/

const names: Rule = {
  sentence:
    'files and folders are kebab-case and say what is inside: never utils, helpers, common, manager, service, types',
  find({ path }) {
    const folders = path.split('/')
    const file = folders.pop() ?? ''
    const words = [...folders, file.replace(/\..*/, '')].flatMap((name) => name.split('-'))
    const banned = words.filter((word) => bannedWords.test(word)).map((word) => `\`${word}\` says nothing`)
    const cased = kebab.test(file) && !/[^a-z0-9/-]/.test(folders.join('/')) ? [] : [`\`${path}\` is not kebab-case`]
    return [...banned, ...cased].map((what) => ({ line: 1, what }))
  },
}

const longest = 300

const length: Rule = {
  sentence: `a file has at most ${longest} lines: past that its walls want to move`,
  find({ text }) {
    const lines = text.trimEnd().split('\n').length
    return lines > longest ? [{ line: longest + 1, what: `${lines} lines` }] : []
  },
}

/** A library's door may hand the library's own names on; a file of ours is imported where it stands. */
const reExport = /^export\s+(?:type\s+)?(?:\*(?:\s+as\s+\w+)?|\{[^}]*\})\s*from\s*['"]\./m

const exports: Rule = {
  sentence: 'exports are named, and imported from where they stand: no default exports, no barrels',
  find: (source) => [
    ...(/\/index\.tsx?$/.test(source.path) ? [{ line: 1, what: 'a file named index' }] : []),
    ...(source.path.endsWith('.config.ts') ? [] : linesWith(source, /^export default\b/m)).map((line) => ({
      line,
      what: 'a default export',
    })),
    ...linesWith(source, reExport).map((line) => ({
      line,
      what: 'a re-export',
    })),
  ],
}

// ── What stays in its place ────────────────────────────────────────────────────────────────────────────────────────────

/** Files that may do what a rule forbids elsewhere, each with its reason. */
type Exceptions = Readonly<Record<string, string>>

const environmentAt: Exceptions = {
  'server/src/config/': 'the one reader',
  'server/src/commands/demo.ts': 'a client, with settings of its own',
  'server/src/embedded-postgres/cluster.ts': 'hands the few harmless variables on to its child process',
}

const environment: Rule = {
  sentence: 'the environment is read in config/ alone: everything else is handed what it needs',
  find: (source) => outside(environmentAt, source, /\bprocess\.env\b/, 'reads the environment'),
}

const clockAt: Exceptions = {
  'server/src/kernel/id.ts': 'the moment in an id orders it; nothing is decided on it',
  'server/src/http/pipeline.ts': 'without a credential nothing was asked yet: such an operation decides nothing on it',
}

const clock: Rule = {
  sentence: "no decision is taken on the node's own clock: the database's is the one clock, `ctx.now` carries it",
  find: (source) => outside(clockAt, source, /\bnew Date\(\s*\)|\bDate\.now\b/, "reads the node's clock"),
}

const sqlAt: Exceptions = {
  'server/src/db/': 'the door itself',
  'server/src/events/': 'the event table',
  'server/src/jobs/': 'due work and leases',
  'server/src/provisioners/postgresql/': "speaks to the customer's databases",
  'server/src/backup/': 'all tables, whatever they hold',
  'server/src/commands/db-setup.ts': 'makes the roles',
}

const sqlText =
  /\bsql(?:<[^`]*?>)?`|['"`]\s*(?:select\s[^'"`]*\sfrom\s|insert\s+into\s|update\s+\w+\s+set\s|delete\s+from\s)/i

const statements: Rule = {
  sentence: "a slice's SQL stands in its `*-store.ts`, where each function takes `tx` first",
  find: (source) => (source.path.endsWith('-store.ts') ? [] : outside(sqlAt, source, sqlText, 'holds SQL')),
}

/** Every rule, by the name that its tests use. */
export const houseRules = {
  imports,
  verbs,
  kinds,
  libraries,
  workspaces,
  names,
  length,
  exports,
  environment,
  clock,
  statements,
} as const satisfies Record<string, Rule>

function outside(exceptions: Exceptions, source: Source, pattern: RegExp, what: string): Finding[] {
  const excepted = Object.keys(exceptions).some((place) => source.path.startsWith(place))
  if (excepted || !isProduction(source)) return []
  return linesWith(source, pattern).map((line) => ({ line, what }))
}

/** Tests may do and import what they need; what runs in production may not. */
function isProduction({ path }: Source): boolean {
  return path.startsWith('server/src/') && !path.endsWith('.test.ts')
}

function inProduction(source: Source): Import[] {
  return isProduction(source) ? importsOf(source) : []
}

/** An endpoint, by its one declaration, or a job or subscriber, by its name. */
function isVerb({ path, text }: Source): boolean {
  return (
    /\.(?:job|subscriber)\.ts$/.test(path) ||
    (slices.includes(moduleOf(path).replace(/\/.*/, '')) && /=>?\s*operation\s*[<(]/.test(text))
  )
}

/** Which kind of file of a slice it is; undefined outside the slices. */
function kindOf(source: Source): 'noun' | 'store' | 'flow' | 'verb' | undefined {
  if (!slices.includes(moduleOf(source.path).replace(/\/.*/, ''))) return undefined
  if (source.path.endsWith('-store.ts')) return 'store'
  if (source.path.endsWith('.flow.ts')) return 'flow'
  return isVerb(source) ? 'verb' : 'noun'
}

/** The module that a file is in: its folder below server/src. A file of server/src itself stands for itself. */
export function moduleOf(path: string): string {
  const [, folder] = /^server\/src\/(.+)\/[^/]+$/.exec(path) ?? []
  return folder ?? path
}
