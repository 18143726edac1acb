import { builtinImportsOf, importsOf, type Source } from '../support/source-files.ts'
import { entryPoints, libraryEntryPoints, listedPairs, mayImport, slices } from './import-table.ts'
import { outsideModules } from './outside-modules.ts'
import { type Exceptions, inProduction, isExempt, isProduction, type Rule } from './rule.ts'

export const imports: Rule = {
  sentence:
    'a module imports only the modules that server/test/house-rules/import-table.ts lists for it (docs/architecture.md, "Who may import whom")',
  find: (source) =>
    inProduction(source).flatMap(({ line, ...imported }) => {
      if (!('target' in imported) || entryPoints.includes(source.path)) return []
      const [from, to] = [moduleOf(source.path), moduleOf(imported.target)]
      if (mayImport[from] === undefined) return [{ line, what: `\`${from}\` is a module that the table does not list` }]
      if (from === to || mayImport[from].includes(to) || `${from} → ${to}` in listedPairs) return []
      return [{ line, what: `\`${from}\` may not import \`${to}\`` }]
    }),
}

export const verbs: Rule = {
  sentence: 'only the entry points import verbs, jobs and subscribers; move a rule that two verbs need to their noun',
  find: (source, all) =>
    inProduction(source).flatMap(({ line, ...imported }) => {
      if (!('target' in imported) || entryPoints.includes(source.path)) return []
      const target = all.get(imported.target)
      return target !== undefined && isVerb(target)
        ? [{ line, what: `\`${target.path}\` may be imported only by operations.ts and app.ts` }]
        : []
    }),
}

/** Adapters: they are driven from outside and read the data they need themselves. They are neither nouns nor flows. */
const adapters: Exceptions = {
  'server/src/notification-channels/email/email-carrier.ts': 'a carrier reads the sender that it may use',
  'server/src/notification-channels/webhook/webhook-carrier.ts':
    'a carrier reads the address and secrets valid at the moment of sending',
  'server/src/stream/stream-hub.ts': 'the stream hub reads what open streams wait for',
  'server/src/stream/tenant-feeds.ts':
    'the part of the stream hub that reads the events of a tenant for all of its streams',
  'server/src/provisioners/drivers.ts': 'opens the driver of a provisioner and keeps it open',
  'server/src/provisioners/sandbox/': 'a target whose directory is a database table',
  'server/src/provisioners/webhook/': 'a target that receives the same message again on a retry',
}

export const kinds: Rule = {
  sentence: 'a noun imports no store and no flow, and a store imports no flow: verbs, jobs and flows call them',
  find: (source, all) => {
    if (isExempt(adapters, source)) return []
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

export const libraries: Rule = {
  sentence:
    'each external library has one entry point: only the folders listed for it in server/test/house-rules/import-table.ts import it',
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

export const nodeModules: Rule = {
  sentence:
    "Node's modules that reach outside the process are imported only where server/test/house-rules/outside-modules.ts lists them",
  find(source) {
    if (!isProduction(source)) return []
    return builtinImportsOf(source).flatMap(({ line, module, names }) => {
      const listed = outsideModules[module]
      if (listed === undefined || isExempt(listed.at ?? {}, source)) return []
      return names
        .filter((name) => !listed.harmless?.includes(name))
        .map((name) => ({ line, what: `imports ${name} of \`node:${module}\`` }))
    })
  },
}

export const workspaces: Rule = {
  sentence:
    'console and cli import only the client, the client imports no workspace, and only bench and packaging import the server',
  find: (source) => {
    const home = source.path.replace(/\/.*/, '')
    if (['server', 'bench', 'packaging'].includes(home)) return []
    return importsOf(source).flatMap(({ line, ...imported }) => {
      const stranger =
        'target' in imported ? !imported.target.startsWith(`${home}/`) : imported.library.startsWith('@sallyport/')
      const client = 'library' in imported && imported.library === '@sallyport/client' && home !== 'client'
      return stranger && !client ? [{ line, what: `\`${home}\` imports from another workspace` }] : []
    })
  },
}

/** An endpoint, recognized by its declaration, or a job or subscriber, recognized by its file name. */
function isVerb({ path, text }: Source): boolean {
  return (
    /\.(?:job|subscriber)\.ts$/.test(path) ||
    (slices.includes(moduleOf(path).replace(/\/.*/, '')) && /=>?\s*(?:operation|scimOperation)\s*[<(]/.test(text))
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
