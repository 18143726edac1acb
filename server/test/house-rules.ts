import { entryPoints, libraryEntryPoints, listedPairs, mayImport, slices } from './house-map.ts'
import { type Import, importsOf, linesWith, type Source } from './support/source-files.ts'

/** One violation of a rule: its line and a description. */
export type Finding = { line: number; what: string }

/** A house rule: the sentence that a violation prints, and a search for violations in one file, given all files. */
export type Rule = { sentence: string; find(source: Source, all: ReadonlyMap<string, Source>): Finding[] }

// ── Who may import whom ────────────────────────────────────────────────────────────────────────────────────────────────

const imports: Rule = {
  sentence:
    'a module imports only the modules that server/test/house-map.ts lists for it (docs/architecture.md, "Who may import whom")',
  find: (source) =>
    inProduction(source).flatMap(({ line, ...imported }) => {
      if (!('target' in imported) || entryPoints.includes(source.path)) return []
      const [from, to] = [moduleOf(source.path), moduleOf(imported.target)]
      if (mayImport[from] === undefined) return [{ line, what: `\`${from}\` is a module that the table does not list` }]
      if (from === to || mayImport[from].includes(to) || `${from} → ${to}` in listedPairs) return []
      return [{ line, what: `\`${from}\` may not import \`${to}\`` }]
    }),
}

const verbs: Rule = {
  sentence: 'only the entry points import verbs, jobs and subscribers; move a rule that two verbs need to their noun',
  find: (source, all) =>
    inProduction(source).flatMap(({ line, ...imported }) => {
      if (!('target' in imported) || entryPoints.includes(source.path)) return []
      const target = all.get(imported.target)
      return target !== undefined && isVerb(target)
        ? [{ line, what: `\`${target.path}\` may be imported only by app.ts` }]
        : []
    }),
}

/** Adapters: they are driven from outside and read the data they need themselves. They are neither nouns nor flows. */
const adapters: Exceptions = {
  'server/src/notification-channels/mail/email-carrier.ts': 'a carrier reads the sender that it may use',
  'server/src/notification-channels/webhook/webhook-carrier.ts':
    'a carrier reads the address and secrets valid at the moment of sending',
  'server/src/notifications/stream-hub.ts': 'the stream hub reads the notifications that open streams wait for',
  'server/src/provisioners/drivers.ts': 'opens the driver of a provisioner and keeps it open',
  'server/src/provisioners/sandbox/': 'a target whose directory is a database table',
  'server/src/provisioners/webhook/': 'a target that receives the same message again on a retry',
}

const kinds: Rule = {
  sentence: 'a noun imports no store and no flow, and a store imports no flow: verbs, jobs and flows call them',
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
  sentence:
    'each external library has one entry point: only the folders listed for it in server/test/house-map.ts import it',
  find: (source) =>
    inProduction(source).flatMap(({ line, ...imported }) => {
      if (!('library' in imported)) return []
      const { library } = imported
      const listed = libraryEntryPoints[library] ?? libraryEntryPoints[library.replace(/\/.*/, '/*')]
      if (listed === undefined)
        return [{ line, what: `\`${library}\` has no entry point: list one in libraryEntryPoints` }]
      const inside = listed.some((place) => `${source.path}/`.startsWith(`server/src/${place}/`))
      return inside ? [] : [{ line, what: `only ${listed.join(', ')} may import \`${library}\`` }]
    }),
}

const workspaces: Rule = {
  sentence:
    'console and cli import only the client, the client imports no workspace, and only bench imports the server',
  find: (source) => {
    const home = source.path.replace(/\/.*/, '')
    if (home === 'server' || home === 'bench') return []
    return importsOf(source).flatMap(({ line, ...imported }) => {
      const stranger =
        'target' in imported ? !imported.target.startsWith(`${home}/`) : imported.library.startsWith('@sallyport/')
      const client = 'library' in imported && imported.library === '@sallyport/client' && home !== 'client'
      return stranger && !client ? [{ line, what: `\`${home}\` imports from another workspace` }] : []
    })
  },
}

// ── How files look ─────────────────────────────────────────────────────────────────────────────────────────────────────

const kebab = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.(?:flow|job|subscriber|config))?(?:\.long)?(?:\.test)?\.tsx?$/
const bannedWords = /^(?:utils?|helpers?|common|managers?|services?|types?)$/

const names: Rule = {
  sentence:
    'files and folders are kebab-case and named after their content: never utils, helpers, common, manager, service, types',
  find({ path }) {
    const folders = path.split('/')
    const file = folders.pop() ?? ''
    const words = [...folders, file.replace(/\..*/, '')].flatMap((name) => name.split('-'))
    const banned = words
      .filter((word) => bannedWords.test(word))
      .map((word) => `\`${word}\` does not describe the content`)
    const cased = kebab.test(file) && !/[^a-z0-9/-]/.test(folders.join('/')) ? [] : [`\`${path}\` is not kebab-case`]
    return [...banned, ...cased].map((what) => ({ line: 1, what }))
  },
}

const maxLines = 300

const length: Rule = {
  sentence: `a file has at most ${maxLines} lines: split a longer file`,
  find({ text }) {
    const lines = text.trimEnd().split('\n').length
    return lines > maxLines ? [{ line: maxLines + 1, what: `${lines} lines` }] : []
  },
}

/** A library's entry point may re-export the library's names; our own files are imported directly. */
const reExport = /^export\s+(?:type\s+)?(?:\*(?:\s+as\s+\w+)?|\{[^}]*\})\s*from\s*['"]\./m

const exports: Rule = {
  sentence: 'exports are named and imported from the file that defines them: no default exports, no barrels',
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

// ── What belongs in one place ────────────────────────────────────────────────────────────────────────────────────────────

/** Files that a rule exempts, each with the reason. */
type Exceptions = Readonly<Record<string, string>>

const environmentAt: Exceptions = {
  'server/src/config/': 'the only reader of the environment',
  'server/src/commands/demo.ts': 'a client, with settings of its own',
  'server/src/embedded-postgres/cluster.ts': 'passes the few harmless variables on to its child process',
}

const environment: Rule = {
  sentence: 'only config/ reads the environment: other code receives its settings as parameters',
  find: (source) => outside(environmentAt, source, /\bprocess\.env\b/, 'reads the environment'),
}

const clockAt: Exceptions = {
  'server/src/kernel/id.ts': 'the time in an id only orders ids; no decision depends on it',
  'server/src/http/pipeline.ts':
    'without a credential the database has not been read yet; such an operation takes no decision on the time',
}

const clock: Rule = {
  sentence: "no decision depends on the node's own clock: use the database's clock, which `ctx.now` carries",
  find: (source) => outside(clockAt, source, /\bnew Date\(\s*\)|\bDate\.now\b/, "reads the node's clock"),
}

const sqlAt: Exceptions = {
  'server/src/db/': 'the database layer',
  'server/src/events/': 'the event table',
  'server/src/jobs/': 'due work and leases',
  'server/src/provisioners/postgresql/': "sends SQL to the customers' databases",
  'server/src/backup/': 'reads and writes every table',
  'server/src/commands/db-setup.ts': 'creates the roles',
}

const sqlText =
  /\bsql(?:<[^`]*?>)?`|['"`]\s*(?:select\s[^'"`]*\sfrom\s|insert\s+into\s|update\s+\w+\s+set\s|delete\s+from\s)/i

const statements: Rule = {
  sentence: "a slice's SQL is in its `*-store.ts`, where each function takes `tx` first",
  find: (source) => (source.path.endsWith('-store.ts') ? [] : outside(sqlAt, source, sqlText, 'holds SQL')),
}

/** Every rule, by the name that the tests use. */
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

/** The rules apply to production code; tests may import anything. */
function isProduction({ path }: Source): boolean {
  return path.startsWith('server/src/') && !path.endsWith('.test.ts')
}

function inProduction(source: Source): Import[] {
  return isProduction(source) ? importsOf(source) : []
}

/** An endpoint, recognized by its declaration, or a job or subscriber, recognized by its file name. */
function isVerb({ path, text }: Source): boolean {
  return (
    /\.(?:job|subscriber)\.ts$/.test(path) ||
    (slices.includes(moduleOf(path).replace(/\/.*/, '')) && /=>?\s*operation\s*[<(]/.test(text))
  )
}

/** The kind of a slice's file; undefined outside the slices. */
function kindOf(source: Source): 'noun' | 'store' | 'flow' | 'verb' | undefined {
  if (!slices.includes(moduleOf(source.path).replace(/\/.*/, ''))) return undefined
  if (source.path.endsWith('-store.ts')) return 'store'
  if (source.path.endsWith('.flow.ts')) return 'flow'
  return isVerb(source) ? 'verb' : 'noun'
}

/** The module of a file: its folder below server/src. A file directly in server/src is its own module. */
export function moduleOf(path: string): string {
  const [, folder] = /^server\/src\/(.+)\/[^/]+$/.exec(path) ?? []
  return folder ?? path
}
