import { globSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join, posix, sep } from 'node:path'

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
  /^[ \t]*(?:import|export)\b[^'"`;]*?\bfrom\s*['"]([^'"]+)['"]/gm,
  /^[ \t]*import\s*['"]([^'"]+)['"]/gm,
  /\bimport\s*\(\s*['"]([^'"]+)['"]/g,
]

/** What a file imports, in the order of its lines; Node's own modules are left out. */
export function importsOf(source: Source): Import[] {
  const text = withoutComments(source.text)
  const found = importForms.flatMap((form) => [...text.matchAll(form)])
  return found
    .map(({ index, 0: whole, 1: specifier = '' }) => ({ line: lineAt(text, index + whole.length), specifier }))
    .filter(({ specifier }) => !isBuiltin(specifier))
    .sort((one, other) => one.line - other.line)
    .map(({ line, specifier }) => {
      if (specifier.startsWith('.')) return { line, target: posix.join(posix.dirname(source.path), specifier) }
      return { line, library: libraryOf(specifier) }
    })
}

function libraryOf(specifier: string): string {
  const [first = '', second = ''] = specifier.split('/')
  return specifier.startsWith('@') ? `${first}/${second}` : first
}

/** The lines, outside comments, where the pattern begins to match. */
export function linesWith(source: Source, pattern: RegExp): number[] {
  const text = withoutComments(source.text)
  return [...text.matchAll(new RegExp(pattern, `${pattern.flags}g`))].map((match) => lineAt(text, match.index))
}

const stringOrComment = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\[\s\S])*`|\/\/[^\n]*|\/\*[\s\S]*?\*\//g

/** Replaces comments by blanks, so that rules ignore them; every line keeps its number. */
function withoutComments(text: string): string {
  return text.replace(stringOrComment, (part) => (part.startsWith('/') ? part.replace(/[^\n]/g, ' ') : part))
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length
}
