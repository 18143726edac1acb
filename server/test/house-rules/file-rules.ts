import { segmentsOf } from '../support/segments.ts'
import { linesWith } from '../support/source-files.ts'
import type { Rule } from './rule.ts'

const kebab = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.(?:flow|job|subscriber|config))?(?:\.long)?(?:\.test)?\.tsx?$/
const bannedWords = /^(?:utils?|helpers?|common|managers?|services?|types?)$/

export const names: Rule = {
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

export const length: Rule = {
  sentence: `a file has at most ${maxLines} lines: split a longer file`,
  find({ path, text }) {
    // It is generated, and read as a diff.
    if (path === 'client/src/api.ts') return []
    const lines = text.trimEnd().split('\n').length
    return lines > maxLines ? [{ line: maxLines + 1, what: `${lines} lines` }] : []
  },
}

const maxColumns = 120

/** The formatter wraps code but leaves templates as they are. */
export const columns: Rule = {
  sentence: `a line of SQL has at most ${maxColumns} columns`,
  find({ text }) {
    let end = -1
    const lines = text.split('\n').map((line, index) => {
      const start = end + 1
      end = start + line.length
      return { line: index + 1, start, end }
    })
    const long = lines.filter(({ start, end }) => end - start > maxColumns)
    if (long.length === 0) return []
    const sql = segmentsOf(text).filter(({ kind }) => kind === 'sql')
    return long
      .filter((line) => sql.some((segment) => segment.start < line.end && segment.end > line.start))
      .map(({ line, start, end }) => ({ line, what: `${end - start} columns` }))
  },
}

/** A library's entry point may re-export the library's names; our own files are imported directly. */
const reExport = /^export\s+(?:type\s+)?(?:\*(?:\s+as\s+\w+)?|\{[^}]*\})\s*from\s*['"]\./m

export const exports: Rule = {
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
