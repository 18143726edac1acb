import { globSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join, posix, sep } from 'node:path'
import { type Segment, segmentsOf } from './segments.ts'

/** A source file: `path` from the root of the repository, with forward slashes. */
export type Source = { path: string; text: string }

/** One import or re-export, for types or values: of a file of ours (`target`, its path) or of a library (its package name). */
export type Import = { line: number; target: string } | { line: number; library: string }

/** The TypeScript files below these folders of the repository, generated ones (`*.gen.ts`) left out. */
export function readSources(root: string, folders: readonly string[]): Source[] {
  const patterns = folders.map((folder) => `${folder}/**/*.{ts,tsx}`)
  const paths = globSync(patterns, { cwd: root, exclude: ['**/node_modules', '**/dist', '**/*.gen.ts'] })
  return paths
    .toSorted()
    .map((path) => ({ path: path.split(sep).join('/'), text: readFileSync(join(root, path), 'utf8') }))
}

const importForms = [
  /^[ \t]*(?:import|export)\b(?<names>[^'"`;]*?)\bfrom\s*['"](?<specifier>[^'"]+)['"]/gm,
  /^[ \t]*import\s*['"](?<specifier>[^'"]+)['"]/gm,
  /\b(?:import|require)\s*\(\s*['"](?<specifier>[^'"]+)['"]/g,
]

/** Every import and re-export of a file, in the order of its lines. `names`: what is between `import` and `from`. */
function findImports(source: Source): { line: number; specifier: string; names: string | undefined }[] {
  const text = without(['comment'], source.text)
  return importForms
    .flatMap((form) => [...text.matchAll(form)])
    .map(({ index, 0: whole, groups }) => ({
      line: lineAt(text, index + whole.length),
      specifier: groups?.specifier ?? '',
      names: groups?.names?.trim(),
    }))
    .sort((one, other) => one.line - other.line)
}

/** What a file imports; Node's own modules are left out. */
export function importsOf(source: Source): Import[] {
  return findImports(source)
    .filter(({ specifier }) => !isBuiltin(specifier))
    .map(({ line, specifier }) => {
      if (specifier.startsWith('.')) return { line, target: posix.join(posix.dirname(source.path), specifier) }
      return { line, library: libraryOf(specifier) }
    })
}

/** A file's imports of Node's own modules. `names`: what it imports other than types; `*` stands for all of it. */
export function builtinImportsOf(source: Source): { line: number; module: string; names: string[] }[] {
  return findImports(source)
    .filter(({ specifier }) => isBuiltin(specifier))
    .map(({ line, specifier, names }) => ({ line, module: specifier.replace('node:', ''), names: namesOf(names) }))
}

/** The names between `import` and `from`, types left out. */
function namesOf(clause: string | undefined): string[] {
  if (clause === undefined) return ['*']
  if (/^type\b/.test(clause)) return []
  const list = /^\{(?<list>[^}]*)\}$/.exec(clause)?.groups?.list
  if (list === undefined) return ['*']
  const names = list.split(',').map((name) => name.trim())
  return names.filter((name) => name !== '' && !/^type\b/.test(name)).map((name) => name.replace(/\s.*/, ''))
}

function libraryOf(specifier: string): string {
  const [first = '', second = ''] = specifier.split('/')
  return specifier.startsWith('@') ? `${first}/${second}` : first
}

/** The lines where the pattern begins to match, outside segments of the ignored kinds. */
export function linesWith(
  source: Source,
  pattern: RegExp,
  ignored: readonly Segment['kind'][] = ['comment'],
): number[] {
  const text = without(ignored, source.text)
  return [...text.matchAll(new RegExp(pattern, `${pattern.flags}g`))].map((match) => lineAt(text, match.index))
}

/** Replaces segments of these kinds by blanks, so that rules ignore them; every line keeps its number. */
function without(ignored: readonly Segment['kind'][], text: string): string {
  return segmentsOf(text)
    .map(({ kind, start, end }) => {
      const part = text.slice(start, end)
      return ignored.includes(kind) ? part.replace(/[^\n]/g, ' ') : part
    })
    .join('')
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length
}
