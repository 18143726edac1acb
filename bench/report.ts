import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import type { Measured } from './bench.ts'

const page = new URL('../docs/benchmarks.md', import.meta.url)

/** The table as Markdown, with a description of the machine. */
export function asMarkdown(name: string, { columns, rows, notes }: Measured): string {
  const [cpu] = cpus()
  const machine = `${cpus().length} × ${cpu?.model.trim() ?? 'a processor'}, ${Math.round(totalmem() / 2 ** 30)} GB, ${process.platform}`
  const where = `Measured by \`npm run bench ${name}\` on ${new Date().toISOString().slice(0, 10)} at ${revision()}: ${machine}, Node ${process.versions.node}.`
  return [...asTable(columns, rows), '', ...notes, '', where].join('\n')
}

/** The lines of the table, padded as this repository's formatter does: the output must pass the check unchanged. */
function asTable(columns: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = columns.map((_, at) => Math.max(3, ...[columns, ...rows].map((row) => row[at]?.length ?? 0)))
  const isLeft = (at: number) => at === 0
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const padded = (row: readonly string[]) =>
    line(widths.map((width, at) => (isLeft(at) ? (row[at] ?? '').padEnd(width) : (row[at] ?? '').padStart(width))))
  const rule = line(widths.map((width, at) => (isLeft(at) ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)))
  return [padded(columns), rule, ...rows.map(padded)]
}

function revision(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  } catch {
    return 'a copy without history'
  }
}

/** Writes it into docs/benchmarks.md, between the markers of that bench. */
export function writeReport(name: string, markdown: string): void {
  const [begin, end] = [`<!-- ${name}: begin -->`, `<!-- ${name}: end -->`]
  const text = readFileSync(page, 'utf8')
  const [from, to] = [text.indexOf(begin), text.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`docs/benchmarks.md lacks the markers of \`${name}\``)
  writeFileSync(page, `${text.slice(0, from + begin.length)}\n\n${markdown}\n\n${text.slice(to)}`)
}
